// RUN: xdsl-opt %s -p graph-infer-shapes,canonicalize | filecheck %s
// RUN: aicc-opt %s -p graph-infer-shapes,canonicalize | filecheck %s

// Plain xdsl-opt has our dialects and passes beside its own.

// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[X:[a-z]+]]: tensor<4xf32>
// CHECK:         %[[R:.*]] = graph.relu %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    func.return %[[R]] : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.relu %x : tensor<4xf32> -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
