// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// softmax C1
func.func @f(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.softmax %x {axis = 1} : tensor<2x3xi32> -> tensor<2x3xi32>
  func.return
}

// -----

// softmax C2
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1 for rank 2}}
  %0 = graph.softmax %x {axis = 2} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// log_softmax C1
func.func @f(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.log_softmax %x {axis = 1} : tensor<2x3xi32> -> tensor<2x3xi32>
  func.return
}

// -----

// log_softmax C2
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1 for rank 2}}
  %0 = graph.log_softmax %x {axis = 2} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: rank 0
func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{input has rank 0, expected at least 1}}
  %0 = graph.softmax %x {axis = 0} : tensor<f32> -> tensor<f32>
  func.return
}

// -----

// attention C1
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf16>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{value has element type f16, expected f32 like query}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf16>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C1: mask
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xi8>) {
  // expected-error@+1 {{mask has element type i8, expected f32 like query}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xi8> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C2
func.func @f(%q: tensor<4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{query has rank 1, expected at least 2}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C3
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{last size of the key is 8, expected 4 like that of the query}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x8xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C3: rows
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x7x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{number of rows of the value is 7, expected 5 like the key}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x7x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C4
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<3x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{size 2 does not match size 3, expected equal sizes or 1}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<3x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C4: mask
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x4xf32>) {
  // expected-error@+1 {{mask's size is 4, expected 5 like the scores}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x4xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C5
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{past has 2 entries, expected one size}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0, causal, past = [1, 2]} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// sizes: result type
func.func @f() {
  // expected-error@+1 {{result has type tensor<3xi64>, but tensor<2xi64> is inferred}}
  %0 = graph.sizes {shape = [1, 2]} : tensor<3xi64>
  func.return
}
