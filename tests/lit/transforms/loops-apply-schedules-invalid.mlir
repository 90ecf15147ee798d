// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p loops-apply-schedules

// expected-error@+1 {{a schedule for the kernel @k, which does not exist}}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  transform.yield
}

// -----

func.func private @k(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to 8 parallel {
    loops.store %z, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  // expected-error@+1 {{no loop is labelled 'd1'; there are d0}}
  %r = schedule.loop %k {label = "d1"}
  transform.yield
}

// -----

// The loop of a handle is gone after it was tiled.
func.func private @k(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to 8 parallel {
    loops.store %z, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  %o, %i, %t = schedule.tile %r {sizes = array<i64: 4>}
  // expected-error@+1 {{the loop 'd0' that the handle stood for has been replaced by an earlier step}}
  schedule.parallelize %r
  transform.yield
}

// -----

// The step, the loop and the reason, at the step.
func.func private @k(%n: index, %o: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to %n parallel {
    loops.store %z, %o[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  // expected-error@+1 {{vectorize: loop 'd0': has no limit on its number of iterations; tile it first}}
  schedule.vectorize %r
  transform.yield
}

// -----

func.func private @k(%o: memref<8x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to 8 parallel {
    loops.for "d1" %j = 0 to 8 parallel {
      loops.store %z, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  // expected-error@+1 {{the handle stands for the kernel, expected loops}}
  schedule.parallelize %k
  transform.yield
}

// -----

func.func private @k(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  func.return
}
// expected-error@+1 {{@other has steps of a schedule, expected it to be named for a kernel: @<kernel>_schedule}}
transform.named_sequence @other(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  transform.yield
}

// -----

func.func private @k(%s0: index, %o: memref<?xf32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to %s0 parallel {
    loops.store %z, %o[%i] : f32 to memref<?xf32>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  // expected-error@+1 {{work names 's1', expected sizes of the kernel: s0}}
  schedule.parallelize %r {part = 5 : i64, work = #graph.shape<s0*s1>}
  transform.yield
}

// -----

func.func private @k(%o: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to 8 parallel {
    loops.store %z, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  // expected-error@+1 {{work names 's0', expected sizes of the kernel: it has none}}
  schedule.parallelize %r {part = 5 : i64, work = #graph.shape<s0>}
  transform.yield
}

// -----

func.func private @k(%s0: index, %o: memref<?xf32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to %s0 parallel {
    loops.store %z, %o[%i] : f32 to memref<?xf32>
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  // expected-error@+1 {{work is #graph.shape<s0, 2>, expected one size: #graph.shape<...>}}
  schedule.parallelize %r {part = 5 : i64, work = #graph.shape<s0, 2>}
  transform.yield
}
