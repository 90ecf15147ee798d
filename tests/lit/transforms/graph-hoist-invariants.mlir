// RUN: aicc-opt %s --split-input-file -p graph-hoist-invariants | filecheck %s

// What depends on %w alone is computed once, also out of two loops at a time; what needs the state stays.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: tensor<i64>, %[[X:[a-z0-9]+]]: tensor<1x8xf32>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK:         %[[E:.*]] = graph.exp %[[W]]
// CHECK:         %[[ONE:.*]] = graph.constant dense<1>
// CHECK:         graph.while
// CHECK:         } do {
// CHECK-NEXT:    ^{{.*}}(%{{.*}}: tensor<i64>, %[[S:.*]]: tensor<1x8xf32>):
// CHECK-NEXT:      %[[F:.*]] = graph.neg %[[S]]
// CHECK-NEXT:      graph.while
// CHECK:           } do {
// CHECK-NEXT:      ^{{.*}}(%{{.*}}: tensor<i64>, %[[T:.*]]: tensor<1x8xf32>):
// CHECK-NEXT:        graph.matmul %[[T]], %[[E]]
// CHECK-NEXT:        graph.add %{{.*}}, %[[F]]
// CHECK-NEXT:        graph.add %{{.*}}, %[[ONE]]
// CHECK-NEXT:        graph.yield
func.func @nested(%n: tensor<i64>, %x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8xf32> {
  %zero = graph.constant dense<0> : tensor<i64>
  %i, %r = graph.while %zero, %x while {
  ^bb0(%i: tensor<i64>, %s: tensor<1x8xf32>):
    %c = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %s: tensor<1x8xf32>):
    %j, %t = graph.while %i, %s while {
    ^bb0(%i2: tensor<i64>, %s2: tensor<1x8xf32>):
      %c = graph.lt %i2, %n : tensor<i64>, tensor<i64> -> tensor<i1>
      graph.yield %c : tensor<i1>
    } do {
    ^bb0(%i2: tensor<i64>, %s2: tensor<1x8xf32>):
      %e = graph.exp %w : tensor<8x8xf32> -> tensor<8x8xf32>
      %f = graph.neg %s : tensor<1x8xf32> -> tensor<1x8xf32>
      %m = graph.matmul %s2, %e : tensor<1x8xf32>, tensor<8x8xf32> -> tensor<1x8xf32>
      %a = graph.add %m, %f : tensor<1x8xf32>, tensor<1x8xf32> -> tensor<1x8xf32>
      %one = graph.constant dense<1> : tensor<i64>
      %k = graph.add %i2, %one : tensor<i64>, tensor<i64> -> tensor<i64>
      graph.yield %k, %a : tensor<i64>, tensor<1x8xf32>
    } : tensor<i64>, tensor<1x8xf32>
    graph.yield %j, %t : tensor<i64>, tensor<1x8xf32>
  } : tensor<i64>, tensor<1x8xf32>
  func.return %r : tensor<1x8xf32>
}

// -----

// A loop may have no iteration. A check of sizes, an op that assumes what the check says, a size that data tells, and a
// loop that may not end stay. So does what is in a branch, which may not be taken.
// CHECK-LABEL: func.func @stays(
// CHECK:         graph.while
// CHECK:         } do {
// CHECK:           graph.check_sizes
// CHECK-NEXT:      graph.add %{{.*}}, %{{.*}} : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>>
// CHECK-NEXT:      graph.define_size "k"
// CHECK-NEXT:      graph.while
// CHECK:           graph.if
// CHECK-NEXT:        graph.exp
// CHECK:           graph.slice
func.func @stays(%n: tensor<i64>, %x: tensor<?xf32, #graph.dims<N>>, %y: tensor<?xf32, #graph.dims<M>>, %c: tensor<i1>) -> tensor<f32> {
  %zero = graph.constant dense<0> : tensor<i64>
  %start = graph.constant dense<0.0> : tensor<f32>
  %i, %r = graph.while %zero, %start while {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>):
    %l = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %l : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %s: tensor<f32>):
    graph.check_sizes #graph.shape<N> is #graph.shape<M> text "unlike"
    %a = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<N>>
    graph.define_size "k" is %n most #graph.shape<N> : tensor<i64>
    %p = graph.while %n while {
    ^bb0(%q: tensor<i64>):
      graph.yield %c : tensor<i1>
    } do {
    ^bb0(%q: tensor<i64>):
      graph.yield %q : tensor<i64>
    } : tensor<i64>
    %j = graph.add %i, %p : tensor<i64>, tensor<i64> -> tensor<i64>
    %m = graph.reduce_sum %a {axes = array<i64: 0>} : tensor<?xf32, #graph.dims<N>> -> tensor<f32>
    %less = graph.lt %s, %m : tensor<f32>, tensor<f32> -> tensor<i1>
    %b = graph.if %less then {
      %e = graph.exp %start : tensor<f32> -> tensor<f32>
      graph.yield %e : tensor<f32>
    } else {
      graph.yield %s : tensor<f32>
    } -> tensor<f32>
    %part = graph.slice %x {starts = [0], sizes = [k], steps = array<i64: 1>} : tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<k>>
    %o = graph.reduce_sum %part {axes = array<i64: 0>} : tensor<?xf32, #graph.dims<k>> -> tensor<f32>
    %t = graph.add %b, %o : tensor<f32>, tensor<f32> -> tensor<f32>
    graph.yield %j, %t : tensor<i64>, tensor<f32>
  } : tensor<i64>, tensor<f32>
  func.return %r : tensor<f32>
}

// -----

// Sizes that are checked before the loop, here or before the run, may be assumed.
// CHECK-LABEL: func.func @checked_before(
// CHECK:         graph.check_sizes
// CHECK:         graph.add %{{.*}}, %{{.*}} : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>>
// CHECK-NEXT:    graph.sub
// CHECK:         graph.while
func.func @checked_before(%n: tensor<i64>, %x: tensor<?xf32, #graph.dims<N>>, %y: tensor<?xf32, #graph.dims<M>>, %z: tensor<?xf32, #graph.dims<K>>) -> tensor<f32>
    attributes {aicc.checks = [["N", "K", "unlike"]]} {
  %start = graph.constant dense<0.0> : tensor<f32>
  graph.check_sizes #graph.shape<N> is #graph.shape<M> text "unlike"
  %r = graph.while %start while {
  ^bb0(%s: tensor<f32>):
    %l = graph.lt %s, %start : tensor<f32>, tensor<f32> -> tensor<i1>
    graph.yield %l : tensor<i1>
  } do {
  ^bb0(%s: tensor<f32>):
    %a = graph.add %x, %y : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<N>>
    %b = graph.sub %a, %z : tensor<?xf32, #graph.dims<N>>, tensor<?xf32, #graph.dims<K>> -> tensor<?xf32, #graph.dims<N>>
    %c = graph.mul %b, %s : tensor<?xf32, #graph.dims<N>>, tensor<f32> -> tensor<?xf32, #graph.dims<N>>
    %m = graph.reduce_sum %c {axes = array<i64: 0>} : tensor<?xf32, #graph.dims<N>> -> tensor<f32>
    graph.yield %m : tensor<f32>
  } : tensor<f32>
  func.return %r : tensor<f32>
}

// -----

// What is made larger where it is read stays there: a mask that is spread, a weight in 8 bits. A product does not, nor
// does what a product needs, though others read it, too, nor what is small.
// CHECK-LABEL: func.func @grows(
// CHECK:         %[[V:.*]] = graph.cast %{{.*}} : tensor<64x64xi16> -> tensor<64x64xf32>
// CHECK:         graph.matmul %{{.*}}, %[[V]]
// CHECK:         graph.cast %{{.*}} : tensor<1xi8> -> tensor<1xf32>
// CHECK:         graph.while
// CHECK:         } do {
// CHECK:           graph.expand
// CHECK:           graph.cast
// CHECK-NOT:       graph.matmul
// CHECK:           graph.yield
func.func @grows(%x: tensor<64x64xf32>, %m: tensor<64xf32>, %w: tensor<64x64xi8>, %a: tensor<64x64xf32>, %b: tensor<64x64xi16>, %k: tensor<1xi8>) -> tensor<64x64xf32> {
  %r = graph.while %x while {
  ^bb0(%s: tensor<64x64xf32>):
    %l = graph.constant dense<true> : tensor<i1>
    graph.yield %l : tensor<i1>
  } do {
  ^bb0(%s: tensor<64x64xf32>):
    %e = graph.expand %m {shape = [64, 64]} : tensor<64xf32> -> tensor<64x64xf32>
    %f = graph.cast %w : tensor<64x64xi8> -> tensor<64x64xf32>
    %v = graph.cast %b : tensor<64x64xi16> -> tensor<64x64xf32>
    %o = graph.matmul %a, %v : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %c = graph.cast %k : tensor<1xi8> -> tensor<1xf32>
    %p = graph.mul %s, %e : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %q = graph.mul %p, %f : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %u = graph.add %q, %v : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %d = graph.mul %u, %c : tensor<64x64xf32>, tensor<1xf32> -> tensor<64x64xf32>
    %t = graph.add %d, %o : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    graph.yield %t : tensor<64x64xf32>
  } : tensor<64x64xf32>
  func.return %r : tensor<64x64xf32>
}
