// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// One name for two values.
// CHECK: redefined-value.mlir:[[# @LINE + 4]]:3: error: SSA value %a is already defined
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %a = arith.constant 1 : i32
  func.return
}
