// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=generic outputs=4}' --split-input-file | filecheck %s
// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=generic outputs=2}' --split-input-file | filecheck %s --check-prefix=TWO
// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=generic}' --split-input-file | filecheck %s --check-prefix=COST

// The weights are transformed by a kernel of their own; padding is the fill of the first transform.
// CHECK-LABEL: func.func @main
// CHECK:         %[[U:.*]] = tensor_ops.call @conv_weights1(%{{.*}}) : (tensor<8x4x3x3xf32>) -> tensor<36x4x8xf32>
// CHECK-NEXT:    tensor_ops.call @conv(%{{.*}}, %[[U]], %{{.*}}) : (tensor<1x9x12x4xf32>, tensor<36x4x8xf32>, tensor<8xf32>)
// CHECK-LABEL: func.func private @conv(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x9x12x4xf32>, %[[U:[a-z0-9]+]]: tensor<36x4x8xf32>, %[[B:[a-z0-9]+]]: tensor<8xf32>
// CHECK-SAME:    aicc.sum_length = 16
// CHECK-NEXT:    %[[T:.*]] = tensor_ops.blocks (%[[X]] as affine_map<(d0, d1, d2, d3) -> (0, ((((d0 floordiv 3) * 4) + d3) + -1), ((((d0 mod 3) * 4) + d1) + -1), d2)> block [6] fill 0.000000e+00 : f32) over [parallel 9, parallel 6, parallel 4] to affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)> block [6] body
// CHECK:           arith.constant 0.87890625 : f32
// CHECK:         : (tensor<1x9x12x4xf32>) -> tensor<9x6x6x4xf32>
// CHECK-NEXT:    %[[V:.*]] = tensor_ops.blocks (%[[T]] as affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)> block [6]) over [parallel 9, parallel 6, parallel 4] to affine_map<(d0, d1, d2, d3) -> (((d1 * 6) + d3), d0, d2)> block [6] body
// CHECK:         : (tensor<9x6x6x4xf32>) -> tensor<36x9x4xf32>
// CHECK-NEXT:    %[[M:.*]] = tensor_ops.structured (%[[V]] as affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %[[U]] as affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>) over [parallel 36, parallel 9, parallel 8, reduction 4] init [0.000000e+00 : f32] body
// CHECK:         %[[S:.*]] = tensor_ops.blocks (%[[M]] as affine_map<(d0, d1, d2, d3) -> (((d3 * 6) + d1), d0, d2)> block [6]) over [parallel 9, parallel 6, parallel 8] to affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)> block [4] body
// CHECK:         %{{.*}} = tensor_ops.blocks (%[[S]] as affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)> block [6], %[[B]] as affine_map<(d0, d1, d2) -> (d2)> block [] fill 0.000000e+00 : f32) over [parallel 9, parallel 4, parallel 8] to affine_map<(d0, d1, d2, d3) -> (0, (((d0 floordiv 3) * 4) + d1), (((d0 mod 3) * 4) + d3), d2)> block [4] body
// CHECK-COUNT-4:   arith.maximumf
// CHECK:         : (tensor<9x4x6x8xf32>, tensor<8xf32>) -> tensor<1x9x12x8xf32>
// CHECK-LABEL: func.func private @conv_weights1(%{{.*}}: tensor<8x4x3x3xf32>) -> tensor<36x4x8xf32>
// CHECK-COUNT-3:   arith.extf
// CHECK:         -> tensor<4x6x3x8xf64>
// CHECK-COUNT-6:   arith.truncf

// TWO-LABEL: func.func private @conv(
// TWO-SAME:    aicc.sum_length = 16
// TWO:         over [parallel 30, parallel 4, parallel 4]
// TWO:         over [parallel 16, parallel 30, parallel 8, reduction 4]

// Too small to pay.
// COST-NOT: tensor_ops.blocks
// COST:     over [parallel 1, parallel 9, parallel 12, parallel 8, reduction 3, reduction 3, reduction 4]
// COST-NOT: tensor_ops.blocks
func.func @main(%x: tensor<1x9x12x4xf32>, %b: tensor<8xf32>) -> tensor<1x9x12x8xf32> {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xf32> : tensor<8x4x3x3xf32>
  %y = tensor_ops.call @conv(%x, %w, %b) : (tensor<1x9x12x4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x9x12x8xf32>
  func.return %y : tensor<1x9x12x8xf32>
}
func.func private @conv(%x: tensor<1x9x12x4xf32>, %w: tensor<8x4x3x3xf32>, %b: tensor<8xf32>) -> tensor<1x9x12x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 9, parallel 12, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } finish (%b as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3)>) body (%t: f32, %bias: f32) {
    %z = arith.constant 0.0 : f32
    %u = arith.addf %t, %bias : f32
    %v = arith.maximumf %u, %z : f32
    tensor_ops.yield %v : f32
  } : (tensor<1x9x12x4xf32>, tensor<8x4x3x3xf32>, tensor<8xf32>) -> tensor<1x9x12x8xf32>
  func.return %y : tensor<1x9x12x8xf32>
}

// -----

// Stored in fewer bits: widened in the transforms of the image and of the weights; the product is one of f32.
// CHECK-LABEL: func.func @main
// CHECK:         tensor_ops.call @halves_weights1(%{{.*}}) : (tensor<8x4x3x3xbf16>) -> tensor<36x4x8xf32>
// CHECK-LABEL: func.func private @halves(
// CHECK:         block [6] fill 0.000000e+00 : bf16)
// CHECK-COUNT-6:   arith.extf %{{.*}} : bf16 to f32
// CHECK:         : (tensor<1x9x12x4xbf16>) -> tensor<9x6x6x4xf32>
// CHECK:         : (tensor<9x4x6x8xf32>) -> tensor<1x9x12x8xbf16>
// CHECK-LABEL: func.func private @halves_weights1(
// CHECK-COUNT-3:   arith.extf %{{.*}} : bf16 to f64
func.func @main(%x: tensor<1x9x12x4xbf16>) -> tensor<1x9x12x8xbf16> {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xbf16> : tensor<8x4x3x3xbf16>
  %y = tensor_ops.call @halves(%x, %w) : (tensor<1x9x12x4xbf16>, tensor<8x4x3x3xbf16>) -> tensor<1x9x12x8xbf16>
  func.return %y : tensor<1x9x12x8xbf16>
}
func.func private @halves(%x: tensor<1x9x12x4xbf16>, %w: tensor<8x4x3x3xbf16>) -> tensor<1x9x12x8xbf16> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : bf16, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 9, parallel 12, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: bf16, %c: bf16, %acc: f32) {
    %d = arith.extf %a : bf16 to f32
    %e = arith.extf %c : bf16 to f32
    %p = arith.mulf %d, %e fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } finish () body (%t: f32) {
    %r = arith.truncf %t : f32 to bf16
    tensor_ops.yield %r : bf16
  } : (tensor<1x9x12x4xbf16>, tensor<8x4x3x3xbf16>) -> tensor<1x9x12x8xbf16>
  func.return %y : tensor<1x9x12x8xbf16>
}

// -----

// An image of symbolic size: batch, rows and columns of tiles are three dimensions. The weights are made by a kernel from
// a constant, and are stored in another order.
// CHECK-LABEL: func.func private @symbolic(
// CHECK:         over [parallel s0, parallel floordiv(s1+3,4), parallel floordiv(s2+3,4), parallel 6, parallel 4]
// CHECK-SAME:    to affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d5, d3, d4)> block [6]
// CHECK:         over [parallel 36, parallel s0, parallel floordiv(s1+3,4), parallel floordiv(s2+3,4), parallel 8, reduction 4]
// CHECK:         to affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, ((d1 * 4) + d3), ((d2 * 4) + d5), d4)> block [4] body
func.func @main(%x: tensor<?x?x?x4xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<1.0> : tensor<3x3x4x8xf32> : tensor<3x3x4x8xf32>
  %v = tensor_ops.call @twice(%w) : (tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32>
  %y = tensor_ops.call @symbolic(%x, %v) symbols [N, H, W] : (tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, tensor<3x3x4x8xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
}
func.func private @twice(%w: tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%w as affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>) over [parallel 3, parallel 3, parallel 4, parallel 8] body (%a: f32) {
    %s = arith.addf %a, %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<3x3x4x8xf32>) -> tensor<3x3x4x8xf32>
  func.return %y : tensor<3x3x4x8xf32>
}
func.func private @symbolic(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<3x3x4x8xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>) over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<3x3x4x8xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
}

// -----

// Taps two apart: every second row and column is an image of its own, as another one of a batch of four.
// CHECK-LABEL: func.func private @dilated(
// CHECK:         (%x as affine_map<(d0, d1, d2, d3) -> (0, (((d0 floordiv 2) + (d3 * 2)) + -2), (((d0 mod 2) + (d1 * 2)) + -2), d2)> block [6] fill 0.000000e+00 : f32) over [parallel 4, parallel 6, parallel 4]
// CHECK:         over [parallel 36, parallel 4, parallel 8, reduction 4]
// CHECK:         to affine_map<(d0, d1, d2, d3) -> (0, ((d0 floordiv 2) + (d1 * 2)), ((d0 mod 2) + (d3 * 2)), d2)> block [4]
func.func @main(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x8xf32> {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xf32> : tensor<8x4x3x3xf32>
  %y = tensor_ops.call @dilated(%x, %w) : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}
func.func private @dilated(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + 2 * d4 - 2, d2 + 2 * d5 - 2, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  func.return %y : tensor<1x8x8x8xf32>
}
