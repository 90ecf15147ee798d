// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// structured C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found 0 maps, expected one per operand (1)}}
  %r = "tensor_ops.structured"(%x) <{extents = #graph.shape<4, 6>, num_parallel = 2 : i64, maps = [], symbols = #graph.shape<>, fills = [unit], inits = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: f32):
    tensor_ops.yield %a : f32
  }, {
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured: number of parallel dimensions
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{num_parallel is 3, expected 0 to 2}}
  %r = "tensor_ops.structured"(%x) <{extents = #graph.shape<4, 6>, num_parallel = 3 : i64, maps = [affine_map<(d0, d1) -> (d0, d1)>], symbols = #graph.shape<>, fills = [unit], inits = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: f32):
    tensor_ops.yield %a : f32
  }, {
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{has 3 dimensions and 0 symbols, expected 2 and 0}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{has 2 dimensions and 1 symbols, expected 2 and 0}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1)[s0] -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C3
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{map (d0, d1) -> (d0) does not index a tensor of rank 2}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C4
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{of a finish input uses reduction dimension d1}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] init [0.0 : f32] body (%a: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } finish (%x as affine_map<(d0, d1) -> (d0, d1)>) body (%t: f32, %b: f32) {
    tensor_ops.yield %t : f32
  } : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured C5
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found 0 fills, expected one per input (1)}}
  %r = "tensor_ops.structured"(%x) <{extents = #graph.shape<4, 6>, num_parallel = 2 : i64, maps = [affine_map<(d0, d1) -> (d0, d1)>], symbols = #graph.shape<>, fills = [], inits = [], operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%a: f32):
    tensor_ops.yield %a : f32
  }, {
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C5
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{fill 0 : i32 is not of the input's scalar type f32}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)> fill 0 : i32) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C6
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found 0 inits with reduction dimensions}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured C6
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found 1 inits with no reduction dimensions}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] init [0.0 : f32] body (%a: f32, %acc: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C7
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{body has arguments (f64), expected (f32)}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f64) {
    %b = arith.truncf %a : f64 to f32
    tensor_ops.yield %b : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C7
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{body has arguments (f32), expected (f32, f32)}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] init [0.0 : f32] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured C8
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{body yields (f64), expected (f32)}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    %b = arith.extf %a : f32 to f64
    tensor_ops.yield %b : f64
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C8
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{body ends with graph.yield, expected tensor_ops.yield}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    graph.yield
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C9
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found a finish part without reduction dimensions}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } finish () body (%t: f32) {
    tensor_ops.yield %t : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C9
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found 1 finish inputs without a finish region}}
  %r = "tensor_ops.structured"(%x, %x) <{extents = #graph.shape<4, 6>, num_parallel = 1 : i64, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], symbols = #graph.shape<>, fills = [unit], inits = [0.0 : f32], operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a: f32, %acc: f32):
    tensor_ops.yield %acc : f32
  }, {
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured C10
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{finish has arguments (f64), expected (f32)}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] init [0.0 : f32] body (%a: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } finish () body (%t: f64) {
    %u = arith.truncf %t : f64 to f32
    tensor_ops.yield %u : f32
  } : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured C10
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{finish yields (f64), expected (f32)}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] init [0.0 : f32] body (%a: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } finish () body (%t: f32) {
    %u = arith.extf %t : f32 to f64
    tensor_ops.yield %u : f64
  } : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured C10
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{accumulators (f32) are not the result elements (f64)}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] init [0.0 : f32] body (%a: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } : (tensor<4x6xf32>) -> tensor<4xf64>
  func.return
}

// -----

// structured C11
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{result has dimensions [6, 4], expected those of the parallel dimensions [4, 6]}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<6x4xf32>
  func.return
}

// -----

// structured C12
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{index (d0 + 1) of map (d0, d1) -> ((d0 + 1), d1) runs from 1 to 4, out of a dimension of size 4; give the input a fill}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0 + 1, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C12
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{runs from -2 to 3, out of a dimension of size 6}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1 - 2)>) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C13
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{tensor_ops.index 2 in body, expected a dimension below 2}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 6] body (%a: f32) {
    %i = tensor_ops.index 2
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured C13
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{tensor_ops.index 1 in finish, expected a dimension below 1}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, reduction 6] init [0.0 : f32] body (%a: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } finish () body (%t: f32) {
    %i = tensor_ops.index 1
    tensor_ops.yield %t : f32
  } : (tensor<4x6xf32>) -> tensor<4xf32>
  func.return
}

// -----

// structured: assembly
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{a parallel dimension follows a reduction dimension}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [reduction 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured: assembly
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected an affine map}}
  %r = tensor_ops.structured (%x as 3 : i64) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// structured: assembly
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{expected a number with its type}}
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)> fill unit) over [parallel 4, parallel 6] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}
