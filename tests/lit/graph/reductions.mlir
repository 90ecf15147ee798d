// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @reductions(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.reduce_sum %[[X]] {axes = [1]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.reduce_mean %[[X]] {axes = [0, 2], keepdims} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<1x3x1xf32>
// CHECK-NEXT:    %{{.*}} = graph.reduce_max %[[X]] {axes = []} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.reduce_min %[[X]] {axes = [0, 1, 2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<f32>
// CHECK-NEXT:    %{{.*}} = graph.reduce_prod %[[X]] {axes = [2]}
// CHECK-NEXT:    %{{.*}} = graph.reduce_l1 %[[X]] {axes = [2]}
// CHECK-NEXT:    %{{.*}} = graph.reduce_l2 %[[X]] {axes = [2]}
// CHECK-NEXT:    %{{.*}} = graph.reduce_sum_square %[[X]] {axes = [2]}
// CHECK-NEXT:    %{{.*}} = graph.reduce_log_sum %[[X]] {axes = [2]}
// CHECK-NEXT:    %{{.*}} = graph.reduce_log_sum_exp %[[X]] {axes = [2]}
func.func @reductions(%x: tensor<?x3x4xf32, #graph.dims<N>>) {
  %0 = graph.reduce_sum %x {axes = [1]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N>>
  %1 = graph.reduce_mean %x {axes = [0, 2], keepdims} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<1x3x1xf32>
  %2 = graph.reduce_max %x {axes = []} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3x4xf32, #graph.dims<N>>
  %3 = graph.reduce_min %x {axes = [0, 1, 2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<f32>
  %4 = graph.reduce_prod %x {axes = [2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %5 = graph.reduce_l1 %x {axes = [2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %6 = graph.reduce_l2 %x {axes = [2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %7 = graph.reduce_sum_square %x {axes = [2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %8 = graph.reduce_log_sum %x {axes = [2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %9 = graph.reduce_log_sum_exp %x {axes = [2]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @places(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xi8>
// CHECK-NEXT:    %{{.*}} = graph.arg_max %[[X]] {axis = 1} : tensor<2x3xi8> -> tensor<2xi64>
// CHECK-NEXT:    %{{.*}} = graph.arg_min %[[X]] {axis = 0, keepdims, select_last} : tensor<2x3xi8> -> tensor<1x3xi64>
func.func @places(%x: tensor<2x3xi8>) {
  %0 = graph.arg_max %x {axis = 1} : tensor<2x3xi8> -> tensor<2xi64>
  %1 = graph.arg_min %x {axis = 0, keepdims, select_last} : tensor<2x3xi8> -> tensor<1x3xi64>
  func.return
}

// CHECK-LABEL: func.func @running_totals(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xi8>
// CHECK-NEXT:    %{{.*}} = graph.cumsum %[[X]] {axis = 1} : tensor<2x3xi8> -> tensor<2x3xi8>
// CHECK-NEXT:    %{{.*}} = graph.cumsum %[[X]] {axis = 0, exclusive, reverse} : tensor<2x3xi8> -> tensor<2x3xi8>
// CHECK-NEXT:    %{{.*}} = graph.cumprod %[[X]] {axis = 1, exclusive} : tensor<2x3xi8> -> tensor<2x3xi8>
func.func @running_totals(%x: tensor<2x3xi8>) {
  %0 = graph.cumsum %x {axis = 1} : tensor<2x3xi8> -> tensor<2x3xi8>
  %1 = graph.cumsum %x {axis = 0, exclusive, reverse} : tensor<2x3xi8> -> tensor<2x3xi8>
  %2 = graph.cumprod %x {axis = 1, exclusive} : tensor<2x3xi8> -> tensor<2x3xi8>
  func.return
}
