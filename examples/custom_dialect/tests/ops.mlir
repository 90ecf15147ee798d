// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s
// RUN: xdsl-opt %s | filecheck %s

// CHECK-LABEL: @static
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>
// CHECK-NEXT:    poly.horner %[[X]] {coefficients = array<f64: 1.000000e+00, 0.000000e+00, -5.000000e-01>} : tensor<8xf32> -> tensor<8xf32>
func.func @static(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, -0.5>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: @symbolic
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xbf16, #graph.dims<N>>
// CHECK-NEXT:    poly.horner %[[X]] {coefficients = array<f64: {{.*}}>} : tensor<?x3xbf16, #graph.dims<N>> -> tensor<?x3xbf16, #graph.dims<N>>
func.func @symbolic(%x : tensor<?x3xbf16, #graph.dims<N>>) -> tensor<?x3xbf16, #graph.dims<N>> {
  %r = poly.horner %x {coefficients = array<f64: 2.0>} : tensor<?x3xbf16, #graph.dims<N>> -> tensor<?x3xbf16, #graph.dims<N>>
  func.return %r : tensor<?x3xbf16, #graph.dims<N>>
}
