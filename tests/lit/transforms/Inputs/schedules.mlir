// Schedules for the kernel of loops-load-schedules.mlir, one marked as if the automatic scheduler had made it.
transform.named_sequence @k_schedule(%k: !transform.any_op) attributes {automatic} {
  %r = schedule.loop %k {label = "d0"}
  %o, %i, %rest = schedule.tile %r {sizes = array<i64: 4>, why = "by hand"}
  transform.yield
}
