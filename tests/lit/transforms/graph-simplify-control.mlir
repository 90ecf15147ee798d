// RUN: aicc-opt %s --split-input-file -p graph-simplify-control | filecheck %s

// %w stays as it is, so that it is read from around the loop; %last is read by nothing, and what is computed for it
// goes, too. The symbols of the loop stay.
// CHECK-LABEL: func.func @unread_and_unchanged(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<?xf32, #graph.dims<s>>, %[[W:[a-z0-9]+]]: tensor<f32>
// CHECK:         %[[Z:.*]] = graph.constant dense<0> : tensor<i64>
// CHECK:         %{{.*}}, %[[R:.*]] = graph.while %[[Z]], %[[X]] {{.*}}symbols = ["t"]{{.*}} while {
// CHECK-NEXT:    ^{{.*}}(%[[I:.*]]: tensor<i64>, %{{.*}}: tensor<?xf32, #graph.dims<t>>):
// CHECK-NEXT:      graph.lt %[[I]], %[[N]]
// CHECK:         } do {
// CHECK-NEXT:    ^{{.*}}(%[[J:.*]]: tensor<i64>, %[[S:.*]]: tensor<?xf32, #graph.dims<t>>):
// CHECK-NEXT:      graph.constant
// CHECK-NEXT:      graph.add %[[J]]
// CHECK-NEXT:      %[[B:.*]] = graph.mul %[[S]], %[[W]]
// CHECK-NEXT:      %[[C:.*]] = graph.concat %[[B]], %[[B]]
// CHECK-NEXT:      graph.yield %{{.*}}, %[[C]] :
// CHECK:         func.return %[[R]], %[[W]] :
func.func @unread_and_unchanged(%n: tensor<i64>, %x: tensor<?xf32, #graph.dims<s>>, %w: tensor<f32>) -> (tensor<?xf32, #graph.dims<t>>, tensor<f32>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %i, %r, %v, %last = graph.while %zero, %x, %w, %w {symbols = ["t"], initial = #graph.shape<s>, following = #graph.shape<2*t>} while {
  ^bb0(%i: tensor<i64>, %s: tensor<?xf32, #graph.dims<t>>, %u: tensor<f32>, %l: tensor<f32>):
    %c = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %s: tensor<?xf32, #graph.dims<t>>, %u: tensor<f32>, %l: tensor<f32>):
    %one = graph.constant dense<1> : tensor<i64>
    %j = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %a = graph.mul %s, %u : tensor<?xf32, #graph.dims<t>>, tensor<f32> -> tensor<?xf32, #graph.dims<t>>
    %b = graph.concat %a, %a {axis = 0} : tensor<?xf32, #graph.dims<t>>, tensor<?xf32, #graph.dims<t>> -> tensor<?xf32, #graph.dims<2*t>>
    %m = graph.exp %l : tensor<f32> -> tensor<f32>
    graph.yield %j, %b, %u, %m : tensor<i64>, tensor<?xf32, #graph.dims<2*t>>, tensor<f32>, tensor<f32>
  } : tensor<i64>, tensor<?xf32, #graph.dims<s>>, tensor<f32>, tensor<f32>
  func.return %r, %v : tensor<?xf32, #graph.dims<t>>, tensor<f32>
}

// -----

// What a value that is read needs stays: %b feeds %a. Two that swap change, though both are given on.
// CHECK-LABEL: func.func @needed_by_another(
// CHECK:         graph.while %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} while {
// CHECK:           graph.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
func.func @needed_by_another(%n: tensor<i64>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %i, %a, %b, %p, %q = graph.while %zero, %x, %y, %x, %y while {
  ^bb0(%i: tensor<i64>, %a: tensor<f32>, %b: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %c = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<f32>, %b: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %one = graph.constant dense<1> : tensor<i64>
    %j = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %d = graph.exp %b : tensor<f32> -> tensor<f32>
    graph.yield %j, %b, %d, %q, %p : tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  } : tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  func.return %a, %p : tensor<f32>, tensor<f32>
}

// -----

// A size that is defined from a carried value is needed though no result is: its value may end the run.
// CHECK-LABEL: func.func @checked(
// CHECK:         graph.while %{{.*}}, %{{.*}}, %{{.*}} while {
// CHECK:           graph.define_size
func.func @checked(%n: tensor<i64>, %x: tensor<i64>) -> tensor<i64> {
  %zero = graph.constant dense<0> : tensor<i64>
  %i, %a, %b = graph.while %zero, %x, %x while {
  ^bb0(%i: tensor<i64>, %a: tensor<i64>, %b: tensor<i64>):
    %c = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %a: tensor<i64>, %b: tensor<i64>):
    %one = graph.constant dense<1> : tensor<i64>
    %j = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %d = graph.add %a, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %e = graph.add %b, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    graph.define_size "k" is %e most #graph.shape<4> : tensor<i64>
    graph.yield %j, %d, %e : tensor<i64>, tensor<i64>, tensor<i64>
  } : tensor<i64>, tensor<i64>, tensor<i64>
  func.return %a : tensor<i64>
}

// -----

// Of an `if` only what is read is left; %x is what both branches give.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<i1>, %[[X:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT:    %[[R:.*]] = graph.if %[[C]] then {
// CHECK-NEXT:      %[[E:.*]] = graph.exp %[[X]]
// CHECK-NEXT:      graph.yield %[[E]] : tensor<f32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      graph.yield %[[X]] : tensor<f32>
// CHECK-NEXT:    } -> tensor<f32>
// CHECK-NEXT:    func.return %[[R]], %[[X]] :
func.func @branches(%c: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %a, %b, %d = graph.if %c then {
    %e = graph.exp %x : tensor<f32> -> tensor<f32>
    graph.yield %e, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
  } else {
    graph.yield %x, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
  } -> tensor<f32>, tensor<f32>, tensor<f32>
  func.return %a, %b : tensor<f32>, tensor<f32>
}
