// RUN: aicc-opt %s -p graph-fold-batch-norm | filecheck %s

// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3x8x8xf32, #graph.dims<N>>
// CHECK-DAG:     %[[W:.*]] = graph.constant #graph.buffer<"w">
// CHECK-DAG:     %[[B:.*]] = graph.constant #graph.buffer<"b">
// CHECK-DAG:     %[[SCALE:.*]] = graph.constant #graph.buffer<"scale">
// CHECK-DAG:     %[[SHIFT:.*]] = graph.constant #graph.buffer<"shift">
// CHECK-DAG:     %[[MEAN:.*]] = graph.constant #graph.buffer<"mean">
// CHECK-DAG:     %[[VAR:.*]] = graph.constant #graph.buffer<"var">
// CHECK:         %[[EPS:.*]] = graph.constant dense<1.000000e-03> : tensor<f32>
// CHECK-NEXT:    %[[V:.*]] = graph.add %[[VAR]], %[[EPS]]
// CHECK-NEXT:    %[[D:.*]] = graph.sqrt %[[V]]
// CHECK-NEXT:    %[[S:.*]] = graph.div %[[SCALE]], %[[D]]
// CHECK-NEXT:    %[[C:.*]] = graph.sub %[[MEAN]], %[[B]]
// CHECK-NEXT:    %[[T:.*]] = graph.mul %[[C]], %[[S]]
// CHECK-NEXT:    %[[NB:.*]] = graph.sub %[[SHIFT]], %[[T]]
// CHECK-NEXT:    %[[SR:.*]] = graph.reshape %[[S]] {shape = [4, 1, 1, 1]}
// CHECK-NEXT:    %[[NW:.*]] = graph.mul %[[W]], %[[SR]]
// CHECK-NEXT:    %[[R:.*]] = graph.conv %[[X]], %[[NW]] bias(%[[NB]]) {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]}
// CHECK-NEXT:    func.return %[[R]]
func.func @conv(%x: tensor<?x3x8x8xf32, #graph.dims<N>>) -> tensor<?x4x4x4xf32, #graph.dims<N>> {
  %w = graph.constant #graph.buffer<"w"> : tensor<4x3x3x3xf32>
  %b = graph.constant #graph.buffer<"b"> : tensor<4xf32>
  %scale = graph.constant #graph.buffer<"scale"> : tensor<4xf32>
  %shift = graph.constant #graph.buffer<"shift"> : tensor<4xf32>
  %mean = graph.constant #graph.buffer<"mean"> : tensor<4xf32>
  %var = graph.constant #graph.buffer<"var"> : tensor<4xf32>
  %c = graph.conv %x, %w bias(%b) {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<?x3x8x8xf32, #graph.dims<N>>, tensor<4x3x3x3xf32>, tensor<4xf32> -> tensor<?x4x4x4xf32, #graph.dims<N>>
  %r = graph.batch_norm %c, %scale, %shift, %mean, %var {epsilon = 1.0e-03} : tensor<?x4x4x4xf32, #graph.dims<N>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x4x4x4xf32, #graph.dims<N>>
  func.return %r : tensor<?x4x4x4xf32, #graph.dims<N>>
}

// The channels are the columns of the weight here, and there is no bias yet.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32, #graph.dims<N>>
// CHECK:         %[[S:.*]] = graph.div
// CHECK:         %[[NB:.*]] = graph.sub
// CHECK-NEXT:    %[[SR:.*]] = graph.reshape %[[S]] {shape = [1, 4]}
// CHECK-NEXT:    %[[NW:.*]] = graph.mul %{{.*}}, %[[SR]]
// CHECK-NEXT:    graph.linear %[[X]], %[[NW]] bias(%[[NB]]) :
func.func @matmul(%x: tensor<?x3xf32, #graph.dims<N>>) -> tensor<?x4xf32, #graph.dims<N>> {
  %w = graph.constant #graph.buffer<"w"> : tensor<3x4xf32>
  %v = graph.constant #graph.buffer<"v"> : tensor<4xf32>
  %c = graph.matmul %x, %w : tensor<?x3xf32, #graph.dims<N>>, tensor<3x4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  func.return %r : tensor<?x4xf32, #graph.dims<N>>
}

// With the weight stored transposed, they are its rows.
// CHECK-LABEL: func.func @transposed(
// CHECK:         graph.reshape %{{.*}} {shape = [4, 1]}
// CHECK:         graph.linear %{{.*}}, %{{.*}} bias(%{{.*}}) {transpose_w}
func.func @transposed(%x: tensor<?x3xf32, #graph.dims<N>>) -> tensor<?x4xf32, #graph.dims<N>> {
  %w = graph.constant #graph.buffer<"w"> : tensor<4x3xf32>
  %v = graph.constant #graph.buffer<"v"> : tensor<4xf32>
  %c = graph.linear %x, %w bias(%v) {transpose_w} : tensor<?x3xf32, #graph.dims<N>>, tensor<4x3xf32>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  func.return %r : tensor<?x4xf32, #graph.dims<N>>
}

// The convolution has a second user, which must not see the scaled result.
// CHECK-LABEL: func.func @keep_when_shared(
// CHECK:         graph.batch_norm
func.func @keep_when_shared(%x: tensor<1x3x8x8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) {
  %w = graph.constant #graph.buffer<"w"> : tensor<4x3x1x1xf32>
  %v = graph.constant #graph.buffer<"v"> : tensor<4xf32>
  %c = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x8x8xf32>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x8x8xf32>
  func.return %r, %c : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @keep_when_parameters_are_inputs(
// CHECK:         graph.batch_norm
func.func @keep_when_parameters_are_inputs(%x: tensor<1x3x8x8xf32>, %v: tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  %w = graph.constant #graph.buffer<"w"> : tensor<4x3x1x1xf32>
  %c = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x8x8xf32>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x8x8xf32>
  func.return %r : tensor<1x4x8x8xf32>
}

// CHECK-LABEL: func.func @keep_when_weights_are_inputs(
// CHECK:         graph.batch_norm
func.func @keep_when_weights_are_inputs(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %v = graph.constant #graph.buffer<"v"> : tensor<4xf32>
  %c = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32> -> tensor<1x4x8x8xf32>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<1x4x8x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<1x4x8x8xf32>
  func.return %r : tensor<1x4x8x8xf32>
}

// In half precision the weights would be rounded twice.
// CHECK-LABEL: func.func @keep_in_half_precision(
// CHECK:         graph.batch_norm
func.func @keep_in_half_precision(%x: tensor<1x3x8x8xf16>) -> tensor<1x4x8x8xf16> {
  %w = graph.constant #graph.buffer<"w"> : tensor<4x3x1x1xf16>
  %v = graph.constant #graph.buffer<"v"> : tensor<4xf16>
  %c = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x8x8xf16>, tensor<4x3x1x1xf16> -> tensor<1x4x8x8xf16>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<1x4x8x8xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16>, tensor<4xf16> -> tensor<1x4x8x8xf16>
  func.return %r : tensor<1x4x8x8xf16>
}

// Batched: the channels of the result are not those of the weight.
// CHECK-LABEL: func.func @keep_when_batched(
// CHECK:         graph.batch_norm
func.func @keep_when_batched(%x: tensor<2x4x3xf32>) -> tensor<2x4x4xf32> {
  %w = graph.constant #graph.buffer<"w"> : tensor<3x4xf32>
  %v = graph.constant #graph.buffer<"v"> : tensor<4xf32>
  %c = graph.matmul %x, %w : tensor<2x4x3xf32>, tensor<3x4xf32> -> tensor<2x4x4xf32>
  %r = graph.batch_norm %c, %v, %v, %v, %v {epsilon = 1.0e-03} : tensor<2x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<2x4x4xf32>
  func.return %r : tensor<2x4x4xf32>
}
