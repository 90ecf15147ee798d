// RUN: aicc-opt %s -p convert-tensor-ops-to-loops | filecheck %s --enable-var-scope

// What is appended to a carried tensor is written behind it, in the one buffer that it has, which grows; others read the
// tensor as it was before and after. A tensor with something put in front of it moves from one buffer to another.
// CHECK-LABEL: func.func @main
// CHECK:         scf.while
// CHECK:         } do {
// CHECK:           %[[OLD:.*]] = loops.reserved "output 0" : memref<?xf32, #loops.dims<s>>
// CHECK-NEXT:      loops.call @reduce_max_0(%{{.*}}, %[[OLD]], %[[P:.*]]) :
// CHECK-NEXT:      %[[NEW:.*]] = loops.reserve "output 0" keeping : memref<?xf32, #loops.dims<s+1>>
// CHECK-NEXT:      %[[S:.*]] = loops.size #graph.shape<s>
// CHECK-NEXT:      loops.call @concat_0(%[[S]], %[[P]], %[[NEW]]) : index, memref<1xf32>, memref<?xf32, #loops.dims<s+1>>
// CHECK-NEXT:      %[[OTHER:.*]] = loops.reserve "next output 1" : memref<?xf32, #loops.dims<s+1>>
// CHECK:           loops.call @concat_1(%{{.*}}, %[[P]], %{{.*}}, %[[OTHER]])
// CHECK-NOT:       loops.exchange "output 0"
// CHECK:           loops.exchange "output 1" and "next output 1"

// CHECK-LABEL: func.func private @concat_0(
// CHECK-SAME:    %[[S0:.*]]: index, %[[PART:.*]]: memref<1xf32>, %[[OUT:.*]]: memref<?xf32, #loops.dims<s0+1>>)
// CHECK-NEXT:    loops.for "s0_d0" %[[I:.*]] = 0 to 1 parallel {
// CHECK-NEXT:      %[[V:.*]] = loops.load %[[PART]][%[[I]]]
// CHECK-NEXT:      loops.store %[[V]], %[[OUT]][%[[I]] + %[[S0]]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @main(%n: tensor<i64>, %x: tensor<1xf32>) -> (tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>) {
  %zero = tensor_ops.constant dense<0> : tensor<i64> : tensor<i64>
  %0 = tensor_ops.size #graph.shape<1>
  tensor_ops.define_size "s" is %0 : index
  %1 = tensor_ops.view %x anew : tensor<1xf32> to tensor<?xf32, #graph.dims<s>>
  %2 = tensor_ops.view %x anew : tensor<1xf32> to tensor<?xf32, #graph.dims<s>>
  %i, %y, %w, %3 = scf.while (%i_1 = %zero, %y_1 = %1, %w_1 = %2, %4 = %0) : (tensor<i64>, tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>, index) -> (tensor<i64>, tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>, index) {
    tensor_ops.define_size "s" is %4 : index
    %more = tensor_ops.call @lt_0(%i_1, %n) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %5 = tensor_ops.extract %more[] : tensor<i1>
    scf.condition(%5) %i_1, %y_1, %w_1, %4 : tensor<i64>, tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>, index
  } do {
  ^bb0(%i_2: tensor<i64>, %y_2: tensor<?xf32, #graph.dims<s>>, %w_2: tensor<?xf32, #graph.dims<s>>, %6: index):
    tensor_ops.define_size "s" is %6 : index
    %next = tensor_ops.call @add_0(%i_2) : (tensor<i64>) -> tensor<i64>
    %p = tensor_ops.call @reduce_max_0(%y_2) symbols [s] : (tensor<?xf32, #graph.dims<s>>) -> tensor<1xf32>
    %z = tensor_ops.call @concat_0(%y_2, %p) symbols [s] : (tensor<?xf32, #graph.dims<s>>, tensor<1xf32>) -> tensor<?xf32, #graph.dims<s+1>>
    %v = tensor_ops.call @concat_1(%p, %w_2) symbols [s] : (tensor<1xf32>, tensor<?xf32, #graph.dims<s>>) -> tensor<?xf32, #graph.dims<s+1>>
    %7 = tensor_ops.size #graph.shape<s+1>
    tensor_ops.define_size "s" is %7 : index
    %8 = tensor_ops.view %z anew : tensor<?xf32, #graph.dims<s+1>> to tensor<?xf32, #graph.dims<s>>
    %9 = tensor_ops.view %v anew : tensor<?xf32, #graph.dims<s+1>> to tensor<?xf32, #graph.dims<s>>
    scf.yield %next, %8, %9, %7 : tensor<i64>, tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>, index
  }
  tensor_ops.define_size "s" is %3 : index
  func.return %y, %w : tensor<?xf32, #graph.dims<s>>, tensor<?xf32, #graph.dims<s>>
}
func.func private @lt_0(%0: tensor<i64>, %1: tensor<i64>) -> tensor<i1> attributes {aicc.kernel, aicc.symbols = []} {
  %2 = tensor_ops.structured (%0 as affine_map<() -> ()>, %1 as affine_map<() -> ()>) over [] body (%3: i64, %4: i64) {
    %5 = arith.cmpi slt, %3, %4 : i64
    tensor_ops.yield %5 : i1
  } : (tensor<i64>, tensor<i64>) -> tensor<i1>
  func.return %2 : tensor<i1>
}
func.func private @add_0(%0: tensor<i64>) -> tensor<i64> attributes {aicc.kernel, aicc.symbols = []} {
  %1 = tensor_ops.structured (%0 as affine_map<() -> ()>) over [] body (%2: i64) {
    %3 = arith.constant 1 : i64
    %4 = arith.addi %2, %3 : i64
    tensor_ops.yield %4 : i64
  } : (tensor<i64>) -> tensor<i64>
  func.return %1 : tensor<i64>
}
func.func private @reduce_max_0(%0: tensor<?xf32, #graph.dims<s0>>) -> tensor<1xf32> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %1 = tensor_ops.structured (%0 as affine_map<(d0, d1) -> (d1)>) over [parallel 1, reduction s0] init [0xff800000 : f32] body (%2: f32, %3: f32) {
    %4 = arith.maximumf %3, %2 fastmath<reassoc> : f32
    tensor_ops.yield %4 : f32
  } finish () body (%5: f32) {
    tensor_ops.yield %5 : f32
  } : (tensor<?xf32, #graph.dims<s0>>) -> tensor<1xf32>
  func.return %1 : tensor<1xf32>
}
func.func private @concat_0(%0: tensor<?xf32, #graph.dims<s0>>, %1: tensor<1xf32>) -> tensor<?xf32, #graph.dims<s0+1>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %2 = tensor_ops.concat %0, %1 axis 0 : (tensor<?xf32, #graph.dims<s0>>, tensor<1xf32>) -> tensor<?xf32, #graph.dims<s0+1>>
  func.return %2 : tensor<?xf32, #graph.dims<s0+1>>
}
func.func private @concat_1(%0: tensor<1xf32>, %1: tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0+1>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %2 = tensor_ops.concat %0, %1 axis 0 : (tensor<1xf32>, tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0+1>>
  func.return %2 : tensor<?xf32, #graph.dims<s0+1>>
}

// A kernel that is called elsewhere, too, copies both parts: a copy in its caller would not be shared out.
// CHECK-LABEL: func.func @elsewhere(
// CHECK:         loops.call @both(%{{.*}}, %{{.*}}, %{{.*}}) : memref<4xf32>, memref<1xf32>, memref<5xf32>
// CHECK-LABEL: func.func private @both(
// CHECK:         loops.for "s0_d0"
// CHECK:         loops.for "s1_d0"
func.func @elsewhere(%x: tensor<4xf32>, %p: tensor<1xf32>) -> tensor<5xf32> {
  %r = tensor_ops.call @both(%x, %p) : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}
func.func private @both(%0: tensor<4xf32>, %1: tensor<1xf32>) -> tensor<5xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %2 = tensor_ops.concat %0, %1 axis 0 : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  func.return %2 : tensor<5xf32>
}
