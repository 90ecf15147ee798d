// RUN: aicc-opt %s -p convert-graph-to-tensor-ops | filecheck %s --enable-var-scope --reject-empty-vars

// Broadcasting is in the maps: size 1 is read at index 0, missing axes are not there.
// CHECK-LABEL: @broadcast
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<?x3x1xf32, #graph.dims<N>>, %[[Y:[a-z]+]]: tensor<1x5xf32>)
// CHECK-NEXT:    %[[R:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2) -> (d0, d1, 0)>, %[[Y]] as affine_map<(d0, d1, d2) -> (0, d2)>) over [parallel N, parallel 3, parallel 5] body (%[[A:.*]]: f32, %[[B:.*]]: f32) {
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[S]] : f32
// CHECK-NEXT:    } : (tensor<?x3x1xf32, #graph.dims<N>>, tensor<1x5xf32>) -> tensor<?x3x5xf32, #graph.dims<N>>
// CHECK-NEXT:    func.return %[[R]]
func.func @broadcast(%x: tensor<?x3x1xf32, #graph.dims<N>>, %y: tensor<1x5xf32>) -> tensor<?x3x5xf32, #graph.dims<N>> {
  %r = graph.add %x, %y : tensor<?x3x1xf32, #graph.dims<N>>, tensor<1x5xf32> -> tensor<?x3x5xf32, #graph.dims<N>>
  func.return %r : tensor<?x3x5xf32, #graph.dims<N>>
}

// A constant of one value is a number in the body, not an input.
// CHECK-LABEL: @number
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<4xf16>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0) -> (d0)>) over [parallel 4] body (%[[A:.*]]: f16) {
// Half precision is computed in f32 and rounded once.
// CHECK-DAG:       %[[W:.*]] = arith.extf %[[A]] : f16 to f32
// CHECK-DAG:       %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK:           %[[P:.*]] = arith.mulf %[[W]], %[[C]] : f32
// CHECK-NEXT:      %[[T:.*]] = arith.truncf %[[P]] : f32 to f16
// CHECK-NEXT:      tensor_ops.yield %[[T]] : f16
func.func @number(%x: tensor<4xf16>) -> tensor<4xf16> {
  %c = graph.constant dense<2.0> : tensor<f16>
  %r = graph.mul %x, %c : tensor<4xf16>, tensor<f16> -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}

// Unsigned elements are signless in the body, and their ops unsigned.
// CHECK-LABEL: @unsigned
// CHECK:         body (%[[A:.*]]: i8, %[[B:.*]]: i8) {
// CHECK-NEXT:      %[[M:.*]] = arith.maxui %[[A]], %[[B]] : i8
// CHECK:         -> tensor<4xui8>
func.func @unsigned(%x: tensor<4xui8>, %y: tensor<4xui8>) -> tensor<4xui8> {
  %r = graph.max %x, %y : tensor<4xui8>, tensor<4xui8> -> tensor<4xui8>
  func.return %r : tensor<4xui8>
}

// Only the combining op may be reassociated; the count of the mean is a size of the function.
// CHECK-LABEL: @mean
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<4x?xf32, #graph.dims<N>>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2) -> (d0, d2)>) over [parallel 4, parallel 1, reduction N] init [0.000000e+00 : f32] body (%[[A:.*]]: f32, %[[ACC:.*]]: f32) {
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[ACC]], %[[A]] fastmath<reassoc> : f32
// CHECK-NEXT:      tensor_ops.yield %[[S]] : f32
// CHECK-NEXT:    } finish () body (%[[T:.*]]: f32) {
// CHECK-NEXT:      %[[N:.*]] = tensor_ops.size #graph.shape<N>
// CHECK-NEXT:      %[[I:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-NEXT:      %[[F:.*]] = arith.sitofp %[[I]] : i64 to f32
// CHECK-NEXT:      %[[Q:.*]] = arith.divf %[[T]], %[[F]] : f32
// CHECK-NEXT:      tensor_ops.yield %[[Q]] : f32
func.func @mean(%x: tensor<4x?xf32, #graph.dims<N>>) -> tensor<4x1xf32> {
  %r = graph.reduce_mean %x {axes = [1], keepdims} : tensor<4x?xf32, #graph.dims<N>> -> tensor<4x1xf32>
  func.return %r : tensor<4x1xf32>
}

// Two accumulators; nothing may be reassociated, as the first of equal elements counts.
// CHECK-LABEL: @arg_max
// CHECK-NOT:     reassoc
// CHECK:         over [parallel 4, reduction 7] init [0xff800000 : f32, 0 : i64] body
func.func @arg_max(%x: tensor<4x7xf32>) -> tensor<4xi64> {
  %r = graph.arg_max %x {axis = 1} : tensor<4x7xf32> -> tensor<4xi64>
  func.return %r : tensor<4xi64>
}

// CHECK-LABEL: @matmul
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<2x5x7xf32>, %[[Y:[a-z]+]]: tensor<3x7xf32>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, %[[Y]] as affine_map<(d0, d1, d2, d3) -> (d2, d3)>) over [parallel 2, parallel 5, parallel 3, reduction 7]
func.func @matmul(%x: tensor<2x5x7xf32>, %y: tensor<3x7xf32>) -> tensor<2x5x3xf32> {
  %r = graph.matmul %x, %y {transpose_b} : tensor<2x5x7xf32>, tensor<3x7xf32> -> tensor<2x5x3xf32>
  func.return %r : tensor<2x5x3xf32>
}

// Padding is a fill; the bias is added at the end; the group of an output channel is a division.
// CHECK-LABEL: @conv
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<2x4x9x9xf32>, %[[W:[a-z]+]]: tensor<6x2x3x3xf32>, %[[B:[a-z]+]]: tensor<6xf32>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, (d4 + ((d1 floordiv 3) * 2)), (((d2 * 2) + d5) + -1), (((d3 * 2) + d6) + -1))> fill 0.000000e+00 : f32, %[[W]] as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>) over [parallel 2, parallel 6, parallel 5, parallel 5, reduction 2, reduction 3, reduction 3]
// CHECK:         } finish (%[[B]] as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1)>) body
func.func @conv(%x: tensor<2x4x9x9xf32>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>) -> tensor<2x6x5x5xf32> {
  %r = graph.conv %x, %w bias(%b) {strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], groups = 2} : tensor<2x4x9x9xf32>, tensor<6x2x3x3xf32>, tensor<6xf32> -> tensor<2x6x5x5xf32>
  func.return %r : tensor<2x6x5x5xf32>
}

// No padding, no fill; taps of extent 1 are no dimensions.
// CHECK-LABEL: @pointwise_conv
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<2x4x9x9xf32>, %[[W:[a-z]+]]: tensor<6x4x1x1xf32>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[X]] as affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>, %[[W]] as affine_map<(d0, d1, d2, d3, d4) -> (d1, d4, 0, 0)>) over [parallel 2, parallel 6, parallel 9, parallel 9, reduction 4]
func.func @pointwise_conv(%x: tensor<2x4x9x9xf32>, %w: tensor<6x4x1x1xf32>) -> tensor<2x6x9x9xf32> {
  %r = graph.conv %x, %w {strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1], groups = 1} : tensor<2x4x9x9xf32>, tensor<6x4x1x1xf32> -> tensor<2x6x9x9xf32>
  func.return %r : tensor<2x6x9x9xf32>
}

// CHECK-LABEL: @softmax
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<2x?xf32, #graph.dims<N>>)
// CHECK-NEXT:    %[[M:.*]] = tensor_ops.structured (%[[X]] as {{.*}}) over [parallel 2, parallel 1, reduction N] init [0xff800000 : f32]
// CHECK:         %[[E:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> (d0, d1)>, %[[M]] as affine_map<(d0, d1) -> (d0, 0)>) over [parallel 2, parallel N] body
// CHECK:           math.exp
// CHECK:         %[[S:.*]] = tensor_ops.structured (%[[E]] as {{.*}}) over [parallel 2, parallel 1, reduction N] init [0.000000e+00 : f32]
// CHECK:         %[[R:.*]] = tensor_ops.structured (%[[E]] as affine_map<(d0, d1) -> (d0, d1)>, %[[S]] as affine_map<(d0, d1) -> (d0, 0)>) over [parallel 2, parallel N] body
// CHECK:         func.return %[[R]]
func.func @softmax(%x: tensor<2x?xf32, #graph.dims<N>>) -> tensor<2x?xf32, #graph.dims<N>> {
  %r = graph.softmax %x {axis = 1} : tensor<2x?xf32, #graph.dims<N>> -> tensor<2x?xf32, #graph.dims<N>>
  func.return %r : tensor<2x?xf32, #graph.dims<N>>
}

// Movement is a map alone: sizes that are symbols are symbols of the map.
// CHECK-LABEL: @movement
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<?x6xf32, #graph.dims<N>>)
// CHECK-NEXT:    %[[T:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> (d1, d0)>) over [parallel 6, parallel N] body
// CHECK:         %[[S:.*]] = tensor_ops.structured (%[[T]] as affine_map<(d0, d1)[s0] -> (((d0 * -2) + 5), ((d1 * -1) + s0))>) over [parallel 3, parallel N] symbols [N-1] body
// CHECK:         %[[P:.*]] = tensor_ops.structured (%[[S]] as affine_map<(d0, d1) -> ((d0 + -1), d1)> fill 0.000000e+00 : f32) over [parallel 4, parallel N] body
// CHECK:         %[[V:.*]] = tensor_ops.view %[[P]] : {{.*}} to tensor<?xf32, #graph.dims<4*N>>
// CHECK-NEXT:    %[[C:.*]] = tensor_ops.concat %[[V]], %[[V]] axis 0
// CHECK-NEXT:    func.return %[[C]]
func.func @movement(%x: tensor<?x6xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<8*N>> {
  %t = graph.transpose %x {permutation = [1, 0]} : tensor<?x6xf32, #graph.dims<N>> -> tensor<6x?xf32, #graph.dims<N>>
  %s = graph.slice %t {starts = [5, N-1], sizes = [3, N], steps = [-2, -1]} : tensor<6x?xf32, #graph.dims<N>> -> tensor<3x?xf32, #graph.dims<N>>
  %p = graph.pad %s {low = [1, 0], high = [0, 0]} : tensor<3x?xf32, #graph.dims<N>> -> tensor<4x?xf32, #graph.dims<N>>
  %v = graph.reshape %p {shape = [4*N]} : tensor<4x?xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<4*N>>
  %c = graph.concat %v, %v {axis = 0} : tensor<?xf32, #graph.dims<4*N>>, tensor<?xf32, #graph.dims<4*N>> -> tensor<?xf32, #graph.dims<8*N>>
  func.return %c : tensor<?xf32, #graph.dims<8*N>>
}

// Indices wrap and are clamped before they are used.
// CHECK-LABEL: @gather
// CHECK-SAME:    (%[[X:[a-z]+]]: tensor<9x4xf32>, %[[I:[a-z]+]]: tensor<5xi64>)
// CHECK-NEXT:    %{{.*}} = tensor_ops.structured (%[[I]] as affine_map<(d0, d1) -> (d0)>) over [parallel 5, parallel 4] body (%[[A:.*]]: i64) {
// CHECK:           %[[P:.*]] = arith.select
// CHECK:           %[[L:.*]] = arith.minsi %[[P]], %{{.*}} : index
// CHECK-NEXT:      %[[H:.*]] = arith.maxsi %[[L]], %{{.*}} : index
// CHECK-NEXT:      %[[D:.*]] = tensor_ops.index 1
// CHECK-NEXT:      %{{.*}} = tensor_ops.extract %[[X]][%[[H]], %[[D]]] : tensor<9x4xf32>
func.func @gather(%x: tensor<9x4xf32>, %i: tensor<5xi64>) -> tensor<5x4xf32> {
  %r = graph.gather %x, %i {axis = 0} : tensor<9x4xf32>, tensor<5xi64> -> tensor<5x4xf32>
  func.return %r : tensor<5x4xf32>
}

// CHECK-LABEL: @control
// CHECK-SAME:    (%[[C:[a-z]+]]: tensor<i1>, %[[X:[a-z]+]]: tensor<4xf32>)
// CHECK-NEXT:    %[[B:.*]] = tensor_ops.extract %[[C]][] : tensor<i1>
// CHECK-NEXT:    %[[R:.*]] = scf.if %[[B]] -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[T:.*]] = tensor_ops.structured
// CHECK:           scf.yield %[[T]] : tensor<4xf32>
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[X]] : tensor<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[W:.*]] = scf.while (%[[S:.*]] = %[[C]]) : (tensor<i1>) -> tensor<i1> {
// CHECK-NEXT:      %[[G:.*]] = tensor_ops.extract %[[S]][] : tensor<i1>
// CHECK-NEXT:      scf.condition(%[[G]]) %[[S]] : tensor<i1>
// CHECK-NEXT:    } do {
// CHECK:           %[[N:.*]] = tensor_ops.structured
// CHECK:           scf.yield %[[N]] : tensor<i1>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[Q:.*]] = tensor_ops.call @callee(%[[R]]) symbols [4]
// CHECK-NEXT:    func.return %[[Q]], %[[W]]
func.func @control(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i1>) {
  %r = graph.if %c then {
    %t = graph.neg %x : tensor<4xf32> -> tensor<4xf32>
    graph.yield %t : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  } -> tensor<4xf32>
  %w = graph.while %c while {
  ^bb0(%s: tensor<i1>):
    graph.yield %s : tensor<i1>
  } do {
  ^bb0(%s: tensor<i1>):
    %n = graph.not %s : tensor<i1> -> tensor<i1>
    graph.yield %n : tensor<i1>
  } : tensor<i1>
  %q = graph.call @callee(%r) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %q, %w : tensor<4xf32>, tensor<i1>
}

// CHECK-LABEL: func.func private @callee
// CHECK-SAME:    attributes {aicc.symbols = ["M"]}
func.func private @callee(%x: tensor<?xf32, #graph.dims<M>>) -> tensor<?xf32, #graph.dims<M>> {
  %t = graph.neg %x : tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<M>>
  func.return %t : tensor<?xf32, #graph.dims<M>>
}
