// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p graph-inline-calls

func.func @even(%x: tensor<2xf32>) -> tensor<2xf32> {
  %r = graph.call @odd(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

func.func @odd(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'graph.call' op calls @even, which calls itself; recursion cannot be inlined}}
  %r = graph.call @even(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// -----

func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'graph.call' op calls @elsewhere, which has no body in this module}}
  %r = graph.call @elsewhere(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}
