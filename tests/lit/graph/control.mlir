// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @choice(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<i1>, %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %[[R:.*]], %[[S:.*]] = graph.if %[[C]] then {
// CHECK-NEXT:      %[[N:.*]] = graph.neg %[[X]]
// CHECK-NEXT:      graph.yield %[[N]], %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      graph.yield %[[X]], %[[X]] : tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    } -> tensor<4xf32>, tensor<4xf32>
// CHECK-NEXT:    func.return %[[R]], %[[S]]
func.func @choice(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r, %s = graph.if %c then {
    %n = graph.neg %x : tensor<4xf32> -> tensor<4xf32>
    graph.yield %n, %x : tensor<4xf32>, tensor<4xf32>
  } else {
    graph.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<4xf32>
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[I:[a-z0-9]+]]: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<?xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[R:.*]], %{{.*}} = graph.while %[[X]], %[[I]] while {
// CHECK-NEXT:    ^{{.*}}(%{{.*}}: tensor<?xf32, #graph.dims<N>>, %[[A:.*]]: tensor<i64>):
// CHECK-NEXT:      %[[L:.*]] = graph.lt %[[A]], %[[I]]
// CHECK-NEXT:      graph.yield %[[L]] : tensor<i1>
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^{{.*}}(%[[Y:.*]]: tensor<?xf32, #graph.dims<N>>, %[[B:.*]]: tensor<i64>):
// CHECK-NEXT:      %[[D:.*]] = graph.add %[[Y]], %[[Y]]
// CHECK-NEXT:      graph.yield %[[D]], %[[B]] : tensor<?xf32, #graph.dims<N>>, tensor<i64>
// CHECK-NEXT:    } : tensor<?xf32, #graph.dims<N>>, tensor<i64>
// CHECK-NEXT:    func.return %[[R]]
func.func @loop(%i: tensor<i64>, %x: tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>> {
  %r, %j = graph.while %x, %i while {
  ^bb0(%y: tensor<?xf32, #graph.dims<N>>, %a: tensor<i64>):
    %l = graph.lt %a, %i : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %l : tensor<i1>
  } do {
  ^bb0(%y: tensor<?xf32, #graph.dims<N>>, %b: tensor<i64>):
    %d = graph.add %y, %y : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<N>>
    graph.yield %d, %b : tensor<?xf32, #graph.dims<N>>, tensor<i64>
  } : tensor<?xf32, #graph.dims<N>>, tensor<i64>
  func.return %r : tensor<?xf32, #graph.dims<N>>
}

// CHECK-LABEL: func.func private @callee(
func.func private @callee(%x: tensor<?x2xf32, #graph.dims<M>>) -> tensor<?xf32, #graph.dims<2*M>> {
  %0 = graph.reshape %x {shape = [2*M]} : tensor<?x2xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<2*M>>
  func.return %0 : tensor<?xf32, #graph.dims<2*M>>
}

// CHECK-LABEL: func.func @call(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x2xf32>
// CHECK-NEXT:    %{{.*}} = graph.call @callee(%[[X]]) : (tensor<3x2xf32>) -> tensor<6xf32>
func.func @call(%x: tensor<3x2xf32>) {
  %0 = graph.call @callee(%x) : (tensor<3x2xf32>) -> tensor<6xf32>
  func.return
}
