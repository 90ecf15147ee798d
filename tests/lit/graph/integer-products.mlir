// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s
// RUN: aicc-opt %s -p graph-decompose | filecheck %s --check-prefix DECOMPOSE
// RUN: aicc-opt %s -p graph-decompose,convert-graph-to-tensor-ops | filecheck %s --check-prefix LOWER

// A zero point is taken off in a type that holds the difference; one that is known to be 0 is not.
// CHECK-LABEL: func.func @matmul(
// CHECK:         graph.matmul_integer %{{.*}}, %{{.*}} lhs_zero(%{{.*}}) rhs_zero(%{{.*}}) : tensor<?x3xui8, #graph.dims<M>>, tensor<3x4xi8>, tensor<ui8>, tensor<i8> -> tensor<?x4xi32, #graph.dims<M>>
// CHECK:         graph.matmul_integer %{{.*}}, %{{.*}} rhs_zero(%{{.*}}) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<4xi8> -> tensor<2x4xi32>
// LOWER-LABEL: func.func @matmul(
// LOWER:         %[[X:.*]] = tensor_ops.structured (%{{.*}}, %{{.*}}) over [parallel M, parallel 3] body
// LOWER:           arith.subi %{{.*}}, %{{.*}} : i16
// LOWER:         -> tensor<?x3xi16, #graph.dims<M>>
// LOWER-NEXT:    tensor_ops.structured (%[[X]] as {{.*}}, %w as {{.*}}) over [parallel M, parallel 4, reduction 3] init [0 : i32] body (%[[A:.*]]: i16, %[[B:.*]]: i8, %{{.*}}: i32)
// LOWER-NEXT:      arith.extsi %[[A]] : i16 to i32
// LOWER-NEXT:      arith.extsi %[[B]] : i8 to i32
// LOWER-NEXT:      arith.muli
func.func @matmul(%x: tensor<?x3xui8, #graph.dims<M>>, %w: tensor<3x4xi8>, %z: tensor<ui8>, %y: tensor<2x3xui8>, %c: tensor<4xi8>) {
  %none = graph.constant dense<0> : tensor<i8>
  %0 = graph.matmul_integer %x, %w lhs_zero(%z) rhs_zero(%none) : tensor<?x3xui8, #graph.dims<M>>, tensor<3x4xi8>, tensor<ui8>, tensor<i8> -> tensor<?x4xi32, #graph.dims<M>>
  %1 = graph.matmul_integer %y, %w rhs_zero(%c) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<4xi8> -> tensor<2x4xi32>
  func.return
}

// What is outside of the image is 0 once the zero point is off.
// CHECK-LABEL: func.func @conv(
// CHECK:         graph.conv_integer %{{.*}}, %{{.*}} x_zero(%{{.*}}) {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]
// LOWER-LABEL: func.func @conv(
// LOWER:         arith.subi %{{.*}}, %{{.*}} : i16
// LOWER:         fill 0 : i16, %{{.*}}) over [parallel 1, parallel 4, parallel 8, parallel 8, reduction 3, reduction 3, reduction 3]
func.func @conv(%x: tensor<1x3x8x8xui8>, %w: tensor<4x3x3x3xi8>, %z: tensor<ui8>) {
  %0 = graph.conv_integer %x, %w x_zero(%z) {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<1x3x8x8xui8>, tensor<4x3x3x3xi8>, tensor<ui8> -> tensor<1x4x8x8xi32>
  func.return
}

// CHECK-LABEL:     func.func @lstm(
// CHECK:             graph.quantized_lstm %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}}) {activations = "sigmoid,tanh,tanh"}
// DECOMPOSE-LABEL: func.func @lstm(
// DECOMPOSE:         graph.reduce_min
// DECOMPOSE:         graph.matmul_integer
// DECOMPOSE:         graph.while
// DECOMPOSE:           graph.reduce_max
// DECOMPOSE:           graph.matmul_integer
// DECOMPOSE-NOT:     graph.quantized_lstm
func.func @lstm(%x: tensor<5x2x3xf32>, %w: tensor<3x16xi8>, %r: tensor<4x16xi8>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<16xf32>, %rz: tensor<16xi8>, %b: tensor<32xf32>) {
  %y, %h, %c = graph.quantized_lstm %x, %w, %r, %ws, %wz, %rs, %rz bias(%b) {activations = "sigmoid,tanh,tanh"} : tensor<5x2x3xf32>, tensor<3x16xi8>, tensor<4x16xi8>, tensor<1xf32>, tensor<1xi8>, tensor<16xf32>, tensor<16xi8>, tensor<32xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
  func.return
}
