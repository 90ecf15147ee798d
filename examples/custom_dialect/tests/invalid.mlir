// RUN: aicc-opt %s --split-input-file --verify-diagnostics

func.func @c1_integers(%x : tensor<8xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %r = poly.horner %x {coefficients = array<f64: 1.0>} : tensor<8xi32> -> tensor<8xi32>
  func.return
}

// -----

func.func @c2_empty(%x : tensor<8xf32>) {
  // expected-error@+1 {{coefficients is array<f64>, expected array<f64> with at least one element}}
  %r = poly.horner %x {coefficients = array<f64>} : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @c2_single_precision(%x : tensor<8xf32>) {
  // expected-error@+1 {{f64}}
  %r = poly.horner %x {coefficients = array<f32: 1.0>} : tensor<8xf32> -> tensor<8xf32>
  func.return
}

// -----

func.func @c3_other_shape(%x : tensor<8xf32>) {
  // expected-error@+1 {{result has type tensor<4xf32>, but tensor<8xf32> is inferred}}
  %r = poly.horner %x {coefficients = array<f64: 1.0>} : tensor<8xf32> -> tensor<4xf32>
  func.return
}
