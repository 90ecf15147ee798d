// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-vectorize{label=r lanes=i}'

// Rows of a number that is not known cannot be at once.
func.func private @any_rows(%n: index, %x: memref<?x8xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  %c = arith.constant 1.0 : f32
  // expected-error@+1 {{vectorize: loop 'r': has no limit on its number of iterations; tile it first}}
  loops.for "r" %r = 0 to %n parallel {
    loops.for "i" %i = 0 to 8 parallel {
      loops.store %c, %x[%r, %i] : f32 to memref<?x8xf32, #loops.dims<n>>
    }
  }
  func.return
}

// -----

// A buffer of more than one element belongs to one row: it is no value, and rows cannot share it.
func.func private @scratch(%x: memref<4x8xf32>, %o: memref<4x8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{vectorize: loop 'r': all its iterations store to the same element}}
  loops.for "r" %r = 0 to 4 parallel {
    %t = loops.alloc : memref<8xf32>
    loops.for "i" %i = 0 to 8 parallel {
      %v = loops.load %x[%r, %i] : memref<4x8xf32> to f32
      loops.store %v, %t[%i] : f32 to memref<8xf32>
    }
    loops.for "k" %k = 0 to 8 parallel {
      %v = loops.load %t[7 - %k] : memref<8xf32> to f32
      loops.store %v, %o[%r, %k] : f32 to memref<4x8xf32>
    }
  }
  func.return
}

// -----

// Bounds that differ between rows.
func.func private @triangle(%x: memref<4x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %c = arith.constant 1.0 : f32
  loops.for "r" %r = 0 to 4 parallel {
    // expected-error@+1 {{vectorize: loop 'k': its bounds vary along loop 'r'}}
    loops.for "k" %k = 0 to %r parallel {
      loops.for "i" %i = 0 to 8 parallel {
        loops.store %c, %x[%k, %i] : f32 to memref<4x8xf32>
      }
    }
  }
  func.return
}
