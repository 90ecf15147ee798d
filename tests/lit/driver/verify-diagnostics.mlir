// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// The kinds of comment that a diagnostic can be expected by.

func.func @same_line(%a: i32) {
  func.return %a : i32 // expected-error {{expected arguments to have the same types}}
}

// -----

func.func @next_line(%a: i32) {
  // expected-error@+1 {{expected [], got [i32]}}
  func.return %a : i32
}

// -----

func.func @previous_line(%a: i32) {
  func.return %a : i32
  // expected-error@-1 {{'func.return' op}}
}

// -----

func.func @above_and_below(%a: i32) {
  // expected-error@below {{operand %b does not dominate this use}}
  %c = arith.addi %b, %b : i32

  %b = arith.addi %a, %a : i32
  // A note may be expected and need not be.
  // expected-note@above {{defined here}}
  func.return
}

// -----

func.func @regular_expression(%a: i32) {
  // expected-error-re@+1 {{expected {{\[.*\]}}, got [i{{[0-9]+}}]}}
  func.return %a : i32
}

// -----

// expected-error@+2 {{unknown op 'func.fnc'; did you mean 'func.func'?}}

func.fnc @parse_error()
