// RUN: aicc-opt %s -p tensor-ops-assign-layouts --split-input-file | filecheck %s --enable-var-scope --reject-empty-vars

// The image is copied once, everything after it follows, and the mean over space is flattened for free.
// CHECK-LABEL: @main
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<?x3x9x9xf32, #graph.dims<N>>, %[[W:[a-z]+]]: tensor<6x3x3x3xf32>)
// CHECK-NEXT:    %[[T:.*]] = tensor_ops.call @transpose_0(%[[X]]) symbols [N] : (tensor<?x3x9x9xf32, #graph.dims<N>>) -> tensor<?x9x9x3xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[C:.*]] = tensor_ops.call @conv_0(%[[T]], %[[W]]) symbols [N] : (tensor<?x9x9x3xf32, #graph.dims<N>>, tensor<6x3x3x3xf32>) -> tensor<?x7x7x6xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[S:.*]] = tensor_ops.call @neg_0(%[[C]]) symbols [N] : (tensor<?x7x7x6xf32, #graph.dims<N>>) -> tensor<?x7x7x6xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[M:.*]] = tensor_ops.call @sum_0(%[[S]]) symbols [N] : (tensor<?x7x7x6xf32, #graph.dims<N>>) -> tensor<?x1x1x6xf32, #graph.dims<N>>
// CHECK-NEXT:    %[[V:.*]] = tensor_ops.view %[[M]] : tensor<?x1x1x6xf32, #graph.dims<N>> to tensor<?x6xf32, #graph.dims<N>>
// CHECK-NEXT:    func.return %[[V]]
func.func @main(%x: tensor<?x3x9x9xf32, #graph.dims<N>>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6xf32, #graph.dims<N>> {
  %c = tensor_ops.call @conv_0(%x, %w) symbols [N] : (tensor<?x3x9x9xf32, #graph.dims<N>>, tensor<6x3x3x3xf32>) -> tensor<?x6x7x7xf32, #graph.dims<N>>
  %s = tensor_ops.call @neg_0(%c) symbols [N] : (tensor<?x6x7x7xf32, #graph.dims<N>>) -> tensor<?x6x7x7xf32, #graph.dims<N>>
  %m = tensor_ops.call @sum_0(%s) symbols [N] : (tensor<?x6x7x7xf32, #graph.dims<N>>) -> tensor<?x6x1x1xf32, #graph.dims<N>>
  %v = tensor_ops.view %m : tensor<?x6x1x1xf32, #graph.dims<N>> to tensor<?x6xf32, #graph.dims<N>>
  func.return %v : tensor<?x6xf32, #graph.dims<N>>
}

// The innermost parallel dimension is the innermost one in memory, as is the innermost reduction.
// CHECK-LABEL: func.func private @conv_0
// CHECK:         over [parallel s0, parallel 7, parallel 7, parallel 6, reduction 3, reduction 3, reduction 3]
func.func private @conv_0(%x: tensor<?x3x9x9xf32, #graph.dims<s0>>, %w: tensor<6x3x3x3xf32>) -> tensor<?x6x7x7xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) over [parallel s0, parallel 6, parallel 7, parallel 7, reduction 3, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x3x9x9xf32, #graph.dims<s0>>, tensor<6x3x3x3xf32>) -> tensor<?x6x7x7xf32, #graph.dims<s0>>
  func.return %r : tensor<?x6x7x7xf32, #graph.dims<s0>>
}

func.func private @neg_0(%x: tensor<?x6x7x7xf32, #graph.dims<s0>>) -> tensor<?x6x7x7xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>) over [parallel s0, parallel 6, parallel 7, parallel 7] body (%a: f32) {
    %s = arith.negf %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x6x7x7xf32, #graph.dims<s0>>) -> tensor<?x6x7x7xf32, #graph.dims<s0>>
  func.return %r : tensor<?x6x7x7xf32, #graph.dims<s0>>
}

// CHECK-LABEL: func.func private @sum_0
// CHECK:         as affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d5, d3)>) over [parallel s0, parallel 1, parallel 1, parallel 6, reduction 7, reduction 7]
func.func private @sum_0(%x: tensor<?x6x7x7xf32, #graph.dims<s0>>) -> tensor<?x6x1x1xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>) over [parallel s0, parallel 6, parallel 1, parallel 1, reduction 7, reduction 7] init [0.0 : f32] body (%a: f32, %acc: f32) {
    %s = arith.addf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x6x7x7xf32, #graph.dims<s0>>) -> tensor<?x6x1x1xf32, #graph.dims<s0>>
  func.return %r : tensor<?x6x1x1xf32, #graph.dims<s0>>
}

// CHECK-LABEL: func.func private @transpose_0
// CHECK-SAME:    (%[[X:[0-9a-z]+]]: tensor<?x3x9x9xf32, #graph.dims<s0>>) -> tensor<?x9x9x3xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]}
// CHECK-NEXT:    tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>) over [parallel s0, parallel 9, parallel 9, parallel 3]

// -----

// One kernel for two layouts becomes two; results are copied back.
// CHECK-LABEL: @two_layouts
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<2x3x9xf32>, %[[W:[a-z]+]]: tensor<3x3x3xf32>)
// CHECK-NEXT:    %[[A:.*]] = tensor_ops.call @neg_0(%[[X]]) : (tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
// CHECK-NEXT:    %[[T:.*]] = tensor_ops.call @transpose_0(%[[A]]) : (tensor<2x3x9xf32>) -> tensor<2x9x3xf32>
// CHECK-NEXT:    %[[C:.*]] = tensor_ops.call @conv_0(%[[T]], %[[W]]) : (tensor<2x9x3xf32>, tensor<3x3x3xf32>) -> tensor<2x9x3xf32>
// CHECK-NEXT:    %[[B:.*]] = tensor_ops.call @neg_0_layout1(%[[C]]) : (tensor<2x9x3xf32>) -> tensor<2x9x3xf32>
// CHECK-NEXT:    %[[U:.*]] = tensor_ops.call @transpose_1(%[[B]]) : (tensor<2x9x3xf32>) -> tensor<2x3x9xf32>
// CHECK-NEXT:    func.return %[[U]]
func.func @two_layouts(%x: tensor<2x3x9xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x3x9xf32> {
  %a = tensor_ops.call @neg_0(%x) : (tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  %c = tensor_ops.call @conv_0(%a, %w) : (tensor<2x3x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x9xf32>
  %b = tensor_ops.call @neg_0(%c) : (tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  func.return %b : tensor<2x3x9xf32>
}

func.func private @conv_0(%x: tensor<2x3x9xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x3x9xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4 - 1)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>) over [parallel 2, parallel 3, parallel 9, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x9xf32>
  func.return %r : tensor<2x3x9xf32>
}

func.func private @neg_0(%x: tensor<2x3x9xf32>) -> tensor<2x3x9xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1, d2)>) over [parallel 2, parallel 3, parallel 9] body (%a: f32) {
    %s = arith.negf %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9xf32>) -> tensor<2x3x9xf32>
  func.return %r : tensor<2x3x9xf32>
}

// -----

// A view that joins channels and space needs the logical order.
// CHECK-LABEL: @view
// CHECK:         %[[C:.*]] = tensor_ops.call @conv_0
// CHECK-NEXT:    %[[U:.*]] = tensor_ops.call @transpose_1(%[[C]]) : (tensor<2x9x3xf32>) -> tensor<2x3x9xf32>
// CHECK-NEXT:    %[[V:.*]] = tensor_ops.view %[[U]] : tensor<2x3x9xf32> to tensor<2x27xf32>
// CHECK-NEXT:    func.return %[[V]]
func.func @view(%x: tensor<2x3x9xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x27xf32> {
  %c = tensor_ops.call @conv_0(%x, %w) : (tensor<2x3x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x9xf32>
  %v = tensor_ops.view %c : tensor<2x3x9xf32> to tensor<2x27xf32>
  func.return %v : tensor<2x27xf32>
}

func.func private @conv_0(%x: tensor<2x3x9xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x3x9xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4 - 1)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>) over [parallel 2, parallel 3, parallel 9, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x9xf32>
  func.return %r : tensor<2x3x9xf32>
}

// -----

// New axes of size 1 lie beside the axis before them: widened and joined with it they need no copy. (Enlarged images.)
// CHECK-LABEL: @enlarge
// CHECK:         %[[C:.*]] = tensor_ops.call @conv_0
// CHECK-NEXT:    %[[V:.*]] = tensor_ops.view %[[C]] : tensor<2x9x4xf32> to tensor<2x9x1x4xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor_ops.call @expand_0(%[[V]]) : (tensor<2x9x1x4xf32>) -> tensor<2x9x2x4xf32>
// CHECK-NEXT:    %[[J:.*]] = tensor_ops.view %[[E]] : tensor<2x9x2x4xf32> to tensor<2x18x4xf32>
// CHECK-NEXT:    tensor_ops.call @abs_0(%[[J]])
func.func @enlarge(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x18xf32> {
  %c = tensor_ops.call @conv_0(%x, %w) : (tensor<2x3x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x9xf32>
  %v = tensor_ops.view %c : tensor<2x4x9xf32> to tensor<2x4x9x1xf32>
  %e = tensor_ops.call @expand_0(%v) : (tensor<2x4x9x1xf32>) -> tensor<2x4x9x2xf32>
  %j = tensor_ops.view %e : tensor<2x4x9x2xf32> to tensor<2x4x18xf32>
  %a = tensor_ops.call @abs_0(%j) : (tensor<2x4x18xf32>) -> tensor<2x4x18xf32>
  func.return %a : tensor<2x4x18xf32>
}

func.func private @conv_0(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x9xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4 - 1)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>) over [parallel 2, parallel 4, parallel 9, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x9xf32>
  func.return %r : tensor<2x4x9xf32>
}

func.func private @expand_0(%x: tensor<2x4x9x1xf32>) -> tensor<2x4x9x2xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>) over [parallel 2, parallel 4, parallel 9, parallel 2] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<2x4x9x1xf32>) -> tensor<2x4x9x2xf32>
  func.return %r : tensor<2x4x9x2xf32>
}

func.func private @abs_0(%x: tensor<2x4x18xf32>) -> tensor<2x4x18xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1, d2)>) over [parallel 2, parallel 4, parallel 18] body (%a: f32) {
    %m = math.absf %a : f32
    tensor_ops.yield %m : f32
  } : (tensor<2x4x18xf32>) -> tensor<2x4x18xf32>
  func.return %r : tensor<2x4x18xf32>
}

// -----

// Channels that become pixels: one copy of rows puts the joined axes together, and channels stay last.
// CHECK-LABEL: @channels_to_space
// CHECK:         %[[C:.*]] = tensor_ops.call @conv_0
// CHECK-NEXT:    %[[V:.*]] = tensor_ops.view %[[C]] : tensor<2x9x4xf32> to tensor<2x9x2x2xf32>
// CHECK-NEXT:    %[[T:.*]] = tensor_ops.view %[[V]] : tensor<2x9x2x2xf32> to tensor<2x9x2x2xf32>
// CHECK-NEXT:    %[[J:.*]] = tensor_ops.view %[[T]] : tensor<2x9x2x2xf32> to tensor<2x18x2xf32>
// CHECK-NEXT:    tensor_ops.call @abs_0(%[[J]])
func.func @channels_to_space(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x2x18xf32> {
  %c = tensor_ops.call @conv_0(%x, %w) : (tensor<2x3x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x9xf32>
  %v = tensor_ops.view %c : tensor<2x4x9xf32> to tensor<2x2x2x9xf32>
  %t = tensor_ops.call @shuffle_0(%v) : (tensor<2x2x2x9xf32>) -> tensor<2x2x9x2xf32>
  %j = tensor_ops.view %t : tensor<2x2x9x2xf32> to tensor<2x2x18xf32>
  %a = tensor_ops.call @abs_0(%j) : (tensor<2x2x18xf32>) -> tensor<2x2x18xf32>
  func.return %a : tensor<2x2x18xf32>
}

func.func private @conv_0(%x: tensor<2x3x9xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x9xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4 - 1)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>) over [parallel 2, parallel 4, parallel 9, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x9xf32>
  func.return %r : tensor<2x4x9xf32>
}

func.func private @shuffle_0(%x: tensor<2x2x2x9xf32>) -> tensor<2x2x9x2xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>) over [parallel 2, parallel 2, parallel 9, parallel 2] body (%a: f32) {
    tensor_ops.yield %a : f32
  } : (tensor<2x2x2x9xf32>) -> tensor<2x2x9x2xf32>
  func.return %r : tensor<2x2x9x2xf32>
}

func.func private @abs_0(%x: tensor<2x2x18xf32>) -> tensor<2x2x18xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d1, d2)>) over [parallel 2, parallel 2, parallel 18] body (%a: f32) {
    %m = math.absf %a : f32
    tensor_ops.yield %m : f32
  } : (tensor<2x2x18xf32>) -> tensor<2x2x18xf32>
  func.return %r : tensor<2x2x18xf32>
}

// -----

// Pooling alone asks for nothing.
// CHECK-LABEL: @pool_alone
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.call @pool_0(%{{.*}}) : (tensor<2x3x9xf32>) -> tensor<2x3x7xf32>
// CHECK-NEXT:    func.return %[[R]]
// CHECK-NOT:     transpose
func.func @pool_alone(%x: tensor<2x3x9xf32>) -> tensor<2x3x7xf32> {
  %r = tensor_ops.call @pool_0(%x) : (tensor<2x3x9xf32>) -> tensor<2x3x7xf32>
  func.return %r : tensor<2x3x7xf32>
}

func.func private @pool_0(%x: tensor<2x3x9xf32>) -> tensor<2x3x7xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 + d3)>) over [parallel 2, parallel 3, parallel 7, reduction 3] init [0xff800000 : f32] body (%a: f32, %acc: f32) {
    %s = arith.maximumf %acc, %a fastmath<reassoc> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9xf32>) -> tensor<2x3x7xf32>
  func.return %r : tensor<2x3x7xf32>
}

// -----

// Each channel by itself: rows of pixels serve as well, so nothing is copied where no convolution follows.
// CHECK-LABEL: @channels_apart
// CHECK-NEXT:    %[[C:.*]] = tensor_ops.call @depthwise_0(%{{.*}}) : (tensor<2x3x9x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32>
// CHECK-NEXT:    %[[S:.*]] = tensor_ops.call @neg_0(%[[C]])
// CHECK-NEXT:    func.return %[[S]]
func.func @channels_apart(%x: tensor<2x3x9x9xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32> {
  %c = tensor_ops.call @depthwise_0(%x, %w) : (tensor<2x3x9x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32>
  %s = tensor_ops.call @neg_0(%c) : (tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
  func.return %s : tensor<2x3x7x7xf32>
}

// What a convolution over channels reads in the end is stored for it from the start, and what one has made stays so.
// CHECK-LABEL: @followed
// CHECK-NEXT:    %[[T:.*]] = tensor_ops.call @transpose_0(%{{.*}}) : (tensor<2x3x9x9xf32>) -> tensor<2x9x9x3xf32>
// CHECK-NEXT:    %[[C:.*]] = tensor_ops.call @depthwise_0_layout1(%[[T]], %{{.*}}) : (tensor<2x9x9x3xf32>, tensor<3x3x3xf32>) -> tensor<2x7x7x3xf32>
// CHECK-NEXT:    %[[S:.*]] = tensor_ops.call @neg_0_layout1(%[[C]]) : (tensor<2x7x7x3xf32>) -> tensor<2x7x7x3xf32>
// CHECK-NEXT:    %[[D:.*]] = tensor_ops.call @conv_0(%[[S]], %{{.*}}) : (tensor<2x7x7x3xf32>, tensor<3x3x3x3xf32>) -> tensor<2x9x9x3xf32>
// CHECK-NEXT:    %[[E:.*]] = tensor_ops.call @depthwise_0_layout1(%[[D]], %{{.*}}) : (tensor<2x9x9x3xf32>, tensor<3x3x3xf32>) -> tensor<2x7x7x3xf32>
// CHECK-NEXT:    %[[U:.*]] = tensor_ops.call @transpose_1(%[[E]]) : (tensor<2x7x7x3xf32>) -> tensor<2x3x7x7xf32>
// CHECK-NEXT:    func.return %[[U]]
func.func @followed(%x: tensor<2x3x9x9xf32>, %w: tensor<3x3x3xf32>, %v: tensor<3x3x3x3xf32>) -> tensor<2x3x7x7xf32> {
  %c = tensor_ops.call @depthwise_0(%x, %w) : (tensor<2x3x9x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32>
  %s = tensor_ops.call @neg_0(%c) : (tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
  %d = tensor_ops.call @conv_0(%s, %v) : (tensor<2x3x7x7xf32>, tensor<3x3x3x3xf32>) -> tensor<2x3x9x9xf32>
  %e = tensor_ops.call @depthwise_0(%d, %w) : (tensor<2x3x9x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32>
  func.return %e : tensor<2x3x7x7xf32>
}

func.func private @depthwise_0(%x: tensor<2x3x9x9xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2 + d4, d3 + d5)>, %w as affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d4, d5)>) over [parallel 2, parallel 3, parallel 7, parallel 7, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x9x9xf32>, tensor<3x3x3xf32>) -> tensor<2x3x7x7xf32>
  func.return %r : tensor<2x3x7x7xf32>
}

func.func private @neg_0(%x: tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>) over [parallel 2, parallel 3, parallel 7, parallel 7] body (%a: f32) {
    %s = arith.negf %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
  func.return %r : tensor<2x3x7x7xf32>
}

func.func private @conv_0(%x: tensor<2x3x7x7xf32>, %w: tensor<3x3x3x3xf32>) -> tensor<2x3x9x9xf32> attributes {aicc.kernel} {
  %r = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5 - 2, d3 + d6 - 2)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) over [parallel 2, parallel 3, parallel 9, parallel 9, reduction 3, reduction 3, reduction 3] init [0.0 : f32] body (%a: f32, %v: f32, %acc: f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } : (tensor<2x3x7x7xf32>, tensor<3x3x3x3xf32>) -> tensor<2x3x9x9xf32>
  func.return %r : tensor<2x3x9x9xf32>
}
