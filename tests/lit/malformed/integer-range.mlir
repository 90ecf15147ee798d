// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A constant that does not fit its type.
// CHECK: integer-range.mlir:[[# @LINE + 4]]:8: error: integer value 300 is out of range for type i8 which supports values in the range [-128, 256)
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  %a = arith.constant 300 : i8
  func.return
}
