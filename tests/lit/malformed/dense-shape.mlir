// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Three values for two elements.
// CHECK: dense-shape.mlir:[[# @LINE + 5]]:3: error: shape mismatch in dense literal. Expected [2] shape from the type, but got [3] shape
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  %a = arith.constant dense<[1, 2, 3]> : tensor<2xi32>
  func.return
}
