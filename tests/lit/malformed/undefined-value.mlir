// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A value that nothing defines.
// CHECK: undefined-value.mlir:[[# @LINE + 4]]:23: error: value %b is used but not defined
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %c = arith.addi %a, %b : i32
  func.return
}
