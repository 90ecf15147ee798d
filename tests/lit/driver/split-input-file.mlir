// RUN: %exits 1 aicc-opt %s --split-input-file 2>&1 | filecheck %s
// RUN: aicc-opt %s --split-input-file --verify-diagnostics | filecheck %s --check-prefix=OUT

// Parts are processed alone: an error in one does not keep the others from being printed.
// CHECK: split-input-file.mlir:[[# @LINE + 9]]:3: error: 'func.return' op

// OUT:      func.func @first
// OUT:      // -----
// OUT-NEXT: builtin.module
// OUT-NEXT: func.func @third
func.func @first() { func.return }
// -----
func.func @second(%a: i32) {
  func.return %a : i32  // expected-error {{got [i32]}}
}
// -----
func.func @third() { func.return }
