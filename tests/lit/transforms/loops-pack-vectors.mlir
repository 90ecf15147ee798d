// RUN: aicc-opt %s -p 'loops-pack{kernel=k argument=0 tiles=0,0,16 order=0,1,2},loops-pack{kernel=k argument=1 tiles=0,16,0 order=0,1,2},loops-pack{kernel=k argument=2 tiles=0,0,0 order=2,1,0}' | filecheck %s

// What is contiguous along the tiles is copied in vectors; threads share out both outer dimensions.
// CHECK-LABEL: @k_pack0(
// CHECK:         loops.for "pack_d0" %[[A:.*]] = 0 to 4 parallel threads attributes {grain = 512 : i64, nested = 2 : i64} {
// CHECK-NEXT:      loops.for "pack_d1" %[[B:.*]] = 0 to 32 parallel {
// CHECK-NEXT:        loops.for "pack_d2" %[[C:.*]] = 0 to 4 parallel {
// CHECK-NEXT:          %[[V:.*]] = loops.load %source[%[[A]], %[[B]], %[[C]] * 16 + l0] : memref<4x32x64xf32> to vector<16xf32>
// CHECK-NEXT:          loops.store %[[V]], %packed[%[[A]], %[[B]], %[[C]], l0]

// What is contiguous along the innermost dimension outside of tiles is transposed by blocks.
// CHECK-LABEL: @k_pack1(
// CHECK:         loops.for "pack_d2.o" %{{.*}} = 0 to 4 parallel {
// CHECK-NEXT:      loops.for "pack_d1.i.o" %{{.*}} = 0 to 2 parallel {
// CHECK-NEXT:        loops.load %source[{{.*}}] : memref<4x32x64xf32> to vector<16x8xf32>
// CHECK-NEXT:        loops.store %{{.*}} : vector<16x8xf32> to memref<4x2x64x16xf32>

// A change of order alone is copied element by element.
// CHECK-LABEL: @k_pack2(
// CHECK-NOT:     vector
// CHECK-LABEL: @k(
func.func private @k(%a: memref<4x32x64xf32>, %b: memref<4x32x64xf32>, %c: memref<4x32x64xf32>, %o: memref<4x32x64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 4 parallel {
    loops.for "j" %j = 0 to 32 parallel {
      loops.for "k" %k = 0 to 64 parallel {
        %x = loops.load %a[%i, %j, %k] : memref<4x32x64xf32> to f32
        %y = loops.load %b[%i, %j, %k] : memref<4x32x64xf32> to f32
        %z = loops.load %c[%i, %j, %k] : memref<4x32x64xf32> to f32
        %s = arith.addf %x, %y : f32
        %t = arith.addf %s, %z : f32
        loops.store %t, %o[%i, %j, %k] : f32 to memref<4x32x64xf32>
      }
    }
  }
  func.return
}
func.func @main(%a: memref<4x32x64xf32>, %b: memref<4x32x64xf32>, %c: memref<4x32x64xf32>, %o: memref<4x32x64xf32>)
    attributes {aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.call @k(%a, %b, %c, %o) : memref<4x32x64xf32>, memref<4x32x64xf32>, memref<4x32x64xf32>, memref<4x32x64xf32>
  func.return
}
