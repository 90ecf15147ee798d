// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Two blocks of one name.
// CHECK: redefined-block.mlir:[[# @LINE + 7]]:1: error: block ^bb1 is already defined
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  cf.br ^bb1
^bb1:
  cf.br ^bb1
^bb1:
  func.return
}
