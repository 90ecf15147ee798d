// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A type of no dialect.
// CHECK: unknown-type.mlir:[[# @LINE + 3]]:19: error: unknown type 'mystery.type': no dialect 'mystery'
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: !mystery.type) {
  func.return
}
