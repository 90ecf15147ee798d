// RUN: aicc-opt %s -p tensor-ops-fuse | filecheck %s --enable-var-scope --reject-empty-vars

// The bias, which is broadcast, and the maximum go to the end of the sum: one op.
// CHECK-LABEL: @into_finish
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<?x8xf32, #graph.dims<s0>>, %[[W:[a-z]+]]: tensor<8x5xf32>, %[[B:[a-z]+]]: tensor<5xf32>)
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2) -> (d0, d2)>, %[[W]] as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 5, reduction 8] init [0.000000e+00 : f32] body (%[[A:.*]]: f32, %[[V:.*]]: f32, %[[ACC:.*]]: f32) {
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[V]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[ACC]], %[[P]]
// CHECK-NEXT:      tensor_ops.yield %[[S]] : f32
// CHECK-NEXT:    } finish (%[[B]] as affine_map<(d0, d1, d2) -> (d1)>) body (%[[T:.*]]: f32, %[[C:.*]]: f32) {
// CHECK-NEXT:      %[[U:.*]] = arith.addf %[[T]], %[[C]] : f32
// CHECK-NEXT:      %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[M:.*]] = arith.maximumf %[[U]], %[[Z]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[M]] : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return %[[R]]
func.func private @into_finish(%x: tensor<?x8xf32, #graph.dims<s0>>, %w: tensor<8x5xf32>, %b: tensor<5xf32>) -> tensor<?x5xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %m = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 5, reduction 8] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<8x5xf32>) -> tensor<?x5xf32, #graph.dims<s0>>
  %t = tensor_ops.structured (%m as affine_map<(d0, d1) -> (d0, d1)>, %b as affine_map<(d0, d1) -> (d1)>) over [parallel s0, parallel 5] body (%a: f32, %c: f32) {
    %u = arith.addf %a, %c : f32
    tensor_ops.yield %u : f32
  } : (tensor<?x5xf32, #graph.dims<s0>>, tensor<5xf32>) -> tensor<?x5xf32, #graph.dims<s0>>
  %r = tensor_ops.structured (%t as affine_map<(d0, d1) -> (d0, d1)>) over [parallel s0, parallel 5] body (%a: f32) {
    %z = arith.constant 0.0 : f32
    %u = arith.maximumf %a, %z : f32
    tensor_ops.yield %u : f32
  } : (tensor<?x5xf32, #graph.dims<s0>>) -> tensor<?x5xf32, #graph.dims<s0>>
  func.return %r : tensor<?x5xf32, #graph.dims<s0>>
}

// A slice and a transpose before a sum, and a transpose after it: maps alone change.
// CHECK-LABEL: @maps
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<9x4xf32>)
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2)[s0] -> ((d2 + s0), d1)>) over [parallel 1, parallel 4, reduction 3] symbols [s0] init [0.000000e+00 : f32]
// CHECK-NOT:     tensor_ops.structured
// CHECK:         func.return %[[R]]
func.func private @maps(%x: tensor<9x4xf32>) -> tensor<1x4xf32> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %s = tensor_ops.structured (%x as affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>) over [parallel 3, parallel 4] symbols [s0] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<9x4xf32>) -> tensor<3x4xf32>
  %t = tensor_ops.structured (%s as affine_map<(d0, d1) -> (d1, d0)>) over [parallel 4, parallel 3] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %m = tensor_ops.structured (%t as affine_map<(d0, d1, d2) -> (d0, d2)>) over [parallel 4, parallel 1, reduction 3] init [0.0 : f32] body (%a: f32, %acc: f32) {
    %u = arith.addf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %u : f32
  } : (tensor<4x3xf32>) -> tensor<4x1xf32>
  %r = tensor_ops.structured (%m as affine_map<(d0, d1) -> (d1, d0)>) over [parallel 1, parallel 4] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<4x1xf32>) -> tensor<1x4xf32>
  func.return %r : tensor<1x4xf32>
}

// Padding by 0 of a maximum with 0 is 0, so the fill moves to the input.
// CHECK-LABEL: @fill_goes_through
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<6xf32>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0) -> ((d0 + -1))> fill 0.000000e+00 : f32) over [parallel 8] body (%[[A:.*]]: f32) {
// CHECK-NEXT:      %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[M:.*]] = arith.maximumf %[[A]], %[[Z]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[M]] : f32
func.func private @fill_goes_through(%x: tensor<6xf32>) -> tensor<8xf32> attributes {aicc.kernel} {
  %m = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 6] body (%a: f32) {
    %z = arith.constant 0.0 : f32
    %u = arith.maximumf %a, %z : f32
    tensor_ops.yield %u : f32
  } : (tensor<6xf32>) -> tensor<6xf32>
  %r = tensor_ops.structured (%m as affine_map<(d0) -> (d0 - 1)> fill 0.0 : f32) over [parallel 8] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<6xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// Padding by 0 of x + 1 is not (padded x) + 1: the body chooses.
// CHECK-LABEL: @fill_is_chosen
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<6xf32>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0) -> ((d0 + -1))> fill 0.000000e+00 : f32) over [parallel 8] body (%[[A:.*]]: f32) {
// CHECK-DAG:       %[[U:.*]] = arith.addf %[[A]], %{{.*}} : f32
// CHECK-DAG:       %[[C:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : index
// CHECK-DAG:       %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:           %[[S:.*]] = arith.select %[[C]], %[[U]], %[[Z]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[S]] : f32
func.func private @fill_is_chosen(%x: tensor<6xf32>) -> tensor<8xf32> attributes {aicc.kernel} {
  %m = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 6] body (%a: f32) {
    %z = arith.constant 1.0 : f32
    %u = arith.addf %a, %z : f32
    tensor_ops.yield %u : f32
  } : (tensor<6xf32>) -> tensor<6xf32>
  %r = tensor_ops.structured (%m as affine_map<(d0) -> (d0 - 1)> fill 0.0 : f32) over [parallel 8] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<6xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

// A view that splits a dimension of the result is the result with that dimension split.
// CHECK-LABEL: @split_heads
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.structured (%{{.*}} as affine_map<(d0, d1, d2, d3) -> (d1, d3)>, %{{.*}} as affine_map<(d0, d1, d2, d3) -> (d3, ((d0 * 4) + d2))>) over [parallel 3, parallel s0, parallel 4, reduction 8]
// CHECK-NOT:     tensor_ops.view
// CHECK:         func.return %[[R]]
func.func private @split_heads(%x: tensor<?x8xf32, #graph.dims<s0>>, %w: tensor<8x12xf32>) -> tensor<3x?x4xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %m = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 12, reduction 8] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<8x12xf32>) -> tensor<?x12xf32, #graph.dims<s0>>
  %v = tensor_ops.view %m : tensor<?x12xf32, #graph.dims<s0>> to tensor<?x3x4xf32, #graph.dims<s0>>
  %t = tensor_ops.structured (%v as affine_map<(d0, d1, d2) -> (d1, d0, d2)>) over [parallel 3, parallel s0, parallel 4] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<?x3x4xf32, #graph.dims<s0>>) -> tensor<3x?x4xf32, #graph.dims<s0>>
  func.return %t : tensor<3x?x4xf32, #graph.dims<s0>>
}

// The sum is read by every element of its row: it is computed once, in an op of its own.
// CHECK-LABEL: @keep_sum
// CHECK:         %[[S:.*]] = tensor_ops.structured {{.*}} over [parallel 4, parallel 1, reduction 5]
// CHECK:         %[[R:.*]] = tensor_ops.structured {{.*}}%[[S]] as affine_map<(d0, d1) -> (d0, 0)>{{.*}} over [parallel 4, parallel 5]
// CHECK:         func.return %[[R]]
func.func private @keep_sum(%x: tensor<4x5xf32>) -> tensor<4x5xf32> attributes {aicc.kernel} {
  %s = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>) over [parallel 4, parallel 1, reduction 5] init [0.0 : f32] body (%a: f32, %acc: f32) {
    %u = arith.addf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %u : f32
  } : (tensor<4x5xf32>) -> tensor<4x1xf32>
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>, %s as affine_map<(d0, d1) -> (d0, 0)>) over [parallel 4, parallel 5] body (%a: f32, %b: f32) {
    %u = arith.divf %a, %b : f32
    tensor_ops.yield %u : f32
  } : (tensor<4x5xf32>, tensor<4x1xf32>) -> tensor<4x5xf32>
  func.return %r : tensor<4x5xf32>
}

// A costly element that a product reads 50 times is stored.
// CHECK-LABEL: @keep_costly
// CHECK:         %[[E:.*]] = tensor_ops.structured {{.*}} over [parallel 4, parallel 8] body
// CHECK-NEXT:      math.exp
// CHECK:         tensor_ops.structured (%[[E]] as {{.*}}) over [parallel 4, parallel 50, reduction 8]
func.func private @keep_costly(%x: tensor<4x8xf32>, %w: tensor<8x50xf32>) -> tensor<4x50xf32> attributes {aicc.kernel} {
  %e = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 4, parallel 8] body (%a: f32) {
    %u = math.exp %a : f32
    tensor_ops.yield %u : f32
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = tensor_ops.structured (%e as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 4, parallel 50, reduction 8] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<4x8xf32>, tensor<8x50xf32>) -> tensor<4x50xf32>
  func.return %m : tensor<4x50xf32>
}

// Functions that are no kernels are left alone.
// CHECK-LABEL: @not_a_kernel
// CHECK-COUNT-2: tensor_ops.structured
func.func @not_a_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 4] body (%a: f32) {
    %u = arith.negf %a : f32
    tensor_ops.yield %u : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  %r = tensor_ops.structured (%e as affine_map<(d0) -> (d0)>) over [parallel 4] body (%a: f32) {
    %u = arith.negf %a : f32
    tensor_ops.yield %u : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}
