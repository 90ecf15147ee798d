// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A function without a region.
// CHECK: missing-region.mlir:[[# @LINE + 3]]:1: error: 'func.func' op expected 1 region, but got 0
// CHECK-NOT: {{(error|Traceback)}}

"func.func"() <{function_type = () -> (), sym_name = "f"}> : () -> ()
