// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s -p convert-tensor-ops-to-loops | filecheck %s --check-prefix LOOPS

// CHECK-LABEL: func.func private @rows
// CHECK:         %{{.*}} = tensor_ops.top_k %{{.*}} count #graph.shape<3> : tensor<?x9xi32, #graph.dims<s0>> -> tensor<?x3xi64, #graph.dims<s0>>

// Each row has its heap; what competes with the root goes in by one comparison.
// LOOPS-LABEL: func.func private @rows
// LOOPS:         loops.for "s0_d0" %[[ROW:.*]] = 0 to %{{.*}} parallel {
// LOOPS-NEXT:      %[[HEAP:.*]] = loops.alloc : memref<3xi32>
// LOOPS-NEXT:      loops.for "s0_fill" %{{.*}} = 0 to 3 {
// LOOPS:           loops.for "s0_order" %{{.*}} = 0 to 1 {
// LOOPS:             scf.while
// LOOPS:           loops.for "s0_compete" %[[J:.*]] = 3 to 9 {
// LOOPS-NEXT:        %[[KEY:.*]] = loops.load %{{.*}}[%[[ROW]], %[[J]]]
// LOOPS-NEXT:        %[[ROOT:.*]] = loops.load %[[HEAP]][%{{.*}}]
// LOOPS-NEXT:        %[[BETTER:.*]] = arith.cmpi sgt, %[[KEY]], %[[ROOT]]
// LOOPS-NEXT:        scf.if %[[BETTER]] {
// LOOPS:           loops.for "s0_sort" %{{.*}} = 0 to 2 {
func.func private @rows(%x: tensor<?x9xi32, #graph.dims<s0>>) -> tensor<?x3xi64, #graph.dims<s0>>
    attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %0 = tensor_ops.top_k %x count #graph.shape<3> : tensor<?x9xi32, #graph.dims<s0>> -> tensor<?x3xi64, #graph.dims<s0>>
  func.return %0 : tensor<?x3xi64, #graph.dims<s0>>
}
