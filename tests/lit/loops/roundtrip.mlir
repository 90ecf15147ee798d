// RUN: aicc-opt %s | filecheck %s
// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: @bounds
// CHECK-SAME:  (%{{.*}}: index, %{{.*}}: memref<?x16xf32, #loops.dims<s0>>)
func.func private @bounds(%s0: index, %m: memref<?x16xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  // CHECK:      loops.for "s0_d0" %[[I:.*]] = 0 to %[[N:.*]] parallel threads attributes {grain = 4 : i64} {
  // GENERIC:    "loops.for"(%s0) <{lower_map = affine_map<() -> (0)>, upper_map = affine_map<(d0) -> (d0)>, step = 1 : index, kind = "parallel", label = "s0_d0", operandSegmentSizes = array<i32: 0, 1, 0>}>
  loops.for "s0_d0" %i = 0 to %s0 parallel threads attributes {grain = 4 : i64} {
    // CHECK-NEXT: loops.for "t" %{{.*}} = max(%[[I]] - 3, 0) to min(16, (%[[N]] + 5) floordiv 2 * 3, %[[I]] mod 4 - %[[N]] * 2) step 2 simd {
    // CHECK-NEXT: }
    loops.for "t" %j = max(%i - 3, 0) to min(16, (%s0 + 5) floordiv 2 * 3, %i mod 4 - %s0 * 2) step 2 simd {
    }
    // CHECK-NEXT: %{{.*}}, %[[R:.*]] = loops.for "s0_d1" %[[K:.*]] = -2 to 7 iter_args(%[[A:.*]] = %[[ZERO:.*]], %[[B:.*]] = %[[ZERO]]) -> (f32, f32) unroll {
    %r:2 = loops.for "s0_d1" %k = -2 to 7 iter_args(%a = %zero, %b = %zero) -> (f32, f32) unroll {
      // CHECK-NEXT: %[[V:.*]] = loops.load %{{.*}}[%[[I]], %[[K]] + 2] : memref<?x16xf32, #loops.dims<s0>> to f32
      %v = loops.load %m[%i, %k + 2] : memref<?x16xf32, #loops.dims<s0>> to f32
      // CHECK-NEXT: loops.yield %[[V]], %[[A]] : f32, f32
      loops.yield %v, %a : f32, f32
    }
    // CHECK-NEXT: }
    // CHECK-NEXT: loops.store %[[R]], %{{.*}}[%[[I]], 0] : f32 to memref<?x16xf32, #loops.dims<s0>>
    loops.store %r#1, %m[%i, 0] : f32 to memref<?x16xf32, #loops.dims<s0>>
  }
  func.return
}

// CHECK-LABEL: @vectors
func.func private @vectors(%m: memref<8x16xf32>, %i: index, %n: index) {
  // CHECK: %[[V:.*]] = loops.load %{{.*}}[%{{.*}} + l0, l1 * 2 - 1] lanes %{{.*}} fill 1.500000e+00 : f32 : memref<8x16xf32> to vector<2x4xf32>
  // GENERIC: "loops.load"(%m, %i, %n) <{map = affine_map<(d0, d1, d2) -> ((d0 + d1), ((d2 * 2) + -1))>, fill = 1.500000e+00 : f32, operandSegmentSizes = array<i32: 1, 1, 1>}> : (memref<8x16xf32>, index, index) -> vector<2x4xf32>
  %v = loops.load %m[%i + l0, l1 * 2 - 1] lanes %n fill 1.5 : f32 : memref<8x16xf32> to vector<2x4xf32>
  // CHECK-NEXT: %[[R:.*]] = loops.reduce "maximumf" %[[V]] axes [1] : vector<2x4xf32> to vector<2xf32>
  %r = loops.reduce "maximumf" %v axes [1] : vector<2x4xf32> to vector<2xf32>
  // CHECK-NEXT: %{{.*}} = loops.reduce "add" %[[V]] axes [0, 1] : vector<2x4xf32> to f32
  %s = loops.reduce "add" %v axes [0, 1] : vector<2x4xf32> to f32
  // CHECK-NEXT: %[[T:.*]] = loops.transpose %[[V]] permutation [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  %t = loops.transpose %v permutation [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  // CHECK-NEXT: %{{.*}} = loops.broadcast %[[R]] : vector<2xf32> to vector<2xf32>
  %b = loops.broadcast %r : vector<2xf32> to vector<2xf32>
  // CHECK-NEXT: loops.store %[[T]], %{{.*}}[l0, %{{.*}} + l1] lanes %{{.*}} : vector<4x2xf32> to memref<8x16xf32>
  loops.store %t, %m[l0, %i + l1] lanes %n : vector<4x2xf32> to memref<8x16xf32>
  // CHECK-NEXT: %{{.*}} = loops.apply %{{.*}} * 16 - %{{.*}} ceildiv 3
  %x = loops.apply %i * 16 - %n ceildiv 3
  // CHECK-NEXT: %{{.*}} = loops.apply %{{.*}} * 16 + l0 : vector<16xindex>
  %y = loops.apply %i * 16 + l0 : vector<16xindex>
  func.return
}

// Maps that are not canonical (an operand twice, unused, or bound to a symbol) keep their form.
// CHECK-LABEL: @explicit_maps
func.func private @explicit_maps(%m: memref<8xf32>, %i: index) {
  // CHECK: loops.load %{{.*}}[affine_map<(d0, d1) -> ((d0 + d1))>(%[[I:.*]], %[[I]])] : memref<8xf32> to f32
  %a = loops.load %m[affine_map<(d0, d1) -> (d0 + d1)>(%i, %i)] : memref<8xf32> to f32
  // CHECK-NEXT: loops.apply affine_map<(d0)[s0] -> ((d0 + s0))>(%[[I]])[%[[I]]]
  %b = loops.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%i]
  // CHECK-NEXT: loops.for "i" %{{.*}} = affine_map<(d0) -> (0)>(%[[I]]) to 4 {
  loops.for "i" %j = affine_map<(d0) -> (0)>(%i) to 4 {
  }
  func.return
}

// CHECK-LABEL: @memory
func.func private @memory(%s0: index, %arena: memref<?xi8, #loops.dims<64*s0>>) attributes {aicc.symbols = ["s0"]} {
  // CHECK-NEXT: %[[N:.*]] = loops.size #graph.shape<2*s0+1>
  %n = loops.size #graph.shape<2*s0+1>
  // CHECK-NEXT: %[[A:.*]] = loops.alloc : memref<?xf32, #loops.dims<2*s0+1>>
  %a = loops.alloc : memref<?xf32, #loops.dims<1+2*s0>>
  // CHECK-NEXT: %{{.*}} = loops.view %{{.*}}[%[[N]]] : memref<?xi8, #loops.dims<64*s0>> to memref<2x?xf32, #loops.dims<s0>>
  %b = loops.view %arena[%n] : memref<?xi8, #loops.dims<64*s0>> to memref<2x?xf32, #loops.dims<s0>>
  // CHECK-NEXT: %[[C:.*]] = loops.constant dense<[1, 2]> : tensor<2xi64> : memref<2xi64>
  %c = loops.constant dense<[1, 2]> : tensor<2xi64> : memref<2xi64>
  // CHECK-NEXT: %{{.*}} = loops.constant #graph.buffer<"w"> : memref<64x3xf32>
  %w = loops.constant #graph.buffer<"w"> : memref<64x3xf32>
  // CHECK-NEXT: %[[P:.*]] = loops.prepared "k.0" : memref<2xi64>
  %p = loops.prepared "k.0" : memref<2xi64>
  // CHECK-NEXT: loops.copy %[[C]] to %[[P]] : memref<2xi64> to memref<2xi64>
  loops.copy %c to %p : memref<2xi64> to memref<2xi64>
  // CHECK-NEXT: loops.view %[[A]]
  // CHECK-NEXT: loops.call @bounds(%[[N]], %{{.*}}) : index, memref<?x16xf32, #loops.dims<2*s0+1>>
  %m = loops.view %a : memref<?xf32, #loops.dims<2*s0+1>> to memref<?x16xf32, #loops.dims<2*s0+1>>
  loops.call @bounds(%n, %m) : index, memref<?x16xf32, #loops.dims<2*s0+1>>
  // CHECK-NEXT: loops.call @nothing()
  loops.call @nothing()
  func.return
}

func.func private @nothing() {
  func.return
}

// CHECK-LABEL: @nontemporal
func.func private @nontemporal(%v: vector<16xf32>, %n: index, %m: memref<64xf32>) {
  // CHECK-NEXT: loops.store %v, %m[l0 + 16] nontemporal : vector<16xf32> to memref<64xf32>
  loops.store %v, %m[l0 + 16] nontemporal : vector<16xf32> to memref<64xf32>
  // CHECK-NEXT: loops.store %v, %m[l0 + 60] lanes %n inside nontemporal : vector<16xf32> to memref<64xf32>
  loops.store %v, %m[l0 + 60] lanes %n inside nontemporal : vector<16xf32> to memref<64xf32>
  func.return
}

// CHECK-LABEL: @prefetch
func.func private @prefetch(%i: index, %n: index, %m: memref<?x64xf32, #loops.dims<n>>)
    attributes {aicc.symbols = ["n"]} {
  // CHECK-NEXT: loops.prefetch %m[%i + 1, %i floordiv 2 * 16] locality 2 : memref<?x64xf32, #loops.dims<n>>
  loops.prefetch %m[%i + 1, %i floordiv 2 * 16] locality 2 : memref<?x64xf32, #loops.dims<n>>
  // CHECK-NEXT: loops.prefetch %m[%i, -3] write locality 0 {a} : memref<?x64xf32, #loops.dims<n>>
  loops.prefetch %m[%i, -3] write locality 0 {a} : memref<?x64xf32, #loops.dims<n>>
  func.return
}
