// RUN: aicc-opt %s -p "loops-fuse{first=a second=b}" --split-input-file --verify-diagnostics

// The second loop needs what a later iteration of the first one stores.
func.func private @later(%t: memref<10xf32>, %y: memref<10xf32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "a" %i = 0 to 9 parallel {
    loops.store %zero, %t[%i] : f32 to memref<10xf32>
  }
  // expected-error@+1 {{fuse: loop 'b': 'loops.load' of %t may need what 'loops.store' of %t does in a later iteration}}
  loops.for "b" %i = 0 to 9 parallel {
    %v = loops.load %t[%i + 1] : memref<10xf32> to f32
    loops.store %v, %y[%i] : f32 to memref<10xf32>
  }
  func.return
}

// -----

func.func private @other_bounds(%y: memref<10xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "a" %i = 0 to 9 parallel {
  }
  // expected-error@+1 {{fuse: loop 'b': does not run over the same indices as loop 'a'}}
  loops.for "b" %i = 0 to 9 step 2 parallel {
  }
  func.return
}

// -----

func.func private @needs_the_sum(%x: memref<10xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %r = loops.for "a" %i = 0 to 9 iter_args(%acc = %zero) -> (f32) {
    %v = loops.load %x[%i] : memref<10xf32> to f32
    %s = arith.addf %acc, %v : f32
    loops.yield %s : f32
  }
  %m = arith.negf %r : f32
  // expected-error@+1 {{fuse: loop 'b': needs results of loop 'a'}}
  loops.for "b" %i = 0 to 9 parallel {
    loops.store %m, %x[%i] : f32 to memref<10xf32>
  }
  func.return
}

// -----

// A copy is a barrier.
func.func private @between(%x: memref<10xf32>, %y: memref<10xf32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "a" %i = 0 to 10 parallel {
    loops.store %zero, %x[%i] : f32 to memref<10xf32>
  }
  loops.copy %x to %y : memref<10xf32> to memref<10xf32>
  // expected-error@+1 {{fuse: loop 'b': 'loops.copy' stands between it and loop 'a'}}
  loops.for "b" %i = 0 to 10 parallel {
    loops.store %zero, %x[%i] : f32 to memref<10xf32>
  }
  func.return
}

// -----

func.func private @nested() attributes {aicc.kernel, aicc.num_outputs = 0 : i64} {
  loops.for "a" %i = 0 to 10 parallel {
    // expected-error@+1 {{fuse: loop 'b': does not stand after loop 'a' in one block}}
    loops.for "b" %j = 0 to 10 parallel {
    }
  }
  func.return
}
