// RUN: aicc-opt %s --split-input-file -p 'graph-fix-sizes{symbol=N,S size=2,4}' | filecheck %s --enable-var-scope
// RUN: not aicc-opt %s --split-input-file -p 'graph-fix-sizes{symbol=NN size=2}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not aicc-opt %s --split-input-file -p 'graph-fix-sizes{symbol=N size=-2}' 2>&1 | filecheck %s --check-prefix=NEGATIVE
// RUN: not aicc-opt %s --split-input-file -p 'graph-fix-sizes{symbol=N,S size=2}' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not aicc-opt %s --split-input-file -p 'graph-fix-sizes{symbol=N,M size=2,3}' 2>&1 | filecheck %s --check-prefix=CONTRADICTION

// UNKNOWN: the model has no symbol 'NN'; did you mean 'N'? (its symbols: 'M', 'N', 'S')
// NEGATIVE: size -2 of 'N' is negative
// COUNT: graph-fix-sizes: 2 symbols and 1 sizes, expected a size for each symbol
// CONTRADICTION: sizes do not match: N is 2, but M is 3 with the sizes given

// CHECK-LABEL: @main
// CHECK-SAME:    %{{.*}}: tensor<2x8xf32>, %{{.*}}: tensor<?x8xf32, #graph.dims<M>>
// What is left of a check has the number in it; one that holds is gone.
// CHECK-SAME:    aicc.checks = {{\[\[}}"2", "M", "sizes do not match"{{\]\]}}
// CHECK:         graph.reshape %{{.*}} {shape = [16]} : tensor<2x8xf32> -> tensor<16xf32>
func.func @main(%x: tensor<?x?xf32, #graph.dims<N, 2*S>>, %y: tensor<?x8xf32, #graph.dims<M>>)
    -> tensor<?xf32, #graph.dims<2*N*S>>
    attributes {aicc.checks = [["N", "M", "sizes do not match"], ["2*S", "8", "it is eight"]]} {
  %s = graph.add %x, %y : tensor<?x?xf32, #graph.dims<N, 2*S>>, tensor<?x8xf32, #graph.dims<M>>
    -> tensor<?x?xf32, #graph.dims<N, 2*S>>
  %r = graph.reshape %s {shape = [2*N*S]} : tensor<?x?xf32, #graph.dims<N, 2*S>> -> tensor<?xf32, #graph.dims<2*N*S>>
  func.return %r : tensor<?xf32, #graph.dims<2*N*S>>
}

// The symbols of another function are its own.
// CHECK-LABEL: @other
// CHECK-SAME:    tensor<?xf32, #graph.dims<N>>
func.func @other(%x: tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>> {
  func.return %x : tensor<?xf32, #graph.dims<N>>
}
