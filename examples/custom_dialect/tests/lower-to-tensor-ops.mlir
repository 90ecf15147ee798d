// RUN: aicc-opt %s -p convert-graph-to-tensor-ops | filecheck %s

// CHECK-LABEL: @linear
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?xf32, #graph.dims<N>>
// CHECK:         tensor_ops.structured (%[[X]] as affine_map<(d0) -> (d0)>) over [parallel N] body (%[[E:.*]]: f32) {
// CHECK-NEXT:      %[[C1:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[C1]], %[[E]] : f32
// CHECK-NEXT:      %[[C0:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[P]], %[[C0]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[S]] : f32
func.func @linear(%x : tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 2.0>} : tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<N>>
  func.return %r : tensor<?xf32, #graph.dims<N>>
}

// f16 is computed in f32 and rounded once.
// CHECK-LABEL: @half
// CHECK:         arith.extf %{{.*}} : f16 to f32
// CHECK:         arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT:    tensor_ops.yield
func.func @half(%x : tensor<4xf16>) -> tensor<4xf16> {
  %r = poly.horner %x {coefficients = array<f64: 1.0, 2.0>} : tensor<4xf16> -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}
