// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Two attributes of one alias.
// CHECK: redefined-alias.mlir:[[# @LINE + 4]]:4: error: re-declaration of alias '#a'
// CHECK-NOT: {{(error|Traceback)}}

#a = 1 : i32
#a = 2 : i32
