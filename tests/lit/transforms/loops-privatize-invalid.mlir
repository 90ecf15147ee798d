// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-privatize{label=i argument=1}'

// expected-error@+1 {{there is no buffer 1: the kernel has 1}}
func.func private @missing(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 8 parallel {
  }
  func.return
}

// -----

// expected-error@+1 {{buffer 1 is no result}}
func.func private @input(%x: memref<8xf32>, %y: memref<8xf32>, %o: memref<8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 8 parallel {
  }
  func.return
}

// -----

// What one iteration writes another one reads.
func.func private @neighbours(%x: memref<8x16xf32>, %o: memref<8x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{its iterations do not each write elements of buffer 1 of their own at last}}
  loops.for "i" %i = 1 to 8 {
    loops.for "a" %j = 0 to 16 parallel {
      %v = loops.load %o[%i - 1, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
    loops.for "c" %j = 0 to 16 parallel {
      %v = loops.load %o[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
  }
  func.return
}

// -----

// The last nest reads elements that it has not written yet, and some that it has.
func.func private @turned(%x: memref<8x16xf32>, %o: memref<8x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{its iterations do not each write elements of buffer 1 of their own at last}}
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "a" %j = 0 to 16 parallel {
      %v = loops.load %x[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
    loops.for "c" %j = 0 to 16 {
      %v = loops.load %o[%i, 15 - %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
  }
  func.return
}

// -----

// The result is read after the loop.
func.func private @after(%x: memref<8x16xf32>, %o: memref<8x16xf32>, %p: memref<8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  // expected-error@+1 {{its iterations do not each write elements of buffer 1 of their own at last}}
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "a" %j = 0 to 16 parallel {
      %v = loops.load %x[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
    loops.for "c" %j = 0 to 16 parallel {
      %v = loops.load %o[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
  }
  loops.for "k" %i = 0 to 8 parallel {
    %v = loops.load %o[%i, 0] : memref<8x16xf32> to f32
    loops.store %v, %p[%i] : f32 to memref<8xf32>
  }
  func.return
}

// -----

func.func private @written_once(%x: memref<8x16xf32>, %o: memref<8x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{nothing that it writes to buffer 1 is read again}}
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "a" %j = 0 to 16 parallel {
      %v = loops.load %x[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
  }
  func.return
}
