// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// Every step of the dialect.
// CHECK-LABEL: transform.named_sequence @k_schedule(%k: !transform.any_op)
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  // CHECK-NEXT: schedule.pack %k {argument = 1 : i64, tiles = array<i64: 16, 0>, order = array<i64: 0, 1>}
  schedule.pack %k {argument = 1 : i64, tiles = array<i64: 16, 0>, order = array<i64: 0, 1>}
  // CHECK-NEXT: %r = schedule.loop %k {label = "s0_d0"}
  %r = schedule.loop %k {label = "s0_d0"}
  // CHECK-NEXT: %c = schedule.loop %k {label = "s0_d1"}
  %c = schedule.loop %k {label = "s0_d1"}
  // CHECK-NEXT: %f = schedule.fuse %r, %c
  %f = schedule.fuse %r, %c
  // CHECK-NEXT: %l = schedule.collapse %f, %c
  %l = schedule.collapse %f, %c
  // CHECK-NEXT: %g, %h = schedule.split %c {size = 68 : i64}
  %g, %h = schedule.split %c {size = 68 : i64}
  // CHECK-NEXT: %kb, %rest = schedule.split_reduction %h, %g {size = 256 : i64, mask}
  %kb, %rest = schedule.split_reduction %h, %g {size = 256 : i64, mask}
  // CHECK-NEXT: %p, %pc = schedule.partial_results %h {size = 64 : i64}
  %p, %pc = schedule.partial_results %h {size = 64 : i64}
  // CHECK-NEXT: schedule.stage %kb {argument = 1 : i64, tiles = array<i64: 0, 16>, order = array<i64: 1, 0>}
  schedule.stage %kb {argument = 1 : i64, tiles = array<i64: 0, 16>, order = array<i64: 1, 0>}
  // CHECK-NEXT: %o0, %o1, %i0, %i1, %t = schedule.tile %l, %c {sizes = array<i64: 6, 16>, tails = ["peel", "mask"]}
  %o0, %o1, %i0, %i1, %t = schedule.tile %l, %c {sizes = array<i64: 6, 16>, tails = ["peel", "mask"]}
  // CHECK-NEXT: %b, %bi, %bt = schedule.tile %o0 {sizes = array<i64: 4>}
  %b, %bi, %bt = schedule.tile %o0 {sizes = array<i64: 4>}
  // CHECK-NEXT: %x, %y = schedule.interchange %b, %o1 {order = array<i64: 1, 0>}
  %x, %y = schedule.interchange %b, %o1 {order = array<i64: 1, 0>}
  // CHECK-NEXT: %m = schedule.select %x {positions = array<i64: 0>}
  %m = schedule.select %x {positions = array<i64: 0>}
  // CHECK-NEXT: schedule.vectorize %i0, %i1
  schedule.vectorize %i0, %i1
  // CHECK-NEXT: %{{.*}}, %{{.*}}, %{{.*}} = schedule.tile_some %i0 {size = 4 : i64, most = #graph.shape<n>}
  %so, %si, %st = schedule.tile_some %i0 {size = 4 : i64, most = #graph.shape<n>}
  // CHECK-NEXT: schedule.vectorize_rows %i0, %i1, %i0
  schedule.vectorize_rows %i0, %i1, %i0
  // CHECK-NEXT: schedule.unroll %bi {factor = 4 : i64}
  schedule.unroll %bi {factor = 4 : i64}
  // CHECK-NEXT: schedule.parallelize %m {grain = 2 : i64}
  schedule.parallelize %m {grain = 2 : i64}
  // CHECK-NEXT: schedule.parallelize %m {least = 2 : i64}
  schedule.parallelize %m {least = 2 : i64}
  // CHECK-NEXT: schedule.parallelize %m {part = 5 : i64, work = #graph.shape<s0*s1>}
  schedule.parallelize %m {part = 5 : i64, work = #graph.shape<s0*s1>}
  // CHECK-NEXT: schedule.parallelize %m {within}
  schedule.parallelize %m {within}
  // CHECK-NEXT: schedule.bypass_caches %k {argument = 1 : i64}
  schedule.bypass_caches %k {argument = 1 : i64}
  // CHECK-NEXT: schedule.privatize %m {argument = 1 : i64}
  schedule.privatize %m {argument = 1 : i64}
  // CHECK-NEXT: schedule.read_ahead %k {argument = 0 : i64, elements = 4096 : i64}
  schedule.read_ahead %k {argument = 0 : i64, elements = 4096 : i64}
  // CHECK-NEXT: schedule.prefetch %x, %y {argument = 0 : i64, line = 64 : i64, locality = 2 : i64, why = "short rows"}
  schedule.prefetch %x, %y {argument = 0 : i64, line = 64 : i64, locality = 2 : i64, why = "short rows"}
  // CHECK-NEXT: schedule.parallelize %y {why = "enough work"}
  schedule.parallelize %y {why = "enough work"}
  // CHECK-NEXT: transform.yield
  transform.yield
}
