// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Text after the module.
// CHECK: stray-text.mlir:[[# @LINE + 6]]:1: error: expected an operation, found '}'
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  func.return
}
}
