// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-read-ahead{kernel=k argument=1 elements=16}'

// expected-error@+1 {{read_ahead: kernel @k: there is no buffer 1: the kernel has 1}}
func.func private @k(%o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}

// -----

// expected-error@+1 {{read_ahead: kernel @k: nothing is loaded from buffer 1 in a loop}}
func.func private @k(%x: memref<20xf32>, %o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}

// -----

// expected-error@unknown {{loops-read-ahead: no kernel is named 'k'}}
func.func private @other() {
  func.return
}
