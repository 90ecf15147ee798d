// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-prefetch{around=j within=i argument=0}'

func.func private @not_around(%x: memref<8x8xf32>, %o: memref<8x8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{prefetch: loop 'i': is in none of the loops whose next iteration is to be fetched}}
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "j" %j = 0 to 8 parallel {
      %v = loops.load %x[%i, %j] : memref<8x8xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

func.func private @not_read(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %o: memref<8x8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{prefetch: loop 'j': does not read buffer 0}}
  loops.for "j" %j = 0 to 8 parallel {
    loops.for "i" %i = 0 to 8 parallel {
      %v = loops.load %y[%i, %j] : memref<8x8xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

func.func private @several(%x: memref<8x8xf32>, %o: memref<8x8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{prefetch: loop 'j': reads several parts of buffer 0}}
  loops.for "j" %j = 0 to 8 parallel {
    loops.for "i" %i = 0 to 8 parallel {
      %v = loops.load %x[%j, %i] : memref<8x8xf32> to f32
      %w = loops.load %x[%i, %j] : memref<8x8xf32> to f32
      %s = arith.addf %v, %w : f32
      loops.store %s, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

func.func private @open(%n: index, %x: memref<8x?xf32, #loops.dims<n>>, %o: memref<8x?xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["n"]} {
  // expected-error@+1 {{prefetch: loop 'j': reads a part of the input whose size has no known limit}}
  loops.for "j" %j = 0 to 8 parallel {
    loops.for "i" %i = 0 to %n parallel {
      %v = loops.load %x[%j, %i] : memref<8x?xf32, #loops.dims<n>> to f32
      loops.store %v, %o[%j, %i] : f32 to memref<8x?xf32, #loops.dims<n>>
    }
  }
  func.return
}

// -----

func.func private @iterations(%n: index, %x: memref<8x8xf32>, %o: memref<?x8xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["n"]} {
  loops.for "j" %j = 0 to 8 parallel {
    // expected-error@+1 {{prefetch: loop 'i': has no known number of iterations}}
    loops.for "i" %i = 0 to %n parallel {
      %v = loops.load %x[%j, 0] : memref<8x8xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<?x8xf32, #loops.dims<n>>
    }
  }
  func.return
}

// -----

func.func private @too_many(%x: memref<8x4096xf32>, %o: memref<8x4096xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "j" %j = 0 to 8 parallel {
    // expected-error@+1 {{prefetch: loop 'i': would fetch 128 lines in an iteration, at most 64}}
    loops.for "i" %i = 0 to 2 parallel {
      loops.for "c" %c = 0 to 2048 parallel {
        %v = loops.load %x[%j, %i * 2048 + %c] : memref<8x4096xf32> to f32
        loops.store %v, %o[%j, %i * 2048 + %c] : f32 to memref<8x4096xf32>
      }
    }
  }
  func.return
}
