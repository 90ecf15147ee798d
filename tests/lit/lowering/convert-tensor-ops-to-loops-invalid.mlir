// RUN: aicc-opt %s -p convert-tensor-ops-to-loops --split-input-file --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{not lowered: graph.relu (x1), tensor_ops.kernel (x1)}}
  // expected-note@+1 {{the first of them}}
  %y = tensor_ops.kernel (%a = %x : tensor<4xf32>) -> (tensor<4xf32>) {
    tensor_ops.yield %a : tensor<4xf32>
  }
  %z = graph.relu %y : tensor<4xf32> -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

// expected-error@+1 {{@main has an argument or result of type index, expected tensors}}
func.func @main(%n: index) {
  func.return
}

// -----

// expected-error@+1 {{result 0 of @main has size 2*N, but no input tells what N is; expected symbols that occur in the inputs' types}}
func.func @main(%x: tensor<?xf32, #graph.dims<M>>) -> tensor<?xf32, #graph.dims<2*N>> {
  %y = tensor_ops.view %x : tensor<?xf32, #graph.dims<M>> to tensor<?xf32, #graph.dims<2*N>>
  func.return %y : tensor<?xf32, #graph.dims<2*N>>
}
