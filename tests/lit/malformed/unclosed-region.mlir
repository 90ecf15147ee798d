// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// The file ends inside a region.
// CHECK: unclosed-region.mlir:[[# @LINE + 5]]:1: error: expected an operation, a block or '}', found the end of the text
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  func.return
