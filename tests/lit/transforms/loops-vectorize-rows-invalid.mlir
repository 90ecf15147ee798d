// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-vectorize{label=r,i}'

func.func private @ordered(%x: memref<4x8xf32>, %o: memref<4xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "r" %r = 0 to 4 parallel {
    // expected-error@+1 {{vectorize: loop 'i': carries a value that is not a free reduction}}
    %s = loops.for "i" %i = 0 to 8 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%r, %i] : memref<4x8xf32> to f32
      %q = arith.addf %a, %v : f32
      loops.yield %q : f32
    }
    loops.store %s, %o[%r] : f32 to memref<4xf32>
  }
  func.return
}

// -----

func.func private @elsewhere(%x: memref<4x8xf32>, %o: memref<4x8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{vectorize: loop 'r': no loop 'i' is perfectly nested in it}}
  loops.for "r" %r = 0 to 4 parallel {
    %v = loops.load %x[%r, 0] : memref<4x8xf32> to f32
    loops.for "i" %i = 0 to 8 parallel {
      loops.store %v, %o[%r, %i] : f32 to memref<4x8xf32>
    }
  }
  func.return
}
