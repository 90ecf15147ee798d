// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// conv C1: element types
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf16>) {
  // expected-error@+1 {{weight has element type f16, expected f32 like input}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf16> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C3: which group a channel is of needs known numbers
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<?x2x3x3xf32, #graph.dims<M>>) {
  // expected-error@+1 {{output channels are M, expected a known number for 2 groups}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 2} : tensor<1x4x5x5xf32>, tensor<?x2x3x3xf32, #graph.dims<M>> -> tensor<1x?x3x3xf32, #graph.dims<M>>
  func.return
}

// -----

// conv C1: not a number
func.func @f(%x: tensor<1x4x5x5xi1>, %w: tensor<6x4x3x3xi1>) {
  // expected-error@+1 {{input has element type i1, expected floats or signed integers or unsigned integers}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xi1>, tensor<6x4x3x3xi1> -> tensor<1x6x3x3xi1>
  func.return
}

// -----

// conv C2: rank of the input
func.func @f(%x: tensor<1x4xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{input has rank 2, expected at least 3}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C2: rank of the weight
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3xf32>) {
  // expected-error@+1 {{weight has rank 3, expected 4}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C2: rank of the bias
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<6x1xf32>) {
  // expected-error@+1 {{bias has rank 2, expected 1}}
  %0 = graph.conv %x, %w bias(%b) {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<6x1xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C3: groups and input channels
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{input channels are 4, expected a multiple of groups 3}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 3} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C3: groups and output channels
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x1x3x3xf32>) {
  // expected-error@+1 {{output channels are 6, expected a multiple of groups 4}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 4} : tensor<1x4x5x5xf32>, tensor<6x1x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C3: no groups
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{groups is 0, expected at least 1}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 0} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C4: channels of the weight
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{weight's second size is 4, expected 2 (input channels / groups)}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 2} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C4: size of the bias
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>, %b: tensor<4xf32>) {
  // expected-error@+1 {{bias's size is 4, expected 6 (output channels)}}
  %0 = graph.conv %x, %w bias(%b) {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32>, tensor<4xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C5: number of strides
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{strides has 1 entries, expected 2 for 2 axes of space}}
  %0 = graph.conv %x, %w {strides = [1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C5: number of pads
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{pads has 2 entries, expected 4 for 2 axes of space}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C5: stride of 0
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{strides[1] is 0, expected at least 1}}
  %0 = graph.conv %x, %w {strides = [1, 0], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C5: dilation of 0
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{dilations[0] is 0, expected at least 1}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [0, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C5: negative padding
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{pads[3] is -1, expected at least 0}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, -1], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv C6: window larger than the input
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{a window of 7 does not fit an axis of size 5 padded by 0 and 0}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 3]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x3x3xf32>
  func.return
}

// -----

// conv result type
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error@+1 {{result has type tensor<1x6x4x3xf32>, but tensor<1x6x3x3xf32> is inferred}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf32> -> tensor<1x6x4x3xf32>
  func.return
}
