// RUN: aicc-opt %s -p graph-fold-constants | filecheck %s
// RUN: aicc-opt %s -p graph-fold-constants{limit=5} | filecheck %s --check-prefix=SMALL

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT:    %[[C:.*]] = graph.constant dense<[4, 8]> : tensor<2xi64>
// CHECK-NEXT:    func.return %[[C]]
// Six elements are more than five.
// SMALL-LABEL: func.func @chain(
// SMALL:         graph.add
func.func @chain() -> tensor<2xi64> {
  %a = graph.constant dense<[1, 2]> : tensor<2xi64>
  %b = graph.add %a, %a : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  %c = graph.add %b, %b : tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
  func.return %c : tensor<2xi64>
}

// CHECK-LABEL: func.func @several_results(
// CHECK-DAG:     %[[A:.*]] = graph.constant dense<1> : tensor<1xi8>
// CHECK-DAG:     %[[B:.*]] = graph.constant dense<[2, 3]> : tensor<2xi8>
// CHECK:         func.return %[[A]], %[[B]]
func.func @several_results() -> (tensor<1xi8>, tensor<2xi8>) {
  %x = graph.constant dense<[1, 2, 3]> : tensor<3xi8>
  %a, %b = graph.split %x {axis = 0, sizes = [1, 2]} : tensor<3xi8> -> tensor<1xi8>, tensor<2xi8>
  func.return %a, %b : tensor<1xi8>, tensor<2xi8>
}

// An operand that is no constant, a symbolic size, and a buffer without data are left alone.
// CHECK-LABEL: func.func @keep(
// CHECK:         graph.add
// CHECK:         graph.expand
// CHECK:         graph.neg
func.func @keep(%x: tensor<2xf32>, %y: tensor<?xf32, #graph.dims<N>>) -> (tensor<2xf32>, tensor<?xf32, #graph.dims<N>>, tensor<2xf32>) {
  %c = graph.constant dense<1.0> : tensor<f32>
  %a = graph.add %x, %c : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %e = graph.expand %c {shape = [N]} : tensor<f32> -> tensor<?xf32, #graph.dims<N>>
  %w = graph.constant #graph.buffer<"w"> : tensor<2xf32>
  %n = graph.neg %w : tensor<2xf32> -> tensor<2xf32>
  func.return %a, %e, %n : tensor<2xf32>, tensor<?xf32, #graph.dims<N>>, tensor<2xf32>
}

// More data than before is only made of it if it is small.
// CHECK-LABEL: func.func @growth(
// CHECK-DAG:     graph.constant dense<1.000000e+00> : tensor<8x8xf32>
// CHECK-DAG:     graph.expand {{.*}} -> tensor<8x9xf32>
// CHECK:         func.return
func.func @growth() -> (tensor<8x8xf32>, tensor<8x9xf32>) {
  %c = graph.constant dense<1.0> : tensor<f32>
  %a = graph.expand %c {shape = [8, 8]} : tensor<f32> -> tensor<8x8xf32>
  %b = graph.expand %c {shape = [8, 9]} : tensor<f32> -> tensor<8x9xf32>
  func.return %a, %b : tensor<8x8xf32>, tensor<8x9xf32>
}

// Results of more than 64 elements are buffers, which are printed by name.
// CHECK-LABEL: func.func @buffer(
// CHECK:         %[[T:.*]] = graph.constant #graph.buffer<"t.folded"> : tensor<2x40xi8>
// CHECK-NEXT:    func.return %[[T]]
func.func @buffer() -> tensor<2x40xi8> {
  %c = graph.constant dense<7> : tensor<40x2xi8>
  %t = graph.transpose %c {permutation = [1, 0]} : tensor<40x2xi8> -> tensor<2x40xi8>
  func.return %t : tensor<2x40xi8>
}

// CHECK-LABEL: func.func @taken_branch(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT:    %[[N:.*]] = graph.neg %[[X]]
// CHECK-NEXT:    func.return %[[N]], %[[X]]
func.func @taken_branch(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = graph.constant dense<true> : tensor<i1>
  %n = graph.not %c : tensor<i1> -> tensor<i1>
  %r, %s = graph.if %n then {
    graph.yield %x, %x : tensor<2xf32>, tensor<2xf32>
  } else {
    %m = graph.neg %x : tensor<2xf32> -> tensor<2xf32>
    graph.yield %m, %x : tensor<2xf32>, tensor<2xf32>
  } -> tensor<2xf32>, tensor<2xf32>
  func.return %r, %s : tensor<2xf32>, tensor<2xf32>
}

// A symbol in a property makes the result depend on more than constants.
// CHECK-LABEL: func.func @keep_symbols(
// CHECK:         %[[S:.*]] = graph.sizes {shape = [N, 3]}
// CHECK:         %[[T:.*]] = graph.slice
// CHECK:         %[[U:.*]] = graph.constant dense<[2, 3]> : tensor<2xi64>
// CHECK:         func.return %[[S]], %[[T]], %[[U]]
func.func @keep_symbols(%x: tensor<?xf32, #graph.dims<N>>) -> (tensor<2xi64>, tensor<1xi64>, tensor<2xi64>) {
  %s = graph.sizes {shape = [N, 3]} : tensor<2xi64>
  %c = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
  %t = graph.slice %c {starts = [N], sizes = [1], steps = [1]} : tensor<3xi64> -> tensor<1xi64>
  %u = graph.sizes {shape = [2, 3]} : tensor<2xi64>
  func.return %s, %t, %u : tensor<2xi64>, tensor<1xi64>, tensor<2xi64>
}
