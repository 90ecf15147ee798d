// RUN: aicc-opt %s --verify-diagnostics --split-input-file

// define_size C1
func.func @f(%n: i64) {
  // expected-error@+1 {{value has type i64, expected index}}
  loops.define_size "rows" is %n : i64
  func.return
}

// -----

// check_sizes C1
func.func @f() {
  // expected-error@+1 {{it has 2 and 1 sizes, expected one on each side}}
  loops.check_sizes #graph.shape<4, 4> is #graph.shape<N> text "unlike"
  func.return
}

// -----

// reserve C2
func.func @f() {
  // expected-error@+1 {{key is empty, expected the name of a buffer}}
  %a = loops.reserve "" : memref<4xf32>
  func.return
}

// -----

// exchange C1
func.func @f() {
  // expected-error@+1 {{both buffers are "a", expected two}}
  loops.exchange "a" and "a"
  func.return
}
