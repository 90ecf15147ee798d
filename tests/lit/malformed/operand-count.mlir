// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// An op in generic form with an operand too few.
// CHECK: operand-count.mlir:[[# @LINE + 4]]:8: error: 'arith.addi' op expected 2 operands, but got 1
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b = "arith.addi"(%a) : (i32) -> i32
  func.return
}
