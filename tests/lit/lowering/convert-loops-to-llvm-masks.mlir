// RUN: aicc-opt %s -p convert-loops-to-llvm | filecheck %s --check-prefix=ANY
// RUN: aicc-opt %s -p 'convert-loops-to-llvm{target=x86-64-v3}' | filecheck %s --check-prefix=ANY
// RUN: aicc-opt %s -p 'convert-loops-to-llvm{target=x86-64-v4}' | filecheck %s --check-prefix=WIDE

// A masked load is one register wide where the machine has masks, and cut into parts of 32 bytes on all others.
// ANY-LABEL:   llvm.func @padded(
// ANY:           llvm.intr.masked.load{{.*}} vector<8xi1>, vector<8xf32>) -> vector<8xf32>
// ANY:           llvm.intr.masked.load{{.*}} vector<8xi1>, vector<8xf32>) -> vector<8xf32>
// WIDE-LABEL:  llvm.func @padded(
// WIDE:          llvm.intr.masked.load{{.*}} vector<16xi1>, vector<16xf32>) -> vector<16xf32>
// WIDE-NOT:      masked.load
func.func @padded(%x: memref<14xf32>, %o: memref<16xf32>) {
  %v = loops.load %x[l0 - 1] fill 0.0 : f32 : memref<14xf32> to vector<16xf32>
  loops.store %v, %o[l0] : vector<16xf32> to memref<16xf32>
  func.return
}
