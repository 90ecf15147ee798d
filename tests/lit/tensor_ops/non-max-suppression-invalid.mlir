// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// C1
func.func @f(%k: tensor<2x3x9xf32>, %b: tensor<2x9x4xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{keys and boxes have types tensor<2x3x9xf32> and tensor<2x9x4xf32>, expected i32 or i64, and f32 or f64}}
  %0, %1 = tensor_ops.non_max_suppression %k of %b, %t count #graph.shape<5> : tensor<2x3x9xf32>, tensor<2x9x4xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C1
func.func @f(%k: tensor<2x3x9xi32>, %b: tensor<2x8x4xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{keys and boxes have shapes [2, 3, 9] and [2, 8, 4], expected [b, c, s] and [b, s, 4]}}
  %0, %1 = tensor_ops.non_max_suppression %k of %b, %t count #graph.shape<5> : tensor<2x3x9xi32>, tensor<2x8x4xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C2
func.func @f(%k: tensor<2x3x9xi32>, %b: tensor<2x9x4xf32>, %t: tensor<f64>) {
  // expected-error@+1 {{overlap has type tensor<f64>, expected tensor<f32>}}
  %0, %1 = tensor_ops.non_max_suppression %k of %b, %t count #graph.shape<5> : tensor<2x3x9xi32>, tensor<2x9x4xf32>, tensor<f64> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C3
func.func @f(%k: tensor<2x3x9xi32>, %b: tensor<2x9x4xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{count has 2 sizes, expected one}}
  %0, %1 = tensor_ops.non_max_suppression %k of %b, %t count #graph.shape<5, 5> : tensor<2x3x9xi32>, tensor<2x9x4xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  func.return
}

// -----

// C4
func.func @f(%k: tensor<2x3x9xi32>, %b: tensor<2x9x4xf32>, %t: tensor<f32>) {
  // expected-error@+1 {{results have types tensor<2x3x4xi64> and tensor<2x3xi64>, expected tensor<2x3x5xi64> and tensor<2x3xi64>}}
  %0, %1 = tensor_ops.non_max_suppression %k of %b, %t count #graph.shape<5> : tensor<2x3x9xi32>, tensor<2x9x4xf32>, tensor<f32> -> tensor<2x3x4xi64>, tensor<2x3xi64>
  func.return
}
