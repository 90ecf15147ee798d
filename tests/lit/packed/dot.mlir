// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s
// RUN: aicc-opt %s -p convert-loops-to-llvm | filecheck %s --check-prefix LLVM

// Without an instruction: by shifts and products.
// CHECK-LABEL: func.func @parts(
// CHECK:         packed.dot %{{.*}}, %{{.*}} {parts = 2 : i64, lhs_unsigned} : i32, i16 -> i32
// LLVM-LABEL:  llvm.func {{.*}}@parts(
// LLVM:          llvm.lshr
// LLVM:          llvm.ashr
// LLVM-COUNT-2:  llvm.mul
func.func @parts(%m: memref<1xi32>, %n: memref<1xi16>) {
  %x = loops.load %m[0] : memref<1xi32> to i32
  %y = loops.load %n[0] : memref<1xi16> to i16
  %s = packed.dot %x, %y {parts = 2 : i64, lhs_unsigned} : i32, i16 -> i32
  loops.store %s, %m[0] : i32 to memref<1xi32>
  func.return
}

// Rows are cut to the registers that the instruction may use, and shared rows widened once.
// CHECK-LABEL:    func.func @pairs(
// CHECK:            packed.dot %{{.*}}, %{{.*}} {parts = 2 : i64, using = "pmaddwd256"} : vector<2x16xi32>, vector<2x16xi16> -> vector<2x16xi32>
// LLVM-LABEL:     llvm.func {{.*}}@pairs(
// LLVM-COUNT-2:     llvm.sext %{{.*}} : vector<16xi8> to vector<16xi16>
// LLVM-NOT:         llvm.sext
// LLVM:             "llvm.x86.avx2.pmadd.wd"
func.func @pairs(%m: memref<2xi32>, %n: memref<16xi16>, %o: memref<2x16xi32>) {
  %x = loops.load %m[l0] : memref<2xi32> to vector<2x1xi32>
  %y = loops.load %n[l1] : memref<16xi16> to vector<1x16xi16>
  %a = loops.broadcast %x : vector<2x1xi32> to vector<2x16xi32>
  %b = loops.broadcast %y : vector<1x16xi16> to vector<2x16xi16>
  %s = packed.dot %a, %b {parts = 2 : i64, using = "pmaddwd256"} : vector<2x16xi32>, vector<2x16xi16> -> vector<2x16xi32>
  loops.store %s, %o[l0, l1] : vector<2x16xi32> to memref<2x16xi32>
  func.return
}

// Parts that are bf16: the sum is an operand of the instruction, which reads both as bf16; without it, each part is moved
// to the upper half of an f32.
// CHECK-LABEL:    func.func @floats(
// CHECK:            packed.dot %{{.*}}, %{{.*}} {parts = 2 : i64, floats, using = "vdpbf16ps512"} : vector<16xi32>, vector<16xi32> -> vector<16xf32>
// LLVM-LABEL:     llvm.func {{.*}}@floats(
// LLVM:             %[[OLD:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// LLVM:             llvm.bitcast %{{.*}} : vector<16xi32> to vector<32xbf16>
// LLVM:             %[[SUM:.*]] = {{.*}}"llvm.x86.avx512bf16.dpbf16ps.512"(%[[OLD]], %{{.*}}, %{{.*}})
// LLVM-NOT:         llvm.fadd
// LLVM:             llvm.store
// LLVM-COUNT-2:     llvm.fmul
func.func @floats(%m: memref<16xi32>, %n: memref<16xi32>, %o: memref<16xf32>) {
  %x = loops.load %m[l0] : memref<16xi32> to vector<16xi32>
  %y = loops.load %n[l0] : memref<16xi32> to vector<16xi32>
  %old = loops.load %o[l0] : memref<16xf32> to vector<16xf32>
  %s = packed.dot %x, %y {parts = 2 : i64, floats, using = "vdpbf16ps512"} : vector<16xi32>, vector<16xi32> -> vector<16xf32>
  %t = arith.addf %old, %s fastmath<reassoc> : vector<16xf32>
  loops.store %t, %o[l0] : vector<16xf32> to memref<16xf32>
  %p = packed.dot %x, %y {parts = 2 : i64, floats} : vector<16xi32>, vector<16xi32> -> vector<16xf32>
  loops.store %p, %o[l0] : vector<16xf32> to memref<16xf32>
  func.return
}

// A sum whose order is fixed is none that the instruction may begin with: it adds to 0.
// LLVM-LABEL:     llvm.func {{.*}}@in_order(
// LLVM:             "llvm.x86.avx512bf16.dpbf16ps.512"
// LLVM:             llvm.fadd
func.func @in_order(%m: memref<16xi32>, %o: memref<16xf32>) {
  %x = loops.load %m[l0] : memref<16xi32> to vector<16xi32>
  %old = loops.load %o[l0] : memref<16xf32> to vector<16xf32>
  %s = packed.dot %x, %x {parts = 2 : i64, floats, using = "vdpbf16ps512"} : vector<16xi32>, vector<16xi32> -> vector<16xf32>
  %t = arith.addf %old, %s : vector<16xf32>
  loops.store %t, %o[l0] : vector<16xf32> to memref<16xf32>
  func.return
}

// The sum that an instruction adds to is an operand of it.
// LLVM-LABEL:  llvm.func {{.*}}@quads(
// LLVM-COUNT-2:  llvm.load %{{.*}} -> vector<8xi32>
// LLVM:          %[[OLD:.*]] = llvm.load %{{.*}} -> vector<8xi32>
// LLVM:          "llvm.x86.avx512.vpdpbusd.256"(%[[OLD]], %{{.*}}, %{{.*}})
// LLVM-NOT:      llvm.add %{{.*}} : vector<8xi32>
func.func @quads(%m: memref<8xi32>, %n: memref<8xi32>, %o: memref<8xi32>) {
  %x = loops.load %m[l0] : memref<8xi32> to vector<8xi32>
  %y = loops.load %n[l0] : memref<8xi32> to vector<8xi32>
  %old = loops.load %o[l0] : memref<8xi32> to vector<8xi32>
  %s = packed.dot %x, %y {parts = 4 : i64, lhs_unsigned, using = "vpdpbusd256"} : vector<8xi32>, vector<8xi32> -> vector<8xi32>
  %t = arith.addi %old, %s : vector<8xi32>
  loops.store %t, %o[l0] : vector<8xi32> to memref<8xi32>
  func.return
}
