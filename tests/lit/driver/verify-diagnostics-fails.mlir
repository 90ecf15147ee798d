// RUN: %exits 1 aicc-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s

// What --verify-diagnostics says when diagnostics and comments do not match.

func.func @not_produced() {
  // expected-error@+1 {{something else}}
  func.return
}
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE - 3]]:6: error: expected error "something else" was not produced

// -----

func.func @unexpected(%a: i32) {
  func.return %a : i32
}
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE - 2]]:3: error: unexpected error: 'func.return' op

// -----

func.func @wrong_kind(%a: i32) {
  // expected-warning@+1 {{'func.return' op}}
  func.return %a : i32
}
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE - 2]]:3: error: unexpected error: 'func.return' op
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE - 4]]:6: error: expected warning "'func.return' op" was not produced

// -----

// The message without braces.
// expected-error@+1 'func.return' op
// CHECK: verify-diagnostics-fails.mlir:[[# @LINE - 1]]:4: error: malformed expectation
