// RUN: aicc-opt %s | filecheck %s
// RUN: aicc-opt %s | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: tensor<i64>
// CHECK-NEXT:    graph.define_size "rows" is %[[N]] most #graph.shape<2*N> text "rows of it" : tensor<i64>
// CHECK-NEXT:    graph.define_size "free" is %[[N]] : tensor<i64>
// CHECK-NEXT:    graph.check_sizes #graph.shape<rows> is #graph.shape<free+1> text "unlike"
// CHECK-NEXT:    graph.slice %{{.*}} -> tensor<?xf32, #graph.dims<rows>>
func.func @sizes(%n: tensor<i64>, %x: tensor<?xf32, #graph.dims<2*N>>) -> tensor<?xf32, #graph.dims<rows>> {
  graph.define_size "rows" is %n most #graph.shape<2*N> text "rows of it" : tensor<i64>
  graph.define_size "free" is %n : tensor<i64>
  graph.check_sizes #graph.shape<rows> is #graph.shape<free+1> text "unlike"
  %r = graph.slice %x {starts = [0], sizes = [rows], steps = array<i64: 1>} : tensor<?xf32, #graph.dims<2*N>> -> tensor<?xf32, #graph.dims<rows>>
  func.return %r : tensor<?xf32, #graph.dims<rows>>
}
