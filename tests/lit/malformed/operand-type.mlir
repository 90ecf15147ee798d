// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A value used at another type than its own.
// CHECK: operand-type.mlir:[[# @LINE + 4]]:19: error: operand is used with type i32, but has been previously used or defined with type i64
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i64) {
  %c = arith.addi %a, %a : i32
  func.return
}
