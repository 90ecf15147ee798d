// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A function that does not return.
// CHECK: missing-terminator.mlir:[[# @LINE + 4]]:8: error: 'arith.addi' op terminates block in single-block region but is not a terminator
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b = arith.addi %a, %a : i32
}
