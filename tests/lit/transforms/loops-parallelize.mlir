// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-parallelize{label=i grain=4}' | filecheck %s

// CHECK-LABEL: @marked
// CHECK:         loops.for "i" %{{.*}} = 0 to 64 parallel threads attributes {grain = 4 : i64} {
// Independence that can be proved is enough.
// CHECK-LABEL: @proved
// CHECK:         loops.for "i" %{{.*}} = 0 to 64 parallel threads attributes {grain = 4 : i64} {
func.func private @marked(%o: memref<64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 64 parallel {
    loops.store %z, %o[%i] : f32 to memref<64xf32>
  }
  func.return
}
func.func private @proved(%o: memref<64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 64 {
    loops.store %z, %o[%i] : f32 to memref<64xf32>
  }
  func.return
}

// -----

func.func private @recurrence(%o: memref<65xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{parallelize: loop 'i': its iterations depend on each other}}
  loops.for "i" %i = 0 to 64 {
    %v = loops.load %o[%i] : memref<65xf32> to f32
    loops.store %v, %o[%i + 1] : f32 to memref<65xf32>
  }
  func.return
}

// -----

func.func private @carries(%x: memref<64xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{parallelize: loop 'i': carries a value from one iteration to the next}}
  %s = loops.for "i" %i = 0 to 64 iter_args(%a = %z) -> (f32) {
    %v = loops.load %x[%i] : memref<64xf32> to f32
    %r = arith.addf %a, %v fastmath<reassoc> : f32
    loops.yield %r : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

func.func private @nested(%o: memref<8x64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "outer" %t = 0 to 8 parallel threads {
    // expected-error@+1 {{parallelize: loop 'i': loop 'outer' around it runs on threads already}}
    loops.for "i" %i = 0 to 64 parallel {
      loops.store %z, %o[%t, %i] : f32 to memref<8x64xf32>
    }
  }
  func.return
}

// -----

// With one iteration per thread or less the outer loop stays on one thread, and the inner one is shared out.
// CHECK-LABEL: @few
// CHECK:         loops.for "outer" %{{.*}} = 0 to 8 parallel threads attributes {least = 2 : i64} {
// CHECK-NEXT:      loops.for "i" %{{.*}} = 0 to 64 parallel threads attributes {grain = 4 : i64} {
func.func private @few(%o: memref<8x64xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "outer" %t = 0 to 8 parallel threads attributes {least = 2 : i64} {
    loops.for "i" %i = 0 to 64 parallel {
      loops.store %z, %o[%t, %i] : f32 to memref<8x64xf32>
    }
  }
  func.return
}
