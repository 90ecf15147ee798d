// RUN: aicc-opt %s --convert-loops-to-llvm --split-input-file | filecheck %s

// Whole lines from a whole number of lines on: whether the buffer is aligned is found out once, before the loop. A
// fence orders what is written so with what others do after the kernel.
// CHECK-LABEL: llvm.func @aligned(
// CHECK:         %[[A:.*]] = llvm.ptrtoint %{{.*}} : !llvm.ptr to i64
// CHECK-NEXT:    %[[R:.*]] = llvm.and %[[A]], %{{.*}} : i64
// CHECK-NEXT:    %[[C:.*]] = llvm.icmp "eq" %[[R]], %{{.*}} : i64
// CHECK-NEXT:    llvm.br ^[[LOOP:[^(]*]]
// CHECK:       ^[[LOOP]](
// CHECK:         llvm.cond_br %[[C]], ^[[PAST:.*]], ^[[PLAIN:.*]]
// CHECK:       ^[[PAST]]:
// CHECK-NEXT:    llvm.store %{{.*}}, %{{.*}} {alignment = 64 : i64, nontemporal} : vector<32xf32>, !llvm.ptr
// CHECK-NEXT:    llvm.br ^[[JOIN:.*]]
// CHECK:       ^[[PLAIN]]:
// CHECK-NEXT:    llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<32xf32>, !llvm.ptr
// CHECK-NEXT:    llvm.br ^[[JOIN]]
// CHECK:         llvm.fence seq_cst
// CHECK-NEXT:    llvm.return
func.func @aligned(%v: f32, %m: memref<64x64xf32>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f32 to vector<32xf32>
  loops.for "i" %i = 0 to 64 {
    loops.store %w, %m[%i, l0 + 32] nontemporal : vector<32xf32> to memref<64x64xf32>
  }
  func.return
}

// -----

// Rows of 100 elements begin anywhere: each address is tested.
// CHECK-LABEL: llvm.func @anywhere(
// CHECK:         llvm.getelementptr
// CHECK:         %[[A:.*]] = llvm.ptrtoint
// CHECK:         %[[C:.*]] = llvm.icmp "eq"
// CHECK-NEXT:    llvm.cond_br %[[C]]
// CHECK:         nontemporal
// CHECK:         llvm.fence
func.func @anywhere(%v: f32, %m: memref<64x100xf32>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f32 to vector<32xf32>
  loops.for "i" %i = 0 to 64 {
    loops.store %w, %m[%i, l0] nontemporal : vector<32xf32> to memref<64x100xf32>
  }
  func.return
}

// -----

// Rows a whole number of lines apart share one test; rows that are not have one each.
// CHECK-LABEL: llvm.func @together(
// CHECK:         llvm.cond_br
// CHECK:         llvm.store {{.*}} nontemporal
// CHECK-NEXT:    llvm.store {{.*}} nontemporal
// CHECK-NOT:     llvm.cond_br
// CHECK:         llvm.return
func.func @together(%v: f32, %m: memref<2x64xf32>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f32 to vector<2x16xf32>
  loops.store %w, %m[l0, l1] nontemporal : vector<2x16xf32> to memref<2x64xf32>
  func.return
}

// -----

// CHECK-LABEL: llvm.func @apart(
// CHECK:         llvm.cond_br
// CHECK:         llvm.store {{.*}} nontemporal
// CHECK-NEXT:    llvm.br
// CHECK:         llvm.cond_br
// CHECK:         llvm.store {{.*}} nontemporal
// CHECK-NEXT:    llvm.br
// CHECK:         llvm.return
func.func @apart(%v: f32, %m: memref<2x60xf32>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f32 to vector<2x16xf32>
  loops.store %w, %m[l0, l1] nontemporal : vector<2x16xf32> to memref<2x60xf32>
  func.return
}

// -----

// Parts of lines, masked lanes, lanes apart and single elements are stored as ever, and there is nothing to order.
// CHECK-LABEL: llvm.func @parts(
// CHECK-NOT:     nontemporal
// CHECK-NOT:     llvm.fence
// CHECK:         llvm.return
func.func @parts(%v: f32, %n: index, %m: memref<64x64xf32>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f32 to vector<8xf32>
  %u = loops.broadcast %v : f32 to vector<16xf32>
  loops.store %w, %m[0, l0] nontemporal : vector<8xf32> to memref<64x64xf32>
  loops.store %u, %m[1, l0] lanes %n nontemporal : vector<16xf32> to memref<64x64xf32>
  loops.store %u, %m[l0, 2] nontemporal : vector<16xf32> to memref<64x64xf32>
  loops.store %u, %m[3, %n + l0] inside nontemporal : vector<16xf32> to memref<64x64xf32>
  loops.store %v, %m[4, 0] nontemporal : f32 to memref<64x64xf32>
  func.return
}

// -----

// On several threads each part ends with the fence.
// CHECK-LABEL: llvm.func internal @threads.par0.body(
// CHECK:         nontemporal
// CHECK:         llvm.fence seq_cst
// CHECK-NEXT:    llvm.return
// CHECK-LABEL: llvm.func @threads(
// CHECK-NOT:     llvm.fence
func.func @threads(%v: f32, %m: memref<64x64xf32>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f32 to vector<64xf32>
  loops.for "i" %i = 0 to 64 parallel threads {
    loops.store %w, %m[%i, l0] nontemporal : vector<64xf32> to memref<64x64xf32>
  }
  func.return
}

// -----

// Halves go as integers: LLVM stores none past the caches.
// CHECK-LABEL: llvm.func @halves(
// CHECK:         %[[BITS:.*]] = llvm.bitcast %{{.*}} : vector<32xf16> to vector<32xi16>
// CHECK:         llvm.store %[[BITS]], %{{.*}} {alignment = 64 : i64, nontemporal} : vector<32xi16>, !llvm.ptr
func.func @halves(%v: f16, %m: memref<64xf16>) attributes {aicc.kernel} {
  %w = loops.broadcast %v : f16 to vector<32xf16>
  loops.store %w, %m[l0 + 32] nontemporal : vector<32xf16> to memref<64xf16>
  func.return
}

// -----

// Those that are only moved are integers from the start, in blocks of 8 rows that are transposed.
// CHECK-LABEL: llvm.func @moved(
// CHECK-NOT:     vector<{{.*}}xf16>, !llvm.ptr
// CHECK:         llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK:         llvm.shufflevector %{{.*}}, %{{.*}} : vector<8xi16>
// CHECK:         llvm.store %{{.*}}, %{{.*}} {alignment = 64 : i64, nontemporal} : vector<32xi16>, !llvm.ptr
func.func @moved(%x: memref<32x64xf16>, %m: memref<64x32xf16>) attributes {aicc.kernel} {
  %w = loops.load %x[l1, l0] : memref<32x64xf16> to vector<8x32xf16>
  loops.store %w, %m[l0, l1] nontemporal : vector<8x32xf16> to memref<64x32xf16>
  func.return
}
