// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// CHECK-LABEL: func.func @float_arithmetic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x4xf32, #graph.dims<N>>, %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.add %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.sub %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.mul %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.div %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.rem %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.mod %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.pow %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.min %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.max %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
// CHECK-NEXT:    %{{.*}} = graph.atan2 %[[X]], %[[Y]] : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
func.func @float_arithmetic(%x: tensor<?x4xf32, #graph.dims<N>>, %y: tensor<4xf32>) {
  %0 = graph.add %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %1 = graph.sub %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %2 = graph.mul %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %3 = graph.div %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %4 = graph.rem %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %5 = graph.mod %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %6 = graph.pow %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %7 = graph.min %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %8 = graph.max %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  %9 = graph.atan2 %x, %y : tensor<?x4xf32, #graph.dims<N>>, tensor<4xf32> -> tensor<?x4xf32, #graph.dims<N>>
  func.return
}

// CHECK-LABEL: func.func @integer_arithmetic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xi32>, %[[Y:[a-z0-9]+]]: tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.add %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.sub %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.mul %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.div %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.rem %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.mod %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.pow %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.min %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.max %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.and %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.or %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.xor %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.shift_left %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.shift_right %[[X]], %[[Y]] : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
func.func @integer_arithmetic(%x: tensor<2xi32>, %y: tensor<2xi32>) {
  %0 = graph.add %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %1 = graph.sub %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %2 = graph.mul %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %3 = graph.div %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %4 = graph.rem %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %5 = graph.mod %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %6 = graph.pow %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %7 = graph.min %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %8 = graph.max %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %9 = graph.and %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %10 = graph.or %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %11 = graph.xor %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %12 = graph.shift_left %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %13 = graph.shift_right %x, %y : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  func.return
}

// CHECK-LABEL: func.func @unsigned_arithmetic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xui8>
// CHECK-NEXT:    %{{.*}} = graph.div %[[X]], %[[X]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xui8>
// CHECK-NEXT:    %{{.*}} = graph.shift_right %[[X]], %[[X]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xui8>
func.func @unsigned_arithmetic(%x: tensor<2xui8>) {
  %0 = graph.div %x, %x : tensor<2xui8>, tensor<2xui8> -> tensor<2xui8>
  %1 = graph.shift_right %x, %x : tensor<2xui8>, tensor<2xui8> -> tensor<2xui8>
  func.return
}

// CHECK-LABEL: func.func @comparisons(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xui8>, %[[Y:[a-z0-9]+]]: tensor<2xui8>
// CHECK-NEXT:    %{{.*}} = graph.eq %[[X]], %[[Y]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.ne %[[X]], %[[Y]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.lt %[[X]], %[[Y]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.le %[[X]], %[[Y]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.gt %[[X]], %[[Y]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.ge %[[X]], %[[Y]] : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
func.func @comparisons(%x: tensor<2xui8>, %y: tensor<2xui8>) {
  %0 = graph.eq %x, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  %1 = graph.ne %x, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  %2 = graph.lt %x, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  %3 = graph.le %x, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  %4 = graph.gt %x, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  %5 = graph.ge %x, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xi1>
  func.return
}

// CHECK-LABEL: func.func @float_classes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.isnan %[[X]] : tensor<4xf32> -> tensor<4xi1>
// CHECK-NEXT:    %{{.*}} = graph.isinf %[[X]] : tensor<4xf32> -> tensor<4xi1>
func.func @float_classes(%x: tensor<4xf32>) {
  %0 = graph.isnan %x : tensor<4xf32> -> tensor<4xi1>
  %1 = graph.isinf %x : tensor<4xf32> -> tensor<4xi1>
  func.return
}

// CHECK-LABEL: func.func @logic(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3xi1>, %[[Y:[a-z0-9]+]]: tensor<3xi1>
// CHECK-NEXT:    %{{.*}} = graph.and %[[X]], %[[Y]] : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
// CHECK-NEXT:    %{{.*}} = graph.or %[[X]], %[[Y]] : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
// CHECK-NEXT:    %{{.*}} = graph.xor %[[X]], %[[Y]] : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
// CHECK-NEXT:    %{{.*}} = graph.not %[[X]] : tensor<3xi1> -> tensor<3xi1>
func.func @logic(%x: tensor<3xi1>, %y: tensor<3xi1>) {
  %0 = graph.and %x, %y : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
  %1 = graph.or %x, %y : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
  %2 = graph.xor %x, %y : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
  %3 = graph.not %x : tensor<3xi1> -> tensor<3xi1>
  func.return
}

// CHECK-LABEL: func.func @functions(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.neg %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.abs %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.sign %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.floor %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.ceil %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.round %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.trunc %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.sqrt %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.rsqrt %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.reciprocal %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.exp %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.expm1 %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.log %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.log1p %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.sin %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.cos %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.tan %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.asin %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.acos %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.atan %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.sinh %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.cosh %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.tanh %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.asinh %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.acosh %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.atanh %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.erf %[[X]] : tensor<4xf32> -> tensor<4xf32>
func.func @functions(%x: tensor<4xf32>) {
  %0 = graph.neg %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.abs %x : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.sign %x : tensor<4xf32> -> tensor<4xf32>
  %3 = graph.floor %x : tensor<4xf32> -> tensor<4xf32>
  %4 = graph.ceil %x : tensor<4xf32> -> tensor<4xf32>
  %5 = graph.round %x : tensor<4xf32> -> tensor<4xf32>
  %6 = graph.trunc %x : tensor<4xf32> -> tensor<4xf32>
  %7 = graph.sqrt %x : tensor<4xf32> -> tensor<4xf32>
  %8 = graph.rsqrt %x : tensor<4xf32> -> tensor<4xf32>
  %9 = graph.reciprocal %x : tensor<4xf32> -> tensor<4xf32>
  %10 = graph.exp %x : tensor<4xf32> -> tensor<4xf32>
  %11 = graph.expm1 %x : tensor<4xf32> -> tensor<4xf32>
  %12 = graph.log %x : tensor<4xf32> -> tensor<4xf32>
  %13 = graph.log1p %x : tensor<4xf32> -> tensor<4xf32>
  %14 = graph.sin %x : tensor<4xf32> -> tensor<4xf32>
  %15 = graph.cos %x : tensor<4xf32> -> tensor<4xf32>
  %16 = graph.tan %x : tensor<4xf32> -> tensor<4xf32>
  %17 = graph.asin %x : tensor<4xf32> -> tensor<4xf32>
  %18 = graph.acos %x : tensor<4xf32> -> tensor<4xf32>
  %19 = graph.atan %x : tensor<4xf32> -> tensor<4xf32>
  %20 = graph.sinh %x : tensor<4xf32> -> tensor<4xf32>
  %21 = graph.cosh %x : tensor<4xf32> -> tensor<4xf32>
  %22 = graph.tanh %x : tensor<4xf32> -> tensor<4xf32>
  %23 = graph.asinh %x : tensor<4xf32> -> tensor<4xf32>
  %24 = graph.acosh %x : tensor<4xf32> -> tensor<4xf32>
  %25 = graph.atanh %x : tensor<4xf32> -> tensor<4xf32>
  %26 = graph.erf %x : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: func.func @bits(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.bit_not %[[X]] : tensor<2xi32> -> tensor<2xi32>
func.func @bits(%x: tensor<2xi32>) {
  %0 = graph.bit_not %x : tensor<2xi32> -> tensor<2xi32>
  func.return
}

// CHECK-LABEL: func.func @activations(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.sigmoid %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.relu %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.silu %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.softplus %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.softsign %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.mish %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.hard_swish %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.gelu %[[X]] : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.gelu %[[X]] {approximate = "tanh"} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.leaky_relu %[[X]] {alpha = 1.000000e-02} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.thresholded_relu %[[X]] {alpha = 1.000000e+00} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.elu %[[X]] {alpha = 5.000000e-01} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.celu %[[X]] {alpha = 2.000000e+00} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.selu %[[X]] {gamma = 1.250000e+00, alpha = 1.500000e+00} : tensor<4xf32> -> tensor<4xf32>
// CHECK-NEXT:    %{{.*}} = graph.hard_sigmoid %[[X]] {beta = 5.000000e-01, alpha = 2.500000e-01} : tensor<4xf32> -> tensor<4xf32>
func.func @activations(%x: tensor<4xf32>) {
  %0 = graph.sigmoid %x : tensor<4xf32> -> tensor<4xf32>
  %1 = graph.relu %x : tensor<4xf32> -> tensor<4xf32>
  %2 = graph.silu %x : tensor<4xf32> -> tensor<4xf32>
  %3 = graph.softplus %x : tensor<4xf32> -> tensor<4xf32>
  %4 = graph.softsign %x : tensor<4xf32> -> tensor<4xf32>
  %5 = graph.mish %x : tensor<4xf32> -> tensor<4xf32>
  %6 = graph.hard_swish %x : tensor<4xf32> -> tensor<4xf32>
  %7 = graph.gelu %x : tensor<4xf32> -> tensor<4xf32>
  %8 = graph.gelu %x {approximate = "tanh"} : tensor<4xf32> -> tensor<4xf32>
  %9 = graph.leaky_relu %x {alpha = 1.000000e-02} : tensor<4xf32> -> tensor<4xf32>
  %10 = graph.thresholded_relu %x {alpha = 1.000000e+00} : tensor<4xf32> -> tensor<4xf32>
  %11 = graph.elu %x {alpha = 5.000000e-01} : tensor<4xf32> -> tensor<4xf32>
  %12 = graph.celu %x {alpha = 2.000000e+00} : tensor<4xf32> -> tensor<4xf32>
  %13 = graph.selu %x {gamma = 1.250000e+00, alpha = 1.500000e+00} : tensor<4xf32> -> tensor<4xf32>
  %14 = graph.hard_sigmoid %x {beta = 5.000000e-01, alpha = 2.500000e-01} : tensor<4xf32> -> tensor<4xf32>
  func.return
}

// CHECK-LABEL: func.func @choices(
// CHECK-SAME:    %[[C:[a-z0-9]+]]: tensor<3xi1>, %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[S:[a-z0-9]+]]: tensor<f32>
// CHECK-NEXT:    %{{.*}} = graph.where %[[C]], %[[X]], %[[S]] : tensor<3xi1>, tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.prelu %[[X]], %[[S]] : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.clip %[[X]] : tensor<2x3xf32> -> tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.clip %[[X]] min(%[[S]]) : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.clip %[[X]] max(%[[S]]) : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
// CHECK-NEXT:    %{{.*}} = graph.clip %[[X]] min(%[[S]]) max(%[[S]]) : tensor<2x3xf32>, tensor<f32>, tensor<f32> -> tensor<2x3xf32>
func.func @choices(%c: tensor<3xi1>, %x: tensor<2x3xf32>, %s: tensor<f32>) {
  %0 = graph.where %c, %x, %s : tensor<3xi1>, tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
  %1 = graph.prelu %x, %s : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
  %2 = graph.clip %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = graph.clip %x min(%s) : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
  %4 = graph.clip %x max(%s) : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
  %5 = graph.clip %x min(%s) max(%s) : tensor<2x3xf32>, tensor<f32>, tensor<f32> -> tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: func.func @casts(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xi32>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xf16>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xbf16>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xf64>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xi64>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xsi8>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xindex>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] {saturate} : tensor<2xi32> -> tensor<2xui8>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[X]] : tensor<2xi32> -> tensor<2xui4>
// CHECK-NEXT:    %[[F:.*]] = graph.cast %[[X]] {saturate} : tensor<2xi32> -> tensor<2xf8E4M3FN>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[F]] : tensor<2xf8E4M3FN> -> tensor<2xf4E2M1FN>
// CHECK-NEXT:    %{{.*}} = graph.cast %[[F]] {round_mode = "nearest"} : tensor<2xf8E4M3FN> -> tensor<2xf8E8M0FNU>
func.func @casts(%x: tensor<2xi32>) {
  %0 = graph.cast %x : tensor<2xi32> -> tensor<2xf16>
  %1 = graph.cast %x : tensor<2xi32> -> tensor<2xbf16>
  %2 = graph.cast %x : tensor<2xi32> -> tensor<2xf64>
  %3 = graph.cast %x : tensor<2xi32> -> tensor<2xi1>
  %4 = graph.cast %x : tensor<2xi32> -> tensor<2xi64>
  %5 = graph.cast %x : tensor<2xi32> -> tensor<2xsi8>
  %6 = graph.cast %x : tensor<2xi32> -> tensor<2xindex>
  %7 = graph.cast %x {saturate} : tensor<2xi32> -> tensor<2xui8>
  %8 = graph.cast %x : tensor<2xi32> -> tensor<2xui4>
  %9 = graph.cast %x {saturate} : tensor<2xi32> -> tensor<2xf8E4M3FN>
  %10 = graph.cast %9 : tensor<2xf8E4M3FN> -> tensor<2xf4E2M1FN>
  %11 = graph.cast %9 {round_mode = "nearest"} : tensor<2xf8E4M3FN> -> tensor<2xf8E8M0FNU>
  func.return
}

// CHECK-LABEL: func.func @bits_of_another_type(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2xf32>, %[[C:[a-z0-9]+]]: tensor<2xi1>
// CHECK-NEXT:    %{{.*}} = graph.bitcast %[[X]] : tensor<2xf32> -> tensor<2xui32>
// CHECK-NEXT:    %{{.*}} = graph.bitcast %[[C]] : tensor<2xi1> -> tensor<2xf8E5M2>
func.func @bits_of_another_type(%x: tensor<2xf32>, %c: tensor<2xi1>) {
  %0 = graph.bitcast %x : tensor<2xf32> -> tensor<2xui32>
  %1 = graph.bitcast %c : tensor<2xi1> -> tensor<2xf8E5M2>
  func.return
}
