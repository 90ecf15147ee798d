// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<30x8xf32>, %[[I:[a-z0-9]+]]: tensor<?x5xi64, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.gather %[[X]], %[[I]] {axis = 0} : tensor<30x8xf32>, tensor<?x5xi64, #graph.dims<N>> -> tensor<?x5x8xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.gather_elements %[[X]], %[[I]] {axis = 1} : tensor<30x8xf32>, tensor<?x5xi64, #graph.dims<N>> -> tensor<?x5xf32, #graph.dims<N>>
func.func @gather(%x: tensor<30x8xf32>, %i: tensor<?x5xi64, #graph.dims<N>>) {
  %0 = graph.gather %x, %i {axis = 0} : tensor<30x8xf32>, tensor<?x5xi64, #graph.dims<N>> -> tensor<?x5x8xf32, #graph.dims<N>>
  %1 = graph.gather_elements %x, %i {axis = 1} : tensor<30x8xf32>, tensor<?x5xi64, #graph.dims<N>> -> tensor<?x5xf32, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[I:[a-z0-9]+]]: tensor<2x5x1xi32>
// CHECK-NEXT:    %{{.*}} = graph.gather_nd %[[X]], %[[I]] : tensor<2x3x4xf32>, tensor<2x5x1xi32> -> tensor<2x5x3x4xf32>
// CHECK-NEXT:    %{{.*}} = graph.gather_nd %[[X]], %[[I]] {batch_dims = 1} : tensor<2x3x4xf32>, tensor<2x5x1xi32> -> tensor<2x5x4xf32>
func.func @gather_nd(%x: tensor<2x3x4xf32>, %i: tensor<2x5x1xi32>) {
  %0 = graph.gather_nd %x, %i {batch_dims = 0} : tensor<2x3x4xf32>, tensor<2x5x1xi32> -> tensor<2x5x3x4xf32>
  %1 = graph.gather_nd %x, %i {batch_dims = 1} : tensor<2x3x4xf32>, tensor<2x5x1xi32> -> tensor<2x5x4xf32>
  func.return
}

// CHECK-LABEL: func.func @scatter(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4x3xf32>, %[[I:[a-z0-9]+]]: tensor<2x1xi64>, %[[U:[a-z0-9]+]]: tensor<2x1xf32>, %[[V:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.scatter_elements %[[X]], %[[I]], %[[U]] {axis = 0} : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x1xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.scatter_elements %[[X]], %[[I]], %[[U]] {axis = 1, reduction = "add"} : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x1xf32> -> tensor<4x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.scatter_nd %[[X]], %[[I]], %[[V]] {reduction = "max"} : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32> -> tensor<4x3xf32>
func.func @scatter(%x: tensor<4x3xf32>, %i: tensor<2x1xi64>, %u: tensor<2x1xf32>, %v: tensor<2x3xf32>) {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0} : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x1xf32> -> tensor<4x3xf32>
  %1 = graph.scatter_elements %x, %i, %u {axis = 1, reduction = "add"} : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x1xf32> -> tensor<4x3xf32>
  %2 = graph.scatter_nd %x, %i, %v {reduction = "max"} : tensor<4x3xf32>, tensor<2x1xi64>, tensor<2x3xf32> -> tensor<4x3xf32>
  func.return
}
