// RUN: aicc-opt %s -p graph-simplify | filecheck %s

// Pushed past the elementwise op, the two cancel.
// CHECK-LABEL: func.func @cancel(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.relu %[[X]]
// CHECK-NEXT:    func.return %[[R]]
func.func @cancel(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %t = graph.transpose %x {permutation = [2, 0, 1]} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %r = graph.relu %t : tensor<4x2x3xf32> -> tensor<4x2x3xf32>
  %u = graph.transpose %r {permutation = [1, 2, 0]} : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  func.return %u : tensor<2x3x4xf32>
}

// The composition of two that do not cancel is one; its permutation is not the one of the other order.
// CHECK-LABEL: func.func @compose(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.transpose %[[X]] {permutation = [0, 2, 1]}
// CHECK-NEXT:    func.return %[[R]], %[[X]]
func.func @compose(%x: tensor<2x3x4xf32>) -> (tensor<2x4x3xf32>, tensor<2x3x4xf32>) {
  %t = graph.transpose %x {permutation = [2, 0, 1]} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  %u = graph.transpose %t {permutation = [1, 0, 2]} : tensor<4x2x3xf32> -> tensor<2x4x3xf32>
  %i = graph.transpose %x {permutation = [0, 1, 2]} : tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  func.return %u, %i : tensor<2x4x3xf32>, tensor<2x3x4xf32>
}

// Where only axes of size 1 change places, no element does. A symbolic size is no 1.
// CHECK-LABEL: func.func @ones(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x1x4xf32>, %[[Y:[a-z0-9]+]]: tensor<?x4xf32, #graph.dims<N>>
// CHECK-DAG:     %[[R:.*]] = graph.reshape %[[X]] {shape = [1, 3, 4]}
// CHECK-DAG:     %[[T:.*]] = graph.transpose %[[Y]]
// CHECK:         func.return %[[R]], %[[T]]
func.func @ones(%x: tensor<3x1x4xf32>, %y: tensor<?x4xf32, #graph.dims<N>>) -> (tensor<1x3x4xf32>, tensor<4x?xf32, #graph.dims<N>>) {
  %t = graph.transpose %x {permutation = [1, 0, 2]} : tensor<3x1x4xf32> -> tensor<1x3x4xf32>
  %u = graph.transpose %y {permutation = [1, 0]} : tensor<?x4xf32, #graph.dims<N>> -> tensor<4x?xf32, #graph.dims<N>>
  func.return %t, %u : tensor<1x3x4xf32>, tensor<4x?xf32, #graph.dims<N>>
}

// Constants are transposed back, scalars are let through.
// CHECK-LABEL: func.func @with_constants(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>, %[[S:[a-z0-9]+]]: tensor<f32>
// CHECK:         %[[C:.*]] = graph.constant #graph.buffer<"bias"> : tensor<3xf32>
// CHECK-NEXT:    %[[R:.*]] = graph.reshape %[[C]] {shape = [1, 3, 1]}
// CHECK-NEXT:    %[[A:.*]] = graph.add %[[X]], %[[R]]
// CHECK-NEXT:    %[[M:.*]] = graph.mul %[[A]], %[[S]]
// CHECK-NEXT:    %[[T:.*]] = graph.transpose %[[M]] {permutation = [0, 2, 1]}
// CHECK-NEXT:    func.return %[[T]]
func.func @with_constants(%x: tensor<2x3x4xf32>, %s: tensor<f32>) -> tensor<2x4x3xf32> {
  %c = graph.constant #graph.buffer<"bias"> : tensor<3xf32>
  %t = graph.transpose %x {permutation = [0, 2, 1]} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %a = graph.add %t, %c : tensor<2x4x3xf32>, tensor<3xf32> -> tensor<2x4x3xf32>
  %m = graph.mul %a, %s : tensor<2x4x3xf32>, tensor<f32> -> tensor<2x4x3xf32>
  func.return %m : tensor<2x4x3xf32>
}

// Another permutation, another use of the transposed value, an operand that would have to be transposed as well.
// CHECK-LABEL: func.func @keep(
// CHECK:         %[[T:.*]] = graph.transpose
// CHECK:         %[[U:.*]] = graph.transpose
// CHECK:         graph.add %[[T]], %[[U]]
// CHECK:         graph.neg %[[T]]
// CHECK:         %[[V:.*]] = graph.transpose
// CHECK:         graph.sub %[[V]]
func.func @keep(%x: tensor<2x2x2xf32>, %y: tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>) {
  %t = graph.transpose %x {permutation = [0, 2, 1]} : tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %u = graph.transpose %y {permutation = [1, 0, 2]} : tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %a = graph.add %t, %u : tensor<2x2x2xf32>, tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %n = graph.neg %t : tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %v = graph.transpose %y {permutation = [2, 1, 0]} : tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %s = graph.sub %v, %x : tensor<2x2x2xf32>, tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  func.return %a, %n, %s, %t : tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>, tensor<2x2x2xf32>
}

// CHECK-LABEL: func.func @reductions(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4x5xf32>
// CHECK-DAG:     %[[A:.*]] = graph.reduce_sum %[[X]] {axes = [1, 3], keepdims} : tensor<2x3x4x5xf32> -> tensor<2x1x4x1xf32>
// CHECK-DAG:     %[[B:.*]] = graph.transpose %[[A]] {permutation = [3, 2, 1, 0]}
// CHECK-DAG:     %[[C:.*]] = graph.reduce_max %[[X]] {axes = [1]} : tensor<2x3x4x5xf32> -> tensor<2x4x5xf32>
// CHECK-DAG:     %[[D:.*]] = graph.transpose %[[C]] {permutation = [2, 1, 0]}
// CHECK:         func.return %[[B]], %[[D]]
func.func @reductions(%x: tensor<2x3x4x5xf32>) -> (tensor<1x4x1x2xf32>, tensor<5x4x2xf32>) {
  %t = graph.transpose %x {permutation = [3, 2, 1, 0]} : tensor<2x3x4x5xf32> -> tensor<5x4x3x2xf32>
  %a = graph.reduce_sum %t {axes = [0, 2], keepdims} : tensor<5x4x3x2xf32> -> tensor<1x4x1x2xf32>
  %u = graph.transpose %x {permutation = [3, 2, 1, 0]} : tensor<2x3x4x5xf32> -> tensor<5x4x3x2xf32>
  %b = graph.reduce_max %u {axes = [2]} : tensor<5x4x3x2xf32> -> tensor<5x4x2xf32>
  func.return %a, %b : tensor<1x4x1x2xf32>, tensor<5x4x2xf32>
}

// CHECK-LABEL: func.func @concats(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[Y:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK-NEXT:    %[[C:.*]] = graph.concat %[[X]], %[[Y]] {axis = 1}
// CHECK-NEXT:    %[[T:.*]] = graph.transpose %[[C]] {permutation = [1, 0]}
// CHECK-NEXT:    func.return %[[T]]
func.func @concats(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<7x2xf32> {
  %t = graph.transpose %x {permutation = [1, 0]} : tensor<2x3xf32> -> tensor<3x2xf32>
  %u = graph.transpose %y {permutation = [1, 0]} : tensor<2x4xf32> -> tensor<4x2xf32>
  %c = graph.concat %t, %u {axis = 0} : tensor<3x2xf32>, tensor<4x2xf32> -> tensor<7x2xf32>
  func.return %c : tensor<7x2xf32>
}

// A matmul reads the last two axes in either order; one that was transposed already is not any more.
// CHECK-LABEL: func.func @matmuls(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x3x4xf32>
// CHECK-DAG:     %[[A:.*]] = graph.matmul %[[X]], %[[X]] {transpose_b} :
// CHECK-DAG:     %[[B:.*]] = graph.matmul %[[X]], %[[X]] {transpose_a} :
// CHECK-DAG:     %[[T:.*]] = graph.transpose %[[X]] {permutation = [1, 0, 2]}
// CHECK-DAG:     %[[U:.*]] = graph.transpose %[[X]] {permutation = [1, 0, 2]}
// CHECK-DAG:     %[[C:.*]] = graph.matmul %[[T]], %[[U]] {transpose_b} :
// CHECK:         func.return %[[A]], %[[B]], %[[C]]
func.func @matmuls(%x: tensor<2x3x4xf32>) -> (tensor<2x3x3xf32>, tensor<2x4x4xf32>, tensor<3x2x2xf32>) {
  %t = graph.transpose %x {permutation = [0, 2, 1]} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %a = graph.matmul %x, %t : tensor<2x3x4xf32>, tensor<2x4x3xf32> -> tensor<2x3x3xf32>
  %b = graph.matmul %t, %t {transpose_b} : tensor<2x4x3xf32>, tensor<2x4x3xf32> -> tensor<2x4x4xf32>
  %u = graph.transpose %x {permutation = [1, 0, 2]} : tensor<2x3x4xf32> -> tensor<3x2x4xf32>
  %v = graph.transpose %x {permutation = [1, 2, 0]} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %c = graph.matmul %u, %v : tensor<3x2x4xf32>, tensor<3x4x2xf32> -> tensor<3x2x2xf32>
  func.return %a, %b, %c : tensor<2x3x3xf32>, tensor<2x4x4xf32>, tensor<3x2x2xf32>
}

// Batch axes are not the matmul's to reorder.
// CHECK-LABEL: func.func @keep_batch_transposes(
// CHECK:         %[[T:.*]] = graph.transpose
// CHECK-NEXT:    graph.matmul %[[T]], %[[T]] :
func.func @keep_batch_transposes(%x: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
  %t = graph.transpose %x {permutation = [1, 0, 2]} : tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  %m = graph.matmul %t, %t : tensor<2x2x2xf32>, tensor<2x2x2xf32> -> tensor<2x2x2xf32>
  func.return %m : tensor<2x2x2xf32>
}
