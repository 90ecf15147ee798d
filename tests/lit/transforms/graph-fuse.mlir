// RUN: aicc-opt %s -p graph-fuse | filecheck %s
// RUN: aicc-opt %s -p graph-fuse{max-ops=1} | filecheck %s --check-prefix=ONE
// RUN: aicc-opt %s -p graph-fuse{producers=true} | filecheck %s --check-prefix=PRODUCERS

// A contraction takes in what reads its result, with a residual from elsewhere; a small diamond too.
// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xf32, #graph.dims<N>>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.kernel (%[[A:.*]] = %[[X]] : {{.*}}, %[[B:.*]] = %[[W]] : {{.*}}) ->
// CHECK-NEXT:      %[[M:.*]] = graph.matmul %[[A]], %[[B]]
// CHECK-NEXT:      %[[S:.*]] = graph.add %[[M]], %[[A]]
// CHECK-NEXT:      %[[G:.*]] = graph.sigmoid %[[S]]
// CHECK-NEXT:      %[[P:.*]] = graph.mul %[[S]], %[[G]]
// CHECK-NEXT:      tensor_ops.yield %[[P]]
// CHECK:         func.return %[[R]]
// ONE-LABEL: func.func @epilogue(
// ONE-COUNT-4:   tensor_ops.kernel
func.func @epilogue(%x: tensor<?x8xf32, #graph.dims<N>>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #graph.dims<N>> {
  %m = graph.matmul %x, %w : tensor<?x8xf32, #graph.dims<N>>, tensor<8x8xf32> -> tensor<?x8xf32, #graph.dims<N>>
  %s = graph.add %m, %x : tensor<?x8xf32, #graph.dims<N>>, tensor<?x8xf32, #graph.dims<N>> -> tensor<?x8xf32, #graph.dims<N>>
  %g = graph.sigmoid %s : tensor<?x8xf32, #graph.dims<N>> -> tensor<?x8xf32, #graph.dims<N>>
  %p = graph.mul %s, %g : tensor<?x8xf32, #graph.dims<N>>, tensor<?x8xf32, #graph.dims<N>> -> tensor<?x8xf32, #graph.dims<N>>
  func.return %p : tensor<?x8xf32, #graph.dims<N>>
}

// Two contractions are two kernels; the sum goes with the one that comes last, as the other must be there before.
// CHECK-LABEL: func.func @two_contractions(
// CHECK:         %[[L:.*]] = tensor_ops.kernel
// CHECK-NEXT:      graph.matmul
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.matmul
// CHECK-NEXT:      graph.add
// CHECK-NEXT:      tensor_ops.yield
func.func @two_contractions(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = graph.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = graph.matmul %w, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.add %a, %b : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %s : tensor<4x4xf32>
}

// The sum cannot join the first matmul, on whose result the second one depends: that would be a cycle.
// CHECK-LABEL: func.func @no_cycle(
// CHECK:         %[[K:.*]] = tensor_ops.kernel
// CHECK-NEXT:      graph.matmul
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel (%{{.*}} = %[[K]]
// CHECK-NEXT:      graph.matmul
// CHECK-NEXT:      graph.add
// CHECK-NEXT:      tensor_ops.yield
func.func @no_cycle(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = graph.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %b = graph.matmul %a, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = graph.add %a, %b : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %s : tensor<4x4xf32>
}

// A value with users outside is a result as well. What is computed before a contraction would be computed again for
// each use of it, so it stays a kernel of its own.
// CHECK-LABEL: func.func @results(
// CHECK:         %[[E:.*]] = tensor_ops.kernel
// CHECK-NEXT:      graph.exp
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         %[[M:.*]], %[[N:.*]] = tensor_ops.kernel (%{{.*}} = %[[E]]
// CHECK-NEXT:      %[[P:.*]] = graph.matmul
// CHECK-NEXT:      %[[Q:.*]] = graph.neg %[[P]]
// CHECK-NEXT:      tensor_ops.yield %[[P]], %[[Q]]
// CHECK:         func.return %[[M]], %[[N]]
func.func @results(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = graph.exp %x : tensor<4x4xf32> -> tensor<4x4xf32>
  %m = graph.matmul %e, %x : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %n = graph.neg %m : tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %m, %n : tensor<4x4xf32>, tensor<4x4xf32>
}

// A consumer of another shape is not the epilogue's business.
// CHECK-LABEL: func.func @other_shape(
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.matmul
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.add
func.func @other_shape(%x: tensor<1x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = graph.matmul %x, %w : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<1x4xf32>
  %s = graph.add %m, %w : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  func.return %s : tensor<4x4xf32>
}

// Transposes that leave the last axis in place are index maps of the contraction; others are copied first.
// CHECK-LABEL: func.func @transposes(
// CHECK:         %[[T:.*]] = tensor_ops.kernel
// CHECK-NEXT:      graph.transpose %{{.*}} {permutation = [0, 2, 1]}
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.transpose %{{.*}} {permutation = [1, 0, 2]}
// CHECK-NEXT:      graph.matmul
func.func @transposes(%x: tensor<4x4x4xf32>) -> tensor<4x4x4xf32> {
  %a = graph.transpose %x {permutation = [1, 0, 2]} : tensor<4x4x4xf32> -> tensor<4x4x4xf32>
  %b = graph.transpose %x {permutation = [0, 2, 1]} : tensor<4x4x4xf32> -> tensor<4x4x4xf32>
  %m = graph.matmul %a, %b : tensor<4x4x4xf32>, tensor<4x4x4xf32> -> tensor<4x4x4xf32>
  func.return %m : tensor<4x4x4xf32>
}

// Reductions over the same axes, with what is between, before and after them.
// CHECK-LABEL: func.func @norm(
// CHECK-COUNT-1: tensor_ops.kernel
// CHECK-NOT:     tensor_ops.kernel
// CHECK:         func.return
// ONE-LABEL: func.func @norm(
// ONE-COUNT-6:   tensor_ops.kernel
func.func @norm(%x: tensor<?x8xf32, #graph.dims<N>>) -> tensor<?x8xf32, #graph.dims<N>> {
  %y = graph.exp %x : tensor<?x8xf32, #graph.dims<N>> -> tensor<?x8xf32, #graph.dims<N>>
  %m = graph.reduce_mean %y {axes = [1], keepdims} : tensor<?x8xf32, #graph.dims<N>> -> tensor<?x1xf32, #graph.dims<N>>
  %d = graph.sub %y, %m : tensor<?x8xf32, #graph.dims<N>>, tensor<?x1xf32, #graph.dims<N>> -> tensor<?x8xf32, #graph.dims<N>>
  %v = graph.reduce_l2 %d {axes = [1], keepdims} : tensor<?x8xf32, #graph.dims<N>> -> tensor<?x1xf32, #graph.dims<N>>
  %i = graph.reciprocal %v : tensor<?x1xf32, #graph.dims<N>> -> tensor<?x1xf32, #graph.dims<N>>
  %r = graph.mul %d, %i : tensor<?x8xf32, #graph.dims<N>>, tensor<?x1xf32, #graph.dims<N>> -> tensor<?x8xf32, #graph.dims<N>>
  func.return %r : tensor<?x8xf32, #graph.dims<N>>
}

// CHECK-LABEL: func.func @other_axes(
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.reduce_sum %{{.*}} {axes = [1], keepdims}
// CHECK-NEXT:      graph.mul
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.reduce_sum %{{.*}} {axes = [0]}
// CHECK-NEXT:      tensor_ops.yield
func.func @other_axes(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %a = graph.reduce_sum %x {axes = [1], keepdims} : tensor<4x4xf32> -> tensor<4x1xf32>
  %b = graph.mul %x, %a : tensor<4x4xf32>, tensor<4x1xf32> -> tensor<4x4xf32>
  %c = graph.reduce_sum %b {axes = [0]} : tensor<4x4xf32> -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}

// Movement goes with elementwise ops if nothing else reads what is moved.
// CHECK-LABEL: func.func @movement(
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.neg
// CHECK-NEXT:      graph.transpose
// CHECK-NEXT:      graph.exp
// CHECK-NEXT:      tensor_ops.yield
// CHECK-NOT:     tensor_ops.kernel
// CHECK:         func.return
func.func @movement(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %n = graph.neg %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %t = graph.transpose %n {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<3x2xf32>
  %e = graph.exp %t : tensor<3x2xf32> -> tensor<3x2xf32>
  func.return %e : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @movement_of_a_shared_value(
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.neg
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.transpose
func.func @movement_of_a_shared_value(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) {
  %n = graph.neg %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %t = graph.transpose %n {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<3x2xf32>
  func.return %n, %t : tensor<2x3xf32>, tensor<3x2xf32>
}

// Views and constants cost nothing and stay outside; indirect access is a kernel of its own.
// CHECK-LABEL: func.func @outside(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[I:[a-z0-9]+]]: tensor<4xi64>
// CHECK-NEXT:    %[[V:.*]] = graph.reshape %[[X]]
// CHECK-NEXT:    %[[G:.*]] = tensor_ops.kernel
// CHECK-NEXT:      graph.gather
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         %[[C:.*]] = graph.constant
// CHECK-NEXT:    tensor_ops.kernel (%{{.*}} = %[[G]] : tensor<4xf32>, %{{.*}} = %[[C]] : tensor<f32>)
// CHECK-NEXT:      graph.add
func.func @outside(%x: tensor<2x3xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %v = graph.reshape %x {shape = [6]} : tensor<2x3xf32> -> tensor<6xf32>
  %g = graph.gather %v, %i {axis = 0} : tensor<6xf32>, tensor<4xi64> -> tensor<4xf32>
  %c = graph.constant dense<1.0> : tensor<f32>
  %a = graph.add %g, %c : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// Blocks of control flow have kernels of their own; what they use from outside is no part of a group.
// CHECK-LABEL: func.func @control(
// CHECK:         %[[N:.*]] = tensor_ops.kernel
// CHECK-NEXT:      graph.neg
// CHECK:         graph.if
// CHECK-NEXT:      %{{.*}} = tensor_ops.kernel (%{{.*}} = %[[N]]
// CHECK-NEXT:        graph.exp
// CHECK:         } else {
// CHECK-NEXT:      graph.yield %[[N]]
func.func @control(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %n = graph.neg %x : tensor<2xf32> -> tensor<2xf32>
  %r = graph.if %c then {
    %e = graph.exp %n : tensor<2xf32> -> tensor<2xf32>
    graph.yield %e : tensor<2xf32>
  } else {
    graph.yield %n : tensor<2xf32>
  } -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// An elementwise op that only a contraction reads joins it on request only.
// CHECK-LABEL: @producer_of_matmul
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.add
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.matmul
// PRODUCERS-LABEL: @producer_of_matmul
// PRODUCERS:         tensor_ops.kernel
// PRODUCERS-NEXT:      %[[B:.*]] = graph.add
// PRODUCERS-NEXT:      %[[M:.*]] = graph.matmul %[[B]],
// PRODUCERS-NEXT:      tensor_ops.yield %[[M]]
func.func @producer_of_matmul(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %w: tensor<64x32xf32>) -> tensor<8x32xf32> {
  %b = graph.add %x, %y : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<8x64xf32>
  %m = graph.matmul %b, %w : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32>
  func.return %m : tensor<8x32xf32>
}

// It is read by another op as well: it stays apart.
// PRODUCERS-LABEL: @shared_producer
// PRODUCERS:         tensor_ops.kernel
// PRODUCERS-NEXT:      graph.add
// PRODUCERS-NEXT:      tensor_ops.yield
func.func @shared_producer(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>, %w: tensor<64x32xf32>)
    -> (tensor<8x32xf32>, tensor<8x64xf32>) {
  %b = graph.add %x, %y : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<8x64xf32>
  %m = graph.matmul %b, %w : tensor<8x64xf32>, tensor<64x32xf32> -> tensor<8x32xf32>
  func.return %m, %b : tensor<8x32xf32>, tensor<8x64xf32>
}

// Attention: what comes between two products is reduced along what the second one sums over, and nothing else reads it.
// The transpose of the result is the order in which it is stored.
// CHECK-LABEL: func.func @attention(
// CHECK-COUNT-1: tensor_ops.kernel
// CHECK-NOT:     tensor_ops.kernel
// CHECK:         func.return
func.func @attention(%q: tensor<2x?x8xf32, #graph.dims<S>>, %k: tensor<2x?x8xf32, #graph.dims<T>>, %v: tensor<2x?x8xf32, #graph.dims<T>>, %m: tensor<?xf32, #graph.dims<T>>) -> tensor<?x2x8xf32, #graph.dims<S>> {
  %s = graph.matmul %q, %k {transpose_b} : tensor<2x?x8xf32, #graph.dims<S>>, tensor<2x?x8xf32, #graph.dims<T>> -> tensor<2x?x?xf32, #graph.dims<S, T>>
  %a = graph.add %s, %m : tensor<2x?x?xf32, #graph.dims<S, T>>, tensor<?xf32, #graph.dims<T>> -> tensor<2x?x?xf32, #graph.dims<S, T>>
  %p = graph.softmax %a {axis = 2} : tensor<2x?x?xf32, #graph.dims<S, T>> -> tensor<2x?x?xf32, #graph.dims<S, T>>
  %o = graph.matmul %p, %v : tensor<2x?x?xf32, #graph.dims<S, T>>, tensor<2x?x8xf32, #graph.dims<T>> -> tensor<2x?x8xf32, #graph.dims<S>>
  %t = graph.transpose %o {permutation = [1, 0, 2]} : tensor<2x?x8xf32, #graph.dims<S>> -> tensor<?x2x8xf32, #graph.dims<S>>
  func.return %t : tensor<?x2x8xf32, #graph.dims<S>>
}

// Weights that something else reads as well must be there as a whole.
// CHECK-LABEL: func.func @weights_are_a_result(
// CHECK-COUNT-3: tensor_ops.kernel
// CHECK:         func.return
func.func @weights_are_a_result(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<4x6xf32>) {
  %s = graph.matmul %q, %k {transpose_b} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %p = graph.softmax %s {axis = 1} : tensor<4x6xf32> -> tensor<4x6xf32>
  %o = graph.matmul %p, %v : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  func.return %o, %p : tensor<4x8xf32>, tensor<4x6xf32>
}

// Reduced along the rows, which the second product does not sum over.
// CHECK-LABEL: func.func @other_axis(
// CHECK-COUNT-3: tensor_ops.kernel
// CHECK:         func.return
func.func @other_axis(%q: tensor<4x8xf32>, %k: tensor<6x8xf32>, %v: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %s = graph.matmul %q, %k {transpose_b} : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  %p = graph.softmax %s {axis = 0} : tensor<4x6xf32> -> tensor<4x6xf32>
  %o = graph.matmul %p, %v : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  func.return %o : tensor<4x8xf32>
}

// A concat takes in the one that only it reads, as long as both have no more parts than one kernel takes.
// CHECK-LABEL: func.func @few_parts(
// CHECK-COUNT-1: tensor_ops.kernel
// CHECK-NOT:     tensor_ops.kernel
// CHECK:         func.return
func.func @few_parts(%x: tensor<1xf32>) -> tensor<63xf32> {
  %a = graph.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32> -> tensor<32xf32>
  %r = graph.concat %a, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : tensor<32xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32> -> tensor<63xf32>
  func.return %r : tensor<63xf32>
}

// CHECK-LABEL: func.func @too_many_parts(
// CHECK-COUNT-2: tensor_ops.kernel
// CHECK:         func.return
func.func @too_many_parts(%x: tensor<1xf32>) -> tensor<65xf32> {
  %a = graph.concat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32> -> tensor<33xf32>
  %r = graph.concat %a, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x {axis = 0} : tensor<33xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32> -> tensor<65xf32>
  func.return %r : tensor<65xf32>
}

// Gathers take in what makes their indices, and go with the concat that only reads them.
// CHECK-LABEL: func.func @embeddings(
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.slice
// CHECK-NEXT:      graph.slice
// CHECK-NEXT:      graph.gather
// CHECK-NEXT:      graph.gather
// CHECK-NEXT:      graph.concat
// CHECK-NEXT:      tensor_ops.yield
// CHECK-NOT:     tensor_ops.kernel
// CHECK:         func.return
func.func @embeddings(%x: tensor<9x8xf32>, %i: tensor<?x2xi64, #graph.dims<N>>) -> tensor<?x2x8xf32, #graph.dims<N>> {
  %a = graph.slice %i {starts = [0, 0], sizes = [N, 1], steps = [1, 1]} : tensor<?x2xi64, #graph.dims<N>> -> tensor<?x1xi64, #graph.dims<N>>
  %b = graph.slice %i {starts = [0, 1], sizes = [N, 1], steps = [1, 1]} : tensor<?x2xi64, #graph.dims<N>> -> tensor<?x1xi64, #graph.dims<N>>
  %c = graph.gather %x, %a {axis = 0} : tensor<9x8xf32>, tensor<?x1xi64, #graph.dims<N>> -> tensor<?x1x8xf32, #graph.dims<N>>
  %d = graph.gather %x, %b {axis = 0} : tensor<9x8xf32>, tensor<?x1xi64, #graph.dims<N>> -> tensor<?x1x8xf32, #graph.dims<N>>
  %r = graph.concat %c, %d {axis = 1} : tensor<?x1x8xf32, #graph.dims<N>>, tensor<?x1x8xf32, #graph.dims<N>> -> tensor<?x2x8xf32, #graph.dims<N>>
  func.return %r : tensor<?x2x8xf32, #graph.dims<N>>
}

// What a gather reads in any order is made before, and so are indices that others read; a transpose would read columns,
// and arithmetic would be done again for each element of a row.
// CHECK-LABEL: func.func @gathers_alone(
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.slice
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.slice
// CHECK-NEXT:      graph.neg
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.gather
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.transpose
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.gather
// CHECK-NEXT:      tensor_ops.yield
// CHECK:         tensor_ops.kernel
// CHECK-NEXT:      graph.exp
// CHECK-NEXT:      tensor_ops.yield
func.func @gathers_alone(%x: tensor<9x8xf32>, %i: tensor<5xi64>) -> (tensor<8x4xf32>, tensor<4xi64>, tensor<4x8xf32>) {
  %a = graph.slice %x {starts = [1, 0], sizes = [8, 8], steps = [1, 1]} : tensor<9x8xf32> -> tensor<8x8xf32>
  %b = graph.slice %i {starts = [1], sizes = [4], steps = [1]} : tensor<5xi64> -> tensor<4xi64>
  %c = graph.gather %a, %b {axis = 0} : tensor<8x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %d = graph.transpose %c {permutation = [1, 0]} : tensor<4x8xf32> -> tensor<8x4xf32>
  %n = graph.neg %b : tensor<4xi64> -> tensor<4xi64>
  %g = graph.gather %x, %n {axis = 0} : tensor<9x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %e = graph.exp %g : tensor<4x8xf32> -> tensor<4x8xf32>
  func.return %d, %b, %e : tensor<8x4xf32>, tensor<4xi64>, tensor<4x8xf32>
}
