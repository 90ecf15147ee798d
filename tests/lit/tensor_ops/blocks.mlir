// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s -p convert-tensor-ops-to-loops | filecheck %s --check-prefix=LOOPS

// Blocks of 3 that overlap by one make blocks of 2; the last ones hang over.
// CHECK-LABEL: @sums
// CHECK-NEXT:    %{{.*}} = tensor_ops.blocks (%{{.*}} as affine_map<(d0, d1)[s0] -> (((d0 * 2) + d1))> block [3] fill 0.000000e+00 : f32, %{{.*}} as affine_map<(d0)[s0] -> ((d0 + s0))> block []) over [parallel 4] symbols [2] to affine_map<(d0, d1)[s0] -> (((d0 * 2) + d1))> block [2] body (%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32) {
// CHECK:           tensor_ops.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NEXT:    } : (tensor<8xf32>, tensor<6xf32>) -> tensor<7xf32>

// Elements are read before their first use and written as soon as they are there.
// LOOPS-LABEL: @sums
// LOOPS:         loops.for "s0_d0" %[[D:.*]] = 0 to 4 parallel {
// LOOPS-NEXT:      %[[A:.*]] = loops.load %{{.*}}[%[[D]] * 2] : memref<8xf32> to f32
// LOOPS-NEXT:      %[[B:.*]] = loops.load %{{.*}}[%[[D]] * 2 + 1] : memref<8xf32> to f32
// LOOPS-NEXT:      %[[AB:.*]] = arith.addf %[[A]], %[[B]] : f32
// LOOPS-NEXT:      loops.store %[[AB]], %{{.*}}[%[[D]] * 2] : f32 to memref<7xf32>
// LOOPS-NEXT:      %[[C:.*]] = loops.load %{{.*}}[%[[D]] * 2 + 2] fill 0.000000e+00 : f32 : memref<8xf32> to f32
// LOOPS-NEXT:      %[[BC:.*]] = arith.addf %[[B]], %[[C]] : f32
// LOOPS-NEXT:      %[[E:.*]] = loops.load %{{.*}}[%[[D]] + 2] : memref<6xf32> to f32
// LOOPS-NEXT:      %[[BCE:.*]] = arith.mulf %[[BC]], %[[E]] : f32
// LOOPS-NEXT:      loops.store %[[BCE]], %{{.*}}[%[[D]] * 2 + 1] inside : f32 to memref<7xf32>
func.func private @sums(%x: tensor<8xf32>, %z: tensor<6xf32>) -> tensor<7xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.blocks (%x as affine_map<(d0, d1)[s0] -> (d0 * 2 + d1)> block [3] fill 0.0 : f32, %z as affine_map<(d0)[s0] -> (d0 + s0)> block []) over [parallel 4] symbols [2] to affine_map<(d0, d1)[s0] -> (d0 * 2 + d1)> block [2] body (%a: f32, %b: f32, %c: f32, %e: f32) {
    %s = arith.addf %a, %b : f32
    %t = arith.addf %b, %c : f32
    %u = arith.mulf %t, %e : f32
    tensor_ops.yield %s, %u : f32, f32
  } : (tensor<8xf32>, tensor<6xf32>) -> tensor<7xf32>
  func.return %y : tensor<7xf32>
}
