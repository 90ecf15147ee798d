// RUN: aicc-opt %s -p loops-hoist-allocs{limit=0} --split-input-file --verify-diagnostics

func.func private @unknown_trip_count(%m: memref<1xi64>) attributes {aicc.kernel, aicc.num_outputs = 0 : i64} {
  %v = loops.load %m[0] : memref<1xi64> to i64
  %n = arith.index_cast %v : i64 to index
  loops.for "i" %i = 0 to %n parallel threads {
    // expected-error@+1 {{a buffer of memref<4xf32> stands in the parallel loop 'i', whose number of iterations is not a size; expected bounds made of integers and symbols}}
    %a = loops.alloc : memref<4xf32>
    %zero = arith.constant 0.0 : f32
    loops.store %zero, %a[0] : f32 to memref<4xf32>
  }
  func.return
}

// -----

func.func private @k(%s0: index) attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 0 : i64} {
  %a = loops.alloc : memref<?xf32, #loops.dims<s0>>
  func.return
}
func.func @main(%m: memref<1xi64>) {
  %v = loops.load %m[0] : memref<1xi64> to i64
  %n = arith.index_cast %v : i64 to index
  // expected-error@+1 {{scratch of @k needs the size s0, which the call computes; expected a constant, a symbol or loops.size}}
  loops.call @k(%n) : index
  func.return
}
