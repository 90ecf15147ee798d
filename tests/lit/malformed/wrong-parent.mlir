// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A return outside of any function.
// CHECK: wrong-parent.mlir:[[# @LINE + 3]]:1: error: 'func.return' op expects parent op 'func.func'
// CHECK-NOT: {{(error|Traceback)}}

func.return
