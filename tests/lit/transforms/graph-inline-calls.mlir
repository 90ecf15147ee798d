// RUN: aicc-opt %s -p graph-inline-calls | filecheck %s

// The symbol of the callee is a size of the argument in each place of use.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x2xf32>, %[[Y:[a-z0-9]+]]: tensor<?x2xf32, #graph.dims<M>>
// CHECK-NEXT:    %[[A:.*]] = graph.reshape %[[X]] {shape = [8]} : tensor<4x2xf32> -> tensor<8xf32>
// CHECK-NEXT:    %[[B:.*]] = graph.neg %[[A]] : tensor<8xf32> -> tensor<8xf32>
// CHECK-NEXT:    %[[C:.*]] = graph.reshape %[[Y]] {shape = [2*M]} : tensor<?x2xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<2*M>>
// CHECK-NEXT:    %[[D:.*]] = graph.neg %[[C]] : tensor<?xf32, #graph.dims<2*M>> -> tensor<?xf32, #graph.dims<2*M>>
// CHECK-NEXT:    func.return %[[B]], %[[D]], %[[Y]]
func.func @main(%x: tensor<4x2xf32>, %y: tensor<?x2xf32, #graph.dims<M>>) -> (tensor<8xf32>, tensor<?xf32, #graph.dims<2*M>>, tensor<?x2xf32, #graph.dims<M>>) {
  %a, %p = graph.call @outer(%x) : (tensor<4x2xf32>) -> (tensor<8xf32>, tensor<4x2xf32>)
  %b, %q = graph.call @outer(%y) : (tensor<?x2xf32, #graph.dims<M>>) -> (tensor<?xf32, #graph.dims<2*M>>, tensor<?x2xf32, #graph.dims<M>>)
  func.return %a, %b, %q : tensor<8xf32>, tensor<?xf32, #graph.dims<2*M>>, tensor<?x2xf32, #graph.dims<M>>
}

// Private functions go when their calls are gone; others stay.
// CHECK-NOT:   @outer
// CHECK-LABEL: func.func @inner(
// CHECK-NOT:   graph.call
func.func private @outer(%x: tensor<?x2xf32, #graph.dims<N>>) -> (tensor<?xf32, #graph.dims<2*N>>, tensor<?x2xf32, #graph.dims<N>>) {
  %r = graph.call @inner(%x) : (tensor<?x2xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<2*N>>
  %s = graph.neg %r : tensor<?xf32, #graph.dims<2*N>> -> tensor<?xf32, #graph.dims<2*N>>
  func.return %s, %x : tensor<?xf32, #graph.dims<2*N>>, tensor<?x2xf32, #graph.dims<N>>
}

func.func @inner(%x: tensor<?x2xf32, #graph.dims<K>>) -> tensor<?xf32, #graph.dims<2*K>> {
  %r = graph.reshape %x {shape = [2*K]} : tensor<?x2xf32, #graph.dims<K>> -> tensor<?xf32, #graph.dims<2*K>>
  func.return %r : tensor<?xf32, #graph.dims<2*K>>
}
