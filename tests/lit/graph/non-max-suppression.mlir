// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @non_max_suppression(
// CHECK:         graph.non_max_suppression %{{.*}}, %{{.*}}, %{{.*}} {k = [5]} : tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
// CHECK:         graph.non_max_suppression %{{.*}}, %{{.*}}, %{{.*}} least(%{{.*}}) {k = [min(4,S)], center}
// CHECK-SAME:      -> tensor<?x3x?xi64, #graph.dims<N, min(4,S)>>, tensor<?x3xi64, #graph.dims<N>>
func.func @non_max_suppression(%b: tensor<2x9x4xf32>, %s: tensor<2x3x9xf32>, %t: tensor<f32>, %c: tensor<?x?x4xf16, #graph.dims<N, S>>,
    %u: tensor<?x3x?xf16, #graph.dims<N, S>>, %v: tensor<f16>) {
  %0, %1 = graph.non_max_suppression %b, %s, %t {k = [5]} : tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
  %2, %3 = graph.non_max_suppression %c, %u, %v least(%v) {k = [min(4,S)], center} : tensor<?x?x4xf16, #graph.dims<N, S>>, tensor<?x3x?xf16, #graph.dims<N, S>>, tensor<f16>, tensor<f16> -> tensor<?x3x?xi64, #graph.dims<N, min(4,S)>>, tensor<?x3xi64, #graph.dims<N>>
  func.return
}
