// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{keys have type tensor<4xf32>, expected i32 or i64 of rank 1 or more}}
  %0 = tensor_ops.top_k %x count #graph.shape<2> : tensor<4xf32> -> tensor<2xi64>
  func.return
}

// -----

// C2
func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{count has 2 sizes, expected one}}
  %0 = tensor_ops.top_k %x count #graph.shape<2, 2> : tensor<4xi32> -> tensor<2xi64>
  func.return
}

// -----

// C3
func.func @f(%x: tensor<4xi32>) {
  // expected-error@+1 {{result has type tensor<3xi64>, expected tensor<2xi64>}}
  %0 = tensor_ops.top_k %x count #graph.shape<2> : tensor<4xi32> -> tensor<3xi64>
  func.return
}
