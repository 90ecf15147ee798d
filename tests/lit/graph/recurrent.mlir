// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s
// RUN: aicc-opt %s -p graph-decompose | filecheck %s --check-prefix DECOMPOSE

// One product for all steps stands before the loop.
// CHECK-LABEL:     func.func @lstm(
// CHECK:             %{{.*}}, %{{.*}}, %{{.*}} = graph.lstm %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}}) initial_c(%{{.*}}) {input_forget, activations = "sigmoid,tanh,scaled_tanh(1.5,0.5)", clip = 2.000000e+00, reverse}
// DECOMPOSE-LABEL: func.func @lstm(
// DECOMPOSE:         graph.matmul
// DECOMPOSE:         graph.while
// DECOMPOSE:           graph.lt
// DECOMPOSE:         do
// DECOMPOSE:           graph.gather
// DECOMPOSE:           graph.matmul
// DECOMPOSE:           graph.scatter_nd
// DECOMPOSE-NOT:     graph.lstm
func.func @lstm(%x: tensor<?x?x3xf32, #graph.dims<S, N>>, %w: tensor<16x3xf32>, %r: tensor<16x4xf32>, %b: tensor<32xf32>, %c: tensor<?x4xf32, #graph.dims<N>>) {
  %y, %h, %l = graph.lstm %x, %w, %r bias(%b) initial_c(%c) {activations = "sigmoid,tanh,scaled_tanh(1.5,0.5)", clip = 2.0, reverse, input_forget} : tensor<?x?x3xf32, #graph.dims<S, N>>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<32xf32>, tensor<?x4xf32, #graph.dims<N>> -> tensor<?x?x4xf32, #graph.dims<S, N>>, tensor<?x4xf32, #graph.dims<N>>, tensor<?x4xf32, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @gru(
// CHECK:         graph.gru %{{.*}}, %{{.*}}, %{{.*}} lengths(%{{.*}}) {linear_before_reset, activations = "sigmoid,tanh"}
func.func @gru(%x: tensor<5x2x3xf16>, %w: tensor<12x3xf16>, %r: tensor<12x4xf16>, %n: tensor<2xi32>) {
  %y, %h = graph.gru %x, %w, %r lengths(%n) {activations = "sigmoid,tanh", linear_before_reset} : tensor<5x2x3xf16>, tensor<12x3xf16>, tensor<12x4xf16>, tensor<2xi32> -> tensor<5x2x4xf16>, tensor<2x4xf16>
  func.return
}

// CHECK-LABEL: func.func @rnn(
// CHECK:         graph.rnn %{{.*}}, %{{.*}}, %{{.*}} {activations = "relu"}
func.func @rnn(%x: tensor<5x2x3xf32>, %w: tensor<4x3xf32>, %r: tensor<4x4xf32>) {
  %y, %h = graph.rnn %x, %w, %r {activations = "relu"} : tensor<5x2x3xf32>, tensor<4x3xf32>, tensor<4x4xf32> -> tensor<5x2x4xf32>, tensor<2x4xf32>
  func.return
}
