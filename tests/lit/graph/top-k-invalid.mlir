// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// top_k C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis is 1, expected 0 to 0 for rank 1}}
  %0, %1 = graph.top_k %x {k = [2], axis = 1} : tensor<4xf32> -> tensor<2xf32>, tensor<2xi64>
  func.return
}

// -----

// top_k C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{k is 5, expected 0 to the size 4 of axis 0}}
  %0, %1 = graph.top_k %x {k = [5], axis = 0} : tensor<4xf32> -> tensor<5xf32>, tensor<5xi64>
  func.return
}
