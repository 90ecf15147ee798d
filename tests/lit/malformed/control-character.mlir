// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A control character, as binary files have.
// CHECK: control-character.mlir:[[# @LINE + 3]]: error: control character 0x01 in the input, expected textual IR
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  func.return
}
