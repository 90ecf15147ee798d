// RUN: aicc-opt %s --split-input-file --verify-diagnostics

func.func @c1(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{found 1 maps, expected 2: of the inputs and the result}}
  %y = "tensor_ops.blocks"(%x) <{extents = #graph.shape<8>, maps = [affine_map<(d0) -> (d0)>], blocks = [array<i64>, array<i64>], symbols = #graph.shape<>, fills = [unit]}> ({
  ^bb0(%a: f32):
    tensor_ops.yield %a : f32
  }) : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @c2(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{map (d0) -> (d0) has 1 dimensions and 0 symbols, expected 1 and those of a block of rank 1, and 0 symbols}}
  %y = tensor_ops.blocks (%x as affine_map<(d0) -> (d0)> block [1]) over [parallel 8] to affine_map<(d0) -> (d0)> block [] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @c3(%x: tensor<8x1xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{map (d0) -> (d0) does not index a tensor of rank 2}}
  %y = tensor_ops.blocks (%x as affine_map<(d0) -> (d0)> block []) over [parallel 8] to affine_map<(d0) -> (d0)> block [] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<8x1xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @c4(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{fill 0 : i32 is not of the input's scalar type f32}}
  %y = tensor_ops.blocks (%x as affine_map<(d0) -> (d0)> block [] fill 0 : i32) over [parallel 8] to affine_map<(d0) -> (d0)> block [] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @c5(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{found a block of [0], expected extents of at least 1}}
  %y = tensor_ops.blocks (%x as affine_map<(d0, d1) -> (d0)> block [0]) over [parallel 8] to affine_map<(d0) -> (d0)> block [] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @c6(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{body has arguments (f32), expected (f32, f32)}}
  %y = tensor_ops.blocks (%x as affine_map<(d0, d1) -> (d0 * 2 + d1)> block [2]) over [parallel 4] to affine_map<(d0, d1) -> (d0 * 2 + d1)> block [2] body (%a: f32) {
    tensor_ops.yield %a, %a : f32, f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// -----

func.func @c7(%x: tensor<8xf32>) -> tensor<8xindex> {
  // expected-error@+1 {{tensor_ops.index 1 in body, expected a dimension below 1}}
  %y = tensor_ops.blocks (%x as affine_map<(d0) -> (d0)> block []) over [parallel 8] to affine_map<(d0) -> (d0)> block [] body (%a: f32) {
    %i = tensor_ops.index 1
    tensor_ops.yield %i : index
  } : (tensor<8xf32>) -> tensor<8xindex>
  func.return %y : tensor<8xindex>
}

// -----

func.func @reduction(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{found a reduction dimension, expected parallel ones}}
  %y = tensor_ops.blocks (%x as affine_map<(d0) -> (d0)> block []) over [reduction 8] to affine_map<(d0) -> (d0)> block [] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %y : tensor<8xf32>
}
