// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A tensor type without an element type.
// CHECK: malformed-type.mlir:[[# @LINE + 3]]:28: error: expected 'x' in shape delimiter, got GREATER
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: tensor<4x8>) {
  func.return
}
