// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A function that returns another type than it declares.
// CHECK: return-type.mlir:[[# @LINE + 4]]:3: error: 'func.return' op expected arguments to have the same types as the function output types: expected [i32], got [i64]
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i64) -> i32 {
  func.return %a : i64
}
