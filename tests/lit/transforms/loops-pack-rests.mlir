// RUN: aicc-opt %s -p 'loops-pack{kernel=k argument=0 tiles=0,16,0 order=0,1,2}' | filecheck %s

// Rows left over of an unknown number: the loop over them is outside of one whose iterations are known.
// CHECK-LABEL: @k_pack0(
// CHECK:         vector<16x8xf32>
// CHECK:         loops.for "pack_d1.i.t"
// CHECK-NEXT:      loops.for "pack_d1.i.i" %[[R:.*]] = 0 to {{.*}} mod 8 parallel {
// CHECK-NEXT:        loops.for "pack_d2.i" %[[C:.*]] = 0 to 16 parallel {
// CHECK-NEXT:          loops.load %source[{{.*}}] : memref<4x?x64xf32, #loops.dims<s0>> to f32
// CHECK-NEXT:          loops.store
// CHECK-LABEL: @k(
func.func private @k(%s0: index, %a: memref<4x?x64xf32, #loops.dims<s0>>, %o: memref<4x?x64xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 4 parallel {
    loops.for "j" %j = 0 to %s0 parallel {
      loops.for "k" %k = 0 to 64 parallel {
        %x = loops.load %a[%i, %j, %k] : memref<4x?x64xf32, #loops.dims<s0>> to f32
        loops.store %x, %o[%i, %j, %k] : f32 to memref<4x?x64xf32, #loops.dims<s0>>
      }
    }
  }
  func.return
}
func.func @main(%n: index, %a: memref<4x?x64xf32, #loops.dims<n>>, %o: memref<4x?x64xf32, #loops.dims<n>>)
    attributes {aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  loops.call @k(%n, %a, %o) : index, memref<4x?x64xf32, #loops.dims<n>>, memref<4x?x64xf32, #loops.dims<n>>
  func.return
}
