// RUN: aicc-opt %s -p 'func.func(canonicalize),cse' --timing -o %t 2>&1 | filecheck %s

// A tree: the two functions' runs of the nested pass are one row, with the sums of their ops before and after.
// CHECK:      Execution time report
// CHECK:      Total Execution Time:
// CHECK:      7  Parser
// CHECK-NEXT: Verifier
// CHECK-NEXT: 'func.func' Pipeline
// CHECK-NEXT: 6 -> 4 {{ +}}canonicalize
// CHECK-NEXT: 5 -> 5  cse
// CHECK-NEXT: Verifier
// CHECK-NEXT: Output
// CHECK-NEXT: (100.0%) {{ +}}Total
func.func @f() {
  %one = arith.constant 1 : i32
  %r = arith.addi %one, %one : i32
  func.return
}
func.func @g() {
  func.return
}
