// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @conv(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4x?x8xf32, #graph.dims<N, H>>, %[[W:[a-z0-9]+]]: tensor<6x2x3x3xf32>, %[[B:[a-z0-9]+]]: tensor<6xf32>
// CHECK:         %{{.*}} = graph.conv %[[X]], %[[W]] bias(%[[B]]) {strides = [2, 1], pads = [1, 1, 1, 1], dilations = [1, 1], groups = 2} : tensor<?x4x?x8xf32, #graph.dims<N, H>>, tensor<6x2x3x3xf32>, tensor<6xf32> -> tensor<?x6x?x8xf32, #graph.dims<N, floordiv(H+1,2)>>
// CHECK:         %{{.*}} = graph.conv %[[X]], %[[W]] {strides = [1, 1], pads = [0, mod(H,2), 0, 0], dilations = [1, 1], groups = 2}
func.func @conv(%x: tensor<?x4x?x8xf32, #graph.dims<N, H>>, %w: tensor<6x2x3x3xf32>, %b: tensor<6xf32>) {
  %0 = graph.conv %x, %w bias(%b) {strides = [2, 1], pads = [1, 1, 1, 1], dilations = [1, 1], groups = 2} : tensor<?x4x?x8xf32, #graph.dims<N, H>>, tensor<6x2x3x3xf32>, tensor<6xf32> -> tensor<?x6x?x8xf32, #graph.dims<N, floordiv(H+1,2)>>
  %1 = graph.conv %x, %w {strides = [1, 1], pads = [0, mod(H, 2), 0, 0], dilations = [1, 1], groups = 2} : tensor<?x4x?x8xf32, #graph.dims<N, H>>, tensor<6x2x3x3xf32> -> tensor<?x6x?x?xf32, #graph.dims<N, H-2, mod(H,2)+6>>
  func.return
}

// CHECK-LABEL: func.func @one_dimension(
// CHECK:         graph.conv %{{.*}}, %{{.*}} {strides = [1], pads = [2, 0], dilations = [2]} : tensor<1x2x9xi8>, tensor<3x2x2xi8> -> tensor<1x3x9xi8>
func.func @one_dimension(%x: tensor<1x2x9xi8>, %w: tensor<3x2x2xi8>) {
  %0 = graph.conv %x, %w {strides = [1], pads = [2, 0], dilations = [2]} : tensor<1x2x9xi8>, tensor<3x2x2xi8> -> tensor<1x3x9xi8>
  func.return
}

// CHECK-LABEL: func.func @matmul(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<?x1x3x4xf32, #graph.dims<N>>, %[[B:[a-z0-9]+]]: tensor<5x2x4xf32>
// CHECK:         graph.matmul %[[A]], %[[B]] {transpose_b} : tensor<?x1x3x4xf32, #graph.dims<N>>, tensor<5x2x4xf32> -> tensor<?x5x3x2xf32, #graph.dims<N>>
// CHECK:         graph.matmul %[[A]], %[[A]] {transpose_a} :
func.func @matmul(%a: tensor<?x1x3x4xf32, #graph.dims<N>>, %b: tensor<5x2x4xf32>) {
  %0 = graph.matmul %a, %b {transpose_b} : tensor<?x1x3x4xf32, #graph.dims<N>>, tensor<5x2x4xf32> -> tensor<?x5x3x2xf32, #graph.dims<N>>
  %1 = graph.matmul %a, %a {transpose_a} : tensor<?x1x3x4xf32, #graph.dims<N>>, tensor<?x1x3x4xf32, #graph.dims<N>> -> tensor<?x1x4x4xf32, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @linear(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x4xf32>, %[[W:[a-z0-9]+]]: tensor<16x4xf32>, %[[B:[a-z0-9]+]]: tensor<16xf32>
// CHECK:         graph.linear %[[X]], %[[W]] bias(%[[B]]) {transpose_w} : tensor<2x8x4xf32>, tensor<16x4xf32>, tensor<16xf32> -> tensor<2x8x16xf32>
// CHECK:         graph.linear %[[X]], %[[W]] {transpose_w} :
func.func @linear(%x: tensor<2x8x4xf32>, %w: tensor<16x4xf32>, %b: tensor<16xf32>) {
  %0 = graph.linear %x, %w bias(%b) {transpose_w} : tensor<2x8x4xf32>, tensor<16x4xf32>, tensor<16xf32> -> tensor<2x8x16xf32>
  %1 = graph.linear %x, %w {transpose_w} : tensor<2x8x4xf32>, tensor<16x4xf32> -> tensor<2x8x16xf32>
  func.return
}

// CHECK-LABEL: func.func @pools(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<1x3x?x9xf32, #graph.dims<H>>
// CHECK:         graph.max_pool %[[X]] {kernel = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], ceil_mode} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x4xf32, #graph.dims<floordiv(H,2)>>
// CHECK:         graph.avg_pool %[[X]] {count_include_pad, kernel = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} :
// CHECK:         graph.global_avg_pool %[[X]] : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x1x1xf32>
// CHECK:         graph.global_max_pool %[[X]] : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x1x1xf32>
// CHECK:         graph.sum_pool %[[X]] {kernel = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x5xf32, #graph.dims<floordiv(H,2)+1>>
// CHECK:         graph.arg_max_pool %[[X]] {column_major, kernel = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], ceil_mode} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x4xi64, #graph.dims<floordiv(H,2)>>
func.func @pools(%x: tensor<1x3x?x9xf32, #graph.dims<H>>) {
  %0 = graph.max_pool %x {kernel = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], ceil_mode} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x4xf32, #graph.dims<floordiv(H,2)>>
  %1 = graph.avg_pool %x {kernel = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1], count_include_pad} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x5xf32, #graph.dims<floordiv(H,2)+1>>
  %2 = graph.global_avg_pool %x : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x1x1xf32>
  %3 = graph.global_max_pool %x : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x1x1xf32>
  %4 = graph.sum_pool %x {kernel = [2, 2], strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x5xf32, #graph.dims<floordiv(H,2)+1>>
  %5 = graph.arg_max_pool %x {kernel = [3, 3], strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], ceil_mode, column_major} : tensor<1x3x?x9xf32, #graph.dims<H>> -> tensor<1x3x?x4xi64, #graph.dims<floordiv(H,2)>>
  func.return
}

// CHECK-LABEL: func.func @norms(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8x4xf16, #graph.dims<N>>, %[[C:[a-z0-9]+]]: tensor<8xf16>, %[[L:[a-z0-9]+]]: tensor<4xf16>
// CHECK:         graph.batch_norm %[[X]], %[[C]], %[[C]], %[[C]], %[[C]] {epsilon = 1.000000e-05} : tensor<?x8x4xf16, #graph.dims<N>>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16> -> tensor<?x8x4xf16, #graph.dims<N>>
// CHECK:         graph.layer_norm %[[X]] scale(%[[L]]) bias(%[[L]]) {axis = 2, epsilon = 1.000000e-05} :
// CHECK:         graph.layer_norm %[[X]] bias(%[[L]]) {axis = 1, epsilon = 1.000000e-05} :
// CHECK:         graph.rms_norm %[[X]] scale(%[[L]]) {axis = 2, epsilon = 1.000000e-05} :
// CHECK:         graph.group_norm %[[X]] scale(%[[C]]) bias(%[[C]]) {num_groups = 2, epsilon = 1.000000e-05} :
// CHECK:         graph.lrn %[[X]] {size = 5, alpha = 1.000000e-04, beta = 7.500000e-01, bias = 1.000000e+00} : tensor<?x8x4xf16, #graph.dims<N>> -> tensor<?x8x4xf16, #graph.dims<N>>
func.func @norms(%x: tensor<?x8x4xf16, #graph.dims<N>>, %c: tensor<8xf16>, %l: tensor<4xf16>) {
  %0 = graph.batch_norm %x, %c, %c, %c, %c {epsilon = 1.0e-5} : tensor<?x8x4xf16, #graph.dims<N>>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16>, tensor<8xf16> -> tensor<?x8x4xf16, #graph.dims<N>>
  %1 = graph.layer_norm %x scale(%l) bias(%l) {axis = 2, epsilon = 1.0e-5} : tensor<?x8x4xf16, #graph.dims<N>>, tensor<4xf16>, tensor<4xf16> -> tensor<?x8x4xf16, #graph.dims<N>>
  %2 = graph.layer_norm %x bias(%l) {axis = 1, epsilon = 1.0e-5} : tensor<?x8x4xf16, #graph.dims<N>>, tensor<4xf16> -> tensor<?x8x4xf16, #graph.dims<N>>
  %3 = graph.rms_norm %x scale(%l) {axis = 2, epsilon = 1.0e-5} : tensor<?x8x4xf16, #graph.dims<N>>, tensor<4xf16> -> tensor<?x8x4xf16, #graph.dims<N>>
  %4 = graph.group_norm %x scale(%c) bias(%c) {num_groups = 2, epsilon = 1.0e-5} : tensor<?x8x4xf16, #graph.dims<N>>, tensor<8xf16>, tensor<8xf16> -> tensor<?x8x4xf16, #graph.dims<N>>
  %5 = graph.lrn %x {size = 5, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<?x8x4xf16, #graph.dims<N>> -> tensor<?x8x4xf16, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xbf16, #graph.dims<N>>
// CHECK:         graph.softmax %[[X]] {axis = 1} : tensor<?x8xbf16, #graph.dims<N>> -> tensor<?x8xbf16, #graph.dims<N>>
// CHECK:         graph.log_softmax %[[X]] {axis = 0} : tensor<?x8xbf16, #graph.dims<N>> -> tensor<?x8xbf16, #graph.dims<N>>
func.func @softmax(%x: tensor<?x8xbf16, #graph.dims<N>>) {
  %0 = graph.softmax %x {axis = 1} : tensor<?x8xbf16, #graph.dims<N>> -> tensor<?x8xbf16, #graph.dims<N>>
  %1 = graph.log_softmax %x {axis = 0} : tensor<?x8xbf16, #graph.dims<N>> -> tensor<?x8xbf16, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @attention(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<2x4x?x64xf32, #graph.dims<L>>, %[[K:[a-z0-9]+]]: tensor<2x1x?x64xf32, #graph.dims<S>>, %[[M:[a-z0-9]+]]: tensor<?xi1, #graph.dims<S>>
// CHECK:         graph.attention %[[Q]], %[[K]], %[[K]] mask(%[[M]]) {scale = 1.250000e-01} : tensor<2x4x?x64xf32, #graph.dims<L>>, tensor<2x1x?x64xf32, #graph.dims<S>>, tensor<2x1x?x64xf32, #graph.dims<S>>, tensor<?xi1, #graph.dims<S>> -> tensor<2x4x?x64xf32, #graph.dims<L>>
// CHECK:         graph.attention %[[Q]], %[[K]], %[[K]] {scale = 1.250000e-01, softcap = 5.000000e+01, causal, past = [-L+S]} :
func.func @attention(%q: tensor<2x4x?x64xf32, #graph.dims<L>>, %k: tensor<2x1x?x64xf32, #graph.dims<S>>, %m: tensor<?xi1, #graph.dims<S>>) {
  %0 = graph.attention %q, %k, %k mask(%m) {scale = 0.125} : tensor<2x4x?x64xf32, #graph.dims<L>>, tensor<2x1x?x64xf32, #graph.dims<S>>, tensor<2x1x?x64xf32, #graph.dims<S>>, tensor<?xi1, #graph.dims<S>> -> tensor<2x4x?x64xf32, #graph.dims<L>>
  %1 = graph.attention %q, %k, %k {scale = 0.125, softcap = 50.0, causal, past = [S-L]} : tensor<2x4x?x64xf32, #graph.dims<L>>, tensor<2x1x?x64xf32, #graph.dims<S>>, tensor<2x1x?x64xf32, #graph.dims<S>> -> tensor<2x4x?x64xf32, #graph.dims<L>>
  func.return
}

// CHECK-LABEL: func.func @sizes(
// CHECK:         graph.sizes {shape = [N, 2*N, 3]} : tensor<3xi64>
func.func @sizes(%x: tensor<?xf32, #graph.dims<N>>) {
  %0 = graph.sizes {shape = [N, 2*N, 3]} : tensor<3xi64>
  func.return
}
