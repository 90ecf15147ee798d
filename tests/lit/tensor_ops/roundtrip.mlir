// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: @kernel
// CHECK-SAME:  (%[[X:.*]]: tensor<?x64xf32, #graph.dims<s0>>, %[[W:.*]]: tensor<64x8xf32>, %[[B:.*]]: tensor<8xf32>)
// GENERIC-LABEL: sym_name = "kernel"
func.func private @kernel(%x: tensor<?x64xf32, #graph.dims<s0>>, %w: tensor<64x8xf32>, %b: tensor<8xf32>)
    -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  // CHECK-NEXT: %[[Y:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2) -> (d0, d2)>, %[[W]] as affine_map<(d0, d1, d2) -> (d2, d1)> fill 0.000000e+00 : f32) over [parallel s0, parallel 8, reduction 64] init [0.000000e+00 : f32] body (%[[A:.*]]: f32, %[[V:.*]]: f32, %[[ACC:.*]]: f32) {
  // CHECK-NEXT:   %[[P:.*]] = arith.mulf %[[A]], %[[V]] fastmath<reassoc,contract> : f32
  // CHECK-NEXT:   %[[S:.*]] = arith.addf %[[ACC]], %[[P]] fastmath<reassoc,contract> : f32
  // CHECK-NEXT:   tensor_ops.yield %[[S]] : f32
  // CHECK-NEXT: } finish (%[[B]] as affine_map<(d0, d1, d2) -> (d1)>) body (%[[T:.*]]: f32, %[[C:.*]]: f32) {
  // CHECK-NEXT:   %[[I:.*]] = tensor_ops.index 1
  // CHECK-NEXT:   %[[N:.*]] = tensor_ops.size #graph.shape<2*s0>
  // CHECK-NEXT:   %[[E:.*]] = tensor_ops.extract %[[B]][%[[I]]] : tensor<8xf32>
  // CHECK-NEXT:   %[[R:.*]] = arith.addf %[[T]], %[[C]] : f32
  // CHECK-NEXT:   tensor_ops.yield %[[R]] : f32
  // CHECK-NEXT: } : (tensor<?x64xf32, #graph.dims<s0>>, tensor<64x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<s0>>
  // CHECK-NEXT: func.return %[[Y]]
  // GENERIC: "tensor_ops.structured"
  // GENERIC-SAME: num_parallel = 2 : i64
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)> fill 0.0 : f32) over [parallel s0, parallel 8, reduction 64] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } finish (%b as affine_map<(d0, d1, d2) -> (d1)>) body (%t: f32, %c: f32) {
    %i = tensor_ops.index 1
    %n = tensor_ops.size #graph.shape<2*s0>
    %e = tensor_ops.extract %b[%i] : tensor<8xf32>
    %r = arith.addf %t, %c : f32
    tensor_ops.yield %r : f32
  } : (tensor<?x64xf32, #graph.dims<s0>>, tensor<64x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %y : tensor<?x8xf32, #graph.dims<s0>>
}

// CHECK-LABEL: @main
// CHECK-SAME:  (%[[X:.*]]: tensor<?x64xf32, #graph.dims<2*N>>, %[[W:.*]]: tensor<64x8xf32>)
func.func @main(%x: tensor<?x64xf32, #graph.dims<2*N>>, %w: tensor<64x8xf32>) -> tensor<?x8xf32, #graph.dims<2*N>> {
  // CHECK-NEXT: %[[C:.*]] = tensor_ops.constant dense<1.000000e+00> : tensor<8xf32> : tensor<8xf32>
  // CHECK-NEXT: %[[R:.*]] = tensor_ops.call @kernel(%[[X]], %[[W]], %[[C]]) symbols [2*N] : (tensor<?x64xf32, #graph.dims<2*N>>, tensor<64x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<2*N>>
  // CHECK-NEXT: func.return %[[R]]
  %c = tensor_ops.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  %r = tensor_ops.call @kernel(%x, %w, %c) symbols [2*N] : (tensor<?x64xf32, #graph.dims<2*N>>, tensor<64x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<2*N>>
  func.return %r : tensor<?x8xf32, #graph.dims<2*N>>
}

// CHECK-LABEL: @moves
// CHECK-SAME:  (%[[I:.*]]: tensor<3xi64>, %[[U:.*]]: tensor<3xf32>)
func.func @moves(%i: tensor<3xi64>, %u: tensor<3xf32>) -> (tensor<4x2xf32>, tensor<8xf32>, tensor<2x8xf32>) {
  // CHECK-NEXT: %[[D:.*]] = tensor_ops.constant #graph.buffer<"w"> : tensor<8xf32>
  // CHECK-NEXT: %[[V:.*]] = tensor_ops.view %[[D]] : tensor<8xf32> to tensor<2x4xf32>
  // CHECK-NEXT: %[[J:.*]] = tensor_ops.concat %[[V]], %[[V]] axis 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: %[[K:.*]] = tensor_ops.kernel (%[[A:.*]] = %[[V]] : tensor<2x4xf32>) -> (tensor<4x2xf32>) {
  // CHECK-NEXT:   %[[T:.*]] = tensor_ops.structured (%[[A]] as affine_map<(d0, d1)[s0] -> (d1, ((d0 + s0) + -3))>) over [parallel 4, parallel 2] symbols [3] body (%[[E:.*]]: f32) {
  // CHECK-NEXT:     tensor_ops.yield %[[E]] : f32
  // CHECK-NEXT:   } : (tensor<2x4xf32>) -> tensor<4x2xf32>
  // CHECK-NEXT:   tensor_ops.yield %[[T]] : tensor<4x2xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[SCAN:.*]] = tensor_ops.scan %[[K]] axis 1 exclusive reverse init 0.000000e+00 : f32 body (%[[O:.*]]: f32, %[[ACC:.*]]: f32) {
  // CHECK-NEXT:   %[[S:.*]] = arith.addf %[[ACC]], %[[O]] : f32
  // CHECK-NEXT:   tensor_ops.yield %[[S]] : f32
  // CHECK-NEXT: } finish (%[[F:.*]]: f32) {
  // CHECK-NEXT:   tensor_ops.yield %[[F]] : f32
  // CHECK-NEXT: } : tensor<4x2xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: %[[SC:.*]] = tensor_ops.scatter into %[[D]] (%[[I]] as affine_map<(d0) -> (d0)>, %[[U]] as affine_map<(d0) -> (d0)>) over [3] body (%[[I0:.*]]: i64, %[[U0:.*]]: f32) {
  // CHECK-NEXT:   %[[AT:.*]] = arith.index_cast %[[I0]] : i64 to index
  // CHECK-NEXT:   tensor_ops.yield %[[AT]], %[[U0]] : index, f32
  // CHECK-NEXT: } combine (%[[OLD:.*]]: f32, %[[NEW:.*]]: f32) {
  // CHECK-NEXT:   %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]] : f32
  // CHECK-NEXT:   tensor_ops.yield %[[SUM]] : f32
  // CHECK-NEXT: } : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  // CHECK-NEXT: func.return %[[SCAN]], %[[SC]], %[[J]]
  %d = tensor_ops.constant #graph.buffer<"w"> : tensor<8xf32>
  %v = tensor_ops.view %d : tensor<8xf32> to tensor<2x4xf32>
  %j = tensor_ops.concat %v, %v axis 1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %k = tensor_ops.kernel (%a = %v : tensor<2x4xf32>) -> (tensor<4x2xf32>) {
    %t = tensor_ops.structured (%a as affine_map<(d0, d1)[s0] -> (d1, d0 + s0 - 3)>) over [parallel 4, parallel 2] symbols [3] body (%e: f32) {
      tensor_ops.yield %e : f32
    } : (tensor<2x4xf32>) -> tensor<4x2xf32>
    tensor_ops.yield %t : tensor<4x2xf32>
  }
  %scan = tensor_ops.scan %k axis 1 exclusive reverse init 0.0 : f32 body (%o: f32, %acc: f32) {
    %s = arith.addf %acc, %o : f32
    tensor_ops.yield %s : f32
  } finish (%f: f32) {
    tensor_ops.yield %f : f32
  } : tensor<4x2xf32> -> tensor<4x2xf32>
  %sc = tensor_ops.scatter into %d (%i as affine_map<(d0) -> (d0)>, %u as affine_map<(d0) -> (d0)>) over [3] body (%i0: i64, %u0: f32) {
    %at = arith.index_cast %i0 : i64 to index
    tensor_ops.yield %at, %u0 : index, f32
  } combine (%old: f32, %new: f32) {
    %sum = arith.addf %old, %new : f32
    tensor_ops.yield %sum : f32
  } : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  func.return %scan, %sc, %j : tensor<4x2xf32>, tensor<8xf32>, tensor<2x8xf32>
}

// Attributes, a result with two values, no inputs at all, rank 0.
// CHECK-LABEL: @corners
func.func @corners(%c: tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>, tensor<ui8>) {
  // CHECK: tensor_ops.extract %{{.*}}[] : tensor<i1>
  // CHECK: %[[R:.*]], %[[Q:.*]] = tensor_ops.structured () over [parallel 2] body () {
  // CHECK: } attributes {tag = "x"} : () -> (tensor<2xi64>, tensor<2xi64>)
  // CHECK: %[[Z:.*]] = tensor_ops.structured () over [] body () {
  // CHECK: tensor_ops.yield %{{.*}} : i8
  // CHECK: } : () -> tensor<ui8>
  %e = tensor_ops.extract %c[] : tensor<i1>
  %r, %q = tensor_ops.structured () over [parallel 2] body () {
    %i = tensor_ops.index 0
    %v = arith.index_cast %i : index to i64
    tensor_ops.yield %v, %v : i64, i64
  } attributes {tag = "x"} : () -> (tensor<2xi64>, tensor<2xi64>)
  %z = tensor_ops.structured () over [] body () {
    %v = arith.constant 3 : i8
    tensor_ops.yield %v : i8
  } : () -> tensor<ui8>
  func.return %r, %q, %z : tensor<2xi64>, tensor<2xi64>, tensor<ui8>
}
