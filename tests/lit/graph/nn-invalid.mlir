// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// conv C1: element types
func.func @f(%x: tensor<1x4x5x5xf32>, %w: tensor<6x4x3x3xf16>) {
  // expected-error@+1 {{weight has element type f16, expected f32 like input}}
  %0 = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32>, tensor<6x4x3x3xf16> -> tensor<1x6x3x3xf32>
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

// -----

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

// -----

// max_pool C1
func.func @f(%x: tensor<1x4x5x5xi1>) {
  // expected-error@+1 {{input has element type i1, expected floats or signed integers or unsigned integers}}
  %0 = graph.max_pool %x {kernel = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xi1> -> tensor<1x4x4x4xi1>
  func.return
}

// -----

// avg_pool C1
func.func @f(%x: tensor<1x4x5x5xi8>) {
  // expected-error@+1 {{input has element type i8, expected floats}}
  %0 = graph.avg_pool %x {kernel = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xi8> -> tensor<1x4x4x4xi8>
  func.return
}

// -----

// max_pool C2
func.func @f(%x: tensor<1x4xf32>) {
  // expected-error@+1 {{input has rank 2, expected at least 3}}
  %0 = graph.max_pool %x {kernel = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4xf32> -> tensor<1x4x4x4xf32>
  func.return
}

// -----

// avg_pool C3
func.func @f(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+1 {{kernel has 1 entries, expected 2 for 2 axes of space}}
  %0 = graph.avg_pool %x {kernel = [2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32> -> tensor<1x4x4x4xf32>
  func.return
}

// -----

// max_pool C3
func.func @f(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+1 {{kernel[0] is 0, expected at least 1}}
  %0 = graph.max_pool %x {kernel = [0, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32> -> tensor<1x4x4x4xf32>
  func.return
}

// -----

// max_pool C4
func.func @f(%x: tensor<1x4x5x5xf32>) {
  // expected-error@+1 {{a window of 7 does not fit an axis of size 5 padded by 0 and 0}}
  %0 = graph.max_pool %x {kernel = [7, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x5x5xf32> -> tensor<1x4x4x4xf32>
  func.return
}

// -----

// global_avg_pool C1
func.func @f(%x: tensor<1x4x5xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.global_avg_pool %x : tensor<1x4x5xi32> -> tensor<1x4x1xi32>
  func.return
}

// -----

// global_max_pool C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{input has rank 1, expected at least 2}}
  %0 = graph.global_max_pool %x : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// -----

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

// -----

// softmax C1
func.func @f(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.softmax %x {axis = 1} : tensor<2x3xi32> -> tensor<2x3xi32>
  func.return
}

// -----

// softmax C2
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1 for rank 2}}
  %0 = graph.softmax %x {axis = 2} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// log_softmax C1
func.func @f(%x: tensor<2x3xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.log_softmax %x {axis = 1} : tensor<2x3xi32> -> tensor<2x3xi32>
  func.return
}

// -----

// log_softmax C2
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1 for rank 2}}
  %0 = graph.log_softmax %x {axis = 2} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// softmax: rank 0
func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{input has rank 0, expected at least 1}}
  %0 = graph.softmax %x {axis = 0} : tensor<f32> -> tensor<f32>
  func.return
}

// -----

// attention C1
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf16>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{value has element type f16, expected f32 like query}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf16>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C1: mask
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xi8>) {
  // expected-error@+1 {{mask has element type i8, expected f32 like query}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xi8> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C2
func.func @f(%q: tensor<4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{query has rank 1, expected at least 2}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C3
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{last size of the key is 8, expected 4 like that of the query}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x8xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C3: rows
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x7x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{number of rows of the value is 7, expected 5 like the key}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x7x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C4
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<3x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{size 2 does not match size 3, expected equal sizes or 1}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<3x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C4: mask
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x4xf32>) {
  // expected-error@+1 {{mask's size is 4, expected 5 like the scores}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x4xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// attention C5
func.func @f(%q: tensor<2x3x4xf32>, %k: tensor<2x5x4xf32>, %v: tensor<2x5x6xf32>, %m: tensor<3x5xf32>) {
  // expected-error@+1 {{past has 2 entries, expected one size}}
  %0 = graph.attention %q, %k, %v mask(%m) {scale = 1.0, causal, past = [1, 2]} : tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x5x6xf32>, tensor<3x5xf32> -> tensor<2x3x6xf32>
  func.return
}

// -----

// sizes: result type
func.func @f() {
  // expected-error@+1 {{result has type tensor<3xi64>, but tensor<2xi64> is inferred}}
  %0 = graph.sizes {shape = [1, 2]} : tensor<3xi64>
  func.return
}
