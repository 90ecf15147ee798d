// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// Two names for one result.
// CHECK: result-count.mlir:[[# @LINE + 4]]:3: error: operation has 1 results, but was given 2 to bind
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b:2 = arith.addi %a, %a : i32
  func.return
}
