// RUN: aicc-opt %s | filecheck %s
// RUN: aicc-opt %s | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @sizes(
// CHECK:         tensor_ops.define_size "rows" is %{{.*}} most #graph.shape<2*N> text "rows of it" : index
// CHECK-NEXT:    tensor_ops.check_sizes #graph.shape<rows> is #graph.shape<N+1> text "unlike"
// CHECK-NEXT:    tensor_ops.view %{{.*}} anew : tensor<?xf32, #graph.dims<N+1>> to tensor<?xf32, #graph.dims<N>>
// CHECK-NEXT:    tensor_ops.view %{{.*}} : tensor<?xf32, #graph.dims<N+1>> to tensor<?x1xf32, #graph.dims<N+1>>
func.func @sizes(%n: tensor<i64>, %x: tensor<?xf32, #graph.dims<N+1>>) {
  %e = tensor_ops.extract %n[] : tensor<i64>
  %i = arith.index_cast %e : i64 to index
  tensor_ops.define_size "rows" is %i most #graph.shape<2*N> text "rows of it" : index
  tensor_ops.check_sizes #graph.shape<rows> is #graph.shape<N+1> text "unlike"
  %a = tensor_ops.view %x anew : tensor<?xf32, #graph.dims<N+1>> to tensor<?xf32, #graph.dims<N>>
  %b = tensor_ops.view %x : tensor<?xf32, #graph.dims<N+1>> to tensor<?x1xf32, #graph.dims<N+1>>
  func.return
}
