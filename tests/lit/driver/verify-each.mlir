// RUN: %exits 1 aicc-opt %s --verify-each 2>&1 | filecheck %s
// RUN: aicc-opt %s --verify-each=false | filecheck %s --check-prefix=OFF

// The input is verified unless that is turned off.
// CHECK: verify-each.mlir:[[# @LINE + 3]]:3: error: 'func.return' op
// OFF: func.return %a : i32
func.func @f(%a: i32) {
  func.return %a : i32
}
