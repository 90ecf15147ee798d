transform.named_sequence @kk_schedule(%k: !transform.any_op) {
  transform.yield
}
