// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p graph-infer-shapes

// What is declared fits each op alone, but not what is inferred from the ops before.
func.func @result(%x: tensor<4xf32>, %y: tensor<?xf32, #graph.dims<N>>) {
  %r = graph.add %x, %y : tensor<4xf32>, tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<M>>
  // expected-error@+1 {{'graph.neg' op result has type tensor<5xf32>, but tensor<4xf32> is inferred}}
  %s = graph.neg %r : tensor<?xf32, #graph.dims<M>> -> tensor<5xf32>
  func.return
}

// -----

func.func @operands(%x: tensor<4xf32>, %y: tensor<5xf32>, %z: tensor<?xf32, #graph.dims<N>>) {
  %r = graph.add %x, %z : tensor<4xf32>, tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<M>>
  %s = graph.add %y, %z : tensor<5xf32>, tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<M>>
  // expected-error@+1 {{'graph.add' op operands of shapes [4] and [5] do not broadcast}}
  %t = graph.add %r, %s : tensor<?xf32, #graph.dims<M>>, tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<M>>
  func.return
}
