// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @shapes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.reshape %[[X]] {shape = [N, 12]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x12xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.reshape %[[X]] {shape = [3*N, 4]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<3*N>>
// CHECK-NEXT:    %{{.*}} = graph.transpose %[[X]] {permutation = [2, 0, 1]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<4x?x3xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.expand %[[X]] {shape = [M, N, 3, 4]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x?x3x4xf32, #graph.dims<M, N>>
func.func @shapes(%x: tensor<?x3x4xf32, #graph.dims<N>>) {
  %0 = graph.reshape %x {shape = [N, 12]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x12xf32, #graph.dims<N>>
  %1 = graph.reshape %x {shape = [N*3, 4]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N + N*2>>
  %2 = graph.transpose %x {permutation = [2, 0, 1]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<4x?x3xf32, #graph.dims<N>>
  %3 = graph.expand %x {shape = [M, N, 3, 4]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x?x3x4xf32, #graph.dims<M, N>>
  func.return
}

// Names that are no identifiers stand in quotes.
// CHECK-LABEL: func.func @names(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32, #graph.dims<"batch size">>
// CHECK-NEXT:    %{{.*}} = graph.reshape %[[X]] {shape = ["batch size", 1]} : tensor<?xf32, #graph.dims<"batch size">> -> tensor<?x1xf32, #graph.dims<"batch size">>
func.func @names(%x: tensor<?xf32, #graph.dims<"batch size">>) {
  %0 = graph.reshape %x {shape = ["batch size", 1]} : tensor<?xf32, #graph.dims<"batch size">> -> tensor<?x1xf32, #graph.dims<"batch size">>
  func.return
}

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32, #graph.dims<N>>, %[[Y:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.concat %[[X]], %[[Y]], %[[X]] {axis = 0} : tensor<?x3xf32, #graph.dims<N>>, tensor<2x3xf32>, tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<2*N+2>>
// CHECK-NEXT:    %{{.*}}, %{{.*}} = graph.split %[[X]] {axis = 1, sizes = [1, 2]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x1xf32, #graph.dims<N>>, tensor<?x2xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.slice %[[X]] {starts = [N-1, 0], sizes = [N, 2], steps = [-1, 2]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x2xf32, #graph.dims<N>>
func.func @parts(%x: tensor<?x3xf32, #graph.dims<N>>, %y: tensor<2x3xf32>) {
  %0 = graph.concat %x, %y, %x {axis = 0} : tensor<?x3xf32, #graph.dims<N>>, tensor<2x3xf32>, tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<2*N+2>>
  %1, %2 = graph.split %x {axis = 1, sizes = [1, 2]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x1xf32, #graph.dims<N>>, tensor<?x2xf32, #graph.dims<N>>
  %3 = graph.slice %x {starts = [N-1, 0], sizes = [N, 2], steps = [-1, 2]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x2xf32, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @pads(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[V:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT:    %{{.*}} = graph.pad %[[X]] {low = [0, 1], high = [N, -1]} : tensor<2x3xf32> -> tensor<?x3xf32, #graph.dims<N+2>>
// CHECK-NEXT:    %{{.*}} = graph.pad %[[X]] value(%[[V]]) {low = [0, 1], high = [0, 0]} : tensor<2x3xf32>, tensor<f32> -> tensor<2x4xf32>
// CHECK-NEXT:    %{{.*}} = graph.pad %[[X]] {low = [0, 1], high = [0, 2], mode = "reflect"} : tensor<2x3xf32> -> tensor<2x6xf32>
// CHECK-NEXT:    %{{.*}} = graph.pad %[[X]] {low = [4, 0], high = [0, 0], mode = "edge"} : tensor<2x3xf32> -> tensor<6x3xf32>
func.func @pads(%x: tensor<2x3xf32>, %v: tensor<f32>) {
  %0 = graph.pad %x {low = [0, 1], high = [N, -1]} : tensor<2x3xf32> -> tensor<?x3xf32, #graph.dims<N+2>>
  %1 = graph.pad %x value(%v) {low = [0, 1], high = [0, 0], mode = "constant"} : tensor<2x3xf32>, tensor<f32> -> tensor<2x4xf32>
  %2 = graph.pad %x {low = [0, 1], high = [0, 2], mode = "reflect"} : tensor<2x3xf32> -> tensor<2x6xf32>
  %3 = graph.pad %x {low = [4, 0], high = [0, 0], mode = "edge"} : tensor<2x3xf32> -> tensor<6x3xf32>
  func.return
}
