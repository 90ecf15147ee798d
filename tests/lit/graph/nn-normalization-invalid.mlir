// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// batch_norm C1
func.func @f(%x: tensor<1x4x5xf32>, %c: tensor<4xf32>, %v: tensor<4xf64>) {
  // expected-error@+1 {{variance has element type f64, expected f32 like input}}
  %0 = graph.batch_norm %x, %c, %c, %c, %v {epsilon = 1.0e-5} : tensor<1x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf64> -> tensor<1x4x5xf32>
  func.return
}

// -----

// batch_norm C2
func.func @f(%x: tensor<4xf32>, %c: tensor<4xf32>, %v: tensor<4xf32>) {
  // expected-error@+1 {{input has rank 1, expected at least 2}}
  %0 = graph.batch_norm %x, %c, %c, %c, %v {epsilon = 1.0e-5} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

// batch_norm C3
func.func @f(%x: tensor<1x4x5xf32>, %c: tensor<4xf32>, %v: tensor<5xf32>) {
  // expected-error@+1 {{variance's size is 5, expected 4 (channels of the input)}}
  %0 = graph.batch_norm %x, %c, %c, %c, %v {epsilon = 1.0e-5} : tensor<1x4x5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32> -> tensor<1x4x5xf32>
  func.return
}

// -----

// batch_norm C3: rank
func.func @f(%x: tensor<1x4x5xf32>, %c: tensor<4x1xf32>, %v: tensor<4xf32>) {
  // expected-error@+1 {{scale has rank 2, expected 1}}
  %0 = graph.batch_norm %x, %c, %c, %c, %v {epsilon = 1.0e-5} : tensor<1x4x5xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4xf32> -> tensor<1x4x5xf32>
  func.return
}

// -----

// layer_norm C1
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<4xf16>) {
  // expected-error@+1 {{scale has element type f16, expected f32 like input}}
  %0 = graph.layer_norm %x scale(%s) {axis = 2, epsilon = 1.0e-5} : tensor<2x3x4xf32>, tensor<4xf16> -> tensor<2x3x4xf32>
  func.return
}

// -----

// layer_norm C1: integers
func.func @f(%x: tensor<2x3x4xi32>, %s: tensor<4xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.layer_norm %x scale(%s) {axis = 2, epsilon = 1.0e-5} : tensor<2x3x4xi32>, tensor<4xi32> -> tensor<2x3x4xi32>
  func.return
}

// -----

// layer_norm C2
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{axis is 3, expected 0 to 2 for rank 3}}
  %0 = graph.layer_norm %x scale(%s) {axis = 3, epsilon = 1.0e-5} : tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// layer_norm C3
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>) {
  // expected-error@+1 {{scale's size is 3, expected 4 like the input}}
  %0 = graph.layer_norm %x scale(%s) {axis = 2, epsilon = 1.0e-5} : tensor<2x3x4xf32>, tensor<3xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// rms_norm C2
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<4xf32>) {
  // expected-error@+1 {{axis is -1, expected 0 to 2 for rank 3}}
  %0 = graph.rms_norm %x scale(%s) {axis = -1, epsilon = 1.0e-5} : tensor<2x3x4xf32>, tensor<4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// rms_norm C3
func.func @f(%x: tensor<2x3x4xf32>, %s: tensor<1x1x1x4xf32>) {
  // expected-error@+1 {{scale has rank 4, expected 0 to 3}}
  %0 = graph.rms_norm %x scale(%s) {axis = 2, epsilon = 1.0e-5} : tensor<2x3x4xf32>, tensor<1x1x1x4xf32> -> tensor<2x3x4xf32>
  func.return
}

// -----

// group_norm C1
func.func @f(%x: tensor<2x6x4xf32>, %s: tensor<6xbf16>) {
  // expected-error@+1 {{scale has element type bf16, expected f32 like input}}
  %0 = graph.group_norm %x scale(%s) {num_groups = 2, epsilon = 1.0e-5} : tensor<2x6x4xf32>, tensor<6xbf16> -> tensor<2x6x4xf32>
  func.return
}

// -----

// group_norm C2
func.func @f(%x: tensor<6xf32>, %s: tensor<6xf32>) {
  // expected-error@+1 {{input has rank 1, expected at least 2}}
  %0 = graph.group_norm %x scale(%s) {num_groups = 2, epsilon = 1.0e-5} : tensor<6xf32>, tensor<6xf32> -> tensor<6xf32>
  func.return
}

// -----

// group_norm C3
func.func @f(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>) {
  // expected-error@+1 {{num_groups is 4, expected a divisor of the 6 channels}}
  %0 = graph.group_norm %x scale(%s) {num_groups = 4, epsilon = 1.0e-5} : tensor<2x6x4xf32>, tensor<6xf32> -> tensor<2x6x4xf32>
  func.return
}

// -----

// group_norm C3
func.func @f(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>) {
  // expected-error@+1 {{num_groups is 0, expected a divisor of the 6 channels}}
  %0 = graph.group_norm %x scale(%s) {num_groups = 0, epsilon = 1.0e-5} : tensor<2x6x4xf32>, tensor<6xf32> -> tensor<2x6x4xf32>
  func.return
}

// -----

// group_norm C4
func.func @f(%x: tensor<2x6x4xf32>, %s: tensor<2xf32>) {
  // expected-error@+1 {{scale's size is 2, expected 6 (channels of the input)}}
  %0 = graph.group_norm %x scale(%s) {num_groups = 2, epsilon = 1.0e-5} : tensor<2x6x4xf32>, tensor<2xf32> -> tensor<2x6x4xf32>
  func.return
}

// -----

// lrn C1
func.func @f(%x: tensor<2x6x4xi8>) {
  // expected-error@+1 {{input has element type i8, expected floats}}
  %0 = graph.lrn %x {size = 3, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<2x6x4xi8> -> tensor<2x6x4xi8>
  func.return
}

// -----

// lrn C2
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{input has rank 1, expected at least 2}}
  %0 = graph.lrn %x {size = 3, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// lrn C3
func.func @f(%x: tensor<2x6x4xf32>) {
  // expected-error@+1 {{size is 0, expected at least 1}}
  %0 = graph.lrn %x {size = 0, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<2x6x4xf32> -> tensor<2x6x4xf32>
  func.return
}
