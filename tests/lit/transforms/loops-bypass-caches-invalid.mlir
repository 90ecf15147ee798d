// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-bypass-caches{kernel=k argument=1}'

// expected-error@+1 {{bypass_caches: kernel @k: there is no buffer 1: the kernel has 1}}
func.func private @k(%o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}

// -----

// expected-error@+1 {{bypass_caches: kernel @k: nothing is stored to buffer 1}}
func.func private @k(%x: memref<20xf32>, %o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}

// -----

// expected-error@unknown {{loops-bypass-caches: no kernel is named 'k'}}
func.func private @other() {
  func.return
}
