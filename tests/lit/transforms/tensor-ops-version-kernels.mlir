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

// -----

// Images of one pixel, one row and one column: taps in the padding of all windows are left out. The one for a pixel is
// chosen where there is one row.
// CHECK-LABEL: func.func @main
// CHECK:         %[[H:.*]] = tensor_ops.size #graph.shape<H>
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    %[[ROW:.*]] = arith.cmpi eq, %[[H]], %[[ONE]] : index
// CHECK-NEXT:    scf.if %[[ROW]] -> (tensor<?x?x?x8xf32, #graph.dims<N, H, W>>) {
// CHECK-NEXT:      tensor_ops.view %{{.*}} to tensor<?x1x?x4xf32, #graph.dims<N, W>>
// CHECK:           %[[W:.*]] = tensor_ops.size #graph.shape<W>
// CHECK:           arith.cmpi eq, %[[W]]
// CHECK:           tensor_ops.call @conv_thin_thin(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:         } else {
// CHECK:           tensor_ops.call @conv_thin(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:         } else {
// CHECK:           arith.cmpi eq, %{{.*}}
// CHECK:           tensor_ops.call @conv_thin1(%{{.*}}) symbols [N, H, W] {aicc.version}
// CHECK:         } else {
// CHECK:           tensor_ops.call @conv(%{{.*}}) symbols [N, H, W] :
// CHECK-LABEL: func.func private @conv(
// CHECK:         over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4]
// CHECK-LABEL: func.func private @conv_thin1(
// CHECK:         (d0, ((d1 + d4) + -1), 0, d6)> fill 0.000000e+00 : f32, %{{.*}} as {{.*}} -> (d3, d6, d4, 1)>)
// CHECK-SAME:    over [parallel s0, parallel s1, parallel 1, parallel 8, reduction 3, reduction 1, reduction 4]
// CHECK-LABEL: func.func private @conv_thin(
// CHECK:         over [parallel s0, parallel 1, parallel s2, parallel 8, reduction 1, reduction 3, reduction 4]
// CHECK-LABEL: func.func private @conv_thin_thin(
// CHECK:         over [parallel s0, parallel 1, parallel 1, parallel 8, reduction 1, reduction 1, reduction 4]
// CHECK-NOT:   func.func
func.func @main(%x: tensor<?x?x?x4xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xf32> : tensor<8x4x3x3xf32>
  %y = tensor_ops.call @conv(%x, %w) symbols [N, H, W] : (tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
}
func.func private @conv(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
}

// -----

// Larger windows have taps to leave out where there are two rows or columns, too.
// CHECK-LABEL: func.func @main
// CHECK-LABEL: func.func private @wide(
// CHECK:         over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 5, reduction 5, reduction 4]
// CHECK-DAG:     over [parallel s0, parallel 1, parallel s2, parallel 8, reduction 1, reduction 5, reduction 4]
// CHECK-DAG:     over [parallel s0, parallel 1, parallel 1, parallel 8, reduction 1, reduction 1, reduction 4]
// CHECK-DAG:     over [parallel s0, parallel 2, parallel s2, parallel 8, reduction 3, reduction 5, reduction 4]
// CHECK-DAG:     over [parallel s0, parallel s1, parallel 1, parallel 8, reduction 5, reduction 1, reduction 4]
// CHECK-DAG:     over [parallel s0, parallel s1, parallel 2, parallel 8, reduction 5, reduction 3, reduction 4]
func.func @main(%x: tensor<?x?x?x4xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x5x5xf32> : tensor<8x4x5x5xf32>
  %y = tensor_ops.call @wide(%x, %w) symbols [N, H, W] : (tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, tensor<8x4x5x5xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
}
func.func private @wide(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<8x4x5x5xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 2, d2 + d5 - 2, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 5, reduction 5, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<8x4x5x5xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
}

// -----

// An infinite weight times the padding is NaN: all taps stay.
// CHECK-LABEL: func.func @main
// CHECK-LABEL: func.func private @infinite_thin(
// CHECK:         over [parallel s0, parallel 1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4]
func.func @main(%x: tensor<?x?x?x4xf32, #graph.dims<N, H, W>>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>> {
  %w = tensor_ops.constant dense<0x7F800000> : tensor<8x4x3x3xf32> : tensor<8x4x3x3xf32>
  %y = tensor_ops.call @infinite(%x, %w) symbols [N, H, W] : (tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
}
func.func private @infinite(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
}

// -----

// Up to the dilation, all taps but one are in the padding. Versions that are not told how many elements there are at most
// are one kernel for all dilations.
// CHECK-LABEL: func.func @main
// CHECK:         %[[D:.*]] = arith.constant 16 : index
// CHECK-NEXT:    arith.cmpi ule, %{{.*}}, %[[D]] : index
// CHECK:         tensor_ops.call @causal_thin(%{{.*}}) symbols [N, T] {aicc.version} : (tensor<?x?x32xf32, #graph.dims<N, T>>, tensor<64x32x2xf32>)
// CHECK:         %[[D:.*]] = arith.constant 4 : index
// CHECK-NEXT:    arith.cmpi ule, %{{.*}}, %[[D]] : index
// CHECK:         tensor_ops.call @causal_thin(%{{.*}}) symbols [N, T] {aicc.version} : (tensor<?x?x32xf32, #graph.dims<N, T>>, tensor<64x32x2xf32>)
// CHECK-LABEL: func.func private @causal(
// CHECK:         over [parallel s0, parallel s1, parallel 64, reduction 2, reduction 32]
// CHECK-LABEL: func.func private @causal_thin(
// CHECK:         as affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)> fill 0.000000e+00 : f32, %{{.*}} as affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, 1)>) over [parallel s0, parallel s1, parallel 64, reduction 1, reduction 32]
// CHECK-LABEL: func.func private @other(
// CHECK-NOT:   func.func
func.func @main(%x: tensor<?x?x32xf32, #graph.dims<N, T>>) -> (tensor<?x?x64xf32, #graph.dims<N, T>>, tensor<?x?x64xf32, #graph.dims<N, T>>) {
  %w = tensor_ops.constant dense<1.0> : tensor<64x32x2xf32> : tensor<64x32x2xf32>
  %y = tensor_ops.call @causal(%x, %w) symbols [N, T] : (tensor<?x?x32xf32, #graph.dims<N, T>>, tensor<64x32x2xf32>) -> tensor<?x?x64xf32, #graph.dims<N, T>>
  %z = tensor_ops.call @other(%x, %w) symbols [N, T] : (tensor<?x?x32xf32, #graph.dims<N, T>>, tensor<64x32x2xf32>) -> tensor<?x?x64xf32, #graph.dims<N, T>>
  func.return %y, %z : tensor<?x?x64xf32, #graph.dims<N, T>>, tensor<?x?x64xf32, #graph.dims<N, T>>
}
func.func private @causal(%x: tensor<?x?x32xf32, #graph.dims<s0, s1>>, %w: tensor<64x32x2xf32>) -> tensor<?x?x64xf32, #graph.dims<s0, s1>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3 * 16 - 16, d4)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>) over [parallel s0, parallel s1, parallel 64, reduction 2, reduction 32] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x32xf32, #graph.dims<s0, s1>>, tensor<64x32x2xf32>) -> tensor<?x?x64xf32, #graph.dims<s0, s1>>
  func.return %y : tensor<?x?x64xf32, #graph.dims<s0, s1>>
}
func.func private @other(%x: tensor<?x?x32xf32, #graph.dims<s0, s1>>, %w: tensor<64x32x2xf32>) -> tensor<?x?x64xf32, #graph.dims<s0, s1>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 + d3 * 4 - 4, d4)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d2, d4, d3)>) over [parallel s0, parallel s1, parallel 64, reduction 2, reduction 32] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x32xf32, #graph.dims<s0, s1>>, tensor<64x32x2xf32>) -> tensor<?x?x64xf32, #graph.dims<s0, s1>>
  func.return %y : tensor<?x?x64xf32, #graph.dims<s0, s1>>
}

// -----

// No versions: no padding; weights that are not constant; images that are never thin.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     scf.if
// CHECK-NOT:     _thin
func.func @main(%x: tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, %v: tensor<8x4x3x3xf32>, %z: tensor<?x?x?x4xf32, #graph.dims<N, H+2, W+2>>) -> (tensor<?x?x?x8xf32, #graph.dims<N, H-2, W-2>>, tensor<?x?x?x8xf32, #graph.dims<N, H, W>>, tensor<?x?x?x8xf32, #graph.dims<N, H+2, W+2>>) {
  %w = tensor_ops.constant dense<1.0> : tensor<8x4x3x3xf32> : tensor<8x4x3x3xf32>
  %a = tensor_ops.call @valid(%x, %w) symbols [N, H, W] : (tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H-2, W-2>>
  %b = tensor_ops.call @given(%x, %v) symbols [N, H, W] : (tensor<?x?x?x4xf32, #graph.dims<N, H, W>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H, W>>
  %c = tensor_ops.call @never(%z, %w) symbols [N, H+2, W+2] : (tensor<?x?x?x4xf32, #graph.dims<N, H+2, W+2>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<N, H+2, W+2>>
  func.return %a, %b, %c : tensor<?x?x?x8xf32, #graph.dims<N, H-2, W-2>>, tensor<?x?x?x8xf32, #graph.dims<N, H, W>>, tensor<?x?x?x8xf32, #graph.dims<N, H+2, W+2>>
}
func.func private @valid(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1-2, s2-2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1-2, parallel s2-2, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1-2, s2-2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1-2, s2-2>>
}
func.func private @given(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
}
func.func private @never(%x: tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, %w: tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1", "s2"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel s0, parallel s1, parallel s2, parallel 8, reduction 3, reduction 3, reduction 4] init [0.0 : f32] body (%a: f32, %c: f32, %acc: f32) {
    %p = arith.mulf %a, %c fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x?x?x4xf32, #graph.dims<s0, s1, s2>>, tensor<8x4x3x3xf32>) -> tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
  func.return %y : tensor<?x?x?x8xf32, #graph.dims<s0, s1, s2>>
}

// -----

// Rows of one element are columns: where there is one only, what transposes copies, and a residual in another order is
// read along the columns.
// CHECK-LABEL: func.func @main
// CHECK:         %[[N:.*]] = tensor_ops.size #graph.shape<T>
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT:    arith.cmpi eq, %[[N]], %[[ONE]] : index
// CHECK:           tensor_ops.call @transpose_flat(%{{.*}}) symbols [S, T] {aicc.version} : (tensor<?x1x8xf32, #graph.dims<S>>) -> tensor<?x8x1xf32, #graph.dims<S>>
// CHECK:           tensor_ops.call @residual_flat(
// CHECK:       func.func private @transpose_flat(
// CHECK-NEXT:    over [parallel s0, parallel 8, parallel 1]
// CHECK:       func.func private @residual_flat(
// CHECK-NEXT:    over [parallel 1, parallel 8, reduction 8]
func.func @main(%x: tensor<?x?x8xf32, #graph.dims<S, T>>, %y: tensor<?x8xf32, #graph.dims<T>>, %w: tensor<8x8xf32>, %z: tensor<8x?xf32, #graph.dims<T>>) -> (tensor<?x8x?xf32, #graph.dims<S, T>>, tensor<?x8xf32, #graph.dims<T>>) {
  %t = tensor_ops.call @transpose(%x) symbols [S, T] : (tensor<?x?x8xf32, #graph.dims<S, T>>) -> tensor<?x8x?xf32, #graph.dims<S, T>>
  %r = tensor_ops.call @residual(%y, %w, %z) symbols [T] : (tensor<?x8xf32, #graph.dims<T>>, tensor<8x8xf32>, tensor<8x?xf32, #graph.dims<T>>) -> tensor<?x8xf32, #graph.dims<T>>
  func.return %t, %r : tensor<?x8x?xf32, #graph.dims<S, T>>, tensor<?x8xf32, #graph.dims<T>>
}
func.func private @transpose(%x: tensor<?x?x8xf32, #graph.dims<s0, s1>>) -> tensor<?x8x?xf32, #graph.dims<s0, s1>> attributes {aicc.kernel, aicc.symbols = ["s0", "s1"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2, d1)>) over [parallel s0, parallel 8, parallel s1] body (%a : f32) {
    tensor_ops.yield %a : f32
  } : (tensor<?x?x8xf32, #graph.dims<s0, s1>>) -> tensor<?x8x?xf32, #graph.dims<s0, s1>>
  func.return %0 : tensor<?x8x?xf32, #graph.dims<s0, s1>>
}
func.func private @residual(%x: tensor<?x8xf32, #graph.dims<s0>>, %w: tensor<8x8xf32>, %z: tensor<8x?xf32, #graph.dims<s0>>) -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel s0, parallel 8, reduction 8] init [0.0 : f32] body (%a : f32, %b : f32, %acc : f32) {
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    tensor_ops.yield %s : f32
  } finish (%z as affine_map<(d0, d1, d2) -> (d1, d0)>) body (%a : f32, %b : f32) {
    %s = arith.addf %a, %b : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<8x8xf32>, tensor<8x?xf32, #graph.dims<s0>>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %0 : tensor<?x8xf32, #graph.dims<s0>>
}

// -----

// Not where all go along one axis anyway, nor where another axis is in the way, nor because rows share a value.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     scf.if
func.func @main(%x: tensor<?x4x8xf32, #graph.dims<S>>, %y: tensor<?x3x8xf32, #graph.dims<S>>, %b: tensor<?xf32, #graph.dims<S>>, %z: tensor<?x8xf32, #graph.dims<S>>) -> (tensor<4x?x8xf32, #graph.dims<S>>, tensor<8x3x?xf32, #graph.dims<S>>, tensor<?x8xf32, #graph.dims<S>>) {
  %r = tensor_ops.call @rows(%x) symbols [S] : (tensor<?x4x8xf32, #graph.dims<S>>) -> tensor<4x?x8xf32, #graph.dims<S>>
  %t = tensor_ops.call @back(%y) symbols [S] : (tensor<?x3x8xf32, #graph.dims<S>>) -> tensor<8x3x?xf32, #graph.dims<S>>
  %s = tensor_ops.call @shared(%z, %b) symbols [S] : (tensor<?x8xf32, #graph.dims<S>>, tensor<?xf32, #graph.dims<S>>) -> tensor<?x8xf32, #graph.dims<S>>
  func.return %r, %t, %s : tensor<4x?x8xf32, #graph.dims<S>>, tensor<8x3x?xf32, #graph.dims<S>>, tensor<?x8xf32, #graph.dims<S>>
}
func.func private @shared(%x: tensor<?x8xf32, #graph.dims<s0>>, %b: tensor<?xf32, #graph.dims<s0>>) -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>, %b as affine_map<(d0, d1) -> (d0)>) over [parallel s0, parallel 8] body (%a : f32, %c : f32) {
    %s = arith.addf %a, %c : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x8xf32, #graph.dims<s0>>, tensor<?xf32, #graph.dims<s0>>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %0 : tensor<?x8xf32, #graph.dims<s0>>
}
func.func private @rows(%x: tensor<?x4x8xf32, #graph.dims<s0>>) -> tensor<4x?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d1, d0, d2)>) over [parallel 4, parallel s0, parallel 8] body (%a : f32) {
    tensor_ops.yield %a : f32
  } : (tensor<?x4x8xf32, #graph.dims<s0>>) -> tensor<4x?x8xf32, #graph.dims<s0>>
  func.return %0 : tensor<4x?x8xf32, #graph.dims<s0>>
}
func.func private @back(%x: tensor<?x3x8xf32, #graph.dims<s0>>) -> tensor<8x3x?xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d2, d1, d0)>) over [parallel 8, parallel 3, parallel s0] body (%a : f32) {
    tensor_ops.yield %a : f32
  } : (tensor<?x3x8xf32, #graph.dims<s0>>) -> tensor<8x3x?xf32, #graph.dims<s0>>
  func.return %0 : tensor<8x3x?xf32, #graph.dims<s0>>
}
