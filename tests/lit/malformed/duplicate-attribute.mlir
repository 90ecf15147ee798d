// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// One attribute given twice.
// CHECK: duplicate-attribute.mlir:[[# @LINE + 4]]:31: error: duplicate key 'a' in dictionary attribute
// CHECK-NOT: {{(error|Traceback)}}

"builtin.module"() ({
}) {a = 1 : i32, a = 2 : i32} : () -> ()
