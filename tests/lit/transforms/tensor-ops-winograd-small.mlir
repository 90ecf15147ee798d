// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=generic}' --split-input-file | filecheck %s
// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=x86-64-v4}' --split-input-file | filecheck %s --check-prefix=TWO
// RUN: aicc-opt %s -p 'tensor-ops-winograd{target=znver4}' --split-input-file | filecheck %s --check-prefix=ONE

// Versions for at most 24 columns, where they are fewer than the rows: rows of tiles come last there, of which the product
// has blocks. For two and four rows, and columns, tiles of two, whose weights they share.
// CHECK-LABEL: func.func @main
// CHECK:         %[[SMALL:.*]] = arith.constant 2 : index
// CHECK:         %[[THIN:.*]] = arith.cmpi eq, %[[W:.*]], %[[SMALL]] : index
// CHECK:         %[[LESS:.*]] = arith.cmpi ult, %[[W]], %{{.*}} : index
// CHECK-NEXT:    %[[BOTH:.*]] = arith.andi %[[THIN]], %[[LESS]]
// CHECK-NEXT:    scf.if %[[BOTH]]
// CHECK:           tensor_ops.call @many_narrow(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:         } else {
// CHECK:           arith.constant 4 : index
// CHECK:           tensor_ops.call @many_narrow1(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:         } else {
// CHECK:           %[[W:.*]] = tensor_ops.size #graph.shape<W>
// CHECK-NEXT:      %[[MOST:.*]] = arith.constant 24 : index
// CHECK-NEXT:      %[[FEW:.*]] = arith.cmpi ule, %[[W]], %[[MOST]] : index
// CHECK-NEXT:      %[[H:.*]] = tensor_ops.size #graph.shape<H>
// CHECK-NEXT:      %[[FEWER:.*]] = arith.cmpi ult, %[[W]], %[[H]] : index
// CHECK-NEXT:      %[[NARROW:.*]] = arith.andi %[[FEW]], %[[FEWER]]
// CHECK-NEXT:      scf.if %[[NARROW]]
// CHECK:             tensor_ops.call @many_narrow2(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:           } else {
// CHECK:             %[[SECOND:.*]] = arith.constant 2 : index
// CHECK:             %[[LOW:.*]] = arith.cmpi eq, %{{.*}}, %[[SECOND]] : index
// CHECK:             scf.if %[[LOW]]
// CHECK:               tensor_ops.call @many_low1_weights1
// CHECK:               tensor_ops.call @many_low(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:             } else {
// CHECK:               arith.constant 4 : index
// CHECK:               tensor_ops.call @many_low1(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:             } else {
// CHECK:               tensor_ops.call @many(%{{.*}}) symbols [N, H, W] :
// CHECK-LABEL: func.func private @many(
// CHECK:         over [parallel 25, parallel s0, parallel floordiv(s1+2,3), parallel floordiv(s2+2,3), parallel 32, reduction 64]
// CHECK-LABEL: func.func private @many_low1(
// CHECK:         over [parallel 16, parallel s0, parallel 2, parallel floordiv(s2+1,2), parallel 32, reduction 64]
// CHECK-LABEL: func.func private @many_low(
// CHECK:         over [parallel 16, parallel s0, parallel 1, parallel floordiv(s2+1,2), parallel 32, reduction 64]
// CHECK-LABEL: func.func private @many_narrow2(
// CHECK:         over [parallel 25, parallel s0, parallel floordiv(min(24,s2)+2,3), parallel floordiv(s1+2,3), parallel 32, reduction 64]
// CHECK:         to affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, ((d2 * 3) + d3), ((d1 * 3) + d5), d4)> block [3] body
// CHECK-LABEL: func.func private @many_narrow1(
// CHECK:         over [parallel 16, parallel s0, parallel 2, parallel floordiv(s1+1,2), parallel 32, reduction 64]
// CHECK-LABEL: func.func private @many_narrow(
// CHECK:         over [parallel 16, parallel s0, parallel 1, parallel floordiv(s1+1,2), parallel 32, reduction 64]
func.func @main(%x: tensor<?x?x?x64xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x32xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<1.0> : tensor<32x64x3x3xf32> : tensor<32x64x3x3xf32>
  %y = tensor_ops.call @many(%x, %w) symbols [N, H, W] : (tensor<?x?x?x64xf32, #graph.dims<N, H, W>>, tensor<32x64x3x3xf32>) -> tensor<?x?x?x32xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x32xf32, #graph.dims<N, H, W>>
}
func.func private @many(%x: tensor<?x?x?x64xf32, #graph.dims<s0, s1, s2>>, %w: tensor<32x64x3x3xf32>) -> tensor<?x?x?x32xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 32, reduction 3, reduction 3, reduction 64] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x64xf32, #graph.dims<s0, s1, s2>>, tensor<32x64x3x3xf32>) -> tensor<?x?x?x32xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x32xf32, #graph.dims<s0, s1, s2>>
}

// -----

// No versions: rows that are not as many as a symbol says, columns of known number.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     scf.if
// CHECK-NOT:     aicc.version
func.func @main(%z: tensor<?x?x40x64xf32, #graph.dims<N, H>>) -> tensor<?x?x40x32xf32, #graph.dims<N, H-2>> {
  %v = tensor_ops.constant dense<1.0> : tensor<32x64x3x3xf32> : tensor<32x64x3x3xf32>
  %b = tensor_ops.call @known(%z, %v) symbols [N, H] : (tensor<?x?x40x64xf32, #graph.dims<N, H>>, tensor<32x64x3x3xf32>) -> tensor<?x?x40x32xf32, #graph.dims<N, H-2>>
  func.return %b : tensor<?x?x40x32xf32, #graph.dims<N, H-2>>
}
func.func private @known(%x: tensor<?x?x40x64xf32, #graph.dims<s0, s1>>, %w: tensor<32x64x3x3xf32>) -> tensor<?x?x40x32xf32, #graph.dims<s0, s1-2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1-2, parallel 40, parallel 32, reduction 3, reduction 3, reduction 64] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x40x64xf32, #graph.dims<s0, s1>>, tensor<32x64x3x3xf32>) -> tensor<?x?x40x32xf32, #graph.dims<s0, s1-2>>
  func.return %y : tensor<?x?x40x32xf32, #graph.dims<s0, s1-2>>
}

// -----

// Directly, for one register of results: a row of at most seven pixels has too few sums for two units; for one, a row of at
// most three.
// CHECK-LABEL: func.func @direct(
// TWO-LABEL: func.func @direct(
// TWO:         %[[W:.*]] = tensor_ops.size #graph.shape<W>
// TWO-NEXT:    %[[MOST:.*]] = arith.constant 7 : index
// TWO-NEXT:    arith.cmpi ule, %[[W]], %[[MOST]] : index
// TWO:         tensor_ops.call @thin_narrow(%{{.*}}) symbols [N, H, W] {aicc.version}
// ONE-LABEL: func.func @direct(
// ONE:         arith.constant 3 : index
// ONE:         tensor_ops.call @thin_narrow(%{{.*}}) symbols [N, H, W] {aicc.version}
func.func @direct(%x: tensor<?x?x?x16xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x9xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<1.0> : tensor<9x16x3x3xf32> : tensor<9x16x3x3xf32>
  %y = tensor_ops.call @thin(%x, %w) symbols [N, H, W] : (tensor<?x?x?x16xf32, #graph.dims<N, H, W>>, tensor<9x16x3x3xf32>) -> tensor<?x?x?x9xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x9xf32, #graph.dims<N, H, W>>
}
func.func private @thin(%x: tensor<?x?x?x16xf32, #graph.dims<s0, s1, s2>>, %w: tensor<9x16x3x3xf32>) -> tensor<?x?x?x9xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 9, reduction 3, reduction 3, reduction 16] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x16xf32, #graph.dims<s0, s1, s2>>, tensor<9x16x3x3xf32>) -> tensor<?x?x?x9xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x9xf32, #graph.dims<s0, s1, s2>>
}

// -----

// Large weights: directly for images of few pixels, with tiles of two for more of them.
// CHECK-LABEL: func.func @main
// CHECK:         %[[AREA:.*]] = tensor_ops.size #graph.shape<H*W>
// CHECK-NEXT:    %[[FEW:.*]] = arith.constant 25 : index
// CHECK-NEXT:    %[[TINY:.*]] = arith.cmpi ule, %[[AREA]], %[[FEW]] : index
// CHECK-NEXT:    scf.if %[[TINY]]
// CHECK-NEXT:      tensor_ops.call @wide_tiny(%{{.*}}, %w) symbols [N, H, W] {aicc.version}
// CHECK:           %[[AREA:.*]] = tensor_ops.size #graph.shape<H*W>
// CHECK-NEXT:      %[[MORE:.*]] = arith.constant 100 : index
// CHECK-NEXT:      %[[SMALL:.*]] = arith.cmpi ule, %[[AREA]], %[[MORE]] : index
// CHECK-NEXT:      scf.if %[[SMALL]]
// CHECK-NEXT:        tensor_ops.call @wide_small_weights1(%w) : (tensor<128x256x3x3xf32>) -> tensor<16x256x128xf32>
// CHECK-NEXT:        tensor_ops.call @wide_small(
// CHECK:             tensor_ops.call @wide_weights1(%w)
// CHECK-NEXT:        tensor_ops.call @wide(
// CHECK-NOT:       aicc.image_side
// CHECK-LABEL: func.func private @wide_tiny(
// CHECK:         over [parallel s0, parallel s1, parallel s2, parallel 128, reduction 3, reduction 3, reduction 256]
func.func @main(%x: tensor<?x?x?x256xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x128xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<1.0> : tensor<128x256x3x3xf32> : tensor<128x256x3x3xf32>
  %y = tensor_ops.call @wide(%x, %w) symbols [N, H, W] : (tensor<?x?x?x256xf32, #graph.dims<N, H, W>>, tensor<128x256x3x3xf32>) -> tensor<?x?x?x128xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x128xf32, #graph.dims<N, H, W>>
}
func.func private @wide(%x: tensor<?x?x?x256xf32, #graph.dims<s0, s1, s2>>, %w: tensor<128x256x3x3xf32>) -> tensor<?x?x?x128xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 128, reduction 3, reduction 3, reduction 256] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x256xf32, #graph.dims<s0, s1, s2>>, tensor<128x256x3x3xf32>) -> tensor<?x?x?x128xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x128xf32, #graph.dims<s0, s1, s2>>
}
