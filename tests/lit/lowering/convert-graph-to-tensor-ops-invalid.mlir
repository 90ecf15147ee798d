// RUN: aicc-opt %s -p convert-graph-to-tensor-ops --split-input-file --verify-diagnostics

// Everything that is left is listed in one error, at the first op.
func.func @left(%x: tensor<4x6xf32>, %s: tensor<6xf32>) -> tensor<4x6xf32> {
  // expected-note@+2 {{graph-decompose, before kernels are made, takes graph.log_softmax apart}}
  // expected-error@+1 {{convert-graph-to-tensor-ops: not lowered: graph.log_softmax (x2), graph.layer_norm}}
  %a = graph.log_softmax %x {axis = 1} : tensor<4x6xf32> -> tensor<4x6xf32>
  %b = graph.log_softmax %a {axis = 1} : tensor<4x6xf32> -> tensor<4x6xf32>
  %c = graph.layer_norm %b scale(%s) {axis = 1, epsilon = 1.0e-5} : tensor<4x6xf32>, tensor<6xf32> -> tensor<4x6xf32>
  func.return %c : tensor<4x6xf32>
}

// -----

// A symbol of the callee that no argument gives.
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note@+2 {{graph.call: the sizes of the arguments do not give the value of symbol K of '@callee'}}
  // expected-error@+1 {{not lowered: graph.call}}
  %r = graph.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

func.func private @callee(%x: tensor<?xf32, #graph.dims<M*K>>) -> tensor<?xf32, #graph.dims<M*K>> {
  func.return %x : tensor<?xf32, #graph.dims<M*K>>
}
