// RUN: aicc-opt %s -O2 --split-input-file --verify-diagnostics

// A tensor with more elements than can be addressed: as an argument, as a result, and beside a size of 0.
// expected-error @+1 {{shape [99999999999999999999999] has more than 2**60 elements, which cannot be addressed}}
func.func @main(%x : tensor<99999999999999999999999xf32>) -> tensor<99999999999999999999999xf32> {
  func.return %x : tensor<99999999999999999999999xf32>
}

// -----

func.func @main(%x : tensor<1xf32>) -> tensor<1099511627776x1099511627776xf32> {
  // expected-error @+1 {{shape [1099511627776, 1099511627776] has more than 2**60 elements, which cannot be addressed}}
  %r = graph.expand %x {shape = [1099511627776, 1099511627776]} : tensor<1xf32> -> tensor<1099511627776x1099511627776xf32>
  func.return %r : tensor<1099511627776x1099511627776xf32>
}

// -----

// expected-error @+1 {{shape [0, 1099511627776, 1099511627776] has more than 2**60 elements}}
func.func @main(%x : tensor<0x1099511627776x1099511627776xf32>) -> tensor<0x1099511627776x1099511627776xf32> {
  func.return %x : tensor<0x1099511627776x1099511627776xf32>
}

// -----

// Branches between blocks, which are for the levels below.
// expected-error @+1 {{@main has 2 blocks, expected 1 with graph.if and graph.while for branches}}
func.func @main(%x : tensor<3xf32>) -> tensor<3xf32> {
  cf.br ^a
^a:
  func.return %x : tensor<3xf32>
}

// -----

// More dimensions than an array of numpy has.
func.func @main(%x : tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{a tensor has rank 65, expected at most 64}}
  %r = graph.reshape %x {shape = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]} : tensor<f32> -> tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>
  func.return %x : tensor<f32>
}

// -----

// At levels where meaning is not in question, what is given and taken is arrays all the same.
// expected-error @+1 {{a tensor has rank 65, expected at most 64}}
func.func @main(%x : tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<f32> {
  %0 = tensor_ops.structured (%x as affine_map<() -> (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)>) over [] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
