// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// An op of a dialect that does not exist, in generic form.
// CHECK: unregistered-op.mlir:[[# @LINE + 3]]:1: error: unknown op 'mystery.op': no dialect 'mystery'
// CHECK-NOT: {{(error|Traceback)}}

"mystery.op"() : () -> ()
