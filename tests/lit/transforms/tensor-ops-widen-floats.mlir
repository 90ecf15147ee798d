// RUN: aicc-opt %s -p tensor-ops-widen-floats --split-input-file | filecheck %s

// The constant is converted in a kernel of its own, what is computed in the kernel; the product is one of f32.
// CHECK-LABEL: func.func private @product
// CHECK-SAME:    (%[[X:.*]]: tensor<32x64xf16>, %[[W:.*]]: tensor<64x32xf32>) -> tensor<32x32xf16>
// CHECK-NEXT:    %[[V:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 32, parallel 64]
// CHECK-NEXT:      %[[E:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT:      tensor_ops.yield %[[E]] : f32
// CHECK:         tensor_ops.structured (%[[V]] as affine_map<(d0, d1, d2) -> (d0, d2)>, %[[W]] as affine_map<(d0, d1, d2) -> (d2, d1)>)
// CHECK-SAME:      body (%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32)
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[B]]
func.func private @product(%x: tensor<32x64xf16>, %w: tensor<64x32xf16>) -> tensor<32x32xf16> attributes {aicc.kernel, aicc.symbols = []} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel 32, parallel 32, reduction 64] init [0.0 : f32] body (%a : f16, %b : f16, %acc : f32) {
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d fastmath<contract,reassoc> : f32
    %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
    tensor_ops.yield %s : f32
  } finish () body (%acc : f32) {
    %r = arith.truncf %acc : f32 to f16
    tensor_ops.yield %r : f16
  } : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  func.return %0 : tensor<32x32xf16>
}

// One row uses each weight once: they are read in f16. The row is used often.
// CHECK-LABEL: func.func private @row
// CHECK-SAME:    (%{{.*}}: tensor<1x64xbf16>, %[[W:.*]]: tensor<64x32xbf16>) -> tensor<1x32xbf16>
// CHECK:         body (%{{.*}}: f32, %{{.*}}: bf16, %{{.*}}: f32)
func.func private @row(%x: tensor<1x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<1x32xbf16> attributes {aicc.kernel, aicc.symbols = []} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel 1, parallel 32, reduction 64] init [0.0 : f32] body (%a : bf16, %b : bf16, %acc : f32) {
    %c = arith.extf %a : bf16 to f32
    %d = arith.extf %b : bf16 to f32
    %p = arith.mulf %c, %d fastmath<contract,reassoc> : f32
    %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
    tensor_ops.yield %s : f32
  } finish () body (%acc : f32) {
    %r = arith.truncf %acc : f32 to bf16
    tensor_ops.yield %r : bf16
  } : (tensor<1x64xbf16>, tensor<64x32xbf16>) -> tensor<1x32xbf16>
  func.return %0 : tensor<1x32xbf16>
}

// A sum that rounds each product is none of f32, and a sum is no contraction: both stay.
// CHECK-LABEL: func.func private @others
// CHECK-NOT:     tensor<32x64xf32>
// CHECK:         func.return
func.func private @others(%x: tensor<32x64xf16>, %w: tensor<64x32xf16>) -> (tensor<32x32xf16>, tensor<32xf32>) attributes {aicc.kernel, aicc.symbols = []} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel 32, parallel 32, reduction 64] init [0.0 : f16] body (%a : f16, %b : f16, %acc : f16) {
    %p = arith.mulf %a, %b : f16
    %s = arith.addf %acc, %p : f16
    tensor_ops.yield %s : f16
  } : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  %1 = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>)
      over [parallel 32, reduction 64] init [0.0 : f32] body (%a : f16, %acc : f32) {
    %c = arith.extf %a : f16 to f32
    %s = arith.addf %acc, %c : f32
    tensor_ops.yield %s : f32
  } : (tensor<32x64xf16>) -> tensor<32xf32>
  func.return %0, %1 : tensor<32x32xf16>, tensor<32xf32>
}

// CHECK-LABEL: func.func @main
// CHECK:         %[[C:.*]] = tensor_ops.constant
// CHECK-NEXT:    %[[U:.*]] = tensor_ops.call @product_widened1(%[[C]])
// CHECK-NEXT:    tensor_ops.call @product(%{{.*}}, %[[U]])
func.func @main(%x: tensor<32x64xf16>) -> tensor<32x32xf16> {
  %w = tensor_ops.constant dense<1.0> : tensor<64x32xf16> : tensor<64x32xf16>
  %0 = tensor_ops.call @product(%x, %w) : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  func.return %0 : tensor<32x32xf16>
}

// CHECK-LABEL: func.func private @product_widened1
// CHECK-SAME:    tensor<64x32xf16>) -> tensor<64x32xf32>

// -----

// Both operands are constants: two kernels with names of their own.
// CHECK-LABEL: func.func @constants
// CHECK:         %[[A:.*]] = tensor_ops.call @both_widened0(%{{.*}}) : (tensor<32x64xf16>) -> tensor<32x64xf32>
// CHECK-NEXT:    %[[B:.*]] = tensor_ops.call @both_widened1(%{{.*}}) : (tensor<64x32xf16>) -> tensor<64x32xf32>
// CHECK-NEXT:    tensor_ops.call @both(%[[A]], %[[B]]) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf16>
func.func @constants() -> tensor<32x32xf16> {
  %x = tensor_ops.constant dense<1.0> : tensor<32x64xf16> : tensor<32x64xf16>
  %w = tensor_ops.constant dense<2.0> : tensor<64x32xf16> : tensor<64x32xf16>
  %y = tensor_ops.call @both(%x, %w) : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  func.return %y : tensor<32x32xf16>
}
// CHECK-DAG:   func.func private @both_widened0(%{{.*}}: tensor<32x64xf16>) -> tensor<32x64xf32>
// CHECK-DAG:   func.func private @both_widened1(%{{.*}}: tensor<64x32xf16>) -> tensor<64x32xf32>
func.func private @both(%x: tensor<32x64xf16>, %w: tensor<64x32xf16>) -> tensor<32x32xf16> attributes {aicc.kernel, aicc.symbols = []} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel 32, parallel 32, reduction 64] init [0.0 : f32] body (%a : f16, %b : f16, %acc : f32) {
    %c = arith.extf %a : f16 to f32
    %d = arith.extf %b : f16 to f32
    %p = arith.mulf %c, %d fastmath<contract,reassoc> : f32
    %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
    tensor_ops.yield %s : f32
  } finish () body (%acc : f32) {
    %r = arith.truncf %acc : f32 to f16
    tensor_ops.yield %r : f16
  } : (tensor<32x64xf16>, tensor<64x32xf16>) -> tensor<32x32xf16>
  func.return %0 : tensor<32x32xf16>
}
