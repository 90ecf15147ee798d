// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A comparison without its predicate.
// CHECK: missing-property.mlir:[[# @LINE + 4]]:8: error: 'arith.cmpi' op property 'predicate' expected in operation 'arith.cmpi'
// CHECK-NOT: {{(error|Traceback)}}

func.func @f(%a: i32) {
  %b = "arith.cmpi"(%a, %a) : (i32, i32) -> i1
  func.return
}
