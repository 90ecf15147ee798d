// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// A call to a function that does not exist.
// CHECK: undefined-symbol.mlir:[[# @LINE + 4]]:3: error: 'func.call' op '@g' could not be found in symbol table
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() {
  func.call @g() : () -> ()
  func.return
}
