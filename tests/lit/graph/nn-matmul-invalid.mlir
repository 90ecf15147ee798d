// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// matmul C1
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf64>) {
  // expected-error@+1 {{right operand has element type f64, expected f32 like left operand}}
  %0 = graph.matmul %a, %b : tensor<2x3xf32>, tensor<3x4xf64> -> tensor<2x4xf32>
  func.return
}

// -----

// matmul C2
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{right operand has rank 1, expected at least 2}}
  %0 = graph.matmul %a, %b : tensor<2x3xf32>, tensor<3xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// matmul C3
func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x4xf32>) {
  // expected-error@+1 {{number of rows of the right operand is 4, expected 3 like the columns of the left}}
  %0 = graph.matmul %a, %b : tensor<2x3xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// matmul C3, transposed
func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+1 {{number of rows of the right operand is 4, expected 3 like the columns of the left}}
  %0 = graph.matmul %a, %b {transpose_b} : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// matmul C4
func.func @f(%a: tensor<2x2x3xf32>, %b: tensor<3x3x4xf32>) {
  // expected-error@+1 {{size 2 does not match size 3, expected equal sizes or 1}}
  %0 = graph.matmul %a, %b : tensor<2x2x3xf32>, tensor<3x3x4xf32> -> tensor<2x2x4xf32>
  func.return
}

// -----

// linear C1
func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xi64>) {
  // expected-error@+1 {{bias has element type i64, expected f32 like input}}
  %0 = graph.linear %x, %w bias(%b) : tensor<2x3xf32>, tensor<3x4xf32>, tensor<4xi64> -> tensor<2x4xf32>
  func.return
}

// -----

// linear C2
func.func @f(%x: tensor<2x3xf32>, %w: tensor<1x3x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{weight has rank 3, expected 2}}
  %0 = graph.linear %x, %w bias(%b) : tensor<2x3xf32>, tensor<1x3x4xf32>, tensor<4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// linear C3
func.func @f(%x: tensor<2x3xf32>, %w: tensor<5x4xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{number of the weight's inputs is 5, expected 3 like the last size of the input}}
  %0 = graph.linear %x, %w bias(%b) : tensor<2x3xf32>, tensor<5x4xf32>, tensor<4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// linear C4
func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{bias's size is 3, expected 4 like the result}}
  %0 = graph.linear %x, %w bias(%b) : tensor<2x3xf32>, tensor<3x4xf32>, tensor<3xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// linear C4: rank
func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<1x1x4xf32>) {
  // expected-error@+1 {{bias has rank 3, expected 0 to 2}}
  %0 = graph.linear %x, %w bias(%b) : tensor<2x3xf32>, tensor<3x4xf32>, tensor<1x1x4xf32> -> tensor<2x4xf32>
  func.return
}
