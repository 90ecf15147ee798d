// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Operands without a comma between them.
// CHECK: missing-comma.mlir:[[# @LINE + 4]]:22: error: expected ','
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b = arith.addi %a %a : i32
  func.return
}
