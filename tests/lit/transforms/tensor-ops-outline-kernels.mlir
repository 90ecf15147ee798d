// RUN: aicc-opt %s -p tensor-ops-outline-kernels | filecheck %s
// RUN: aicc-opt %s -p tensor-ops-outline-kernels --print-debuginfo | filecheck %s --check-prefix=LOC

// Kernels that differ in names, sizes and locations only are one function; the sizes are passed.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32, #graph.dims<N>>, %[[Y:[a-z0-9]+]]: tensor<?x4xf32, #graph.dims<2*M+N>>
// CHECK-NEXT:    %[[A:.*]] = tensor_ops.call @neg_exp_0(%[[X]]) symbols [N] : (tensor<?x4xf32, #graph.dims<N>>) -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[B:.*]] = tensor_ops.call @neg_exp_0(%[[A]]) symbols [N]
// CHECK-NEXT:    %[[C:.*]] = tensor_ops.call @neg_exp_0(%[[Y]]) symbols [2*M+N]
// CHECK-NEXT:    func.return %[[B]], %[[C]]
// LOC: tensor_ops.call @neg_exp_0({{.*}} loc("first")
// LOC: tensor_ops.call @neg_exp_0({{.*}} loc("second")
func.func @main(%x: tensor<?x4xf32, #graph.dims<N>>, %y: tensor<?x4xf32, #graph.dims<2*M+N>>) -> (tensor<?x4xf32, #graph.dims<N>>, tensor<?x4xf32, #graph.dims<2*M+N>>) {
  %a = tensor_ops.kernel (%p = %x : tensor<?x4xf32, #graph.dims<N>>) -> (tensor<?x4xf32, #graph.dims<N>>) {
    %n = graph.neg %p : tensor<?x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N>>
    %e = graph.exp %n : tensor<?x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N>>
    tensor_ops.yield %e : tensor<?x4xf32, #graph.dims<N>>
  } loc("first")
  %b = tensor_ops.kernel (%other = %a : tensor<?x4xf32, #graph.dims<N>>) -> (tensor<?x4xf32, #graph.dims<N>>) {
    %negated = graph.neg %other : tensor<?x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N>>
    %power = graph.exp %negated : tensor<?x4xf32, #graph.dims<N>> -> tensor<?x4xf32, #graph.dims<N>>
    tensor_ops.yield %power : tensor<?x4xf32, #graph.dims<N>>
  } loc("second")
  %c = tensor_ops.kernel (%p = %y : tensor<?x4xf32, #graph.dims<2*M+N>>) -> (tensor<?x4xf32, #graph.dims<2*M+N>>) {
    %n = graph.neg %p : tensor<?x4xf32, #graph.dims<2*M+N>> -> tensor<?x4xf32, #graph.dims<2*M+N>>
    %e = graph.exp %n : tensor<?x4xf32, #graph.dims<2*M+N>> -> tensor<?x4xf32, #graph.dims<2*M+N>>
    tensor_ops.yield %e : tensor<?x4xf32, #graph.dims<2*M+N>>
  }
  func.return %b, %c : tensor<?x4xf32, #graph.dims<N>>, tensor<?x4xf32, #graph.dims<2*M+N>>
}

// A size is not passed whose range tells something, nor one that another size of the kernel has a symbol of.
// CHECK-LABEL: func.func @ranges(
// CHECK:         tensor_ops.call @neg_exp_1(%{{.*}}) symbols [N]
// CHECK:         tensor_ops.call @neg_exp_2(%{{.*}}) symbols [N]
// CHECK:         tensor_ops.call @concat_0(%{{.*}}) symbols [N]
func.func @ranges(%x: tensor<?xf32, #graph.dims<min(4,N)>>, %y: tensor<?xf32, #graph.dims<N+1>>, %u: tensor<?xf32, #graph.dims<floordiv(N,8)>>, %v: tensor<?xf32, #graph.dims<N>>) -> (tensor<?xf32, #graph.dims<min(4,N)>>, tensor<?xf32, #graph.dims<N+1>>, tensor<?xf32, #graph.dims<N+floordiv(N,8)>>) {
  %a = tensor_ops.kernel (%p = %x : tensor<?xf32, #graph.dims<min(4,N)>>) -> (tensor<?xf32, #graph.dims<min(4,N)>>) {
    %n = graph.neg %p : tensor<?xf32, #graph.dims<min(4,N)>> -> tensor<?xf32, #graph.dims<min(4,N)>>
    %e = graph.exp %n : tensor<?xf32, #graph.dims<min(4,N)>> -> tensor<?xf32, #graph.dims<min(4,N)>>
    tensor_ops.yield %e : tensor<?xf32, #graph.dims<min(4,N)>>
  }
  %b = tensor_ops.kernel (%p = %y : tensor<?xf32, #graph.dims<N+1>>) -> (tensor<?xf32, #graph.dims<N+1>>) {
    %n = graph.neg %p : tensor<?xf32, #graph.dims<N+1>> -> tensor<?xf32, #graph.dims<N+1>>
    %e = graph.exp %n : tensor<?xf32, #graph.dims<N+1>> -> tensor<?xf32, #graph.dims<N+1>>
    tensor_ops.yield %e : tensor<?xf32, #graph.dims<N+1>>
  }
  %c = tensor_ops.kernel (%p = %u : tensor<?xf32, #graph.dims<floordiv(N,8)>>, %q = %v : tensor<?xf32, #graph.dims<N>>) -> (tensor<?xf32, #graph.dims<N+floordiv(N,8)>>) {
    %n = graph.concat %p, %q {axis = 0} : tensor<?xf32, #graph.dims<floordiv(N,8)>>, tensor<?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<N+floordiv(N,8)>>
    tensor_ops.yield %n : tensor<?xf32, #graph.dims<N+floordiv(N,8)>>
  }
  func.return %a, %b, %c : tensor<?xf32, #graph.dims<min(4,N)>>, tensor<?xf32, #graph.dims<N+1>>, tensor<?xf32, #graph.dims<N+floordiv(N,8)>>
}

// One element, or equal elements that go into elementwise ops, become part of the kernel; others are arguments.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x2xf32>
// CHECK-DAG:     %[[W:.*]] = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG:     %[[M:.*]] = graph.constant dense<3.000000e+00> : tensor<2x2xf32>
// CHECK-NOT:     graph.constant
// CHECK:         tensor_ops.call @matmul_add_mul_0(%[[X]], %[[M]], %[[W]]) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
func.func @constants(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = graph.constant dense<3.0> : tensor<2x2xf32>
  %s = graph.constant dense<4.0> : tensor<f32>
  %t = graph.constant dense<5.0> : tensor<2xf32>
  %r = tensor_ops.kernel (%a = %x : tensor<2x2xf32>, %b = %m : tensor<2x2xf32>, %c = %w : tensor<2xf32>, %d = %s : tensor<f32>, %e = %t : tensor<2xf32>) -> (tensor<2x2xf32>) {
    %p = graph.matmul %a, %b : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
    %q = graph.add %p, %c : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
    %u = graph.add %q, %d : tensor<2x2xf32>, tensor<f32> -> tensor<2x2xf32>
    %v = graph.mul %u, %e : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
    tensor_ops.yield %v : tensor<2x2xf32>
  }
  func.return %r : tensor<2x2xf32>
}

// A zero and a negative zero are different constants, so these are different kernels. Names in use are passed over.
// CHECK-LABEL: func.func @zeros(
// CHECK:         tensor_ops.call @add_1(
// CHECK:         tensor_ops.call @add_2(
func.func @zeros(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %p = graph.constant dense<0.0> : tensor<f32>
  %n = graph.constant dense<-0.0> : tensor<f32>
  %r = tensor_ops.kernel (%a = %x : tensor<2xf32>, %b = %p : tensor<f32>) -> (tensor<2xf32>) {
    %c = graph.add %a, %b : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    tensor_ops.yield %c : tensor<2xf32>
  }
  %s = tensor_ops.kernel (%a = %x : tensor<2xf32>, %b = %n : tensor<f32>) -> (tensor<2xf32>) {
    %c = graph.add %a, %b : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    tensor_ops.yield %c : tensor<2xf32>
  }
  func.return %r, %s : tensor<2xf32>, tensor<2xf32>
}

// Three kernels that differ in a number only are one function that takes it; the number that is the same in all is
// in the function. Two kernels stay two, as above.
// CHECK-LABEL: func.func @scales(
// CHECK-DAG:     %[[A:.*]] = graph.constant dense<1.500000e+00> : tensor<f32>
// CHECK-DAG:     %[[B:.*]] = graph.constant dense<2.500000e+00> : tensor<f32>
// CHECK-DAG:     %[[C:.*]] = graph.constant dense<3.500000e+00> : tensor<f32>
// CHECK-NOT:     graph.constant
// CHECK:         tensor_ops.call @mul_add_0(%{{.*}}, %[[A]]) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK:         tensor_ops.call @mul_add_0(%{{.*}}, %[[B]])
// CHECK:         tensor_ops.call @mul_add_0(%{{.*}}, %[[C]])
func.func @scales(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = graph.constant dense<1.0> : tensor<f32>
  %a = graph.constant dense<1.5> : tensor<f32>
  %b = graph.constant dense<2.5> : tensor<f32>
  %c = graph.constant dense<3.5> : tensor<f32>
  %r = tensor_ops.kernel (%p = %x : tensor<2xf32>, %k = %a : tensor<f32>, %o = %one : tensor<f32>) -> (tensor<2xf32>) {
    %m = graph.mul %p, %k : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    %n = graph.add %m, %o : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    tensor_ops.yield %n : tensor<2xf32>
  }
  %s = tensor_ops.kernel (%p = %r : tensor<2xf32>, %k = %b : tensor<f32>, %o = %one : tensor<f32>) -> (tensor<2xf32>) {
    %named = graph.mul %p, %k : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    %n = graph.add %named, %o : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    tensor_ops.yield %n : tensor<2xf32>
  }
  %t = tensor_ops.kernel (%p = %s : tensor<2xf32>, %k = %c : tensor<f32>, %o = %one : tensor<f32>) -> (tensor<2xf32>) {
    %m = graph.mul %p, %k : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    %n = graph.add %m, %o : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
    tensor_ops.yield %n : tensor<2xf32>
  }
  func.return %t : tensor<2xf32>
}

// Integers are not passed: what they are decides how an op is computed.
// CHECK-LABEL: func.func @zero_points(
// CHECK:         tensor_ops.call @add_3(
// CHECK:         tensor_ops.call @add_4(
// CHECK:         tensor_ops.call @add_5(
func.func @zero_points(%x: tensor<2xi32>) -> tensor<2xi32> {
  %a = graph.constant dense<1> : tensor<i32>
  %b = graph.constant dense<2> : tensor<i32>
  %c = graph.constant dense<3> : tensor<i32>
  %r = tensor_ops.kernel (%p = %x : tensor<2xi32>, %k = %a : tensor<i32>) -> (tensor<2xi32>) {
    %m = graph.add %p, %k : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
    tensor_ops.yield %m : tensor<2xi32>
  }
  %s = tensor_ops.kernel (%p = %r : tensor<2xi32>, %k = %b : tensor<i32>) -> (tensor<2xi32>) {
    %m = graph.add %p, %k : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
    tensor_ops.yield %m : tensor<2xi32>
  }
  %t = tensor_ops.kernel (%p = %s : tensor<2xi32>, %k = %c : tensor<i32>) -> (tensor<2xi32>) {
    %m = graph.add %p, %k : tensor<2xi32>, tensor<i32> -> tensor<2xi32>
    tensor_ops.yield %m : tensor<2xi32>
  }
  func.return %t : tensor<2xi32>
}

// CHECK-LABEL: func.func private @add_0()
func.func private @add_0()

// CHECK-LABEL: func.func private @neg_exp_0(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<?x4xf32, #graph.dims<s0>>) -> tensor<?x4xf32, #graph.dims<s0>>
// CHECK-SAME:    attributes {aicc.kernel, aicc.symbols = ["s0"]}
// CHECK-NEXT:    %[[N:.*]] = graph.neg %[[P]]
// CHECK-NEXT:    %[[E:.*]] = graph.exp %[[N]]
// CHECK-NEXT:    func.return %[[E]]

// CHECK-LABEL: func.func private @neg_exp_1(
// CHECK-SAME:    tensor<?xf32, #graph.dims<min(4,s0)>>
// CHECK-SAME:    attributes {aicc.kernel, aicc.symbols = ["s0"]}

// CHECK-LABEL: func.func private @neg_exp_2(
// CHECK-SAME:    tensor<?xf32, #graph.dims<s0+1>>
// CHECK-SAME:    attributes {aicc.kernel, aicc.symbols = ["s0"]}

// CHECK-LABEL: func.func private @concat_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<?xf32, #graph.dims<floordiv(s0,8)>>, %{{[a-z0-9]+}}: tensor<?xf32, #graph.dims<s0>>)
// CHECK-SAME:    attributes {aicc.kernel, aicc.symbols = ["s0"]}

// CHECK-LABEL: func.func private @matmul_add_mul_0(
// CHECK-DAG:     graph.constant dense<4.000000e+00> : tensor<f32>
// CHECK-DAG:     graph.constant dense<5.000000e+00> : tensor<2xf32>

// CHECK-LABEL: func.func private @mul_add_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[K:[a-z0-9]+]]: tensor<f32>)
// CHECK:         graph.constant dense<1.000000e+00>
// CHECK:         graph.mul %[[X]], %[[K]]
