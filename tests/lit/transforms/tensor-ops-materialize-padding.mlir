// RUN: aicc-opt %s -p tensor-ops-materialize-padding | filecheck %s --enable-var-scope --reject-empty-vars

// The copy holds what the windows reach, 8 of 9 columns; the producer of the input is computed into it.
// CHECK-LABEL: @conv
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<?x9x3xf32, #graph.dims<s0>>, %[[W:[a-z]+]]: tensor<5x3x2xf32>)
// CHECK-NEXT:    %[[P:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2) -> (d0, (d1 + -1), d2)> fill 0.000000e+00 : f32) over [parallel s0, parallel 8, parallel 3] body (%[[A:.*]]: f32) {
// CHECK-NEXT:      %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[M:.*]] = arith.maximumf %[[A]], %[[Z]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[M]] : f32
// CHECK-NEXT:    } : (tensor<?x9x3xf32, #graph.dims<s0>>) -> tensor<?x8x3xf32, #graph.dims<s0>>
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.structured (%[[P]] as affine_map<(d0, d1, d2, d3, d4) -> (d0, ((d1 * 2) + d3), d4)>, %[[W]] as affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>)
// CHECK:         func.return %[[R]]
func.func private @conv(%x: tensor<?x9x3xf32, #graph.dims<s0>>, %w: tensor<5x3x2xf32>) -> tensor<?x4x5xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %m = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1, d2)>) over [parallel s0, parallel 9, parallel 3] body (%a: f32) {
    %z = arith.constant 0.0 : f32
    %u = arith.maximumf %a, %z : f32
    tensor_ops.yield %u : f32
  } : (tensor<?x9x3xf32, #graph.dims<s0>>) -> tensor<?x9x3xf32, #graph.dims<s0>>
  %r = tensor_ops.structured (%m as affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3 - 1, d4)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>) over [parallel s0, parallel 4, parallel 5, reduction 2, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x9x3xf32, #graph.dims<s0>>, tensor<5x3x2xf32>) -> tensor<?x4x5xf32, #graph.dims<s0>>
  func.return %r : tensor<?x4x5xf32, #graph.dims<s0>>
}

// A padded size that is a symbol; there may be no window at all.
// CHECK-LABEL: @symbolic
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<?xf32, #graph.dims<s0>>, %[[W:[a-z]+]]: tensor<3xf32>)
// CHECK-NEXT:    %[[P:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0) -> ((d0 + -1))> fill 0.000000e+00 : f32) over [parallel s0+2] body
// CHECK:         %{{.*}} = tensor_ops.structured (%[[P]] as affine_map<(d0, d1) -> ((d0 + d1))>, %[[W]] as affine_map<(d0, d1) -> (d1)>) over [parallel s0, reduction 3]
func.func private @symbolic(%x: tensor<?xf32, #graph.dims<s0>>, %w: tensor<3xf32>) -> tensor<?xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0 + d1 - 1)> fill 0.0 : f32, %w as affine_map<(d0, d1) -> (d1)>) over [parallel s0, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?xf32, #graph.dims<s0>>, tensor<3xf32>) -> tensor<?xf32, #graph.dims<s0>>
  func.return %r : tensor<?xf32, #graph.dims<s0>>
}

// A fill that is never needed is only dropped.
// CHECK-LABEL: @never_out_of_bounds
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<8xf32>, %[[W:[a-z]+]]: tensor<3xf32>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> ((d0 + d1))>, %[[W]] as affine_map<(d0, d1) -> (d1)>) over [parallel 6, reduction 3]
func.func private @never_out_of_bounds(%x: tensor<8xf32>, %w: tensor<3xf32>) -> tensor<6xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0 + d1)> fill 0.0 : f32, %w as affine_map<(d0, d1) -> (d1)>) over [parallel 6, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<8xf32>, tensor<3xf32>) -> tensor<6xf32>
  func.return %r : tensor<6xf32>
}

// The work of pooling is of the size of a copy: it keeps its guard.
// CHECK-LABEL: @pool
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%{{.*}} as affine_map<(d0, d1) -> (((d0 + d1) + -1))> fill 0xff800000 : f32) over [parallel 8, reduction 3]
func.func private @pool(%x: tensor<8xf32>) -> tensor<8xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0 + d1 - 1)> fill 0xff800000 : f32) over [parallel 8, reduction 3] init [0xff800000 : f32] body (%a: f32, %acc: f32) {
    %s = arith.maximumf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %s : f32
  } : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
