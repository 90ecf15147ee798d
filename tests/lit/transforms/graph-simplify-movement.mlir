// RUN: aicc-opt %s -p graph-simplify | filecheck %s

// CHECK-LABEL: func.func @nothing_moves(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32, #graph.dims<N>>
// CHECK-NEXT:    func.return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @nothing_moves(%x: tensor<?x3xf32, #graph.dims<N>>) -> (tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>) {
  %a = graph.reshape %x {shape = [N, 3]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %b = graph.expand %a {shape = [N, 3]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %c = graph.slice %x {starts = [0, 0], sizes = [N, 3], steps = [1, 1]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %d = graph.pad %x {low = [0, 0], high = [0, 0]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %e = graph.concat %x {axis = 0} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  %f = graph.split %x {axis = 1, sizes = [3]} : tensor<?x3xf32, #graph.dims<N>> -> tensor<?x3xf32, #graph.dims<N>>
  func.return %a, %b, %c, %d, %e, %f : tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>, tensor<?x3xf32, #graph.dims<N>>
}

// The same sizes, but backwards, padded and cut off, or in another order.
// CHECK-LABEL: func.func @something_moves(
// CHECK:         graph.slice
// CHECK:         graph.pad
// CHECK:         graph.concat
func.func @something_moves(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %a = graph.slice %x {starts = [1, 0], sizes = [2, 2], steps = [-1, 1]} : tensor<2x2xf32> -> tensor<2x2xf32>
  %b = graph.pad %x {low = [1, 0], high = [-1, 0]} : tensor<2x2xf32> -> tensor<2x2xf32>
  %c, %d = graph.split %x {axis = 0, sizes = [1, 1]} : tensor<2x2xf32> -> tensor<1x2xf32>, tensor<1x2xf32>
  %e = graph.concat %d, %c {axis = 0} : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<2x2xf32>
  func.return %a, %b, %e : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @one_of_two(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x6xf32>, %[[Y:[a-z0-9]+]]: tensor<1x3xf32>
// CHECK-DAG:     %[[R:.*]] = graph.reshape %[[X]] {shape = [4, 12]}
// CHECK-DAG:     %[[S:.*]] = graph.slice %[[X]] {starts = [5, 1], sizes = [2, 2], steps = [-2, 3]}
// CHECK-DAG:     %[[E:.*]] = graph.expand %[[Y]] {shape = [5, 4, 3]}
// CHECK:         func.return %[[R]], %[[S]], %[[E]]
func.func @one_of_two(%x: tensor<8x6xf32>, %y: tensor<1x3xf32>) -> (tensor<4x12xf32>, tensor<2x2xf32>, tensor<5x4x3xf32>) {
  %a = graph.reshape %x {shape = [48]} : tensor<8x6xf32> -> tensor<48xf32>
  %b = graph.reshape %a {shape = [4, 12]} : tensor<48xf32> -> tensor<4x12xf32>
  %c = graph.slice %x {starts = [7, 1], sizes = [4, 2], steps = [-2, 3]} : tensor<8x6xf32> -> tensor<4x2xf32>
  %d = graph.slice %c {starts = [1, 0], sizes = [2, 2], steps = [1, 1]} : tensor<4x2xf32> -> tensor<2x2xf32>
  %e = graph.expand %y {shape = [4, 3]} : tensor<1x3xf32> -> tensor<4x3xf32>
  %f = graph.expand %e {shape = [5, 4, 3]} : tensor<4x3xf32> -> tensor<5x4x3xf32>
  func.return %b, %d, %f : tensor<4x12xf32>, tensor<2x2xf32>, tensor<5x4x3xf32>
}

// An elementwise op broadcasts by itself; where nothing else has the full shape, the expansion stays.
// CHECK-LABEL: func.func @broadcasts(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<3xf32>
// CHECK-DAG:     %[[A:.*]] = graph.add %[[X]], %[[Y]]
// CHECK-DAG:     %[[E:.*]] = graph.expand %[[Y]]
// CHECK-DAG:     %[[B:.*]] = graph.neg %[[E]]
// CHECK:         func.return %[[A]], %[[B]]
func.func @broadcasts(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %e = graph.expand %y {shape = [2, 3]} : tensor<3xf32> -> tensor<2x3xf32>
  %a = graph.add %x, %e : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  %b = graph.neg %e : tensor<2x3xf32> -> tensor<2x3xf32>
  func.return %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @concats(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<0x3xf32>
// CHECK-NEXT:    %[[C:.*]] = graph.concat %[[X]], %[[X]], %[[X]] {axis = 0}
// CHECK-NEXT:    func.return %[[C]], %[[X]]
func.func @concats(%x: tensor<2x3xf32>, %y: tensor<0x3xf32>) -> (tensor<6x3xf32>, tensor<2x3xf32>) {
  %a = graph.concat %x, %x {axis = 0} : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<4x3xf32>
  %b = graph.concat %a, %y, %x {axis = 0} : tensor<4x3xf32>, tensor<0x3xf32>, tensor<2x3xf32> -> tensor<6x3xf32>
  %p, %q = graph.split %x {axis = 1, sizes = [1, 2]} : tensor<2x3xf32> -> tensor<2x1xf32>, tensor<2x2xf32>
  %c = graph.concat %p, %q {axis = 1} : tensor<2x1xf32>, tensor<2x2xf32> -> tensor<2x3xf32>
  func.return %b, %c : tensor<6x3xf32>, tensor<2x3xf32>
}

// Other axes, and an inner concat that others use too.
// CHECK-LABEL: func.func @keep_concats(
// CHECK-COUNT-2: graph.concat
// CHECK:         graph.concat %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {axis = 0}
func.func @keep_concats(%x: tensor<2x2xf32>) -> (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = graph.concat %x, %x {axis = 1} : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>
  %b = graph.concat %a, %a {axis = 0} : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
  %c = graph.concat %a, %a {axis = 0} : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<4x4xf32>
  func.return %a, %b, %c : tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// One element is its own sum, mean, product and extremum, but not its own norm.
// CHECK-LABEL: func.func @reductions_of_one(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x1xf32>
// CHECK-DAG:     %[[S:.*]] = graph.reshape %[[X]] {shape = [2]}
// CHECK-DAG:     %[[N:.*]] = graph.reduce_l2 %[[X]]
// CHECK-DAG:     %[[K:.*]] = graph.reduce_sum %[[X]] {axes = [0]}
// CHECK:         func.return %[[S]], %[[X]], %[[N]], %[[K]]
func.func @reductions_of_one(%x: tensor<2x1xf32>) -> (tensor<2xf32>, tensor<2x1xf32>, tensor<2xf32>, tensor<1xf32>) {
  %a = graph.reduce_mean %x {axes = [1]} : tensor<2x1xf32> -> tensor<2xf32>
  %b = graph.reduce_max %x {axes = [], keepdims} : tensor<2x1xf32> -> tensor<2x1xf32>
  %c = graph.reduce_l2 %x {axes = [1]} : tensor<2x1xf32> -> tensor<2xf32>
  %d = graph.reduce_sum %x {axes = [0]} : tensor<2x1xf32> -> tensor<1xf32>
  func.return %a, %b, %c, %d : tensor<2xf32>, tensor<2x1xf32>, tensor<2xf32>, tensor<1xf32>
}

// A constant index of rank 0 is a slice; of a symbolic axis only the ends are known to be there.
// CHECK-LABEL: func.func @gathers(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3xf32, #graph.dims<N>>
// CHECK-DAG:     %[[S:.*]] = graph.slice %[[X]] {starts = [N-1, 0], sizes = [1, 3], steps = [1, 1]}
// CHECK-DAG:     %[[R:.*]] = graph.reshape %[[S]] {shape = [3]}
// CHECK-DAG:     %[[T:.*]] = graph.slice %[[X]] {starts = [0, 2], sizes = [N, 1], steps = [1, 1]}
// CHECK-DAG:     %[[U:.*]] = graph.reshape %[[T]] {shape = [N]}
// CHECK-DAG:     %[[G:.*]] = graph.gather
// CHECK:         func.return %[[R]], %[[U]], %[[G]]
func.func @gathers(%x: tensor<?x3xf32, #graph.dims<N>>) -> (tensor<3xf32>, tensor<?xf32, #graph.dims<N>>, tensor<3xf32>) {
  %last = graph.constant dense<-1> : tensor<i64>
  %far = graph.constant dense<9> : tensor<i64>
  %a = graph.gather %x, %last {axis = 0} : tensor<?x3xf32, #graph.dims<N>>, tensor<i64> -> tensor<3xf32>
  %b = graph.gather %x, %far {axis = 1} : tensor<?x3xf32, #graph.dims<N>>, tensor<i64> -> tensor<?xf32, #graph.dims<N>>
  %c = graph.gather %x, %far {axis = 0} : tensor<?x3xf32, #graph.dims<N>>, tensor<i64> -> tensor<3xf32>
  func.return %a, %b, %c : tensor<3xf32>, tensor<?xf32, #graph.dims<N>>, tensor<3xf32>
}

// CHECK-LABEL: func.func @pad_into_conv(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x2x4x4xf32>, %[[W:[a-z0-9]+]]: tensor<3x2x3x3xf32>
// CHECK-NEXT:    %[[C:.*]] = graph.conv %[[X]], %[[W]] {strides = [1, 1], pads = [1, 2, 1, 1], dilations = [1, 1]}
// CHECK-NEXT:    func.return %[[C]]
func.func @pad_into_conv(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x4x5xf32> {
  %p = graph.pad %x {low = [0, 0, 1, 1], high = [0, 0, 1, 0]} : tensor<1x2x4x4xf32> -> tensor<1x2x6x5xf32>
  %c = graph.conv %p, %w {strides = [1, 1], pads = [0, 1, 0, 1], dilations = [1, 1]} : tensor<1x2x6x5xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x4x5xf32>
  func.return %c : tensor<1x3x4x5xf32>
}

// Another value, another mode, a channel, a negative amount: none of these is padding of a convolution.
// CHECK-LABEL: func.func @keep_pads(
// CHECK-COUNT-4: graph.pad
func.func @keep_pads(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>, %v: tensor<3x3x3x3xf32>) -> (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x1x2xf32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %a = graph.pad %x value(%one) {low = [0, 0, 1, 0], high = [0, 0, 0, 0]} : tensor<1x2x4x4xf32>, tensor<f32> -> tensor<1x2x5x4xf32>
  %b = graph.pad %x {low = [0, 0, 1, 0], high = [0, 0, 0, 0], mode = "edge"} : tensor<1x2x4x4xf32> -> tensor<1x2x5x4xf32>
  %c = graph.pad %x {low = [0, 1, 0, 0], high = [0, 0, 0, 0]} : tensor<1x2x4x4xf32> -> tensor<1x3x4x4xf32>
  %d = graph.pad %x {low = [0, 0, -1, 0], high = [0, 0, 0, 0]} : tensor<1x2x4x4xf32> -> tensor<1x2x3x4xf32>
  %e = graph.conv %a, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x2x5x4xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x2xf32>
  %f = graph.conv %b, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x2x5x4xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x3x2xf32>
  %g = graph.conv %c, %v {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x3x4x4xf32>, tensor<3x3x3x3xf32> -> tensor<1x3x2x2xf32>
  %h = graph.conv %d, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]} : tensor<1x2x3x4xf32>, tensor<3x2x3x3xf32> -> tensor<1x3x1x2xf32>
  func.return %e, %f, %g, %h : tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>, tensor<1x3x2x2xf32>, tensor<1x3x1x2xf32>
}

// Of three taps 4 apart the outer ones lie in the padding of an axis of 4; of the axis of 8 none does.
// CHECK-LABEL: func.func @taps_in_padding(
// CHECK:         %[[W:.*]] = graph.constant
// CHECK-NEXT:    %[[S:.*]] = graph.slice %[[W]] {starts = [0, 0, 1, 0], sizes = [1, 1, 1, 3], steps = [1, 1, 1, 1]}
// CHECK-NEXT:    %[[C:.*]] = graph.conv %{{.*}}, %[[S]] {strides = [1, 1], pads = [0, 4, 0, 4], dilations = [4, 4]}
// CHECK-NEXT:    func.return %[[C]]
func.func @taps_in_padding(%x: tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32> {
  %w = graph.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %c = graph.conv %x, %w {strides = [1, 1], pads = [4, 4, 4, 4], dilations = [4, 4]} : tensor<1x1x4x8xf32>, tensor<1x1x3x3xf32> -> tensor<1x1x4x8xf32>
  func.return %c : tensor<1x1x4x8xf32>
}

// Zero times a weight that is infinite, or may be, is no zero; windows that begin behind the first element need all pads.
// CHECK-LABEL: func.func @keep_taps(
// CHECK-NOT:     graph.slice
// CHECK:         func.return
func.func @keep_taps(%x: tensor<1x1x4xf32>, %v: tensor<1x1x3xf32>) -> (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x2xf32>) {
  %inf = graph.constant dense<[[[1.0, 2.0, 0x7F800000]]]> : tensor<1x1x3xf32>
  %w = graph.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %a = graph.conv %x, %inf {strides = [1], pads = [4, 4], dilations = [4]} : tensor<1x1x4xf32>, tensor<1x1x3xf32> -> tensor<1x1x4xf32>
  %b = graph.conv %x, %v {strides = [1], pads = [4, 4], dilations = [4]} : tensor<1x1x4xf32>, tensor<1x1x3xf32> -> tensor<1x1x4xf32>
  %c = graph.conv %x, %w {strides = [1], pads = [5, 9], dilations = [8]} : tensor<1x1x4xf32>, tensor<1x1x3xf32> -> tensor<1x1x2xf32>
  func.return %a, %b, %c : tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x2xf32>
}

// Indices are read where they are; the result has the other shape.
// CHECK-LABEL: func.func @moved_places(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<9x8xf32>, %[[I:[a-z0-9]+]]: tensor<5x2xi64>
// CHECK-NEXT:    %[[S:.*]] = graph.slice %[[I]]
// CHECK-NEXT:    %[[G:.*]] = graph.gather %[[X]], %[[S]] {axis = 1} : tensor<9x8xf32>, tensor<5x1xi64> -> tensor<9x5x1xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.reshape %[[G]] {shape = [9, 5]}
// CHECK-NEXT:    func.return %[[R]]
func.func @moved_places(%x: tensor<9x8xf32>, %i: tensor<5x2xi64>) -> tensor<9x5xf32> {
  %s = graph.slice %i {starts = [0, 1], sizes = [5, 1], steps = [1, 1]} : tensor<5x2xi64> -> tensor<5x1xi64>
  %r = graph.reshape %s {shape = [5]} : tensor<5x1xi64> -> tensor<5xi64>
  %g = graph.gather %x, %r {axis = 1} : tensor<9x8xf32>, tensor<5xi64> -> tensor<9x5xf32>
  func.return %g : tensor<9x5xf32>
}

// Nothing moves these.
// CHECK-LABEL: func.func @places_as_given(
// CHECK:         graph.reshape %{{.*}} {shape = [10]}
// CHECK-NEXT:    graph.gather
// CHECK-NEXT:    func.return
func.func @places_as_given(%x: tensor<9x8xf32>, %i: tensor<5x2xi64>) -> tensor<10x8xf32> {
  %r = graph.reshape %i {shape = [10]} : tensor<5x2xi64> -> tensor<10xi64>
  %g = graph.gather %x, %r {axis = 0} : tensor<9x8xf32>, tensor<10xi64> -> tensor<10x8xf32>
  func.return %g : tensor<10x8xf32>
}

// `x[:, [1, 2], [0, -1]]`: places in rows of 3 x 4, negative ones from the end; both transposes go.
// CHECK-LABEL: func.func @merged_axes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x3x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[F:.*]] = graph.reshape %[[X]] {shape = [N, 12]}
// CHECK-NEXT:    %[[I:.*]] = graph.constant dense<[4, 11]> : tensor<2xi64>
// CHECK-NEXT:    %[[G:.*]] = graph.gather %[[F]], %[[I]] {axis = 1}
// CHECK-NEXT:    func.return %[[G]]
func.func @merged_axes(%x: tensor<?x3x4xf32, #graph.dims<N>>) -> tensor<?x2xf32, #graph.dims<N>> {
  %i = graph.constant dense<[[1, 0], [2, -1]]> : tensor<2x2xi64>
  %t = graph.transpose %x {permutation = [1, 2, 0]} : tensor<?x3x4xf32, #graph.dims<N>> -> tensor<3x4x?xf32, #graph.dims<N>>
  %g = graph.gather_nd %t, %i : tensor<3x4x?xf32, #graph.dims<N>>, tensor<2x2xi64> -> tensor<2x?xf32, #graph.dims<N>>
  %r = graph.transpose %g {permutation = [1, 0]} : tensor<2x?xf32, #graph.dims<N>> -> tensor<?x2xf32, #graph.dims<N>>
  func.return %r : tensor<?x2xf32, #graph.dims<N>>
}

// Axes behind the indices keep their order; places out of bounds are moved into them.
// CHECK-LABEL: func.func @merged_first_axes(
// CHECK-NEXT:    %[[F:.*]] = graph.reshape %{{.*}} {shape = [6, 5, 7]}
// CHECK-NEXT:    %[[I:.*]] = graph.constant dense<5> : tensor<1x1xi64>
// CHECK-NEXT:    %[[G:.*]] = graph.gather %[[F]], %[[I]] {axis = 0} : {{.*}} -> tensor<1x1x5x7xf32>
// CHECK-NEXT:    func.return %[[G]]
func.func @merged_first_axes(%x: tensor<2x3x5x7xf32>) -> tensor<1x1x5x7xf32> {
  %i = graph.constant dense<[[[9, 2]]]> : tensor<1x1x2xi64>
  %g = graph.gather_nd %x, %i : tensor<2x3x5x7xf32>, tensor<1x1x2xi64> -> tensor<1x1x5x7xf32>
  func.return %g : tensor<1x1x5x7xf32>
}

// Axes that do not follow each other, of unknown size, behind batch axes; indices that data tells.
// CHECK-LABEL: func.func @keep_gather_nd(
// CHECK-COUNT-4: graph.gather_nd
func.func @keep_gather_nd(%x: tensor<2x?x4xf32, #graph.dims<N>>, %y: tensor<3x4xf32>, %z: tensor<2x2xi64>) -> (tensor<2x?xf32, #graph.dims<N>>, tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>) {
  %i = graph.constant dense<[[1, 0], [1, 3]]> : tensor<2x2xi64>
  %j = graph.constant dense<[[0], [2], [1]]> : tensor<3x1xi64>
  %t = graph.transpose %x {permutation = [0, 2, 1]} : tensor<2x?x4xf32, #graph.dims<N>> -> tensor<2x4x?xf32, #graph.dims<N>>
  %a = graph.gather_nd %t, %i : tensor<2x4x?xf32, #graph.dims<N>>, tensor<2x2xi64> -> tensor<2x?xf32, #graph.dims<N>>
  %b = graph.gather_nd %x, %i : tensor<2x?x4xf32, #graph.dims<N>>, tensor<2x2xi64> -> tensor<2x4xf32>
  %c = graph.gather_nd %y, %z : tensor<3x4xf32>, tensor<2x2xi64> -> tensor<2xf32>
  %d = graph.gather_nd %y, %j {batch_dims = 1} : tensor<3x4xf32>, tensor<3x1xi64> -> tensor<3xf32>
  %e = graph.slice %d {starts = [0], sizes = [2], steps = [1]} : tensor<3xf32> -> tensor<2xf32>
  func.return %a, %b, %c, %e : tensor<2x?xf32, #graph.dims<N>>, tensor<2x4xf32>, tensor<2xf32>, tensor<2xf32>
}

// One tap, which is in the padding of every window, is as few as there are.
// CHECK-LABEL: func.func @keep_one_tap(
// CHECK-NOT:     graph.slice
// CHECK:         func.return
func.func @keep_one_tap(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %w = graph.constant dense<3.0> : tensor<1x1x1xf32>
  %c = graph.conv %x, %w {strides = [3], pads = [2, 1], dilations = [1]} : tensor<1x1x1xf32>, tensor<1x1x1xf32> -> tensor<1x1x2xf32>
  func.return %c : tensor<1x1x2xf32>
}
