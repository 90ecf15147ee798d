// RUN: aicc-opt %s -p 'loops-pack{kernel=k argument=0 tiles=16,0 order=0,1}' | filecheck %s

// Full tiles are copied; of the tile of the remainder, which is filled with zeros, what there is. A thread gets some ten thousand elements at least.
// CHECK-LABEL: @k_pack0(%source: memref<20x8xf32>, %packed: memref<2x8x16xf32>)
// CHECK:         loops.for "pack_d0" %{{.*}} = 0 to 1 parallel threads attributes {grain = 256 : i64} {
// CHECK-NEXT:      loops.for "pack_d1" %[[K:.*]] = 0 to 8 parallel {
// CHECK-NEXT:        loops.for "pack_d0.i" %[[I:.*]] = 0 to 16 parallel {
// CHECK:         loops.for "pack_d0" %[[Z:.*]] = 1 to 2 parallel threads
// CHECK-NEXT:      loops.for "pack_d1" %[[K:.*]] = 0 to 8 parallel {
// CHECK-NEXT:        %[[ZERO:.*]] = loops.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK-NEXT:        loops.store %[[ZERO]], %packed[%[[Z]], %[[K]], l0]
// CHECK:         loops.for "pack_d0" %[[O:.*]] = 1 to 2 parallel threads
// CHECK-NEXT:      loops.for "pack_d1" %{{.*}} = 0 to 8 parallel {
// CHECK-NEXT:        loops.for "pack_d0.i" %[[I:.*]] = 0 to 4 parallel {
// CHECK-NEXT:          loops.load %source[%[[O]] * 16 + %[[I]], %{{.*}}]
// CHECK-NEXT:          loops.store %{{.*}}, %packed[%[[O]], %{{.*}}, %[[I]]]

// The kernel reads the copy, by quotient and remainder.
// CHECK-LABEL: @k(%w: memref<2x8x16xf32>, %o: memref<20x8xf32>)
// CHECK:         loops.load %w[%[[R:.*]] floordiv 16, %{{.*}}, %[[R]] mod 16]

// CHECK-LABEL: @main
// CHECK-NEXT:    %[[P:.*]] = loops.alloc : memref<2x8x16xf32>
// CHECK-NEXT:    loops.call @k_pack0(%w, %[[P]])
// CHECK-NEXT:    loops.call @k(%[[P]], %o)
func.func private @k(%w: memref<20x8xf32>, %o: memref<20x8xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 20 parallel {
    loops.for "j" %j = 0 to 8 parallel {
      %v = loops.load %w[%i, %j] : memref<20x8xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<20x8xf32>
    }
  }
  func.return
}
func.func @main(%w: memref<20x8xf32>, %o: memref<20x8xf32>) attributes {aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.call @k(%w, %o) : memref<20x8xf32>, memref<20x8xf32>
  func.return
}
