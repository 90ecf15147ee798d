// RUN: aicc-opt %s -p canonicalize | filecheck %s

// CHECK-LABEL: @drop_leading_zeros
// CHECK:         poly.horner %{{.*}} {coefficients = array<f64: 1.000000e+00, 2.000000e+00>}
func.func @drop_leading_zeros(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 2.0, 0.0, -0.0>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// CHECK-LABEL: @keep_the_constant
// CHECK:         poly.horner %{{.*}} {coefficients = array<f64: 0.000000e+00>}
func.func @keep_the_constant(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 0.0, 0.0>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// An inner zero has a power above it.
// CHECK-LABEL: @keep_inner_zeros
// CHECK:         poly.horner %{{.*}} {coefficients = array<f64: 1.000000e+00, 0.000000e+00, 3.000000e+00>}
func.func @keep_inner_zeros(%x : tensor<8xf32>) -> tensor<8xf32> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 0.0, 3.0>} : tensor<8xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
