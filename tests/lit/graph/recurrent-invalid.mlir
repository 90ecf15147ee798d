// RUN: aicc-opt %s --verify-diagnostics --split-input-file

func.func @unknown_activation(%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>) {
  // expected-error @+1 {{there is no activation 'swish'; expected one of affine, elu}}
  %y, %h = graph.rnn %x, %w, %r {activations = "swish"} : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
  func.return
}

// -----

func.func @malformed_activation(%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>) {
  // expected-error @+1 {{activations are "elu(1.0", expected a list such as}}
  %y, %h = graph.rnn %x, %w, %r {activations = "elu(1.0"} : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
  func.return
}

// -----

func.func @too_few_activations(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<12x4xf32>) {
  // expected-error @+1 {{there are 1 activations, expected 2}}
  %y, %h = graph.gru %x, %w, %r {activations = "tanh"} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
  func.return
}

// -----

func.func @wrong_gates(%x: tensor<5x2x3xf32>, %w: tensor<12x3xf32>, %r: tensor<16x4xf32>) {
  // expected-error @+1 {{size 0 of w is 12, expected 16 by the sizes of x and r}}
  %y, %h, %c = graph.lstm %x, %w, %r {activations = "sigmoid,tanh,tanh"} : tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<16x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  func.return
}

// -----

func.func @wrong_rank(%x: tensor<5x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>) {
  // expected-error @+1 {{x has rank 2, expected 3}}
  %y, %h = graph.rnn %x, %w, %r {activations = "tanh"} : tensor<5x3xf32>, tensor<4x3xf32>, tensor<4x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
  func.return
}

// -----

func.func @lengths_are_floats(%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>, %n: tensor<2xf32>) {
  // expected-error @+1 {{lengths}}
  %y, %h = graph.rnn %x, %w, %r lengths(%n) {activations = "tanh"} : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<2xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
  func.return
}
