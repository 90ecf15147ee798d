// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Two functions of one name.
// CHECK: redefined-symbol.mlir:[[# @LINE + 7]]:1: error: 'func.func' op redefines symbol @f
// CHECK: redefined-symbol.mlir:[[# @LINE + 3]]:1: note: first defined here
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  func.return
}
func.func @f() {
  func.return
}
