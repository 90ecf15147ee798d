// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-vectorize{label=i}'

func.func private @no_limit(%n: index, %o: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{vectorize: loop 'i': has no limit on its number of iterations; tile it first}}
  loops.for "i" %i = 0 to %n parallel {
    loops.store %z, %o[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}

// -----

func.func private @too_many(%o: memref<10000xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{vectorize: loop 'i': would make vectors of 10000 lanes, more than 4096}}
  loops.for "i" %i = 0 to 10000 parallel {
    loops.store %z, %o[%i] : f32 to memref<10000xf32>
  }
  func.return
}

// -----

func.func private @carried(%o: memref<9xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{vectorize: loop 'i': its iterations depend on each other}}
  loops.for "i" %i = 0 to 8 {
    %v = loops.load %o[%i] : memref<9xf32> to f32
    loops.store %v, %o[%i + 1] : f32 to memref<9xf32>
  }
  func.return
}

// -----

func.func private @ordered_sum(%x: memref<8xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{vectorize: loop 'i': carries a value that is not a free reduction}}
  %s = loops.for "i" %i = 0 to 8 iter_args(%a = %z) -> (f32) {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    %r = arith.addf %a, %v : f32
    loops.yield %r : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

func.func private @gather(%x: memref<8xf32>, %p: memref<8xindex>, %o: memref<8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{vectorize: loop 'i': loops.load inside has an index that is not affine in the loop variable}}
  loops.for "i" %i = 0 to 8 parallel {
    %j = loops.load %p[%i] : memref<8xindex> to index
    %v = loops.load %x[%j] : memref<8xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}

// -----

func.func private @one_place(%x: memref<8xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{vectorize: loop 'i': all its iterations store to the same element}}
  loops.for "i" %i = 0 to 8 parallel {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    loops.store %v, %o[0] : f32 to memref<1xf32>
  }
  func.return
}

// -----

func.func private @bounds_vary(%x: memref<8x8xf32>, %o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    // expected-error@+1 {{vectorize: loop 'k': its bounds vary along loop 'i'}}
    %s = loops.for "k" %k = 0 to %i iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<8x8xf32> to f32
      %r = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %r : f32
    }
    loops.store %s, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}

// -----

func.func private @control_flow(%c: i1, %o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{vectorize: loop 'i': scf.if inside has no vector form}}
  loops.for "i" %i = 0 to 8 parallel {
    scf.if %c {
      loops.store %z, %o[%i] : f32 to memref<8xf32>
    }
  }
  func.return
}
