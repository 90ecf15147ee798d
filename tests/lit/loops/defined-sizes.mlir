// RUN: aicc-opt %s | filecheck %s
// RUN: aicc-opt %s | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @sizes(
// CHECK-NEXT:    loops.define_size "rows" is %{{.*}} most #graph.shape<2*N> text "rows of it" : index
// CHECK-NEXT:    loops.check_sizes #graph.shape<rows> is #graph.shape<N+1> text "unlike"
// CHECK-NEXT:    loops.reserve "a" : memref<?x4xf32, #loops.dims<rows>>
// CHECK-NEXT:    loops.reserve "a" keeping : memref<?x4xf32, #loops.dims<rows+1>>
// CHECK-NEXT:    loops.reserved "a" : memref<?x4xf32, #loops.dims<rows>>
// CHECK-NEXT:    loops.exchange "a" and "b"
func.func @sizes(%n: index) {
  loops.define_size "rows" is %n most #graph.shape<2*N> text "rows of it" : index
  loops.check_sizes #graph.shape<rows> is #graph.shape<N+1> text "unlike"
  %a = loops.reserve "a" : memref<?x4xf32, #loops.dims<rows>>
  %b = loops.reserve "a" keeping : memref<?x4xf32, #loops.dims<rows+1>>
  %c = loops.reserved "a" : memref<?x4xf32, #loops.dims<rows>>
  loops.exchange "a" and "b"
  func.return
}
