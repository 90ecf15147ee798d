// RUN: aicc-opt %s -p graph-quantised-products | filecheck %s

// Rows and columns may have scales of their own; a zero point that is known to be 0 is left out.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x6xui8, #graph.dims<N>>, %[[XS:[a-z0-9]+]]: tensor<f32>, %[[XZ:[a-z0-9]+]]: tensor<ui8>, %[[W:[a-z0-9]+]]: tensor<6x8xi8>, %[[WS:[a-z0-9]+]]: tensor<8xf32>)
// CHECK:         %[[P:.*]] = graph.matmul_integer %[[X]], %[[W]] lhs_zero(%[[XZ]]) : {{.*}} -> tensor<?x8xi32, #graph.dims<N>>
// CHECK-NEXT:    %[[F:.*]] = graph.cast %[[P]]
// CHECK-NEXT:    %[[S:.*]] = graph.mul %[[XS]], %[[WS]]
// CHECK-NEXT:    %[[R:.*]] = graph.mul %[[F]], %[[S]]
// CHECK-NEXT:    func.return %[[R]]
func.func @matmul(%x: tensor<?x6xui8, #graph.dims<N>>, %xs: tensor<f32>, %xz: tensor<ui8>, %w: tensor<6x8xi8>, %ws: tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<N>> {
  %x1 = graph.cast %x : tensor<?x6xui8, #graph.dims<N>> -> tensor<?x6xi32, #graph.dims<N>>
  %x2 = graph.cast %xz : tensor<ui8> -> tensor<i32>
  %x3 = graph.sub %x1, %x2 : tensor<?x6xi32, #graph.dims<N>>, tensor<i32> -> tensor<?x6xi32, #graph.dims<N>>
  %x4 = graph.cast %x3 : tensor<?x6xi32, #graph.dims<N>> -> tensor<?x6xf32, #graph.dims<N>>
  %a = graph.mul %x4, %xs : tensor<?x6xf32, #graph.dims<N>>, tensor<f32> -> tensor<?x6xf32, #graph.dims<N>>
  %wz = graph.constant dense<0> : tensor<8xi32>
  %w1 = graph.cast %w : tensor<6x8xi8> -> tensor<6x8xi32>
  %w2 = graph.sub %w1, %wz : tensor<6x8xi32>, tensor<8xi32> -> tensor<6x8xi32>
  %w3 = graph.cast %w2 : tensor<6x8xi32> -> tensor<6x8xf32>
  %b = graph.mul %w3, %ws : tensor<6x8xf32>, tensor<8xf32> -> tensor<6x8xf32>
  %r = graph.matmul %a, %b : tensor<?x6xf32, #graph.dims<N>>, tensor<6x8xf32> -> tensor<?x8xf32, #graph.dims<N>>
  func.return %r : tensor<?x8xf32, #graph.dims<N>>
}

// Integers, scales and zero points are transposed with the weights.
// CHECK-LABEL: func.func @linear(
// CHECK:         %[[Z:.*]] = graph.constant dense<{{.*}}> : tensor<2x1xi8>
// CHECK:         %[[T:.*]] = graph.transpose %[[Z]] {permutation = [1, 0]} : tensor<2x1xi8> -> tensor<1x2xi8>
// CHECK:         %[[W:.*]] = graph.transpose %{{.*}} {permutation = [1, 0]} : tensor<2x6xi8> -> tensor<6x2xi8>
// CHECK:         graph.transpose %{{.*}} {permutation = [1, 0]} : tensor<2x1xf32> -> tensor<1x2xf32>
// CHECK:         graph.matmul_integer %{{.*}}, %[[W]] rhs_zero(%[[T]])
// CHECK:         graph.add %{{.*}}, %{{.*}} : tensor<5x2xf32>, tensor<2xf32> -> tensor<5x2xf32>
func.func @linear(%x: tensor<5x6xi8>, %xs: tensor<f32>, %w: tensor<2x6xi8>, %ws: tensor<2x1xf32>, %bias: tensor<2xf32>) -> tensor<5x2xf32> {
  %x1 = graph.cast %x : tensor<5x6xi8> -> tensor<5x6xi32>
  %x2 = graph.cast %x1 : tensor<5x6xi32> -> tensor<5x6xf32>
  %a = graph.mul %x2, %xs : tensor<5x6xf32>, tensor<f32> -> tensor<5x6xf32>
  %wz = graph.constant dense<[[3], [-4]]> : tensor<2x1xi32>
  %w1 = graph.cast %w : tensor<2x6xi8> -> tensor<2x6xi32>
  %w2 = graph.sub %w1, %wz : tensor<2x6xi32>, tensor<2x1xi32> -> tensor<2x6xi32>
  %w3 = graph.cast %w2 : tensor<2x6xi32> -> tensor<2x6xf32>
  %b = graph.mul %w3, %ws : tensor<2x6xf32>, tensor<2x1xf32> -> tensor<2x6xf32>
  %r = graph.linear %a, %b bias(%bias) {transpose_w} : tensor<5x6xf32>, tensor<2x6xf32>, tensor<2xf32> -> tensor<5x2xf32>
  func.return %r : tensor<5x2xf32>
}

// CHECK-LABEL: func.func @conv(
// CHECK:         %[[P:.*]] = graph.conv_integer %{{.*}}, %{{.*}} {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]}
// CHECK:         %[[S:.*]] = graph.reshape %{{.*}} : tensor<4x1x1x1xf32> -> tensor<4x1x1xf32>
// CHECK:         graph.mul %{{.*}}, %[[S]]
// CHECK-NOT:     graph.conv %
// CHECK:         func.return
func.func @conv(%x: tensor<1x2x8x8xi8>, %xs: tensor<f32>, %w: tensor<4x2x3x3xi8>, %ws: tensor<4x1x1x1xf32>, %bias: tensor<4xf32>) -> tensor<1x4x8x8xf32> {
  %x1 = graph.cast %x : tensor<1x2x8x8xi8> -> tensor<1x2x8x8xf32>
  %a = graph.mul %x1, %xs : tensor<1x2x8x8xf32>, tensor<f32> -> tensor<1x2x8x8xf32>
  %w1 = graph.cast %w : tensor<4x2x3x3xi8> -> tensor<4x2x3x3xf32>
  %b = graph.mul %w1, %ws : tensor<4x2x3x3xf32>, tensor<4x1x1x1xf32> -> tensor<4x2x3x3xf32>
  %r = graph.conv %a, %b bias(%bias) {strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<1x2x8x8xf32>, tensor<4x2x3x3xf32>, tensor<4xf32> -> tensor<1x4x8x8xf32>
  func.return %r : tensor<1x4x8x8xf32>
}

// A scale that varies along what is summed over; one float operand; integers of 16 bits; an odd number of channels in several groups.
// CHECK-LABEL: func.func @not(
// CHECK-NOT:     _integer
// CHECK:         func.return
func.func @not(%x: tensor<5x6xi8>, %rows: tensor<6xf32>, %s: tensor<f32>, %w: tensor<6x2xi8>, %f: tensor<6x2xf32>, %v: tensor<6x2xi16>, %i: tensor<1x6x8x8xi8>, %k: tensor<4x3x3x3xi8>) -> (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<1x4x6x6xf32>) {
  %x1 = graph.cast %x : tensor<5x6xi8> -> tensor<5x6xf32>
  %a = graph.mul %x1, %rows : tensor<5x6xf32>, tensor<6xf32> -> tensor<5x6xf32>
  %c = graph.mul %x1, %s : tensor<5x6xf32>, tensor<f32> -> tensor<5x6xf32>
  %w1 = graph.cast %w : tensor<6x2xi8> -> tensor<6x2xf32>
  %b = graph.mul %w1, %s : tensor<6x2xf32>, tensor<f32> -> tensor<6x2xf32>
  %v1 = graph.cast %v : tensor<6x2xi16> -> tensor<6x2xf32>
  %d = graph.mul %v1, %s : tensor<6x2xf32>, tensor<f32> -> tensor<6x2xf32>
  %0 = graph.matmul %a, %b : tensor<5x6xf32>, tensor<6x2xf32> -> tensor<5x2xf32>
  %1 = graph.matmul %c, %f : tensor<5x6xf32>, tensor<6x2xf32> -> tensor<5x2xf32>
  %2 = graph.matmul %c, %d : tensor<5x6xf32>, tensor<6x2xf32> -> tensor<5x2xf32>
  %i1 = graph.cast %i : tensor<1x6x8x8xi8> -> tensor<1x6x8x8xf32>
  %i2 = graph.mul %i1, %s : tensor<1x6x8x8xf32>, tensor<f32> -> tensor<1x6x8x8xf32>
  %k1 = graph.cast %k : tensor<4x3x3x3xi8> -> tensor<4x3x3x3xf32>
  %k2 = graph.mul %k1, %s : tensor<4x3x3x3xf32>, tensor<f32> -> tensor<4x3x3x3xf32>
  %3 = graph.conv %i2, %k2 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 2} : tensor<1x6x8x8xf32>, tensor<4x3x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return %0, %1, %2, %3 : tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<1x4x6x6xf32>
}

// One channel per group.
// CHECK-LABEL: func.func @depthwise(
// CHECK:         graph.conv_integer %{{.*}} {{{.*}}groups = 4} : tensor<1x4x8x8xi8>, tensor<4x1x3x3xi8> -> tensor<1x4x6x6xi32>
func.func @depthwise(%i: tensor<1x4x8x8xi8>, %k: tensor<4x1x3x3xi8>, %s: tensor<f32>) -> tensor<1x4x6x6xf32> {
  %i1 = graph.cast %i : tensor<1x4x8x8xi8> -> tensor<1x4x8x8xf32>
  %i2 = graph.mul %i1, %s : tensor<1x4x8x8xf32>, tensor<f32> -> tensor<1x4x8x8xf32>
  %k1 = graph.cast %k : tensor<4x1x3x3xi8> -> tensor<4x1x3x3xf32>
  %k2 = graph.mul %k1, %s : tensor<4x1x3x3xf32>, tensor<f32> -> tensor<4x1x3x3xf32>
  %r = graph.conv %i2, %k2 {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 4} : tensor<1x4x8x8xf32>, tensor<4x1x3x3xf32> -> tensor<1x4x6x6xf32>
  func.return %r : tensor<1x4x6x6xf32>
}

// A zero point with axes of its own is known to be 0, too.
// CHECK-LABEL: func.func @reshaped_zero(
// CHECK:         graph.matmul_integer %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<5x6xi8>, tensor<6x2xi8> -> tensor<5x2xi32>
func.func @reshaped_zero(%x: tensor<5x6xi8>, %xs: tensor<f32>, %w: tensor<6x2xi8>, %ws: tensor<1x2xf32>) -> tensor<5x2xf32> {
  %x1 = graph.cast %x : tensor<5x6xi8> -> tensor<5x6xi32>
  %x2 = graph.cast %x1 : tensor<5x6xi32> -> tensor<5x6xf32>
  %a = graph.mul %x2, %xs : tensor<5x6xf32>, tensor<f32> -> tensor<5x6xf32>
  %wz = graph.constant dense<0> : tensor<2xi8>
  %wz1 = graph.reshape %wz {shape = [1, 2]} : tensor<2xi8> -> tensor<1x2xi8>
  %wz2 = graph.cast %wz1 : tensor<1x2xi8> -> tensor<1x2xi32>
  %w1 = graph.cast %w : tensor<6x2xi8> -> tensor<6x2xi32>
  %w2 = graph.sub %w1, %wz2 : tensor<6x2xi32>, tensor<1x2xi32> -> tensor<6x2xi32>
  %w3 = graph.cast %w2 : tensor<6x2xi32> -> tensor<6x2xf32>
  %b = graph.mul %w3, %ws : tensor<6x2xf32>, tensor<1x2xf32> -> tensor<6x2xf32>
  %r = graph.matmul %a, %b : tensor<5x6xf32>, tensor<6x2xf32> -> tensor<5x2xf32>
  func.return %r : tensor<5x2xf32>
}

// Bytes are pooled, and what is quantised as it was is not touched.
// CHECK-LABEL: func.func @pooled(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x4x8x8xui8>
// CHECK-DAG:     %[[P:.*]] = graph.max_pool %[[X]] {{.*}} : tensor<1x4x8x8xui8> -> tensor<1x4x4x4xui8>
// CHECK:         func.return %[[P]]
func.func @pooled(%x: tensor<1x4x8x8xui8>) -> tensor<1x4x4x4xui8> {
  %s = graph.constant dense<0.03> : tensor<f32>
  %z = graph.constant dense<7> : tensor<ui8>
  %x1 = graph.cast %x : tensor<1x4x8x8xui8> -> tensor<1x4x8x8xi32>
  %x2 = graph.cast %z : tensor<ui8> -> tensor<i32>
  %x3 = graph.sub %x1, %x2 : tensor<1x4x8x8xi32>, tensor<i32> -> tensor<1x4x8x8xi32>
  %x4 = graph.cast %x3 : tensor<1x4x8x8xi32> -> tensor<1x4x8x8xf32>
  %a = graph.mul %x4, %s : tensor<1x4x8x8xf32>, tensor<f32> -> tensor<1x4x8x8xf32>
  %p = graph.max_pool %a {kernel = [3, 3], strides = [2, 2], pads = [1, 1, 0, 0], dilations = [1, 1]} : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  %q1 = graph.div %p, %s : tensor<1x4x4x4xf32>, tensor<f32> -> tensor<1x4x4x4xf32>
  %q2 = graph.round %q1 : tensor<1x4x4x4xf32> -> tensor<1x4x4x4xf32>
  %q3 = graph.cast %z : tensor<ui8> -> tensor<f32>
  %q4 = graph.add %q2, %q3 : tensor<1x4x4x4xf32>, tensor<f32> -> tensor<1x4x4x4xf32>
  %q = graph.cast %q4 : tensor<1x4x4x4xf32> -> tensor<1x4x4x4xui8>
  func.return %q : tensor<1x4x4x4xui8>
}

// A window of padding alone is -inf, not a byte; a scale that is not known may turn the order round.
// CHECK-LABEL: func.func @pooled_floats(
// CHECK-COUNT-2: graph.max_pool %{{.*}} : tensor<1x4x2x2xf32> ->
func.func @pooled_floats(%x: tensor<1x4x2x2xi8>, %t: tensor<f32>) -> (tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>) {
  %s = graph.constant dense<0.03> : tensor<f32>
  %x1 = graph.cast %x : tensor<1x4x2x2xi8> -> tensor<1x4x2x2xi32>
  %x2 = graph.cast %x1 : tensor<1x4x2x2xi32> -> tensor<1x4x2x2xf32>
  %a = graph.mul %x2, %s : tensor<1x4x2x2xf32>, tensor<f32> -> tensor<1x4x2x2xf32>
  %p = graph.max_pool %a {kernel = [1, 1], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<1x4x2x2xf32> -> tensor<1x4x4x4xf32>
  %b = graph.mul %x2, %t : tensor<1x4x2x2xf32>, tensor<f32> -> tensor<1x4x2x2xf32>
  %q = graph.max_pool %b {kernel = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x4x2x2xf32> -> tensor<1x4x1x1xf32>
  func.return %p, %q : tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>
}

// Quantised again with another scale or zero point: other integers.
// CHECK-LABEL: func.func @requantised(
// CHECK-COUNT-2: graph.round
func.func @requantised(%x: tensor<8xi8>) -> (tensor<8xi8>, tensor<8xi8>) {
  %s = graph.constant dense<0.03> : tensor<f32>
  %t = graph.constant dense<0.04> : tensor<f32>
  %z = graph.constant dense<1.0> : tensor<f32>
  %x1 = graph.cast %x : tensor<8xi8> -> tensor<8xi32>
  %x2 = graph.cast %x1 : tensor<8xi32> -> tensor<8xf32>
  %a = graph.mul %x2, %s : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %q1 = graph.div %a, %t : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %q2 = graph.round %q1 : tensor<8xf32> -> tensor<8xf32>
  %q = graph.cast %q2 : tensor<8xf32> -> tensor<8xi8>
  %r1 = graph.div %a, %s : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %r2 = graph.round %r1 : tensor<8xf32> -> tensor<8xf32>
  %r3 = graph.add %r2, %z : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %r = graph.cast %r3 : tensor<8xf32> -> tensor<8xi8>
  func.return %q, %r : tensor<8xi8>, tensor<8xi8>
}

// What is quantised after a product is multiplied: its scale and bias are, by the inverse, and a zero point of 0 is
// not added.
// CHECK-LABEL: func.func @requantised_product(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<5x6xui8>, %[[W:[a-z0-9]+]]: tensor<6x8xi8>, %[[B:[a-z0-9]+]]: tensor<8xf32>)
// CHECK-NOT:     graph.div
// CHECK:         %[[P:.*]] = graph.matmul_integer %[[X]], %[[W]]
// CHECK:         %[[F:.*]] = graph.cast %[[P]]
// CHECK:         %[[I:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK:         %[[S:.*]] = graph.mul %{{.*}}, %[[I]] : tensor<f32>, tensor<f32> -> tensor<f32>
// CHECK-NEXT:    %[[T:.*]] = graph.mul %[[F]], %[[S]]
// CHECK-NEXT:    %[[C:.*]] = graph.mul %[[B]], %[[I]]
// CHECK-NEXT:    %[[A:.*]] = graph.add %[[T]], %[[C]]
// CHECK-NEXT:    %[[L:.*]] = graph.relu %[[A]]
// CHECK-NEXT:    %[[R:.*]] = graph.round %[[L]]
// CHECK-NEXT:    %[[Q:.*]] = graph.cast %[[R]] : tensor<5x8xf32> -> tensor<5x8xui8>
// CHECK-NEXT:    func.return %[[Q]]
func.func @requantised_product(%x: tensor<5x6xui8>, %w: tensor<6x8xi8>, %bias: tensor<8xf32>) -> tensor<5x8xui8> {
  %s = graph.constant dense<0.25> : tensor<f32>
  %ys = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<0> : tensor<ui8>
  %x1 = graph.cast %x : tensor<5x6xui8> -> tensor<5x6xf32>
  %a = graph.mul %x1, %s : tensor<5x6xf32>, tensor<f32> -> tensor<5x6xf32>
  %w1 = graph.cast %w : tensor<6x8xi8> -> tensor<6x8xf32>
  %b = graph.mul %w1, %s : tensor<6x8xf32>, tensor<f32> -> tensor<6x8xf32>
  %m = graph.matmul %a, %b : tensor<5x6xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  %n = graph.add %m, %bias : tensor<5x8xf32>, tensor<8xf32> -> tensor<5x8xf32>
  %r = graph.relu %n : tensor<5x8xf32> -> tensor<5x8xf32>
  %q1 = graph.div %r, %ys : tensor<5x8xf32>, tensor<f32> -> tensor<5x8xf32>
  %q2 = graph.round %q1 : tensor<5x8xf32> -> tensor<5x8xf32>
  %q3 = graph.cast %z : tensor<ui8> -> tensor<f32>
  %q4 = graph.add %q2, %q3 : tensor<5x8xf32>, tensor<f32> -> tensor<5x8xf32>
  %q = graph.cast %q4 : tensor<5x8xf32> -> tensor<5x8xui8>
  func.return %q : tensor<5x8xui8>
}

// A sum with other floats is multiplied as a whole; floats without a product are divided, as the model has it.
// CHECK-LABEL: func.func @requantised_sum(
// CHECK:         %[[N:.*]] = graph.add %{{.*}}, %{{.*}} : tensor<5x8xf32>, tensor<5x8xf32> -> tensor<5x8xf32>
// CHECK:         graph.mul %[[N]], %{{.*}} : tensor<5x8xf32>, tensor<f32> -> tensor<5x8xf32>
// CHECK:         graph.div
func.func @requantised_sum(%x: tensor<5x6xui8>, %w: tensor<6x8xi8>, %other: tensor<5x8xf32>) -> (tensor<5x8xui8>, tensor<5x8xui8>) {
  %s = graph.constant dense<0.25> : tensor<f32>
  %ys = graph.constant dense<0.5> : tensor<f32>
  %x1 = graph.cast %x : tensor<5x6xui8> -> tensor<5x6xf32>
  %a = graph.mul %x1, %s : tensor<5x6xf32>, tensor<f32> -> tensor<5x6xf32>
  %w1 = graph.cast %w : tensor<6x8xi8> -> tensor<6x8xf32>
  %b = graph.mul %w1, %s : tensor<6x8xf32>, tensor<f32> -> tensor<6x8xf32>
  %m = graph.matmul %a, %b : tensor<5x6xf32>, tensor<6x8xf32> -> tensor<5x8xf32>
  %n = graph.add %m, %other : tensor<5x8xf32>, tensor<5x8xf32> -> tensor<5x8xf32>
  %q1 = graph.div %n, %ys : tensor<5x8xf32>, tensor<f32> -> tensor<5x8xf32>
  %q2 = graph.round %q1 : tensor<5x8xf32> -> tensor<5x8xf32>
  %q = graph.cast %q2 : tensor<5x8xf32> -> tensor<5x8xui8>
  %o1 = graph.div %other, %ys : tensor<5x8xf32>, tensor<f32> -> tensor<5x8xf32>
  %o2 = graph.round %o1 : tensor<5x8xf32> -> tensor<5x8xf32>
  %o = graph.cast %o2 : tensor<5x8xf32> -> tensor<5x8xui8>
  func.return %q, %o : tensor<5x8xui8>, tensor<5x8xui8>
}
