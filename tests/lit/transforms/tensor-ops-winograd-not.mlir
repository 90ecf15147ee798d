// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=generic outputs=4}' | filecheck %s

// Nothing here is a 3x3 convolution of stride 1 in one group, in f32, with constant weights and a free order of the sum.
// CHECK-NOT: tensor_ops.blocks
// CHECK-NOT: _weights

func.func @main(%x: tensor<1x8x8x4xf32>, %x8: tensor<1x8x8x8xf32>, %xd: tensor<1x8x8x4xf64>, %wr: tensor<8x4x3x3xf32>) {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xf32> : tensor<8x4x3x3xf32>
  %w5 = tensor_ops.constant dense<1.0> : tensor<8x4x5x5xf32> : tensor<8x4x5x5xf32>
  %w1 = tensor_ops.constant dense<1.0> : tensor<8x4x3x1xf32> : tensor<8x4x3x1xf32>
  %wd = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xf64> : tensor<8x4x3x3xf64>
  %stride_two = tensor_ops.call @stride_two(%x, %w) : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  %grouped = tensor_ops.call @grouped(%x8, %w) : (tensor<1x8x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  %five_taps = tensor_ops.call @five_taps(%x, %w5) : (tensor<1x8x8x4xf32>, tensor<8x4x5x5xf32>) -> tensor<1x8x8x8xf32>
  %three_by_one = tensor_ops.call @three_by_one(%x, %w1) : (tensor<1x8x8x4xf32>, tensor<8x4x3x1xf32>) -> tensor<1x8x8x8xf32>
  %double = tensor_ops.call @double(%xd, %wd) : (tensor<1x8x8x4xf64>, tensor<8x4x3x3xf64>) -> tensor<1x8x8x8xf64>
  %ordered = tensor_ops.call @ordered(%x, %w) : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  %starts_at_one = tensor_ops.call @starts_at_one(%x, %w) : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  %of_the_input = tensor_ops.call @of_the_input(%x, %w) : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  %of_the_input_again = tensor_ops.call @of_the_input(%x, %wr) : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return
}

// Every second window.
// CHECK-LABEL: func.func private @stride_two(
// CHECK:         tensor_ops.structured
func.func private @stride_two(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, 2 * d1 + d4 - 1, 2 * d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 4, parallel 4, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x4x4x8xf32>
  func.return %y : tensor<1x4x4x8xf32>
}

// Two groups: the channel that is read follows the result's.
// CHECK-LABEL: func.func private @grouped(
// CHECK:         tensor_ops.structured
func.func private @grouped(%x: tensor<1x8x8x8xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, (d3 floordiv 4) * 4 + d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// 5x5.
// CHECK-LABEL: func.func private @five_taps(
// CHECK:         tensor_ops.structured
func.func private @five_taps(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x5x5xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 2, d2 + d5 - 2, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 5, reduction 5, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x5x5xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// 3x1.
// CHECK-LABEL: func.func private @three_by_one(
// CHECK:         tensor_ops.structured
func.func private @three_by_one(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x1xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 1, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x3x1xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// Another type.
// CHECK-LABEL: func.func private @double(
// CHECK:         tensor_ops.structured
func.func private @double(%x: tensor<1x8x8x4xf64>, %w: tensor<8x4x3x3xf64>) -> tensor<1x8x8x8xf64> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f64, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f64] body (%a: f64, %c: f64, %acc: f64) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f64
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f64
    tensor_ops.yield %s : f64
  } : (tensor<1x8x8x4xf64>, tensor<8x4x3x3xf64>) -> tensor<1x8x8x8xf64>
  func.return %y : tensor<1x8x8x8xf64>
}

// A sum in a given order.
// CHECK-LABEL: func.func private @ordered(
// CHECK:         tensor_ops.structured
func.func private @ordered(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c : f32
    %s = arith.addf %acc, %p : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// A sum that does not start at 0.
// CHECK-LABEL: func.func private @starts_at_one(
// CHECK:         tensor_ops.structured
func.func private @starts_at_one(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [1.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}

// Weights that one of the calls computes from the input.
// CHECK-LABEL: func.func private @of_the_input(
// CHECK:         tensor_ops.structured
func.func private @of_the_input(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}
