// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A string that is not closed.
// CHECK: unclosed-string.mlir:[[# @LINE + 3]]:1: error: end of file reached before closing string literal
// CHECK-NOT: {{(error|Traceback)}}

"builtin.module
