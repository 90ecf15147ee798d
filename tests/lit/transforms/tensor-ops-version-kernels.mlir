// RUN: aicc-opt %s -p tensor-ops-version-kernels --split-input-file | filecheck %s

// The columns of the product are of unknown number: a kernel for up to 4 of them is chosen where they are so few.
// CHECK-LABEL: func.func @main
// CHECK:         %[[N:.*]] = tensor_ops.size #graph.shape<T>
// CHECK-NEXT:    %[[MOST:.*]] = arith.constant 4 : index
// CHECK-NEXT:    %[[FEW:.*]] = arith.cmpi ule, %[[N]], %[[MOST]] : index
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[FEW]] -> (tensor<?x?xf32, #graph.dims<S, T>>) {
// CHECK-NEXT:      %[[Y:.*]] = tensor_ops.view %y : {{.*}} to tensor<?x8xf32, #graph.dims<min(4,T)>>
// CHECK-NEXT:      %[[Q:.*]] = tensor_ops.call @product_small(%x, %[[Y]]) symbols [S, T] {aicc.version}
// CHECK-NEXT:      %[[V:.*]] = tensor_ops.view %[[Q]] : tensor<?x?xf32, #graph.dims<S, min(4,T)>> to tensor<?x?xf32, #graph.dims<S, T>>
// CHECK-NEXT:      scf.yield %[[V]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[P:.*]] = tensor_ops.call @product(%x, %y) symbols [S, T] :
// CHECK-NEXT:      scf.yield %[[P]]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
// CHECK:       func.func private @product(
// CHECK:         over [parallel s0, parallel s1, reduction 8]
// CHECK:       func.func private @product_small(
// CHECK-SAME:    attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]}
// CHECK-NEXT:    over [parallel s0, parallel min(4,s1), reduction 8]
func.func @main(%x: tensor<?x8xf32, #graph.dims<S>>, %y: tensor<?x8xf32, #graph.dims<T>>) -> tensor<?x?xf32, #graph.dims<S, T>> {
  %r = tensor_ops.call @product(%x, %y) symbols [S, T] : (tensor<?x8xf32, #graph.dims<S>>, tensor<?x8xf32, #graph.dims<T>>) -> tensor<?x?xf32, #graph.dims<S, T>>
  func.return %r : tensor<?x?xf32, #graph.dims<S, T>>
}
func.func private @product(%x: tensor<?x8xf32, #graph.dims<s0>>, %y: tensor<?x8xf32, #graph.dims<s1>>) -> tensor<?x?xf32, #graph.dims<s0, s1>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %y as affine_map<(d0, d1, d2) -> (d1, d2)>)
      over [parallel s0, parallel s1, reduction 8] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<?x8xf32, #graph.dims<s1>>) -> tensor<?x?xf32, #graph.dims<s0, s1>>
  func.return %0 : tensor<?x?xf32, #graph.dims<s0, s1>>
}

// -----

// Rows of unknown number alone are no reason, nor are columns that are never few, nor a sum of one factor.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     scf.if
func.func @main(%x: tensor<?x8xf32, #graph.dims<S>>, %y: tensor<8x8xf32>, %z: tensor<?x8xf32, #graph.dims<S+9>>) -> (tensor<?x8xf32, #graph.dims<S>>, tensor<?x?xf32, #graph.dims<S, S+9>>, tensor<?xf32, #graph.dims<S>>) {
  %r = tensor_ops.call @rows(%x, %y) symbols [S] : (tensor<?x8xf32, #graph.dims<S>>, tensor<8x8xf32>) -> tensor<?x8xf32, #graph.dims<S>>
  %m = tensor_ops.call @many(%x, %z) symbols [S, S+9] : (tensor<?x8xf32, #graph.dims<S>>, tensor<?x8xf32, #graph.dims<S+9>>) -> tensor<?x?xf32, #graph.dims<S, S+9>>
  %t = tensor_ops.call @sums(%x) symbols [S] : (tensor<?x8xf32, #graph.dims<S>>) -> tensor<?xf32, #graph.dims<S>>
  func.return %r, %m, %t : tensor<?x8xf32, #graph.dims<S>>, tensor<?x?xf32, #graph.dims<S, S+9>>, tensor<?xf32, #graph.dims<S>>
}
func.func private @rows(%x: tensor<?x8xf32, #graph.dims<s0>>, %y: tensor<8x8xf32>) -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %y as affine_map<(d0, d1, d2) -> (d1, d2)>)
      over [parallel s0, parallel 8, reduction 8] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<8x8xf32>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %0 : tensor<?x8xf32, #graph.dims<s0>>
}
func.func private @many(%x: tensor<?x8xf32, #graph.dims<s0>>, %y: tensor<?x8xf32, #graph.dims<s1>>) -> tensor<?x?xf32, #graph.dims<s0, s1>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %y as affine_map<(d0, d1, d2) -> (d1, d2)>)
      over [parallel s0, parallel s1, reduction 8] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<?x8xf32, #graph.dims<s1>>) -> tensor<?x?xf32, #graph.dims<s0, s1>>
  func.return %0 : tensor<?x?xf32, #graph.dims<s0, s1>>
}
func.func private @sums(%x: tensor<?x8xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>)
      over [parallel s0, reduction 8] init [0.0 : f32] body (%a : f32, %acc : f32) {
    %s = arith.addf %acc, %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>>
  func.return %0 : tensor<?xf32, #graph.dims<s0>>
}
