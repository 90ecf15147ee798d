// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A value from a block that does not dominate its use.
// CHECK: use-across-branches.mlir:[[# @LINE + 10]]:3: error: 'func.return' op operand %b does not dominate this use
// CHECK: use-across-branches.mlir:[[# @LINE + 6]]:8: note: defined here
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%p: i1, %a: i32) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %b = arith.addi %a, %a : i32
  cf.br ^bb2
^bb2:
  func.return %b : i32
}
