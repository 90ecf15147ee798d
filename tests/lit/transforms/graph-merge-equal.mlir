// RUN: aicc-opt %s --split-input-file -p graph-merge-equal | filecheck %s

// Equal ops are one, also where the second is in a region; an op that nothing reads goes.
// CHECK-LABEL: func.func @equal(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[C:[a-z0-9]+]]: tensor<i1>
// CHECK-NEXT:    %[[A:.*]] = graph.exp %[[X]]
// CHECK-NEXT:    %[[N:.*]] = graph.neg %[[X]]
// CHECK-NEXT:    %[[S:.*]] = graph.add %[[A]], %[[A]]
// CHECK-NEXT:    %[[R:.*]] = graph.if %[[C]] then {
// CHECK-NEXT:      graph.yield %[[A]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      graph.yield %[[N]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[S]], %[[R]]
func.func @equal(%x: tensor<2xf32>, %c: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
  %n = graph.neg %x : tensor<2xf32> -> tensor<2xf32>
  %b = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
  %dead = graph.abs %x : tensor<2xf32> -> tensor<2xf32>
  %s = graph.add %a, %b : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %r = graph.if %c then {
    %e = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    graph.yield %e : tensor<2xf32>
  } else {
    graph.yield %n : tensor<2xf32>
  } -> tensor<2xf32>
  func.return %s, %r : tensor<2xf32>, tensor<2xf32>
}

// -----

// Ops with equal regions are one; those whose regions read other values, or do other things, are not. What is in one
// branch is not known in the other, nor after it.
// CHECK-LABEL: func.func @regions(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<2xf32>, %[[C:[a-z0-9]+]]: tensor<i1>
// CHECK-NEXT:    %[[A:.*]] = graph.if %[[C]] then {
// CHECK-NEXT:      graph.exp %[[X]]
// CHECK:         } else {
// CHECK-NEXT:      graph.exp %[[X]]
// CHECK-NEXT:      graph.neg
// CHECK:         %[[B:.*]] = graph.if %[[C]] then {
// CHECK-NEXT:      graph.exp %[[Y]]
// CHECK:         %[[D:.*]] = graph.if %[[C]] then {
// CHECK-NEXT:      graph.exp %[[X]]
// CHECK:         } else {
// CHECK-NEXT:      graph.exp %[[X]]
// CHECK-NEXT:      graph.abs
// CHECK:         %[[E:.*]] = graph.exp %[[X]]
// CHECK-NEXT:    func.return %[[A]], %[[A]], %[[B]], %[[D]], %[[E]]
func.func @regions(%x: tensor<2xf32>, %y: tensor<2xf32>, %c: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = graph.if %c then {
    %1 = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  } else {
    %1 = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    %2 = graph.neg %1 : tensor<2xf32> -> tensor<2xf32>
    graph.yield %2 : tensor<2xf32>
  } -> tensor<2xf32>
  %again = graph.if %c then {
    %1 = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  } else {
    %1 = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    %2 = graph.neg %1 : tensor<2xf32> -> tensor<2xf32>
    graph.yield %2 : tensor<2xf32>
  } -> tensor<2xf32>
  %b = graph.if %c then {
    %1 = graph.exp %y : tensor<2xf32> -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  } else {
    %1 = graph.exp %y : tensor<2xf32> -> tensor<2xf32>
    %2 = graph.neg %1 : tensor<2xf32> -> tensor<2xf32>
    graph.yield %2 : tensor<2xf32>
  } -> tensor<2xf32>
  %d = graph.if %c then {
    %1 = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    graph.yield %1 : tensor<2xf32>
  } else {
    %1 = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
    %2 = graph.abs %1 : tensor<2xf32> -> tensor<2xf32>
    graph.yield %2 : tensor<2xf32>
  } -> tensor<2xf32>
  %e = graph.exp %x : tensor<2xf32> -> tensor<2xf32>
  func.return %a, %again, %b, %d, %e : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
