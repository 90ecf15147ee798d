// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-pack{kernel=k argument=1 tiles=16 order=0}'

// expected-error@+1 {{pack: kernel @k: has 1 input buffers, there is no input 1}}
func.func private @k(%w: memref<20xf32>, %o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}

// -----

// expected-error@+1 {{pack: kernel @k: input 1 has 2 dimensions, the packing 1}}
func.func private @k(%x: memref<20xf32>, %w: memref<20x8xf32>, %o: memref<20xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}

// -----

// A load outside the argument would read elements that the copy does not have.
// expected-error@+1 {{pack: kernel @k: input 1 is used by loops.load in another way than plain scalar loads}}
func.func private @k(%x: memref<20xf32>, %w: memref<20xf32>, %o: memref<20xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 20 parallel {
    %v = loops.load %w[%i - 1] fill 0.0 : f32 : memref<20xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<20xf32>
  }
  func.return
}

// -----

// expected-error@unknown {{loops-pack: no kernel is named 'k'}}
func.func private @other() {
  func.return
}
