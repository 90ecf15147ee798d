// RUN: aicc-opt %s --poly-even-to-square | filecheck %s
// RUN: aicc-opt %s -p 'poly-even-to-square{min-degree=2}' | filecheck %s --check-prefix=LOW

// CHECK-LABEL: @even
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8xf32>
// CHECK-NEXT:    %[[S:.*]] = graph.mul %[[X]], %[[X]]
// CHECK-NEXT:    %[[R:.*]] = poly.horner %[[S]] {coefficients = array<f64: 1.000000e+00, -5.000000e-01, 2.500000e-01>}
// CHECK-NEXT:    func.return %[[R]]
func.func @even(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, -0.5, 0.0, 0.25>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: @odd_power
// CHECK-NOT:     graph.mul
func.func @odd_power(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, -0.5, 0.125, 0.25>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// Degree 2 trades one product for another: only with min-degree=2.
// CHECK-LABEL: @low_degree
// CHECK-NOT:     graph.mul
// LOW-LABEL:   @low_degree
// LOW:           graph.mul
func.func @low_degree(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, -0.5>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// A leading zero does not count.
// CHECK-LABEL: @degree_zero
// CHECK-NOT:     graph.mul
// LOW-LABEL:   @degree_zero
// LOW-NOT:       graph.mul
func.func @degree_zero(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, 0.0>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
