// RUN: aicc-opt %s -p convert-tensor-ops-to-loops | filecheck %s --enable-var-scope

// Symbols become arguments, the result a destination; parallel loops stand outside, the reduction carries its sum, and
// the finishing ops come before the store.
// CHECK-LABEL: func.func private @linear
// CHECK-SAME:  (%[[S:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<?x4xf32, #loops.dims<s0>>, %[[W:[a-z0-9]+]]: memref<4x8xf32>, %[[B:[a-z0-9]+]]: memref<8xf32>, %[[OUT:[a-z0-9]+]]: memref<?x8xf32, #loops.dims<s0>>)
// CHECK-SAME:  attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64}
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    loops.for "s0_d0" %[[I:.*]] = 0 to %[[S]] parallel {
// CHECK-NEXT:      loops.for "s0_d1" %[[J:.*]] = 0 to 8 parallel {
// CHECK-NEXT:        %[[R:.*]] = loops.for "s0_d2" %[[K:.*]] = 0 to 4 iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (f32) {
// CHECK-NEXT:          %[[A:.*]] = loops.load %[[X]][%[[I]], %[[K]]]
// CHECK-NEXT:          %[[V:.*]] = loops.load %[[W]][%[[K]], %[[J]]]
// CHECK-NEXT:          %[[P:.*]] = arith.mulf %[[A]], %[[V]] fastmath<reassoc,contract>
// CHECK-NEXT:          %[[N:.*]] = arith.addf %[[ACC]], %[[P]] fastmath<reassoc,contract>
// CHECK-NEXT:          loops.yield %[[N]]
// CHECK-NEXT:        }
// CHECK-NEXT:        %[[C:.*]] = loops.load %[[B]][%[[J]]]
// CHECK-NEXT:        %[[F:.*]] = arith.addf %[[R]], %[[C]]
// CHECK-NEXT:        loops.store %[[F]], %[[OUT]][%[[I]], %[[J]]]
func.func private @linear(%x: tensor<?x4xf32, #graph.dims<s0>>, %w: tensor<4x8xf32>, %b: tensor<8xf32>)
    -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>)
      over [parallel s0, parallel 8, reduction 4] init [0.0 : f32] body (%a : f32, %v : f32, %acc : f32) {
    %p = arith.mulf %a, %v fastmath<reassoc,contract> : f32
    %s = arith.addf %acc, %p fastmath<reassoc,contract> : f32
    tensor_ops.yield %s : f32
  } finish (%b as affine_map<(d0, d1, d2) -> (d1)>) body (%acc : f32, %c : f32) {
    %s = arith.addf %acc, %c : f32
    tensor_ops.yield %s : f32
  } : (tensor<?x4xf32, #graph.dims<s0>>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %y : tensor<?x8xf32, #graph.dims<s0>>
}

// An intermediate is scratch; a fill is kept only where the map may leave the tensor; symbols of maps are sizes; the
// yielded view is written through.
// CHECK-LABEL: func.func private @window
// CHECK-SAME:  (%[[S:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<6xf32>, %[[OUT:[a-z0-9]+]]: memref<2x3xf32>)
// CHECK:         %[[T:.*]] = loops.size #graph.shape<2*s0>
// CHECK:         %[[FLAT:.*]] = loops.view %[[OUT]] : memref<2x3xf32> to memref<6xf32>
// CHECK:         %[[M:.*]] = loops.alloc : memref<6xf32>
// CHECK:         loops.for "s0_d0" %[[I:.*]] = 0 to 6 parallel {
// CHECK-NEXT:      %{{.*}} = loops.load %[[X]][%[[I]] - 1 + %[[T]]] fill 1.000000e+00 : f32
// CHECK-NEXT:      %{{.*}} = loops.load %[[X]][%[[I]]] : memref<6xf32> to f32
// CHECK:           loops.store %{{.*}}, %[[M]][%[[I]]]
// CHECK:         loops.for "s1_d0" %[[J:.*]] = 0 to 6 parallel {
// CHECK-NEXT:      %{{.*}} = loops.load %[[M]][5 - %[[J]]]
// CHECK:           loops.store %{{.*}}, %[[FLAT]][%[[J]]]
func.func private @window(%x: tensor<6xf32>) -> tensor<2x3xf32> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %m = tensor_ops.structured (%x as affine_map<(d0)[s0] -> (d0 - 1 + s0)> fill 1.0 : f32,
      %x as affine_map<(d0)[s0] -> (d0)> fill 1.0 : f32) over [parallel 6] symbols [2*s0] body (%a : f32, %b : f32) {
    %s = arith.addf %a, %b : f32
    tensor_ops.yield %s : f32
  } : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %y = tensor_ops.structured (%m as affine_map<(d0) -> (5 - d0)>) over [parallel 6] body (%a : f32) {
    %s = arith.negf %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<6xf32>) -> tensor<6xf32>
  %v = tensor_ops.view %y : tensor<6xf32> to tensor<2x3xf32>
  func.return %v : tensor<2x3xf32>
}

// Indices that depend on data are clamped; iteration indices are not.
// CHECK-LABEL: func.func private @gather
// CHECK:         %[[LAST:.*]] = arith.constant 5 : index
// CHECK:         %[[FIRST:.*]] = arith.constant 0 : index
// CHECK:         %[[INDEX:.*]] = arith.index_cast
// CHECK-NEXT:    %[[LOW:.*]] = arith.minsi %[[INDEX]], %[[LAST]]
// CHECK-NEXT:    %[[AT:.*]] = arith.maxsi %[[LOW]], %[[FIRST]]
// CHECK-NEXT:    loops.load %{{.*}}[%[[AT]], %{{.*}}] : memref<6x4xi8> to i8
func.func private @gather(%x: tensor<6x4xui8>, %i: tensor<3xi64>) -> tensor<3x4xui8>
    attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%i as affine_map<(d0, d1) -> (d0)>) over [parallel 3, parallel 4] body (%a : i64) {
    %j = arith.index_cast %a : i64 to index
    %k = tensor_ops.index 1
    %v = tensor_ops.extract %x[%j, %k] : tensor<6x4xui8>
    tensor_ops.yield %v : i8
  } : (tensor<3xi64>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// Places that are computed from iteration indices and lie within bounds stay affine; those that may not are moved there.
// CHECK-LABEL: func.func private @gather_at_computed
// CHECK:         loops.for "s0_d0" %[[I:.*]] = 0 to
// CHECK:         loops.for "s0_d1" %[[J:.*]] = 0 to 4
// CHECK-NOT:     maxsi
// CHECK:         %[[NEXT:.*]] = loops.apply %[[J]] * 2 + 1
// CHECK-NEXT:    loops.load %{{.*}}[%[[I]], %[[NEXT]]]
// CHECK-NOT:     maxsi
// CHECK:         %[[HALF:.*]] = loops.apply %[[J]] floordiv 2
// CHECK-NEXT:    loops.load %{{.*}}[%[[I]], %[[HALF]]]
// CHECK:         arith.minsi
// CHECK-NEXT:    %[[AT:.*]] = arith.maxsi
// CHECK-NEXT:    loops.load %{{.*}}[%[[I]], %[[AT]]]
func.func private @gather_at_computed(%x: tensor<?x8xf32, #graph.dims<N>>, %z: tensor<?x2xf32, #graph.dims<N>>)
    -> tensor<?x4xf32, #graph.dims<N>> attributes {aicc.kernel, aicc.symbols = ["N"]} {
  %y = tensor_ops.structured () over [parallel N, parallel 4] body () {
    %i = tensor_ops.index 0
    %j = tensor_ops.index 1
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %twice = arith.muli %j, %two : index
    %next = arith.addi %twice, %one : index
    %a = tensor_ops.extract %x[%i, %next] : tensor<?x8xf32, #graph.dims<N>>
    %half = arith.divui %j, %two : index
    %b = tensor_ops.extract %z[%i, %half] : tensor<?x2xf32, #graph.dims<N>>
    %over = arith.subi %j, %one : index
    %c = tensor_ops.extract %x[%i, %over] : tensor<?x8xf32, #graph.dims<N>>
    %ab = arith.addf %a, %b : f32
    %abc = arith.addf %ab, %c : f32
    tensor_ops.yield %abc : f32
  } : () -> tensor<?x4xf32, #graph.dims<N>>
  func.return %y : tensor<?x4xf32, #graph.dims<N>>
}

// CHECK-LABEL: func.func private @concat
// CHECK:         loops.for "s0_d0" %[[I:.*]] = 0 to 2 parallel {
// CHECK:           loops.store %{{.*}}, %[[OUT:.*]][%[[I]]]
// CHECK:         loops.for "s1_d0" %[[J:.*]] = 0 to 3 parallel {
// CHECK:           loops.store %{{.*}}, %[[OUT]][%[[J]] + 2]
func.func private @concat(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<5xf32>
    attributes {aicc.kernel, aicc.symbols = []} {
  %r = tensor_ops.concat %x, %y axis 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  func.return %r : tensor<5xf32>
}

// What only the concat reads is written where it is to be; what others read too has a buffer, and is copied.
// CHECK-LABEL: func.func private @concat_of_computed(
// CHECK-SAME:    memref<2xf32>, %{{.*}}: memref<?x2xf32, {{.*}}>, %[[OUT:[a-z0-9]+]]: memref<?x2xf32, {{.*}}>, %[[SUM:[a-z0-9]+]]: memref<2xf32>)
// CHECK-NOT:     loops.alloc
// CHECK:         loops.for "s0_d0" %[[I:.*]] = 0 to 2 parallel {
// CHECK:           loops.store %{{.*}}, %[[SUM]][%[[I]]]
// CHECK:         loops.for "s1_d0" %[[J:.*]] = 0 to %{{.*}} parallel {
// CHECK-NEXT:      loops.for "s1_d1" %[[K:.*]] = 0 to 2 parallel {
// CHECK-NEXT:        loops.load
// CHECK-NEXT:        %[[V:.*]] = arith.negf
// CHECK-NEXT:        loops.store %[[V]], %[[OUT]][%[[J]], %[[K]]]
// CHECK:         loops.for "s2_d0"
// CHECK:           loops.for "s2_d1" %[[L:.*]] = 0 to 2 parallel {
// CHECK-NEXT:        %[[C:.*]] = loops.load %{{.*}}[%{{.*}}, %[[L]]] : memref<1x2xf32>
// CHECK-NEXT:        loops.store %[[C]], %[[OUT]][%{{.*}} + %{{.*}}, %[[L]]]
func.func private @concat_of_computed(%x: tensor<2xf32>, %y: tensor<?x2xf32, #graph.dims<s0>>)
    -> (tensor<?x2xf32, #graph.dims<s0 + 1>>, tensor<2xf32>) attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %a = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 2] body (%v : f32) {
    %w = arith.addf %v, %v : f32
    tensor_ops.yield %w : f32
  } : (tensor<2xf32>) -> tensor<2xf32>
  %b = tensor_ops.structured (%y as affine_map<(d0, d1) -> (d0, d1)>) over [parallel s0, parallel 2] body (%v : f32) {
    %w = arith.negf %v : f32
    tensor_ops.yield %w : f32
  } : (tensor<?x2xf32, #graph.dims<s0>>) -> tensor<?x2xf32, #graph.dims<s0>>
  %c = tensor_ops.view %a : tensor<2xf32> to tensor<1x2xf32>
  %r = tensor_ops.concat %b, %c axis 0 : (tensor<?x2xf32, #graph.dims<s0>>, tensor<1x2xf32>) -> tensor<?x2xf32, #graph.dims<s0 + 1>>
  func.return %r, %a : tensor<?x2xf32, #graph.dims<s0 + 1>>, tensor<2xf32>
}

// A scatter is sequential: the last of several values for one place wins. The buffer holds the base already.
// CHECK-LABEL: func.func private @scatter(
// CHECK-SAME:    memref<6xi64>, %{{.*}}: memref<6xf32>, %[[OUT:.*]]: memref<4xf32>)
// CHECK-NOT:     loops.copy
// CHECK:         loops.for "s0_d0" %{{.*}} = 0 to 6 {
// CHECK:           loops.store %{{.*}}, %[[OUT]][%{{.*}}]
func.func private @scatter(%x: tensor<4xf32>, %i: tensor<6xi64>, %u: tensor<6xf32>) -> tensor<4xf32>
    attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.scatter into %x (%i as affine_map<(d0) -> (d0)>, %u as affine_map<(d0) -> (d0)>) over [6]
      body (%a : i64, %b : f32) {
    %at = arith.index_cast %a : i64 to index
    tensor_ops.yield %at, %b : index, f32
  } : (tensor<4xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @scan
// CHECK:         loops.for "s0_d0" %[[I:.*]] = 0 to 3 parallel {
// CHECK-NEXT:      %{{.*}} = loops.for "s0_d1" %[[J:.*]] = 0 to 5 iter_args(%[[ACC:.*]] = %{{.*}}) -> (f32) {
// CHECK-NEXT:        %[[V:.*]] = loops.load %{{.*}}[%[[I]], 4 - %[[J]]]
// CHECK-NEXT:        %[[N:.*]] = arith.addf %[[ACC]], %[[V]]
// CHECK-NEXT:        loops.store %[[ACC]], %{{.*}}[%[[I]], 4 - %[[J]]]
// CHECK-NEXT:        loops.yield %[[N]]
func.func private @scan(%x: tensor<3x5xf32>) -> tensor<3x5xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.scan %x axis 1 exclusive reverse init 0.0 : f32 body (%v : f32, %acc : f32) {
    %s = arith.addf %acc, %v : f32
    tensor_ops.yield %s : f32
  } : tensor<3x5xf32> -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// main: sizes for the callee's symbols, intermediates as allocations, results in their destinations, copies for a
// result that is an input.
// CHECK-LABEL: func.func @main
// CHECK-SAME:  (%[[N:[a-zA-Z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<?x4xf32, #loops.dims<N>>, %[[OUT0:[a-z0-9]+]]: memref<?x8xf32, #loops.dims<N>>, %[[OUT1:[a-z0-9]+]]: memref<?x4xf32, #loops.dims<N>>)
// CHECK-SAME:  aicc.symbols = ["N"], aicc.num_outputs = 2 : i64, aicc.signature =
// CHECK-NEXT:    %[[W:.*]] = loops.constant #graph.buffer<"w"> : memref<4x8xf32>
// CHECK-NEXT:    %[[B:.*]] = loops.constant dense<1.000000e+00> : tensor<8xf32> : memref<8xf32>
// CHECK-NEXT:    %[[Y:.*]] = loops.alloc : memref<?x8xf32, #loops.dims<N>>
// CHECK-NEXT:    loops.call @linear(%[[N]], %[[X]], %[[W]], %[[B]], %[[Y]])
// CHECK:         loops.call @linear(%[[N]], %{{.*}}, %[[W]], %[[B]], %[[OUT0]])
// CHECK-NEXT:    loops.copy %[[X]] to %[[OUT1]]
// CHECK-NEXT:    func.return
func.func @main(%x: tensor<?x4xf32, #graph.dims<N>>)
    -> (tensor<?x8xf32, #graph.dims<N>>, tensor<?x4xf32, #graph.dims<N>>) {
  %w = tensor_ops.constant #graph.buffer<"w"> : tensor<4x8xf32>
  %b = tensor_ops.constant dense<1.0> : tensor<8xf32> : tensor<8xf32>
  %y = tensor_ops.call @linear(%x, %w, %b) symbols [N]
      : (tensor<?x4xf32, #graph.dims<N>>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<N>>
  %v = tensor_ops.view %y : tensor<?x8xf32, #graph.dims<N>> to tensor<?x4xf32, #graph.dims<2*N>>
  %h = tensor_ops.call @half(%v) symbols [N]
      : (tensor<?x4xf32, #graph.dims<2*N>>) -> tensor<?x4xf32, #graph.dims<N>>
  %z = tensor_ops.call @linear(%h, %w, %b) symbols [N]
      : (tensor<?x4xf32, #graph.dims<N>>, tensor<4x8xf32>, tensor<8xf32>) -> tensor<?x8xf32, #graph.dims<N>>
  func.return %z, %x : tensor<?x8xf32, #graph.dims<N>>, tensor<?x4xf32, #graph.dims<N>>
}

func.func private @half(%x: tensor<?x4xf32, #graph.dims<2*s0>>) -> tensor<?x4xf32, #graph.dims<s0>>
    attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0 * 2, d1)>) over [parallel s0, parallel 4] body (%a : f32) {
    tensor_ops.yield %a : f32
  } : (tensor<?x4xf32, #graph.dims<2*s0>>) -> tensor<?x4xf32, #graph.dims<s0>>
  func.return %y : tensor<?x4xf32, #graph.dims<s0>>
}
