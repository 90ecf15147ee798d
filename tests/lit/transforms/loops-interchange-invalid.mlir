// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-interchange{label=j,i}'

func.func private @depends(%o: memref<8x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    // expected-error@+1 {{interchange: loop 'j': its bounds depend on loop 'i'}}
    loops.for "j" %j = 0 to %i parallel {
      loops.store %z, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

// expected-error@+1 {{interchange: kernel @not_perfect: j, i are not consecutive loops of a perfect nest}}
func.func private @not_perfect(%o: memref<8x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    loops.store %z, %o[%i, 0] : f32 to memref<8x8xf32>
    loops.for "j" %j = 1 to 8 parallel {
      loops.store %z, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

func.func private @wavefront(%o: memref<9x10xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{interchange: loop 'i': its iterations depend on each other}}
  loops.for "i" %i = 0 to 8 {
    loops.for "j" %j = 0 to 8 {
      %v = loops.load %o[%i, %j + 1] : memref<9x10xf32> to f32
      loops.store %v, %o[%i + 1, %j] : f32 to memref<9x10xf32>
    }
  }
  func.return
}

// -----

func.func private @ordered(%x: memref<8x8xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{interchange: loop 'i': carries a value that is not a free reduction}}
  %r = loops.for "i" %i = 0 to 8 iter_args(%a = %z) -> (f32) {
    %s = loops.for "j" %j = 0 to 8 iter_args(%b = %a) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<8x8xf32> to f32
      %u = arith.addf %b, %v : f32
      loops.yield %u : f32
    }
    loops.yield %s : f32
  }
  loops.store %r, %o[0] : f32 to memref<1xf32>
  func.return
}
