// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A branch without the argument that its block takes.
// CHECK: branch-operands.mlir:[[# @LINE + 4]]:3: error: 'cf.br' op passes (), expected (i32)
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  cf.br ^bb1
^bb1(%a: i32):
  func.return
}
