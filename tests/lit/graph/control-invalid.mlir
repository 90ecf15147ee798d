// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// if C1
func.func @f(%c: tensor<1xi1>) {
  // expected-error@+1 {{condition has type tensor<1xi1>, expected tensor<i1>}}
  "graph.if"(%c) ({
    graph.yield
  }, {
    graph.yield
  }) : (tensor<1xi1>) -> ()
  func.return
}

// -----

// if C2: the end of a region
func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{then region has 1 blocks, expected one that ends with graph.yield}}
  "graph.if"(%c) ({
    "test.termop"() : () -> ()
  }, {
    graph.yield
  }) : (tensor<i1>) -> ()
  func.return
}

// -----

// if C2: arguments of a region
func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{else region has 1 arguments, expected none}}
  "graph.if"(%c) ({
    graph.yield
  }, {
  ^bb0(%x: tensor<f32>):
    graph.yield
  }) : (tensor<i1>) -> ()
  func.return
}

// -----

// if C3: how many values
func.func @f(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{values of the else region are 0, expected 1}}
  %0 = graph.if %c then {
    graph.yield %x : tensor<2xf32>
  } else {
    graph.yield
  } -> tensor<2xf32>
  func.return
}

// -----

// if C3: types of values
func.func @f(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{number 0 of values of the else region has type tensor<3xf32>, expected tensor<2xf32>}}
  %0 = graph.if %c then {
    graph.yield %x : tensor<2xf32>
  } else {
    graph.yield %y : tensor<3xf32>
  } -> tensor<2xf32>
  func.return
}

// -----

// while C1
func.func @f(%x: tensor<2xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{arguments of the body region are 0, expected 1}}
  %0 = graph.while %x while {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %c : tensor<i1>
  } do {
    graph.yield %x : tensor<2xf32>
  } : tensor<2xf32>
  func.return
}

// -----

// while C2
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{number 0 of values of the condition region has type tensor<2xf32>, expected tensor<i1>}}
  %0 = graph.while %x while {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %a : tensor<2xf32>
  } do {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %a : tensor<2xf32>
  } : tensor<2xf32>
  func.return
}

// -----

// while C3
func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{number 0 of values of the body region has type tensor<3xf32>, expected tensor<2xf32>}}
  %0 = graph.while %x while {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %y : tensor<3xf32>
  } : tensor<2xf32>
  func.return
}

// -----

// call C1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{'@g' is no function of this module}}
  %0 = graph.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// call C2: arguments
func.func private @g(tensor<2x?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>>
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{number 0 of arguments of the call to @g has type tensor<2xf32>, expected tensor<2x?xf32, #graph.dims<N>>}}
  %0 = graph.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// call C2: results, with 3 for N
func.func private @g(tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>>
func.func @f(%x: tensor<3xf32>) {
  // expected-error@+1 {{number 0 of results of the call to @g has type tensor<2xf32>, expected tensor<3xf32>}}
  %0 = graph.call @g(%x) : (tensor<3xf32>) -> tensor<2xf32>
  func.return
}
