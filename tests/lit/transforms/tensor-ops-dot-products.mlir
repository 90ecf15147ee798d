// RUN: aicc-opt %s -p 'tensor-ops-dot-products{target=x86-64-v3}' --split-input-file | filecheck %s
// RUN: aicc-opt %s -p 'tensor-ops-dot-products{target=generic}' --split-input-file | filecheck %s --check-prefix=NONE
// RUN: aicc-opt %s -p 'tensor-ops-dot-products{target=cascadelake}' --split-input-file | filecheck %s --check-prefix=QUADS
// RUN: aicc-opt %s -p 'tensor-ops-dot-products{target=znver4}' --split-input-file | filecheck %s --check-prefix=HALVES
// RUN: aicc-opt %s -p 'tensor-ops-dot-products{target=znver4 bf16=false}' --split-input-file | filecheck %s --check-prefix=NOHALVES

// NONE-NOT: packed.dot
// NOHALVES-NOT: packed.dot {{.*}}floats

// Four bytes as they are stored; the zero point times the sums of the weights is taken off at the end.
// QUADS-LABEL: func.func @main
// QUADS:         tensor_ops.call @k_packed1(%{{.*}}) : (tensor<6x8xi8>) -> tensor<2x8xi32>
// QUADS:         tensor_ops.call @k_sums1(%{{.*}}) : (tensor<6x8xi8>) -> tensor<8xi32>
// QUADS-LABEL: func.func private @k(
// QUADS-NOT:     arith.subi
// QUADS:         packed.dot %{{.*}}, %{{.*}} {parts = 4 : i64, lhs_unsigned, using = "vpdpbusd512"}
// QUADS:         finish
// QUADS:           arith.muli
// QUADS-NEXT:      arith.subi
// QUADS-LABEL: func.func private @k_sums1(
// QUADS:         over [parallel 8, reduction 6]

// Weights of 8 bits are packed by a kernel of their own; the other operand in the kernel, its zero point taken off.
// CHECK-LABEL: func.func @main
// CHECK:         %[[W:.*]] = tensor_ops.call @k_packed1(%{{.*}}) : (tensor<6x8xi8>) -> tensor<3x8xi16>
// CHECK-NEXT:    tensor_ops.call @k(%{{.*}}, %{{.*}}, %[[W]]) symbols [N] : (tensor<?x6xui8, #graph.dims<N>>, tensor<ui8>, tensor<3x8xi16>)
// CHECK-LABEL: func.func private @k(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x6xui8, #graph.dims<s0>>, %[[Z:[a-z0-9]+]]: tensor<ui8>, %[[U:[a-z0-9]+]]: tensor<3x8xi16>)
// CHECK-NEXT:    %[[P:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> (d0, (d1 * 2))>, %[[Z]] as affine_map<(d0, d1) -> ()>, %[[X]] as affine_map<(d0, d1) -> (d0, ((d1 * 2) + 1))>) over [parallel s0, parallel 3] body
// CHECK:           arith.andi %{{.*}}, %{{.*}} : i32
// CHECK:           arith.shli %{{.*}}, %{{.*}} : i32
// CHECK:         : ({{.*}}) -> tensor<?x3xi32, #graph.dims<s0>>
// CHECK-NEXT:    tensor_ops.structured (%[[P]] as affine_map<(d0, d1, d2) -> (d0, d2)>, %[[U]] as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 8, reduction 3] init [0 : i32] body (%[[A:.*]]: i32, %[[B:.*]]: i16, %[[ACC:.*]]: i32) {
// CHECK-NEXT:      %[[D:.*]] = packed.dot %[[A]], %[[B]] {parts = 2 : i64, using = "pmaddwd256"} : i32, i16 -> i32
// CHECK-NEXT:      arith.addi %[[ACC]], %[[D]] : i32
// CHECK-LABEL: func.func private @k_packed1(%{{.*}}: tensor<6x8xi8>) -> tensor<3x8xi16>
// CHECK:           arith.trunci %{{.*}} : i32 to i16
func.func @main(%x: tensor<?x6xui8, #graph.dims<N>>, %z: tensor<ui8>) -> tensor<?x8xi32, #graph.dims<N>> {
  %w = tensor_ops.constant dense<1> : tensor<6x8xi8> : tensor<6x8xi8>
  %y = tensor_ops.call @k(%x, %w, %z) symbols [N] : (tensor<?x6xui8, #graph.dims<N>>, tensor<6x8xi8>, tensor<ui8>) -> tensor<?x8xi32, #graph.dims<N>>
  func.return %y : tensor<?x8xi32, #graph.dims<N>>
}
func.func private @k(%x: tensor<?x6xui8, #graph.dims<s0>>, %w: tensor<6x8xi8>, %z: tensor<ui8>) -> tensor<?x8xi32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %c = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>, %z as affine_map<(d0, d1) -> ()>) over [parallel s0, parallel 6] body (%a: i8, %b: i8) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.extui %b : i8 to i16
    %2 = arith.subi %0, %1 : i16
    tensor_ops.yield %2 : i16
  } : (tensor<?x6xui8, #graph.dims<s0>>, tensor<ui8>) -> tensor<?x6xi16, #graph.dims<s0>>
  %y = tensor_ops.structured (%c as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 8, reduction 6] init [0 : i32] body (%a: i16, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i16 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<?x6xi16, #graph.dims<s0>>, tensor<6x8xi8>) -> tensor<?x8xi32, #graph.dims<s0>>
  func.return %y : tensor<?x8xi32, #graph.dims<s0>>
}

// -----

// An odd size is filled up with zeros: what is read past the end, and the weights there. Weights of u8 need 16 bits.
// CHECK-LABEL: func.func private @odd(
// CHECK:         fill 0 : i8) over [parallel 16, parallel 3] body
// CHECK:         over [parallel 16, parallel 8, reduction 3] init [0 : i32] body (%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32)
// CHECK-LABEL: func.func private @odd_packed1(%{{.*}}: tensor<5x8xui8>) -> tensor<3x8xi32>
// CHECK:         fill 0 : i8) over [parallel 3, parallel 8]
func.func @main(%x: tensor<16x5xi8>) -> tensor<16x8xi32> {
  %w = tensor_ops.constant dense<1> : tensor<5x8xui8> : tensor<5x8xui8>
  %y = tensor_ops.call @odd(%x, %w) : (tensor<16x5xi8>, tensor<5x8xui8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
func.func private @odd(%x: tensor<16x5xi8>, %w: tensor<5x8xui8>) -> tensor<16x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 5] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extui %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x5xi8>, tensor<5x8xui8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}

// -----

// A padded convolution with the channels last: its channels are packed; the fill stays, and is 0 in both parts.
// CHECK-LABEL: func.func private @conv(
// CHECK:         fill 0 : i32, %{{.*}} as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 2]
// CHECK:         packed.dot
func.func @main(%x: tensor<1x8x8x4xui8>) -> tensor<1x8x8x8xi32> {
  %w = tensor_ops.constant dense<1> : tensor<8x4x3x3xi8> : tensor<8x4x3x3xi8>
  %y = tensor_ops.call @conv(%x, %w) : (tensor<1x8x8x4xui8>, tensor<8x4x3x3xi8>) -> tensor<1x8x8x8xi32>
  func.return %y : tensor<1x8x8x8xi32>
}
func.func private @conv(%x: tensor<1x8x8x4xui8>, %w: tensor<8x4x3x3xi8>) -> tensor<1x8x8x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (0, d1 + d4 - 1, d2 + d5 - 1, d6)> fill 0 : i8, %w as affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d6, d4, d5)>) over [parallel 1, parallel 8, parallel 8, parallel 8, reduction 3, reduction 3, reduction 4] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extui %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<1x8x8x4xui8>, tensor<8x4x3x3xi8>) -> tensor<1x8x8x8xi32>
  func.return %y : tensor<1x8x8x8xi32>
}

// -----

// Factors of unsigned 16 bits do not fit; one column would not pay for packing at run time.
// CHECK-LABEL: func.func private @not(
// CHECK-NOT:     packed.dot
func.func @main(%x: tensor<16x6xui16>, %v: tensor<16x6xi8>, %u: tensor<6x1xi8>) -> (tensor<16x8xi32>, tensor<16x1xi32>) {
  %w = tensor_ops.constant dense<1> : tensor<6x8xi8> : tensor<6x8xi8>
  %y, %z = tensor_ops.call @not(%x, %w, %v, %u) : (tensor<16x6xui16>, tensor<6x8xi8>, tensor<16x6xi8>, tensor<6x1xi8>) -> (tensor<16x8xi32>, tensor<16x1xi32>)
  func.return %y, %z : tensor<16x8xi32>, tensor<16x1xi32>
}
func.func private @not(%x: tensor<16x6xui16>, %w: tensor<6x8xi8>, %v: tensor<16x6xi8>, %u: tensor<6x1xi8>) -> (tensor<16x8xi32>, tensor<16x1xi32>) attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 6] init [0 : i32] body (%a: i16, %b: i8, %acc: i32) {
    %0 = arith.extui %a : i16 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x6xui16>, tensor<6x8xi8>) -> tensor<16x8xi32>
  %z = tensor_ops.structured (%v as affine_map<(d0, d1, d2) -> (d0, d2)>, %u as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 1, reduction 6] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x6xi8>, tensor<6x1xi8>) -> tensor<16x1xi32>
  func.return %y, %z : tensor<16x8xi32>, tensor<16x1xi32>
}

// -----

// Both operands are constants: two kernels with names of their own.
// CHECK-LABEL: func.func @main
// CHECK:         %[[B:.*]] = tensor_ops.call @both_packed{{[01]}}(
// CHECK:         %[[A:.*]] = tensor_ops.call @both_packed{{[01]}}(
// CHECK-NEXT:    tensor_ops.call @both(
// CHECK-DAG:   func.func private @both_packed0(
// CHECK-DAG:   func.func private @both_packed1(
func.func @main() -> tensor<16x8xi32> {
  %x = tensor_ops.constant dense<3> : tensor<16x6xi8> : tensor<16x6xi8>
  %w = tensor_ops.constant dense<1> : tensor<6x8xi8> : tensor<6x8xi8>
  %y = tensor_ops.call @both(%x, %w) : (tensor<16x6xi8>, tensor<6x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
func.func private @both(%x: tensor<16x6xi8>, %w: tensor<6x8xi8>) -> tensor<16x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 6] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x6xi8>, tensor<6x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}

// -----

// Out of bounds is the zero point, as a byte: bytes are multiplied, and the zero point is taken off the sums.
// QUADS-LABEL: func.func private @padded(
// QUADS-SAME:    %[[X:.*]]: tensor<16x8xui8>, %[[Z:.*]]: tensor<ui8>
// QUADS:         %[[D:.*]] = tensor_ops.structured (%[[X]] as {{.*}} fill 0 : i8{{.*}}) over [parallel 18, parallel 8]
// QUADS:           arith.select
// QUADS:           tensor_ops.yield %{{.*}} : i8
// QUADS:         tensor_ops.view %[[D]] : tensor<18x8xi8> to tensor<18x2xi32>
// QUADS:         tensor_ops.structured (%{{.*}} as affine_map<(d0, d1, d2, d3) -> ((d0 + d2), d3)>, {{.*}}) over [parallel 16, parallel 8, reduction 3, reduction 2]
// QUADS:           packed.dot %{{.*}}, %{{.*}} {parts = 4 : i64, lhs_unsigned, using = "vpdpbusd512"}
func.func @main(%x: tensor<16x8xui8>, %z: tensor<ui8>) -> tensor<16x8xi32> {
  %w = tensor_ops.constant dense<1> : tensor<3x8x8xi8> : tensor<3x8x8xi8>
  %y = tensor_ops.call @padded(%x, %z, %w) : (tensor<16x8xui8>, tensor<ui8>, tensor<3x8x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
func.func private @padded(%x: tensor<16x8xui8>, %z: tensor<ui8>, %w: tensor<3x8x8xi8>) -> tensor<16x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %d = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>, %z as affine_map<(d0, d1) -> ()>) over [parallel 16, parallel 8] body (%a: i8, %b: i8) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.extui %b : i8 to i16
    %2 = arith.subi %0, %1 : i16
    tensor_ops.yield %2 : i16
  } : (tensor<16x8xui8>, tensor<ui8>) -> tensor<16x8xi16>
  %y = tensor_ops.structured (%d as affine_map<(d0, d1, d2, d3) -> (d0 + d2 - 1, d3)> fill 0 : i16, %w as affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>) over [parallel 16, parallel 8, reduction 3, reduction 8] init [0 : i32] body (%a: i16, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i16 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x8xi16>, tensor<3x8x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}

// -----

// Floats that are padded stay as they are, differences of them, too.
// QUADS-LABEL: func.func private @floats(
// QUADS-NOT:     tensor_ops.structured {{.*}} over [parallel 18
// QUADS-NOT:     packed.dot
// QUADS:         tensor_ops.structured ({{.*}} as affine_map<(d0, d1, d2, d3) -> (((d0 + d2) + -1), d3)> fill 0.000000e+00 : f32
func.func @main(%x: tensor<16x8xf32>, %z: tensor<f32>) -> tensor<16x8xf32> {
  %w = tensor_ops.constant dense<1.0> : tensor<3x8x8xf32> : tensor<3x8x8xf32>
  %y = tensor_ops.call @floats(%x, %z, %w) : (tensor<16x8xf32>, tensor<f32>, tensor<3x8x8xf32>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}
func.func private @floats(%x: tensor<16x8xf32>, %z: tensor<f32>, %w: tensor<3x8x8xf32>) -> tensor<16x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %d = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>, %z as affine_map<(d0, d1) -> ()>) over [parallel 16, parallel 8] body (%a: f32, %b: f32) {
    %0 = arith.subf %a, %b : f32
    tensor_ops.yield %0 : f32
  } : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %y = tensor_ops.structured (%d as affine_map<(d0, d1, d2, d3) -> (d0 + d2 - 1, d3)> fill 0.0 : f32, %w as affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>) over [parallel 16, parallel 8, reduction 3, reduction 8] init [0.0 : f32] body (%a: f32, %b: f32, %acc: f32) {
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %acc, %0 : f32
    tensor_ops.yield %1 : f32
  } : (tensor<16x8xf32>, tensor<3x8x8xf32>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}

// -----

// Four neighbours in memory are packed as they are. Signed ones get their first bits flipped where they are read.
// QUADS-LABEL: func.func private @stored(
// QUADS-SAME:    %[[X:[a-z0-9]+]]: tensor<16x8xi8>
// QUADS-NEXT:    %[[P:.*]] = tensor_ops.view %[[X]] : tensor<16x8xi8> to tensor<16x2xi32>
// QUADS-NEXT:    tensor_ops.structured (%[[P]] as affine_map<(d0, d1, d2) -> (d0, d2)>, {{.*}}) over [parallel 16, parallel 8, reduction 2] init [0 : i32] body (%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i32) {
// QUADS-NEXT:      %[[M:.*]] = arith.constant -2139062144 : i32
// QUADS-NEXT:      %[[F:.*]] = arith.xori %[[A]], %[[M]] : i32
// QUADS-NEXT:      packed.dot %[[F]], %[[B]] {parts = 4 : i64, lhs_unsigned, using = "vpdpbusd512"}
// QUADS:         arith.constant 128 : i32
// Pairs of 16 bits are not as they lie in memory.
// CHECK-LABEL: func.func private @stored(
// CHECK-NOT:     tensor_ops.view
func.func @main(%x: tensor<16x8xi8>) -> tensor<16x8xi32> {
  %w = tensor_ops.constant dense<1> : tensor<8x8xi8> : tensor<8x8xi8>
  %y = tensor_ops.call @stored(%x, %w) : (tensor<16x8xi8>, tensor<8x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
func.func private @stored(%x: tensor<16x8xi8>, %w: tensor<8x8xi8>) -> tensor<16x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 8] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i8 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x8xi8>, tensor<8x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}

// -----

// A zero point that is a constant is what the padding of a plain copy holds.
// QUADS-LABEL: func.func private @filled(
// QUADS-SAME:    %[[X:[a-z0-9]+]]: tensor<16x8xui8>
// QUADS-NEXT:    %[[C:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> ((d0 + -1), d1)> fill -56 : i8) over [parallel 18, parallel 8] body (%[[A:.*]]: i8) {
// QUADS-NEXT:      tensor_ops.yield %[[A]] : i8
// QUADS:         tensor_ops.view %[[C]] : tensor<18x8xui8> to tensor<18x2xi32>
func.func @main(%x: tensor<16x8xui8>) -> tensor<16x8xi32> {
  %w = tensor_ops.constant dense<1> : tensor<3x8x8xi8> : tensor<3x8x8xi8>
  %y = tensor_ops.call @filled(%x, %w) : (tensor<16x8xui8>, tensor<3x8x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
func.func private @filled(%x: tensor<16x8xui8>, %w: tensor<3x8x8xi8>) -> tensor<16x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %d = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 16, parallel 8] body (%a: i8) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.constant 200 : i16
    %2 = arith.subi %0, %1 : i16
    tensor_ops.yield %2 : i16
  } : (tensor<16x8xui8>) -> tensor<16x8xi16>
  %y = tensor_ops.structured (%d as affine_map<(d0, d1, d2, d3) -> (d0 + d2 - 1, d3)> fill 0 : i16, %w as affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>) over [parallel 16, parallel 8, reduction 3, reduction 8] init [0 : i32] body (%a: i16, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i16 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x8xi16>, tensor<3x8x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}

// -----

// Padding makes an axis of one element longer: the bytes are read along it then, and not at 0.
// QUADS-LABEL: func.func private @single(
// QUADS-SAME:    %[[X:[a-z0-9]+]]: tensor<1x8xui8>
// QUADS-NEXT:    tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> ((d0 + -1), (d1 * 4))> fill 0 : i8, {{.*}} over [parallel 2, parallel 2]
// QUADS:         tensor_ops.structured (%{{.*}} as affine_map<(d0, d1, d2) -> (d1, d2)>
func.func @main(%x: tensor<1x8xui8>) -> tensor<8xi32> {
  %w = tensor_ops.constant dense<1> : tensor<2x8x8xi8> : tensor<2x8x8xi8>
  %y = tensor_ops.call @single(%x, %w) : (tensor<1x8xui8>, tensor<2x8x8xi8>) -> tensor<8xi32>
  func.return %y : tensor<8xi32>
}
func.func private @single(%x: tensor<1x8xui8>, %w: tensor<2x8x8xi8>) -> tensor<8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %d = tensor_ops.structured (%x as affine_map<(d0, d1) -> (0, d1)>) over [parallel 1, parallel 8] body (%a: i8) {
    %0 = arith.extui %a : i8 to i16
    tensor_ops.yield %0 : i16
  } : (tensor<1x8xui8>) -> tensor<1x8xi16>
  %y = tensor_ops.structured (%d as affine_map<(d0, d1, d2) -> (d1 - 1, d2)> fill 0 : i16, %w as affine_map<(d0, d1, d2) -> (d1, d2, d0)>) over [parallel 8, reduction 2, reduction 8] init [0 : i32] body (%a: i16, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i16 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<1x8xi16>, tensor<2x8x8xi8>) -> tensor<8xi32>
  func.return %y : tensor<8xi32>
}

// -----

// bf16: neighbours in memory are read through a view, weights are packed by a kernel of their own. A sum whose order is
// fixed stays.
// HALVES-LABEL: func.func @main
// HALVES:         %[[W:.*]] = tensor_ops.call @halves_packed1(%{{.*}}) : (tensor<6x8xbf16>) -> tensor<3x8xi32>
// HALVES-NEXT:    tensor_ops.call @halves(%{{.*}}, %[[W]]) symbols [N]
// HALVES-LABEL: func.func private @halves(
// HALVES-SAME:    %[[X:[a-z0-9]+]]: tensor<?x6xbf16, #graph.dims<s0>>
// HALVES-NEXT:    %[[V:.*]] = tensor_ops.view %[[X]] : tensor<?x6xbf16, #graph.dims<s0>> to tensor<?x3xi32, #graph.dims<s0>>
// HALVES-NEXT:    tensor_ops.structured (%[[V]] as {{.*}}) over [parallel s0, parallel 8, reduction 3] init [0.000000e+00 : f32] body (%[[A:.*]]: i32, %[[B:.*]]: i32, %[[ACC:.*]]: f32) {
// HALVES-NEXT:      %[[D:.*]] = packed.dot %[[A]], %[[B]] {parts = 2 : i64, floats, using = "vdpbf16ps512"} : i32, i32 -> f32
// HALVES-NEXT:      arith.addf %[[ACC]], %[[D]] fastmath<reassoc,contract> : f32
// HALVES-LABEL: func.func private @in_order(
// HALVES-NOT:     packed.dot
// HALVES-LABEL: func.func private @halves_packed1(
// HALVES:         arith.bitcast %{{.*}} : bf16 to i16
// HALVES:         arith.shli
func.func @main(%x: tensor<?x6xbf16, #graph.dims<N>>) -> (tensor<?x8xf32, #graph.dims<N>>, tensor<?x8xf32, #graph.dims<N>>) {
  %w = tensor_ops.constant dense<1.0> : tensor<6x8xbf16> : tensor<6x8xbf16>
  %y = tensor_ops.call @halves(%x, %w) symbols [N] : (tensor<?x6xbf16, #graph.dims<N>>, tensor<6x8xbf16>) -> tensor<?x8xf32, #graph.dims<N>>
  %z = tensor_ops.call @in_order(%x, %w) symbols [N] : (tensor<?x6xbf16, #graph.dims<N>>, tensor<6x8xbf16>) -> tensor<?x8xf32, #graph.dims<N>>
  func.return %y, %z : tensor<?x8xf32, #graph.dims<N>>, tensor<?x8xf32, #graph.dims<N>>
}
func.func private @halves(%x: tensor<?x6xbf16, #graph.dims<s0>>, %w: tensor<6x8xbf16>) -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 8, reduction 6] init [0.0 : f32] body (%a: bf16, %b: bf16, %acc: f32) {
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 fastmath<reassoc,contract> : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc,contract> : f32
    tensor_ops.yield %3 : f32
  } : (tensor<?x6xbf16, #graph.dims<s0>>, tensor<6x8xbf16>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %y : tensor<?x8xf32, #graph.dims<s0>>
}
func.func private @in_order(%x: tensor<?x6xbf16, #graph.dims<s0>>, %w: tensor<6x8xbf16>) -> tensor<?x8xf32, #graph.dims<s0>> attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel s0, parallel 8, reduction 6] init [0.0 : f32] body (%a: bf16, %b: bf16, %acc: f32) {
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 fastmath<reassoc,contract> : f32
    %3 = arith.addf %acc, %2 : f32
    tensor_ops.yield %3 : f32
  } : (tensor<?x6xbf16, #graph.dims<s0>>, tensor<6x8xbf16>) -> tensor<?x8xf32, #graph.dims<s0>>
  func.return %y : tensor<?x8xf32, #graph.dims<s0>>
}

// -----

// An odd size is filled up on both sides, so that no infinity is multiplied by a zero that is not in the model; where more
// than the summed elements would be read, as by the taps of a window, that cannot be.
// HALVES-LABEL: func.func private @odd_halves(
// HALVES:         fill 0.000000e+00 : bf16) over [parallel 16, parallel 3]
// HALVES:         packed.dot {{.*}}floats
// HALVES-LABEL: func.func private @taps(
// HALVES-NOT:     packed.dot
// HALVES-LABEL: func.func private @odd_halves_packed1(
// HALVES:         fill 0.000000e+00 : bf16) over [parallel 3, parallel 8]
func.func @main(%x: tensor<16x5xbf16>, %v: tensor<20xbf16>) -> (tensor<16x8xf32>, tensor<16x8xf32>) {
  %w = tensor_ops.constant dense<1.0> : tensor<5x8xbf16> : tensor<5x8xbf16>
  %y = tensor_ops.call @odd_halves(%x, %w) : (tensor<16x5xbf16>, tensor<5x8xbf16>) -> tensor<16x8xf32>
  %z = tensor_ops.call @taps(%v, %w) : (tensor<20xbf16>, tensor<5x8xbf16>) -> tensor<16x8xf32>
  func.return %y, %z : tensor<16x8xf32>, tensor<16x8xf32>
}
func.func private @odd_halves(%x: tensor<16x5xbf16>, %w: tensor<5x8xbf16>) -> tensor<16x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0, d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 5] init [0.0 : f32] body (%a: bf16, %b: bf16, %acc: f32) {
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 fastmath<reassoc,contract> : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc,contract> : f32
    tensor_ops.yield %3 : f32
  } : (tensor<16x5xbf16>, tensor<5x8xbf16>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}
func.func private @taps(%x: tensor<20xbf16>, %w: tensor<5x8xbf16>) -> tensor<16x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0 + d2)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 5] init [0.0 : f32] body (%a: bf16, %b: bf16, %acc: f32) {
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 fastmath<reassoc,contract> : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc,contract> : f32
    tensor_ops.yield %3 : f32
  } : (tensor<20xbf16>, tensor<5x8xbf16>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}

// -----

// Padding is stored around the bf16, which then lie as they are read.
// HALVES-LABEL: func.func private @padded_halves(
// HALVES-SAME:    %[[X:[a-z0-9]+]]: tensor<16x8xbf16>
// HALVES-NEXT:    %[[C:.*]] = tensor_ops.structured (%[[X]] as affine_map<(d0, d1) -> ((d0 + -1), d1)> fill 0.000000e+00 : bf16) over [parallel 18, parallel 8]
// HALVES:         tensor_ops.view %[[C]] : tensor<18x8xbf16> to tensor<18x4xi32>
// HALVES:         packed.dot {{.*}}floats
func.func @main(%x: tensor<16x8xbf16>) -> tensor<16x8xf32> {
  %w = tensor_ops.constant dense<1.0> : tensor<3x8x8xbf16> : tensor<3x8x8xbf16>
  %y = tensor_ops.call @padded_halves(%x, %w) : (tensor<16x8xbf16>, tensor<3x8x8xbf16>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}
func.func private @padded_halves(%x: tensor<16x8xbf16>, %w: tensor<3x8x8xbf16>) -> tensor<16x8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2, d3) -> (d0 + d2 - 1, d3)> fill 0.0 : bf16, %w as affine_map<(d0, d1, d2, d3) -> (d2, d3, d1)>) over [parallel 16, parallel 8, reduction 3, reduction 8] init [0.0 : f32] body (%a: bf16, %b: bf16, %acc: f32) {
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 fastmath<reassoc,contract> : f32
    %3 = arith.addf %acc, %2 fastmath<reassoc,contract> : f32
    tensor_ops.yield %3 : f32
  } : (tensor<16x8xbf16>, tensor<3x8x8xbf16>) -> tensor<16x8xf32>
  func.return %y : tensor<16x8xf32>
}

// -----

// One channel per group: bytes are the first parts of pairs. Weights that are not constant are left alone.
// CHECK-LABEL: func.func private @depthwise(
// CHECK:         %[[X:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK-NEXT:    %[[Y:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK-NEXT:    %[[D:.*]] = packed.dot %[[X]], %[[Y]] {parts = 2 : i64, using = "pmaddwd256"} : i32, i32 -> i32
// CHECK-NEXT:    arith.addi %{{.*}}, %[[D]]
// CHECK:         finish
// CHECK:         over [parallel 16, parallel 8, reduction 3]
// CHECK-NOT:     packed.dot
// CHECK:       func.func private @depthwise_sums1(
// QUADS-LABEL: func.func private @depthwise(
// QUADS:         packed.dot %{{.*}}, %{{.*}} {parts = 2 : i64, using = "pmaddwd512"} : i32, i32 -> i32
func.func @main(%x: tensor<18x8xui8>, %v: tensor<3x8xi8>) -> (tensor<16x8xi32>, tensor<16x8xi32>) {
  %w = tensor_ops.constant dense<-2> : tensor<3x8xi8> : tensor<3x8xi8>
  %y, %z = tensor_ops.call @depthwise(%x, %w, %v) : (tensor<18x8xui8>, tensor<3x8xi8>, tensor<3x8xi8>) -> (tensor<16x8xi32>, tensor<16x8xi32>)
  func.return %y, %z : tensor<16x8xi32>, tensor<16x8xi32>
}
func.func private @depthwise(%x: tensor<18x8xui8>, %w: tensor<3x8xi8>, %v: tensor<3x8xi8>) -> (tensor<16x8xi32>, tensor<16x8xi32>) attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 3] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extui %a : i8 to i32
    %1 = arith.constant 7 : i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %b : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %acc, %4 : i32
    tensor_ops.yield %5 : i32
  } : (tensor<18x8xui8>, tensor<3x8xi8>) -> tensor<16x8xi32>
  %z = tensor_ops.structured (%x as affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, %v as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 3] init [0 : i32] body (%a: i8, %b: i8, %acc: i32) {
    %0 = arith.extui %a : i8 to i32
    %3 = arith.extsi %b : i8 to i32
    %4 = arith.muli %0, %3 : i32
    %5 = arith.addi %acc, %4 : i32
    tensor_ops.yield %5 : i32
  } : (tensor<18x8xui8>, tensor<3x8xi8>) -> tensor<16x8xi32>
  func.return %y, %z : tensor<16x8xi32>, tensor<16x8xi32>
}

// -----

// Padding of the image is stored around the bytes here, too.
// CHECK-LABEL: func.func private @depthwise_padded(
// CHECK-NEXT:    tensor_ops.structured (%{{.*}} as affine_map<(d0, d1) -> ((d0 + -1), d1)> fill 7 : i8) over [parallel 18, parallel 8]
// CHECK:         packed.dot %{{.*}}, %{{.*}} {parts = 2 : i64, using = "pmaddwd256"} : i32, i32 -> i32
func.func @main(%x: tensor<16x8xui8>) -> tensor<16x8xi32> {
  %w = tensor_ops.constant dense<-2> : tensor<3x8xi8> : tensor<3x8xi8>
  %y = tensor_ops.call @depthwise_padded(%x, %w) : (tensor<16x8xui8>, tensor<3x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
func.func private @depthwise_padded(%x: tensor<16x8xui8>, %w: tensor<3x8xi8>) -> tensor<16x8xi32> attributes {aicc.kernel, aicc.symbols = []} {
  %d = tensor_ops.structured (%x as affine_map<(d0, d1) -> (d0, d1)>) over [parallel 16, parallel 8] body (%a: i8) {
    %0 = arith.extui %a : i8 to i16
    %1 = arith.constant 7 : i16
    %2 = arith.subi %0, %1 : i16
    tensor_ops.yield %2 : i16
  } : (tensor<16x8xui8>) -> tensor<16x8xi16>
  %y = tensor_ops.structured (%d as affine_map<(d0, d1, d2) -> (d0 + d2 - 1, d1)> fill 0 : i16, %w as affine_map<(d0, d1, d2) -> (d2, d1)>) over [parallel 16, parallel 8, reduction 3] init [0 : i32] body (%a: i16, %b: i8, %acc: i32) {
    %0 = arith.extsi %a : i16 to i32
    %1 = arith.extsi %b : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    tensor_ops.yield %3 : i32
  } : (tensor<16x8xi16>, tensor<3x8xi8>) -> tensor<16x8xi32>
  func.return %y : tensor<16x8xi32>
}
