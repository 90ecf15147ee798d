// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-parallelize{label=i,j grain=4}' | filecheck %s

// Two loops are shared out as one sequence of 8 * 64 iterations.
// CHECK-LABEL: @rows
// CHECK:         loops.for "i" %{{.*}} = 0 to 8 parallel threads attributes {grain = 4 : i64, nested = 2 : i64} {
// CHECK-NEXT:      loops.for "j" %{{.*}} = 0 to 64 parallel {
func.func private @rows(%o: memref<8x64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %t = 0 to 8 parallel {
    loops.for "j" %i = 0 to 64 {
      loops.store %z, %o[%t, %i] : f32 to memref<8x64xf32>
    }
  }
  func.return
}

// -----

// Bounds that depend on the loop around: the iterations are no product.
func.func private @triangle(%o: memref<8x64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %t = 0 to 8 parallel {
    // expected-error@+1 {{parallelize: loop 'j': its bounds depend on loop 'i'}}
    loops.for "j" %i = 0 to %t parallel {
      loops.store %z, %o[%t, %i] : f32 to memref<8x64xf32>
    }
  }
  func.return
}
