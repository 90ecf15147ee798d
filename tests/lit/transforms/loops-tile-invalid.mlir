// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-tile{label=i,j size=4,4}'

func.func private @not_perfect(%o: memref<8x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{tile: loop 'i': no loop 'j' is perfectly nested in it}}
  loops.for "i" %i = 0 to 8 parallel {
    loops.store %z, %o[%i, 0] : f32 to memref<8x8xf32>
    loops.for "j" %j = 1 to 8 parallel {
      loops.store %z, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

func.func private @triangle(%o: memref<8x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    // expected-error@+1 {{tile: loop 'j': its bounds depend on loop 'i'}}
    loops.for "j" %j = 0 to %i parallel {
      loops.store %z, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

func.func private @ordered(%x: memref<8x8xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{tile: loop 'i': carries a value that is not a free reduction (one associative op, floats with reassoc)}}
  %s = loops.for "i" %i = 0 to 8 iter_args(%a = %z) -> (f32) {
    %t = loops.for "j" %j = 0 to 8 iter_args(%b = %a) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<8x8xf32> to f32
      %r = arith.addf %b, %v : f32
      loops.yield %r : f32
    }
    loops.yield %t : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

func.func private @shifted(%o: memref<10x9xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{tile: loop 'i': its iterations depend on each other}}
  loops.for "i" %i = 0 to 8 {
    loops.for "j" %j = 0 to 8 {
      %v = loops.load %o[%i, %j + 1] : memref<10x9xf32> to f32
      loops.store %v, %o[%i + 1, %j] : f32 to memref<10x9xf32>
    }
  }
  func.return
}

// -----

// expected-error@unknown {{loops-tile: no loop is labelled 'i'; there are 'a'}}
func.func private @other_label(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "a" %i = 0 to 8 parallel {
    loops.store %z, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}
