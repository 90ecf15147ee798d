// RUN: aicc-opt %s --split-input-file -p graph-infer-shapes | filecheck %s

// A constant size is better than a symbol; that they are equal is checked when the function runs.
// CHECK-LABEL: func.func @constant_wins(
// CHECK-SAME:    -> tensor<4xf32>
// CHECK-SAME:    attributes {aicc.checks = {{\[\[}}"N", "4", "graph.add: size N of axis 0 does not match 4"]]}
// CHECK:         %[[R:.*]] = graph.add %{{.*}}, %{{.*}} -> tensor<4xf32>
// CHECK-NEXT:    %[[S:.*]] = graph.neg %[[R]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    func.return %[[S]] : tensor<4xf32>
func.func @constant_wins(%x: tensor<?xf32, #graph.dims<N>>, %y: tensor<4xf32>) -> tensor<?xf32, #graph.dims<M>> {
  %r = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?xf32, #graph.dims<N>>
  %s = graph.neg %r : tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<M>>
  func.return %s : tensor<?xf32, #graph.dims<M>>
}

// -----

// Between two symbols the inferred one wins; a declared constant is kept, and checked.
// CHECK-LABEL: func.func @declared(
// CHECK-SAME:    "graph.neg: result size 6 of axis 1 is not M"
// CHECK:         %{{.*}} = graph.neg %{{.*}} : tensor<?x?xf32, #graph.dims<N, M>> -> tensor<?x6xf32, #graph.dims<N>>
func.func @declared(%x: tensor<?x?xf32, #graph.dims<N, M>>) {
  %r = graph.neg %x : tensor<?x?xf32, #graph.dims<N, M>> -> tensor<?x6xf32, #graph.dims<K>>
  %s = graph.add %r, %r : tensor<?x6xf32, #graph.dims<K>>, tensor<?x6xf32, #graph.dims<K>> -> tensor<?x6xf32, #graph.dims<K>>
  func.return
}

// -----

// Nothing is assumed where sizes are provably equal, so nothing is checked.
// CHECK-LABEL: func.func @proven(
// CHECK-NOT:     aicc.checks
// CHECK:         graph.reshape {{.*}} -> tensor<?x2xf32, #graph.dims<2*N>>
func.func @proven(%x: tensor<?x4xf32, #graph.dims<N>>) {
  %r = graph.reshape %x {shape = [N*2, 2]} : tensor<?x4xf32, #graph.dims<N>> -> tensor<?x2xf32, #graph.dims<N + N>>
  func.return
}

// -----

// What a region assumes is checked where it runs: a branch that is not taken asks for nothing.
// CHECK-LABEL: func.func @regions(
// CHECK-NOT:     aicc.checks
// CHECK:         graph.check_sizes #graph.shape<M> is #graph.shape<N> text "graph.add: size M of axis 0 does not match N"
// CHECK-NEXT:    graph.add
// CHECK:         } else {
// CHECK-NEXT:      graph.check_sizes #graph.shape<M> is #graph.shape<N>
// CHECK:         } -> tensor<?xf32, #graph.dims<N>>
func.func @regions(%c: tensor<i1>, %x: tensor<?xf32, #graph.dims<N>>, %y: tensor<?xf32, #graph.dims<M>>) {
  %r = graph.if %c then {
    %a = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<N>>
    graph.yield %a : tensor<?xf32, #graph.dims<N>>
  } else {
    %a = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<N>>
    graph.yield %a : tensor<?xf32, #graph.dims<N>>
  } -> tensor<?xf32, #graph.dims<K>>
  func.return
}

// -----

// So is what names a symbol that data defines; it is assumed by what comes later in the block only.
// CHECK-LABEL: func.func @defined(
// CHECK-NOT:     aicc.checks
// CHECK:         graph.define_size "rows"
// CHECK-NEXT:    %[[R:.*]] = graph.slice
// CHECK-NEXT:    graph.check_sizes #graph.shape<rows> is #graph.shape<4>
// CHECK-NEXT:    graph.add %[[R]]
func.func @defined(%c: tensor<i64>, %x: tensor<?xf32, #graph.dims<N>>, %y: tensor<4xf32>) {
  graph.define_size "rows" is %c most #graph.shape<N> : tensor<i64>
  %r = graph.slice %x {starts = [0], sizes = [rows], steps = [1]} : tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<rows>>
  %s = graph.add %r, %y : tensor<?xf32, #graph.dims<rows>>, tensor<4xf32> -> tensor<4xf32>
  func.return
}
