// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @top_k(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x9xf32>, %[[Y:[a-z0-9]+]]: tensor<?x4xui8, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}}, %{{.*}} = graph.top_k %[[X]] {k = [5], axis = 1} : tensor<2x9xf32> -> tensor<2x5xf32>, tensor<2x5xi64>
// CHECK-NEXT:    %{{.*}}, %{{.*}} = graph.top_k %[[Y]] {k = [N], axis = 0, smallest} : tensor<?x4xui8, #graph.dims<N>> -> tensor<?x4xui8, #graph.dims<N>>, tensor<?x4xi64, #graph.dims<N>>
func.func @top_k(%x: tensor<2x9xf32>, %y: tensor<?x4xui8, #graph.dims<N>>) {
  %0, %1 = graph.top_k %x {k = [5], axis = 1} : tensor<2x9xf32> -> tensor<2x5xf32>, tensor<2x5xi64>
  %2, %3 = graph.top_k %y {k = [N], axis = 0, smallest} : tensor<?x4xui8, #graph.dims<N>> -> tensor<?x4xui8, #graph.dims<N>>, tensor<?x4xi64, #graph.dims<N>>
  func.return
}
