// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s -p convert-tensor-ops-to-loops | filecheck %s --check-prefix LOOPS

// CHECK-LABEL: func.func private @rows
// CHECK:         %{{.*}} = tensor_ops.non_max_suppression %{{.*}} of %{{.*}}, %{{.*}} count #graph.shape<5>

// Boxes that take part come into a heap; the best one leaves it until enough are taken, and stays if it overlaps with
// none of them. What is left of the result is 0.
// LOOPS-LABEL: func.func private @rows
// LOOPS:         loops.for "s0_d0" %[[BATCH:.*]] = 0 to %{{.*}} parallel {
// LOOPS-NEXT:      loops.for "s0_d1" %[[ROW:.*]] = 0 to 3 parallel {
// LOOPS:             %[[TAKEN:.*]] = loops.alloc : memref<5x5xf32>
// LOOPS:             %[[COUNT:.*]] = loops.for "s0_collect" %{{.*}} = 0 to 9 iter_args(%[[END:.*]] = %{{.*}}) -> (index) {
// LOOPS-NEXT:          %[[KEY:.*]] = loops.load %{{.*}}[%[[BATCH]], %[[ROW]], %{{.*}}]
// LOOPS:               loops.store %[[KEY]], %{{.*}}[%[[END]]]
// LOOPS:             loops.for "s0_order"
// LOOPS:             %{{.*}}, %[[FOUND:.*]] = scf.while (%[[LEFT:.*]] = %[[COUNT]], %[[SO_FAR:.*]] = %{{.*}})
// LOOPS:               %[[MORE:.*]] = arith.cmpi slt, %[[SO_FAR]], %{{.*}} : index
// LOOPS:               arith.cmpf ule, %{{.*}} : f32
// LOOPS:               loops.store %{{.*}}, %[[TAKEN]]
// LOOPS:             loops.for "s0_rest" %{{.*}} = %[[FOUND]] to 5 {
func.func private @rows(%k: tensor<?x3x9xi32, #graph.dims<s0>>, %b: tensor<?x9x4xf32, #graph.dims<s0>>, %t: tensor<f32>)
    -> (tensor<?x3x5xi64, #graph.dims<s0>>, tensor<?x3xi64, #graph.dims<s0>>) attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0, %1 = tensor_ops.non_max_suppression %k of %b, %t count #graph.shape<5> : tensor<?x3x9xi32, #graph.dims<s0>>, tensor<?x9x4xf32, #graph.dims<s0>>, tensor<f32> -> tensor<?x3x5xi64, #graph.dims<s0>>, tensor<?x3xi64, #graph.dims<s0>>
  func.return %0, %1 : tensor<?x3x5xi64, #graph.dims<s0>>, tensor<?x3xi64, #graph.dims<s0>>
}
