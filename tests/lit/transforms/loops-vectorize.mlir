// RUN: aicc-opt %s --split-input-file -p 'loops-vectorize{label=i,j}' | filecheck %s

// A register tile: operands stay narrow, the reduction carries the whole tile.
// CHECK-LABEL: @matmul
// CHECK:         %[[Z:.*]] = loops.broadcast %{{.*}} : f32 to vector<6x16xf32>
// CHECK-NEXT:    %[[S:.*]] = loops.for "k" %[[K:.*]] = 0 to 7 iter_args(%[[ACC:.*]] = %[[Z]]) -> (vector<6x16xf32>) {
// CHECK-NEXT:      %[[X:.*]] = loops.load %a[l0, %[[K]]] : memref<6x7xf32> to vector<6x1xf32>
// CHECK-NEXT:      %[[Y:.*]] = loops.load %b[%[[K]], l1] : memref<7x16xf32> to vector<1x16xf32>
// CHECK-NEXT:      %[[XW:.*]] = loops.broadcast %[[X]] : vector<6x1xf32> to vector<6x16xf32>
// CHECK-NEXT:      %[[YW:.*]] = loops.broadcast %[[Y]] : vector<1x16xf32> to vector<6x16xf32>
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[XW]], %[[YW]] {{.*}} : vector<6x16xf32>
// CHECK-NEXT:      %[[Q:.*]] = arith.addf %[[ACC]], %[[P]] {{.*}} : vector<6x16xf32>
// CHECK-NEXT:      loops.yield %[[Q]] : vector<6x16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.store %[[S]], %c[l0, l1] : vector<6x16xf32> to memref<6x16xf32>
func.func private @matmul(%a: memref<6x7xf32>, %b: memref<7x16xf32>, %c: memref<6x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 16 parallel {
      %s = loops.for "k" %k = 0 to 7 iter_args(%acc = %z) -> (f32) {
        %x = loops.load %a[%i, %k] : memref<6x7xf32> to f32
        %y = loops.load %b[%k, %j] : memref<7x16xf32> to f32
        %p = arith.mulf %x, %y fastmath<contract,reassoc> : f32
        %q = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %q : f32
      }
      loops.store %s, %c[%i, %j] : f32 to memref<6x16xf32>
    }
  }
  func.return
}

// -----

// The last axis is cut short at run time: accesses along it are masked, what does not vary along it is not.
// CHECK-LABEL: @masked
// CHECK:         loops.for "o" %[[O:.*]] = 0
// CHECK-NEXT:      %[[L:.*]] = loops.apply
// CHECK-NEXT:      %[[C:.*]] = arith.constant 16 : index
// CHECK-NEXT:      %[[N:.*]] = arith.minsi %[[L]], %[[C]] : index
// CHECK-NEXT:      %[[X:.*]] = loops.load %x[l0, %[[O]] * 16 + l1] lanes %[[N]] : {{.*}} to vector<4x16xf32>
// CHECK-NEXT:      %[[Y:.*]] = loops.load %y[l0] : memref<4xf32> to vector<4x1xf32>
// CHECK-NEXT:      %[[W:.*]] = loops.broadcast %[[Y]] : vector<4x1xf32> to vector<4x16xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[X]], %[[W]] : vector<4x16xf32>
// CHECK-NEXT:      loops.store %[[S]], %o[l0, %[[O]] * 16 + l1] lanes %[[N]]
func.func private @masked(%n: index, %x: memref<4x?xf32, #loops.dims<s0>>, %y: memref<4xf32>,
    %o: memref<4x?xf32, #loops.dims<s0>>) attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  loops.for "o" %t = 0 to (%n + 15) floordiv 16 parallel {
    loops.for "i" %i = 0 to 4 parallel {
      loops.for "j" %j = 0 to min(16, %n - %t * 16) parallel {
        %v = loops.load %x[%i, %t * 16 + %j] : memref<4x?xf32, #loops.dims<s0>> to f32
        %w = loops.load %y[%i] : memref<4xf32> to f32
        %s = arith.addf %v, %w : f32
        loops.store %s, %o[%i, %t * 16 + %j] : f32 to memref<4x?xf32, #loops.dims<s0>>
      }
    }
  }
  func.return
}

// -----

// A leading loop without a known trip count stays a loop.
// CHECK-LABEL: @rows_stay
// CHECK:         loops.for "i" %[[I:.*]] = 0 to %n parallel {
// CHECK-NEXT:      %[[V:.*]] = loops.load %x[%[[I]], l0] : {{.*}} to vector<8xf32>
func.func private @rows_stay(%n: index, %x: memref<?x8xf32, #loops.dims<s0>>, %o: memref<?x8xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to %n parallel {
    loops.for "j" %j = 0 to 8 parallel {
      %v = loops.load %x[%i, %j] : memref<?x8xf32, #loops.dims<s0>> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<?x8xf32, #loops.dims<s0>>
    }
  }
  func.return
}

// -----

// Conditions, indices and casts become vectors.
// CHECK-LABEL: @conditions
// CHECK:         %[[L:.*]] = loops.apply l1 : vector<1x8xindex>
// CHECK:         %[[I:.*]] = arith.index_cast %[[L]] : vector<1x8xindex> to vector<1x8xi64>
// CHECK:         %[[F:.*]] = arith.sitofp %[[I]] : vector<1x8xi64> to vector<1x8xf32>
// CHECK:         %[[C:.*]] = arith.cmpf olt, %{{.*}}, %[[W:.*]] : vector<2x8xf32>
// CHECK:         arith.select %[[C]], %{{.*}} : vector<2x8xi1>, vector<2x8xf32>
func.func private @conditions(%x: memref<2x8xf32>, %o: memref<2x8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 2 parallel {
    loops.for "j" %j = 0 to 8 parallel {
      %v = loops.load %x[%i, %j] : memref<2x8xf32> to f32
      %n = arith.index_cast %j : index to i64
      %f = arith.sitofp %n : i64 to f32
      %c = arith.cmpf olt, %v, %f : f32
      %r = arith.select %c, %v, %f : f32
      loops.store %r, %o[%i, %j] : f32 to memref<2x8xf32>
    }
  }
  func.return
}

// -----

// Vectors that a loop carries have a power of two of lanes; the lanes beyond the 12 are not stored.
// CHECK-LABEL: @carried_lanes
// CHECK:         loops.for "k" %{{.*}} = 0 to 7 iter_args(%{{.*}}) -> (vector<2x16xf32>) {
// CHECK:           %[[L:.*]] = loops.load %b[%{{.*}}, l1] lanes %[[N:.*]] : memref<7x12xf32> to vector<1x16xf32>
// CHECK:         loops.store %{{.*}}, %c[l0, l1] lanes %[[N]] : vector<2x16xf32> to memref<2x12xf32>
func.func private @carried_lanes(%a: memref<2x7xf32>, %b: memref<7x12xf32>, %c: memref<2x12xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 2 parallel {
    loops.for "j" %j = 0 to 12 parallel {
      %s = loops.for "k" %k = 0 to 7 iter_args(%acc = %z) -> (f32) {
        %x = loops.load %a[%i, %k] : memref<2x7xf32> to f32
        %y = loops.load %b[%k, %j] : memref<7x12xf32> to f32
        %p = arith.mulf %x, %y fastmath<contract,reassoc> : f32
        %q = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %q : f32
      }
      loops.store %s, %c[%i, %j] : f32 to memref<2x12xf32>
    }
  }
  func.return
}
