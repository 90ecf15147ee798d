// RUN: aicc-opt %s -p graph-decompose | filecheck %s

// CHECK-LABEL: func.func @log_sum_exp(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf16>
// CHECK-NEXT:    %[[W:.*]] = graph.cast %[[X]] : tensor<2x3xf16> -> tensor<2x3xf32>
// CHECK-NEXT:    %[[M:.*]] = graph.reduce_max %[[W]] {axes = [1], keepdims}
// CHECK-NEXT:    %[[I:.*]] = graph.isinf %[[M]]
// CHECK-NEXT:    %[[Z:.*]] = graph.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT:    %[[S:.*]] = graph.where %[[I]], %[[Z]], %[[M]]
// CHECK-NEXT:    %[[D:.*]] = graph.sub %[[W]], %[[S]]
// CHECK-NEXT:    %[[E:.*]] = graph.exp %[[D]]
// CHECK-NEXT:    %[[T:.*]] = graph.reduce_sum %[[E]] {axes = [1], keepdims}
// CHECK-NEXT:    %[[L:.*]] = graph.log %[[T]]
// CHECK-NEXT:    %[[A:.*]] = graph.add %[[L]], %[[S]]
// CHECK-NEXT:    %[[N:.*]] = graph.cast %[[A]] : tensor<2x1xf32> -> tensor<2x1xf16>
// CHECK-NEXT:    %[[R:.*]] = graph.reshape %[[N]] {shape = [2]}
// CHECK-NEXT:    func.return %[[R]]
func.func @log_sum_exp(%x: tensor<2x3xf16>) -> tensor<2xf16> {
  %r = graph.reduce_log_sum_exp %x {axes = [1]} : tensor<2x3xf16> -> tensor<2xf16>
  func.return %r : tensor<2xf16>
}

// What an op decomposes to is decomposed in turn, in regions too: attention makes matmuls, softmax stays.
// CHECK-LABEL: func.func @in_regions(
// CHECK-NOT:     graph.attention
// CHECK-NOT:     graph.linear
// CHECK:         graph.if
// CHECK:           graph.matmul
// CHECK:           graph.softmax
// CHECK:           graph.matmul
// CHECK:         } else {
// CHECK:           graph.matmul
// CHECK-NEXT:      graph.add
func.func @in_regions(%c: tensor<i1>, %q: tensor<1x2x4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> tensor<1x2x4x8xf32> {
  %r = graph.if %c then {
    %a = graph.attention %q, %q, %q {scale = 0.5} : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32> -> tensor<1x2x4x8xf32>
    graph.yield %a : tensor<1x2x4x8xf32>
  } else {
    %l = graph.linear %q, %w bias(%b) : tensor<1x2x4x8xf32>, tensor<8x8xf32>, tensor<8xf32> -> tensor<1x2x4x8xf32>
    graph.yield %l : tensor<1x2x4x8xf32>
  } -> tensor<1x2x4x8xf32>
  func.return %r : tensor<1x2x4x8xf32>
}

// Ops that say nothing stay.
// CHECK-LABEL: func.func @keep(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT:    %[[S:.*]] = graph.softmax %[[X]]
// CHECK-NEXT:    func.return %[[S]]
func.func @keep(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = graph.softmax %x {axis = 1} : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return %s : tensor<2x3xf32>
}
