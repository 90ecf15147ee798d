// RUN: aicc-opt %s -p 'loops-pack{kernel=k argument=0 tiles=0,0,4 order=0,2,1}' | filecheck %s

// How much of the copy is worth a thread goes by its size when the program runs.
// CHECK-LABEL: @k_pack0(
// CHECK:         loops.for "pack_d0" %{{.*}} = 0 to 64 parallel threads attributes {grain = {{[0-9]+}} : i64, work = #graph.shape<512*s0>, part = 32768 : i64} {
func.func private @k(%s0: index, %x: memref<64x?x8xf32, #loops.dims<s0>>, %o: memref<64x?x8xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 64 parallel {
    loops.for "j" %j = 0 to %s0 parallel {
      loops.for "k" %k = 0 to 8 parallel {
        %v = loops.load %x[%i, %j, %k] : memref<64x?x8xf32, #loops.dims<s0>> to f32
        loops.store %v, %o[%i, %j, %k] : f32 to memref<64x?x8xf32, #loops.dims<s0>>
      }
    }
  }
  func.return
}

func.func @main(%n: index, %x: memref<64x?x8xf32, #loops.dims<n>>, %o: memref<64x?x8xf32, #loops.dims<n>>)
    attributes {aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  loops.call @k(%n, %x, %o) : index, memref<64x?x8xf32, #loops.dims<n>>, memref<64x?x8xf32, #loops.dims<n>>
  func.return
}
