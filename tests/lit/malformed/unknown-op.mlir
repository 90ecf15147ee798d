// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A misspelt op names the nearest known one.
// CHECK: unknown-op.mlir:[[# @LINE + 4]]:8: error: unknown op 'arith.adi'; did you mean 'arith.andi'?
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b = arith.adi %a, %a : i32
  func.return
}
