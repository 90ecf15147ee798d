// RUN: aicc-opt %s -p 'loops-pack{kernel=k argument=0 tiles=16,0 order=0,1}' | filecheck %s
// RUN: %exits 1 aicc-opt %s -p 'loops-pack{kernel=other argument=0 tiles=16,0 order=0,1}' 2>&1 | filecheck %s --check-prefix=OTHER

// What is packed is the view, whose rows callers see by their own names of sizes.
// CHECK-LABEL: @k_pack0(
// CHECK-SAME:    %source: memref<?x3xi32, #loops.dims<s0>>, %packed: memref<?x3x16xi32, #loops.dims<floordiv(s0+15,16)>>)
// CHECK-LABEL: @k(
// CHECK-SAME:    %w: memref<?x3x16xi32, #loops.dims<floordiv(s0+15,16)>>
// CHECK-LABEL: @main
// CHECK:         %[[V:.*]] = loops.view %w : memref<?x6xi16, #loops.dims<N>> to memref<?x3xi32, #loops.dims<N>>
// CHECK-NEXT:    %[[P:.*]] = loops.alloc : memref<?x3x16xi32, #loops.dims<floordiv(N+15,16)>>
// CHECK-NEXT:    loops.call @k_pack0(%N, %[[V]], %[[P]])
// CHECK-NEXT:    loops.call @k(%N, %[[P]], %o)
func.func private @k(%s0: index, %w: memref<?x6xi16, #loops.dims<s0>>, %o: memref<?x3xi32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %u = loops.view %w : memref<?x6xi16, #loops.dims<s0>> to memref<?x3xi32, #loops.dims<s0>>
  loops.for "i" %i = 0 to %s0 parallel {
    loops.for "j" %j = 0 to 3 parallel {
      %v = loops.load %u[%i, %j] : memref<?x3xi32, #loops.dims<s0>> to i32
      loops.store %v, %o[%i, %j] : i32 to memref<?x3xi32, #loops.dims<s0>>
    }
  }
  func.return
}

// A view of other rows of unknown number is none that callers can tell the size of.
// OTHER: error: {{.*}}used by loops.view in another way than plain scalar loads
func.func private @other(%s0: index, %w: memref<?x6xi16, #loops.dims<s0>>, %o: memref<?x2xi16, #loops.dims<3*s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %u = loops.view %w : memref<?x6xi16, #loops.dims<s0>> to memref<?x2xi16, #loops.dims<3*s0>>
  loops.for "i" %i = 0 to %s0 parallel {
    loops.for "j" %j = 0 to 2 parallel {
      %v = loops.load %u[%i, %j] : memref<?x2xi16, #loops.dims<3*s0>> to i16
      loops.store %v, %o[%i, %j] : i16 to memref<?x2xi16, #loops.dims<3*s0>>
    }
  }
  func.return
}
func.func @main(%N: index, %w: memref<?x6xi16, #loops.dims<N>>, %o: memref<?x3xi32, #loops.dims<N>>, %q: memref<?x2xi16, #loops.dims<3*N>>) attributes {aicc.symbols = ["N"], aicc.num_outputs = 2 : i64} {
  loops.call @k(%N, %w, %o) : index, memref<?x6xi16, #loops.dims<N>>, memref<?x3xi32, #loops.dims<N>>
  loops.call @other(%N, %w, %q) : index, memref<?x6xi16, #loops.dims<N>>, memref<?x2xi16, #loops.dims<3*N>>
  func.return
}
