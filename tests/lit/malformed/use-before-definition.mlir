// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A value that is used above its definition.
// CHECK: use-before-definition.mlir:[[# @LINE + 5]]:8: error: 'arith.addi' op operand %b does not dominate this use
// CHECK: use-before-definition.mlir:[[# @LINE + 5]]:8: note: defined here
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %c = arith.addi %a, %b : i32
  %b = arith.addi %a, %a : i32
  func.return
}
