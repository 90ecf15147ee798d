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

// Margins beside the tensor, one axis after the other.
// CHECK-LABEL: func.func @mirrored(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[L:.*]] = graph.slice %[[X]] {starts = [2, 0], sizes = [2, 4], steps = [-1, 1]}
// CHECK-NEXT:    %[[H:.*]] = graph.slice %[[X]] {starts = [N-2, 0], sizes = [1, 4], steps = [-1, 1]}
// CHECK-NEXT:    %[[C:.*]] = graph.concat %[[L]], %[[X]], %[[H]] {axis = 0}
// CHECK-NEXT:    %[[E:.*]] = graph.slice %[[C]] {starts = [0, 2], sizes = [N+3, 3], steps = [1, -1]}
// CHECK-NEXT:    %[[R:.*]] = graph.concat %[[C]], %[[E]] {axis = 1}
// CHECK-NEXT:    func.return %[[R]]
func.func @mirrored(%x: tensor<?x4xf32, #graph.dims<N>>) -> tensor<?x7xf32, #graph.dims<N+3>> {
  %r = graph.pad %x {low = [2, 0], high = [1, 3], mode = "reflect"} : tensor<?x4xf32, #graph.dims<N>> -> tensor<?x7xf32, #graph.dims<N+3>>
  func.return %r : tensor<?x7xf32, #graph.dims<N+3>>
}

// CHECK-LABEL: func.func @continued(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %[[E:.*]] = graph.slice %[[X]] {starts = [3], sizes = [1], steps = [1]}
// CHECK-NEXT:    %[[H:.*]] = graph.expand %[[E]] {shape = [2]}
// CHECK-NEXT:    %[[R:.*]] = graph.concat %[[X]], %[[H]] {axis = 0}
// CHECK-NEXT:    func.return %[[R]]
func.func @continued(%x: tensor<4xf32>) -> tensor<6xf32> {
  %r = graph.pad %x {low = [0], high = [2], mode = "edge"} : tensor<4xf32> -> tensor<6xf32>
  func.return %r : tensor<6xf32>
}

// What is cut off is mirrored before, and padding by a constant is one op.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    %{{.*}} = graph.pad %{{.*}} {low = [-1], high = [3]
// CHECK-NEXT:    %{{.*}} = graph.pad %{{.*}} {low = [1], high = [1]
func.func @kept(%x: tensor<4xf32>) -> tensor<8xf32> {
  %c = graph.pad %x {low = [-1], high = [3], mode = "reflect"} : tensor<4xf32> -> tensor<6xf32>
  %r = graph.pad %c {low = [1], high = [1]} : tensor<6xf32> -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// All that local response normalisation does is at the shape of its window, between two views: one kernel does it.
// CHECK-LABEL: func.func @response(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT:    %[[F:.*]] = graph.reshape %[[X]] {shape = [1, 1, 8, 16]}
// CHECK-NEXT:    %[[Q:.*]] = graph.mul %[[F]], %[[F]]
// CHECK-NEXT:    %[[A:.*]] = graph.avg_pool %[[Q]]
// The power of 3/4 is made of square roots.
// CHECK:         %[[B:.*]] = graph.add
// CHECK-NEXT:    %[[S:.*]] = graph.sqrt %[[B]]
// CHECK-NEXT:    %[[T:.*]] = graph.sqrt %[[S]]
// CHECK-NEXT:    %[[P:.*]] = graph.mul %[[S]], %[[T]]
// CHECK-NEXT:    %[[D:.*]] = graph.div %[[F]], %[[P]]
// CHECK-NEXT:    %[[R:.*]] = graph.reshape %[[D]] {shape = [1, 8, 4, 4]}
// CHECK-NEXT:    func.return %[[R]]
func.func @response(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %r = graph.lrn %x {size = 5, alpha = 1.0e-04, beta = 0.75, bias = 1.0} : tensor<1x8x4x4xf32> -> tensor<1x8x4x4xf32>
  func.return %r : tensor<1x8x4x4xf32>
}

// What may be negative has no square root, and -inf to the power of 3/4 is inf; other powers are none of roots.
// CHECK-LABEL: func.func @other_responses(
// CHECK-NOT:     graph.sqrt
// CHECK:         graph.pow
// CHECK-NOT:     graph.sqrt
// CHECK:         graph.pow
// CHECK-NOT:     graph.sqrt
// CHECK:         graph.pow
// CHECK-NOT:     graph.sqrt
// CHECK:         func.return
func.func @other_responses(%x: tensor<1x8x4xf32>) -> (tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>) {
  %a = graph.lrn %x {size = 5, alpha = -1.0e-04, beta = 0.75, bias = 1.0} : tensor<1x8x4xf32> -> tensor<1x8x4xf32>
  %b = graph.lrn %x {size = 5, alpha = 1.0e-04, beta = 0.75, bias = -1.0} : tensor<1x8x4xf32> -> tensor<1x8x4xf32>
  %c = graph.lrn %x {size = 5, alpha = 1.0e-04, beta = 0.6, bias = 1.0} : tensor<1x8x4xf32> -> tensor<1x8x4xf32>
  func.return %a, %b, %c : tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
}

// Many parts are joined in groups of about the square root of their number, so that no kernel has a loop for each.
// CHECK-LABEL: func.func @many_parts(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor
// CHECK-COUNT-7: %{{.*}} = graph.concat %[[X]], {{.*}} -> tensor<9xf32>
// CHECK-NEXT:    %[[L:.*]] = graph.concat %[[X]], %[[X]] {axis = 0} : tensor<1xf32>, tensor<1xf32> -> tensor<2xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.concat {{.*}}, %[[L]] {axis = 0} : {{.*}} -> tensor<65xf32>
// CHECK-NEXT:    func.return %[[R]]
func.func @many_parts(%x: tensor<1xf32>) -> tensor<65xf32> {
  %r = graph.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32> -> tensor<65xf32>
  func.return %r : tensor<65xf32>
}

// CHECK-LABEL: func.func @not_so_many_parts(
// CHECK-COUNT-1: graph.concat
// CHECK-NEXT:    func.return
func.func @not_so_many_parts(%x: tensor<1xf32>) -> tensor<64xf32> {
  %r = graph.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32> -> tensor<64xf32>
  func.return %r : tensor<64xf32>
}
