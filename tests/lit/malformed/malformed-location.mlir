// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A location that is not closed.
// CHECK: malformed-location.mlir:[[# @LINE + 5]]:1: error: expected ':'
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  func.return loc("a":1
}
