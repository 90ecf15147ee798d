transform.named_sequence @k_schedule(%k: !transform.any_op) attributes {automatic} {
  %r = schedule.loop %k {label = "d9"}
  transform.yield
}
