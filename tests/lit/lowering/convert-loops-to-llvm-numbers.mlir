// RUN: aicc-opt %s -p convert-loops-to-llvm | filecheck %s

// What starts as a number and takes in maxima stays one: a comparison, whichever operand is NaN, chooses it.
// CHECK-LABEL: llvm.func {{.*}}@accumulated(
// CHECK-NOT:     llvm.intr.maxnum
// CHECK:         llvm.fcmp "ogt"
// CHECK-NEXT:    llvm.select
// CHECK-NOT:     llvm.intr.maxnum
// CHECK:         llvm.intr.vector.reduce.fmax({{.*}}) {fastmathFlags = #llvm.fastmath<nnan,nsz>}
func.func private @accumulated(%x: memref<64xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0xff800000 : f32
  %i = loops.broadcast %z : f32 to vector<8xf32>
  %m = loops.for "k" %k = 0 to 8 iter_args(%a = %i) -> (vector<8xf32>) {
    %v = loops.load %x[%k * 8 + l0] : memref<64xf32> to vector<8xf32>
    %b = arith.maxnumf %a, %v : vector<8xf32>
    loops.yield %b : vector<8xf32>
  }
  %r = loops.reduce "maxnumf" %m axes [0] : vector<8xf32> to f32
  loops.store %r, %o[0] : f32 to memref<1xf32>
  func.return
}

// It may start as NaN here.
// CHECK-LABEL: llvm.func {{.*}}@unknown_start(
// CHECK:         llvm.intr.maxnum
// CHECK:         llvm.intr.vector.reduce.fmax({{.*}}) {fastmathFlags = #llvm.fastmath<nsz>}
func.func private @unknown_start(%x: memref<64xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %i = loops.load %x[l0] : memref<64xf32> to vector<8xf32>
  %m = loops.for "k" %k = 1 to 8 iter_args(%a = %i) -> (vector<8xf32>) {
    %v = loops.load %x[%k * 8 + l0] : memref<64xf32> to vector<8xf32>
    %b = arith.maxnumf %a, %v : vector<8xf32>
    loops.yield %b : vector<8xf32>
  }
  %r = loops.reduce "maxnumf" %m axes [0] : vector<8xf32> to f32
  loops.store %r, %o[0] : f32 to memref<1xf32>
  func.return
}

// And here it may become NaN.
// CHECK-LABEL: llvm.func {{.*}}@replaced(
// CHECK:         llvm.intr.maxnum
func.func private @replaced(%x: memref<64xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %m = loops.for "k" %k = 1 to 8 iter_args(%a = %z) -> (f32) {
    %v = loops.load %x[%k * 8] : memref<64xf32> to f32
    %w = loops.load %x[%k] : memref<64xf32> to f32
    %b = arith.maxnumf %a, %v : f32
    %c = arith.mulf %b, %w : f32
    loops.yield %c : f32
  }
  loops.store %m, %o[0] : f32 to memref<1xf32>
  func.return
}
