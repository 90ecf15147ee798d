// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// C1
func.func @f(%b: tensor<2x9x4xi32>, %s: tensor<2x3x9xf32>, %t: tensor<i32>) {
  // expected-error@+1 {{boxes has element type i32, expected floats}}
  %0, %1 = graph.non_max_suppression %b, %s, %t {k = [5]} : tensor<2x9x4xi32>, tensor<2x3x9xf32>, tensor<i32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C1
func.func @f(%b: tensor<2x9x5xf32>, %s: tensor<2x3x9xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{boxes and scores have shapes [2, 9, 5] and [2, 3, 9], expected [b, s, 4] and [b, c, s]}}
  %0, %1 = graph.non_max_suppression %b, %s, %t {k = [5]} : tensor<2x9x5xf32>, tensor<2x3x9xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C1
func.func @f(%b: tensor<2x8x4xf32>, %s: tensor<2x3x9xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{boxes of shape [2, 8, 4] and scores of shape [2, 3, 9] differ in the number of batches or boxes}}
  %0, %1 = graph.non_max_suppression %b, %s, %t {k = [5]} : tensor<2x8x4xf32>, tensor<2x3x9xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C2
func.func @f(%b: tensor<2x9x4xf32>, %s: tensor<2x3x9xf32>, %t: tensor<1xf32>) {
  // expected-error@+1 {{overlap has type tensor<1xf32>, expected tensor<f32>}}
  %0, %1 = graph.non_max_suppression %b, %s, %t {k = [5]} : tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<1xf32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C2
func.func @f(%b: tensor<2x9x4xf32>, %s: tensor<2x3x9xf16>, %t: tensor<f32>) {
  // expected-error@+1 {{least has type tensor<f32>, expected tensor<f16>}}
  %0, %1 = graph.non_max_suppression %b, %s, %t least(%t) {k = [5]} : tensor<2x9x4xf32>, tensor<2x3x9xf16>, tensor<f32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C3
func.func @f(%b: tensor<2x9x4xf32>, %s: tensor<2x3x9xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{k is 10, expected 0 to the number 9 of boxes}}
  %0, %1 = graph.non_max_suppression %b, %s, %t {k = [10]} : tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<f32> -> tensor<2x3x10xi64>, tensor<2x3xi64>
  func.return
}
