// RUN: aicc-opt %s -p loops-apply-schedules --split-input-file | filecheck %s

// Constants of one layout share a packing kernel, which is told their sizes; dimensions of size 1 stay.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[N:.*]] = loops.size #graph.shape<20>
// CHECK-DAG:     %[[M:.*]] = loops.size #graph.shape<8>
// CHECK:         loops.call @a_pack0(%[[N]], %[[M]], %{{.*}}, %{{.*}}) : index, index, memref<20x8x1xf32>, memref<2x8x1x16xf32>
// CHECK:         loops.call @a_pack0(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : index, index, memref<48x5x1xf32>, memref<3x5x1x16xf32>
// CHECK:       func.func private @a_pack0(%n0: index, %n1: index, %source: memref<?x?x1xf32, #loops.dims<n0, n1>>
// CHECK-NOT:   _pack0
func.func @main(%y: memref<20xf32>, %z: memref<48xf32>) {
  %v = loops.constant dense<1.0> : tensor<20x8x1xf32> : memref<20x8x1xf32>
  %w = loops.constant dense<1.0> : tensor<48x5x1xf32> : memref<48x5x1xf32>
  loops.call @a(%v, %y) : memref<20x8x1xf32>, memref<20xf32>
  loops.call @b(%w, %z) : memref<48x5x1xf32>, memref<48xf32>
  func.return
}
func.func private @a(%w: memref<20x8x1xf32>, %out: memref<20xf32>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 20 parallel {
    %x = loops.load %w[%i, 3, 0] : memref<20x8x1xf32> to f32
    loops.store %x, %out[%i] : f32 to memref<20xf32>
  }
  func.return
}
func.func private @b(%w: memref<48x5x1xf32>, %out: memref<48xf32>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 48 parallel {
    %x = loops.load %w[%i, 3, 0] : memref<48x5x1xf32> to f32
    loops.store %x, %out[%i] : f32 to memref<48xf32>
  }
  func.return
}
transform.named_sequence @a_schedule(%k: !transform.any_op) {
  schedule.pack %k {argument = 0 : i64, tiles = array<i64: 16, 0, 0>, order = array<i64: 0, 1, 2>}
  transform.yield
}
transform.named_sequence @b_schedule(%k: !transform.any_op) {
  schedule.pack %k {argument = 0 : i64, tiles = array<i64: 16, 0, 0>, order = array<i64: 0, 1, 2>}
  transform.yield
}

// -----

// What is packed at run time has a packing kernel of its size.
// CHECK-LABEL: func.func @main
// CHECK:         loops.call @k_pack0(%{{.*}}, %{{.*}}) : memref<20x8xf32>, memref<2x8x16xf32>
// CHECK:       func.func private @k_pack0(%source: memref<20x8xf32>, %packed: memref<2x8x16xf32>)
func.func @main(%v: memref<20x8xf32>, %y: memref<20xf32>) {
  loops.call @k(%v, %y) : memref<20x8xf32>, memref<20xf32>
  func.return
}
func.func private @k(%w: memref<20x8xf32>, %out: memref<20xf32>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 20 parallel {
    %x = loops.load %w[%i, 3] : memref<20x8xf32> to f32
    loops.store %x, %out[%i] : f32 to memref<20xf32>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  schedule.pack %k {argument = 0 : i64, tiles = array<i64: 16, 0>, order = array<i64: 0, 1>}
  transform.yield
}
