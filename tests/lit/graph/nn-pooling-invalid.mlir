// RUN: aicc-opt %s --split-input-file --verify-diagnostics

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

// arg_max_pool: places are i64
func.func @f(%x: tensor<1x4x5xf32>) {
  // expected-error@+1 {{result has type tensor<1x4x4xf32>, but tensor<1x4x4xi64> is inferred}}
  %0 = graph.arg_max_pool %x {kernel = [2], strides = [1], pads = [0, 0], dilations = [1]} : tensor<1x4x5xf32> -> tensor<1x4x4xf32>
  func.return
}

// -----

// sum_pool C1
func.func @f(%x: tensor<1x4x5xi8>) {
  // expected-error@+1 {{input has element type i8, expected floats}}
  %0 = graph.sum_pool %x {kernel = [2], strides = [1], pads = [0, 0], dilations = [1]} : tensor<1x4x5xi8> -> tensor<1x4x4xi8>
  func.return
}
