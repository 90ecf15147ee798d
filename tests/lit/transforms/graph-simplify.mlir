// RUN: aicc-opt %s -p graph-simplify | filecheck %s

// What adds, multiplies or divides by nothing goes, where it does not change the shape.
// CHECK-LABEL: func.func @neutral(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[I:[a-z0-9]+]]: tensor<2xi32>
// CHECK-NEXT:    func.return %[[X]], %[[X]], %[[X]], %[[X]], %[[I]], %[[I]]
func.func @neutral(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>) {
  %negative_zero = graph.constant dense<-0.0> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %no = graph.constant dense<0> : tensor<i32>
  %a = graph.add %negative_zero, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %b = graph.sub %x, %zero : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %c = graph.mul %one, %x : tensor<f32>, tensor<2xf32> -> tensor<2xf32>
  %d = graph.pow %x, %one : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %e = graph.add %i, %no : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
  %f = graph.or %no, %i : tensor<i32>, tensor<2xi32> -> tensor<2xi32>
  func.return %a, %b, %c, %d, %e, %f : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>
}

// -0.0 + 0.0 is 0.0; 0.0 - x has another sign than x; x * 0 is NaN for infinities; 1 / x is not x.
// CHECK-LABEL: func.func @not_neutral(
// CHECK:         graph.add
// CHECK:         graph.sub
// CHECK:         graph.sub
// CHECK:         graph.mul
// CHECK:         graph.div
// CHECK:         graph.pow
func.func @not_neutral(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %negative_zero = graph.constant dense<-0.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %a = graph.add %x, %zero : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %b = graph.sub %zero, %x : tensor<f32>, tensor<2xf32> -> tensor<2xf32>
  %c = graph.sub %x, %negative_zero : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %d = graph.mul %x, %zero : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %e = graph.div %one, %x : tensor<f32>, tensor<2xf32> -> tensor<2xf32>
  %f = graph.pow %x, %half : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  func.return %a, %b, %c, %d, %e, %f : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// A "bias" of ones that is really a full tensor repeats the other operand.
// CHECK-LABEL: func.func @keep_when_it_broadcasts(
// CHECK:         graph.mul
func.func @keep_when_it_broadcasts(%x: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %one = graph.constant dense<1.0> : tensor<2x1xf32>
  %a = graph.mul %x, %one : tensor<1x3xf32>, tensor<2x1xf32> -> tensor<2x3xf32>
  func.return %a : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @powers(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>
// CHECK-DAG:     %[[S:.*]] = graph.mul %[[X]], %[[X]]
// CHECK-DAG:     %[[Q:.*]] = graph.constant dense<2.500000e-01> : tensor<f32>
// CHECK-DAG:     %[[D:.*]] = graph.mul %[[X]], %[[Q]]
// CHECK-DAG:     %[[T:.*]] = graph.div %[[X]]
// CHECK:         func.return %[[S]], %[[D]], %[[T]]
func.func @powers(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %four = graph.constant dense<4.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %a = graph.pow %x, %two : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %b = graph.div %x, %four : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %c = graph.div %x, %three : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  func.return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// The inverse of the largest power of two is no normal number, and integers are not multiplied by fractions.
// CHECK-LABEL: func.func @keep_division(
// CHECK-COUNT-2: graph.div
func.func @keep_division(%x: tensor<2xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %large = graph.constant dense<0x7f000000> : tensor<f32>
  %four = graph.constant dense<4> : tensor<i32>
  %a = graph.div %x, %large : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %b = graph.div %i, %four : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
  func.return %a, %b : tensor<2xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @twice(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT:    %[[A:.*]] = graph.abs %[[X]]
// CHECK-NEXT:    %[[R:.*]] = graph.relu %[[X]]
// CHECK-NEXT:    func.return %[[X]], %[[A]], %[[R]]
func.func @twice(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = graph.neg %x : tensor<2xf32> -> tensor<2xf32>
  %b = graph.neg %a : tensor<2xf32> -> tensor<2xf32>
  %c = graph.abs %x : tensor<2xf32> -> tensor<2xf32>
  %d = graph.abs %c : tensor<2xf32> -> tensor<2xf32>
  %e = graph.relu %x : tensor<2xf32> -> tensor<2xf32>
  %f = graph.relu %e : tensor<2xf32> -> tensor<2xf32>
  func.return %b, %d, %f : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @integer_zero(
// CHECK-NEXT:    %[[Z:.*]] = graph.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %[[E:.*]] = graph.expand %[[Z]] {shape = [N]}
// CHECK-NEXT:    func.return %[[E]]
func.func @integer_zero(%i: tensor<?xi32, #graph.dims<N>>) -> tensor<?xi32, #graph.dims<N>> {
  %zero = graph.constant dense<0> : tensor<i32>
  %a = graph.mul %i, %zero : tensor<?xi32, #graph.dims<N>>, tensor<i32> -> tensor<?xi32, #graph.dims<N>>
  func.return %a : tensor<?xi32, #graph.dims<N>>
}

// CHECK-LABEL: func.func @zero_points(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3xui8>, %[[B:[a-z0-9]+]]: tensor<3x4xi8>, %[[Z:[a-z0-9]+]]: tensor<ui8>
// CHECK-NOT:     graph.constant dense<0>
// CHECK:         graph.matmul_integer %[[A]], %[[B]] lhs_zero(%[[Z]]) :
// CHECK:         graph.conv_integer %{{[a-z0-9]+}}, %{{[a-z0-9]+}} {strides = [1], pads = [1, 1], dilations = [1]} :
// CHECK:         graph.matmul_integer %[[A]], %[[B]] rhs_zero(%{{[a-z0-9]+}}) :
func.func @zero_points(%a: tensor<2x3xui8>, %b: tensor<3x4xi8>, %z: tensor<ui8>, %x: tensor<1x2x8xui8>, %w: tensor<4x2x3xi8>) -> (tensor<2x4xi32>, tensor<1x4x8xi32>, tensor<2x4xi32>) {
  %none = graph.constant dense<0> : tensor<4xi8>
  %zero = graph.constant dense<0> : tensor<ui8>
  %all = graph.constant dense<0> : tensor<4x1x1xi8>
  %some = graph.constant dense<[0, 1, 0, 0]> : tensor<4xi8>
  %r = graph.matmul_integer %a, %b lhs_zero(%z) rhs_zero(%none) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<ui8>, tensor<4xi8> -> tensor<2x4xi32>
  %s = graph.conv_integer %x, %w x_zero(%zero) weight_zero(%all) {strides = [1], pads = [1, 1], dilations = [1]} : tensor<1x2x8xui8>, tensor<4x2x3xi8>, tensor<ui8>, tensor<4x1x1xi8> -> tensor<1x4x8xi32>
  %t = graph.matmul_integer %a, %b rhs_zero(%some) : tensor<2x3xui8>, tensor<3x4xi8>, tensor<4xi8> -> tensor<2x4xi32>
  func.return %r, %s, %t : tensor<2x4xi32>, tensor<1x4x8xi32>, tensor<2x4xi32>
}

// CHECK-LABEL: func.func @choice(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<2xi1>, %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[Y:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT:    %[[M:.*]] = graph.constant dense<[true, false]>
// CHECK-NEXT:    %[[W:.*]] = graph.where %[[M]], %[[X]], %[[Y]]
// CHECK-NEXT:    func.return %[[X]], %[[Y]], %[[W]]
func.func @choice(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %no = graph.constant dense<false> : tensor<i1>
  %mixed = graph.constant dense<[true, false]> : tensor<2xi1>
  %a = graph.where %c, %x, %x : tensor<2xi1>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %b = graph.where %no, %x, %y : tensor<i1>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %d = graph.where %mixed, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  func.return %a, %b, %d : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// Only a cast that keeps every value can be left out of a chain.
// CHECK-LABEL: func.func @casts(
// CHECK-SAME:    %[[H:[a-z0-9]+]]: tensor<2xf16>, %[[I:[a-z0-9]+]]: tensor<2xi8>
// CHECK-NEXT:    %[[F:.*]] = graph.cast %[[I]] : tensor<2xi8> -> tensor<2xf32>
// CHECK-NEXT:    %[[B:.*]] = graph.cast %[[I]] : tensor<2xi8> -> tensor<2xi1>
// CHECK-NEXT:    func.return %[[H]], %[[F]], %[[B]]
func.func @casts(%h: tensor<2xf16>, %i: tensor<2xi8>) -> (tensor<2xf16>, tensor<2xf32>, tensor<2xi1>) {
  %a = graph.cast %h : tensor<2xf16> -> tensor<2xf32>
  %b = graph.cast %a : tensor<2xf32> -> tensor<2xf16>
  %c = graph.cast %i : tensor<2xi8> -> tensor<2xi64>
  %d = graph.cast %c : tensor<2xi64> -> tensor<2xf32>
  %e = graph.cast %c : tensor<2xi64> -> tensor<2xi1>
  func.return %b, %d, %e : tensor<2xf16>, tensor<2xf32>, tensor<2xi1>
}

// f32 -> i32 -> f32 truncates, i8 -> ui8 wraps, i32 -> f32 -> f64 rounds, i32 -> f64 -> f16 rounds another way than
// i32 -> f16, which goes by way of f32; f32 -> i8 -> i1 is false for 0.5.
// CHECK-LABEL: func.func @keep_casts(
// CHECK-COUNT-10: graph.cast
func.func @keep_casts(%f: tensor<2xf32>, %i: tensor<2xi8>, %j: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>, tensor<2xf64>, tensor<2xf16>, tensor<2xi1>) {
  %a = graph.cast %f : tensor<2xf32> -> tensor<2xi32>
  %b = graph.cast %a : tensor<2xi32> -> tensor<2xf32>
  %c = graph.cast %i : tensor<2xi8> -> tensor<2xui8>
  %d = graph.cast %c : tensor<2xui8> -> tensor<2xi32>
  %e = graph.cast %j : tensor<2xi32> -> tensor<2xf32>
  %g = graph.cast %e : tensor<2xf32> -> tensor<2xf64>
  %h = graph.cast %j : tensor<2xi32> -> tensor<2xf64>
  %k = graph.cast %h : tensor<2xf64> -> tensor<2xf16>
  %l = graph.cast %f : tensor<2xf32> -> tensor<2xi8>
  %m = graph.cast %l : tensor<2xi8> -> tensor<2xi1>
  func.return %b, %d, %g, %k, %m : tensor<2xf32>, tensor<2xi32>, tensor<2xf64>, tensor<2xf16>, tensor<2xi1>
}
