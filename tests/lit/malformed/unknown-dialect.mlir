// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A misspelt dialect.
// CHECK: unknown-dialect.mlir:[[# @LINE + 4]]:8: error: unknown op 'artih.addi'; did you mean 'arith.addi'?
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b = artih.addi %a, %a : i32
  func.return
}
