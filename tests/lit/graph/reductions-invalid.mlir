// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// reductions C1: bounds
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{one of the axes is 3, expected 0 to 2 for rank 3}}
  %0 = graph.reduce_sum %x {axes = [3]} : tensor<2x3x4xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// reductions C1: order
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes are [1, 0], expected them ascending and each only once}}
  %0 = graph.reduce_sum %x {axes = [1, 0]} : tensor<2x3x4xf32> -> tensor<4xf32>
  func.return
}

// -----

// reductions C2
func.func @f(%x: tensor<2xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.reduce_l2 %x {axes = [0]} : tensor<2xi32> -> tensor<i32>
  func.return
}

// -----

// reductions: keepdims
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{result has type tensor<2x4xf32>, but tensor<2x1x4xf32> is inferred}}
  %0 = graph.reduce_sum %x {axes = [1], keepdims} : tensor<2x3x4xf32> -> tensor<2x4xf32>
  func.return
}

// -----

// arg_max C1
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axis is 3, expected 0 to 2 for rank 3}}
  %0 = graph.arg_max %x {axis = 3} : tensor<2x3x4xf32> -> tensor<2x3xi64>
  func.return
}

// -----

// arg_max C2
func.func @f(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{axis 1 has size 0, expected at least one element to choose from}}
  %0 = graph.arg_max %x {axis = 1} : tensor<2x0xf32> -> tensor<2xi64>
  func.return
}

// -----

// arg_max C3
func.func @f(%x: tensor<2xi1>) {
  // expected-error@+1 {{input has element type i1, expected floats or signed integers or unsigned integers}}
  %0 = graph.arg_max %x {axis = 0} : tensor<2xi1> -> tensor<i64>
  func.return
}

// -----

// cumsum C1
func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{axis is 0, but the operand has rank 0}}
  %0 = graph.cumsum %x {axis = 0} : tensor<f32> -> tensor<f32>
  func.return
}

// -----

// cumsum C2
func.func @f(%x: tensor<2xi1>) {
  // expected-error@+1 {{input has element type i1}}
  %0 = graph.cumsum %x {axis = 0} : tensor<2xi1> -> tensor<2xi1>
  func.return
}
