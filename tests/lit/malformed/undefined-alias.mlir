// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// An attribute alias that nothing defines.
// CHECK: undefined-alias.mlir:[[# @LINE + 3]]:40: error: undefined symbol alias '#mystery'
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() attributes {a = #mystery} {
  func.return
}
