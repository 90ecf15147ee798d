// RUN: aicc-opt %s --split-input-file -p 'loops-unroll{label=i factor=3}' | filecheck %s

// A known remainder is unrolled as well.
// CHECK-LABEL: @known
// CHECK:         loops.for "i.o" %[[O:.*]] = 0 to 2 parallel {
// CHECK-NEXT:      loops.store %z, %o[%[[O]] * 3]
// CHECK-NEXT:      loops.store %z, %o[%[[O]] * 3 + 1]
// CHECK-NEXT:      loops.store %z, %o[%[[O]] * 3 + 2]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.store %z, %o[6]
// CHECK-NEXT:    loops.store %z, %o[7]
// CHECK-NEXT:    func.return
func.func private @known(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    loops.store %z, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}

// -----

// A short loop disappears; carried values go from copy to copy.
// CHECK-LABEL: @short
// CHECK:         %[[X:.*]] = loops.load %x[0]
// CHECK-NEXT:    %[[A:.*]] = arith.addf %z, %[[X]] : f32
// CHECK-NEXT:    %[[Y:.*]] = loops.load %x[1]
// CHECK-NEXT:    %[[B:.*]] = arith.addf %[[A]], %[[Y]] : f32
// CHECK-NEXT:    loops.store %[[B]], %o[0]
func.func private @short(%x: memref<2xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %s = loops.for "i" %i = 0 to 2 iter_args(%a = %z) -> (f32) {
    %v = loops.load %x[%i] : memref<2xf32> to f32
    %r = arith.addf %a, %v : f32
    loops.yield %r : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

// A remainder that is not known stays a loop.
// CHECK-LABEL: @symbolic
// CHECK:         loops.for "i.o" %{{.*}} = 0 to %n floordiv 3 parallel {
// CHECK:         loops.for "i.t" %{{.*}} = %n floordiv 3 to (%n + 2) floordiv 3 parallel {
// CHECK-NEXT:      loops.for "i.i" %{{.*}} = 0 to %n mod 3 parallel {
func.func private @symbolic(%n: index, %o: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %n parallel {
    loops.store %z, %o[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}
