// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A branch to a block that does not exist.
// CHECK: undefined-block.mlir:[[# @LINE + 4]]:9: error: block ^bb9 is not defined
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  cf.br ^bb9
}
