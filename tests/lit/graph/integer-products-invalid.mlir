// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// matmul_integer C1
func.func @f(%a: tensor<2x3xi32>, %b: tensor<3x4xi8>) {
  // expected-error@+1 {{left operand has element type i32, expected an integer of at most 16 bits}}
  %0 = graph.matmul_integer %a, %b : tensor<2x3xi32>, tensor<3x4xi8> -> tensor<2x4xi32>
  func.return
}

// -----

// matmul_integer C1
func.func @f(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %z: tensor<i8>) {
  // expected-error@+1 {{zero point of left operand has element type i8, expected ui8 like left operand}}
  %0 = graph.matmul_integer %a, %b lhs_zero(%z) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<i8> -> tensor<2x4xi32>
  func.return
}

// -----

// matmul_integer C2
func.func @f(%a: tensor<3xui8>, %b: tensor<3x4xi8>) {
  // expected-error@+1 {{left operand has rank 1, expected at least 2}}
  %0 = graph.matmul_integer %a, %b : tensor<3xui8>, tensor<3x4xi8> -> tensor<1x4xi32>
  func.return
}

// -----

// matmul_integer C3
func.func @f(%a: tensor<2x3xui8>, %b: tensor<5x4xi8>) {
  // expected-error@+1 {{number of rows of the right operand is 5, expected 3 like the columns of the left}}
  %0 = graph.matmul_integer %a, %b : tensor<2x3xui8>, tensor<5x4xi8> -> tensor<2x4xi32>
  func.return
}

// -----

// matmul_integer C5
func.func @f(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %z: tensor<5xi8>) {
  // expected-error@+1 {{size of the zero point of right operand is 5, expected 4 like right operand}}
  %0 = graph.matmul_integer %a, %b rhs_zero(%z) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<5xi8> -> tensor<2x4xi32>
  func.return
}

// -----

// conv_integer C1
func.func @f(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xi8>) {
  // expected-error@+1 {{input has element type f32, expected signed integers or unsigned integers}}
  %0 = graph.conv_integer %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xf32>, tensor<4x3x3x3xi8> -> tensor<1x4x6x6xi32>
  func.return
}

// -----

// conv_integer C2
func.func @f(%x: tensor<1x3x8x8xi8>, %w: tensor<4x3x3x3xi8>, %z: tensor<4xi8>) {
  // expected-error@+1 {{size of the zero point of weight is 4, expected 3 like weight}}
  %0 = graph.conv_integer %x, %w weight_zero(%z) {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xi8>, tensor<4x3x3x3xi8>, tensor<4xi8> -> tensor<1x4x6x6xi32>
  func.return
}

// -----

// conv_integer C3
func.func @f(%x: tensor<1x3x8x8xi8>, %w: tensor<4x2x3x3xi8>) {
  // expected-error@+1 {{weight's second size is 2, expected 3 (input channels / groups)}}
  %0 = graph.conv_integer %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xi8>, tensor<4x2x3x3xi8> -> tensor<1x4x6x6xi32>
  func.return
}

// -----

// quantized_lstm C2
func.func @f(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi16>, %r: tensor<4x16xi8>, %s: tensor<1xf32>, %z: tensor<1xi8>) {
  // expected-error@+1 {{w has element type i16, expected integers of 8 bits}}
  %y, %h, %c = graph.quantized_lstm %x, %w, %r, %s, %z, %s, %z {activations = "sigmoid,tanh,tanh"} : tensor<5x2x3xf32>, tensor<3x16xi16>, tensor<4x16xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8> -> tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  func.return
}
