// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @dense(
// CHECK-NEXT:    %{{.*}} = graph.constant dense<[1.000000e+00, -0.000000e+00]> : tensor<2xf32>
// CHECK-NEXT:    %{{.*}} = graph.constant dense<255> : tensor<2x3xui8>
// CHECK-NEXT:    %{{.*}} = graph.constant dense<true> : tensor<i1>
// CHECK-NEXT:    %{{.*}} = graph.constant dense<> : tensor<0x2xi64>
func.func @dense() {
  %0 = graph.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %1 = graph.constant dense<255> : tensor<2x3xui8>
  %2 = graph.constant dense<true> : tensor<i1>
  %3 = graph.constant dense<> : tensor<0x2xi64>
  func.return
}

// A buffer is printed by name, never by value.
// CHECK-LABEL: func.func @buffers(
// CHECK-NEXT:    %{{.*}} = graph.constant #graph.buffer<"conv1.weight"> : tensor<64x3x7x7xf32>
// CHECK-NEXT:    %{{.*}} = graph.constant #graph.buffer<"conv1.weight", "weights.safetensors"> : tensor<64x3x7x7xbf16>
func.func @buffers() {
  %0 = graph.constant #graph.buffer<"conv1.weight"> : tensor<64x3x7x7xf32>
  %1 = graph.constant #graph.buffer<"conv1.weight", "weights.safetensors"> : tensor<64x3x7x7xbf16>
  func.return
}

// CHECK-LABEL: func.func @patterns(
// CHECK-NEXT:    %{{.*}} = graph.iota {axis = 1} : tensor<2x?xi64, #graph.dims<N>>
func.func @patterns(%x: tensor<?xf32, #graph.dims<N>>) {
  %0 = graph.iota {axis = 1} : tensor<2x?xi64, #graph.dims<N>>
  func.return
}
