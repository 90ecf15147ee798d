// RUN: aicc-opt %s -p 'loops-prefetch{around=j within=i argument=0}' | filecheck %s
// RUN: aicc-opt %s -p 'loops-prefetch{around=j within=i argument=0},loops-simplify,dce' | filecheck %s --check-prefix=KEPT

// 8 rows of 32 elements, 16 lines of 64 bytes, for the next `j`: 4 lines, two rows, in each of 4 iterations.
// CHECK-LABEL: @rows(
// CHECK:         loops.for "j" %j = 0 to 4
// CHECK-NEXT:      loops.for "i" %i = 0 to 4
// CHECK-NEXT:        loops.prefetch %x[%j * 8 + 8 + %i * 2, 0] locality 2 : memref<32x32xf32>
// CHECK-NEXT:        loops.prefetch %x[%j * 8 + 8 + %i * 2, 16] locality 2 : memref<32x32xf32>
// CHECK-NEXT:        loops.prefetch %x[%j * 8 + 8 + (%i * 2 + 1), 0] locality 2 : memref<32x32xf32>
// CHECK-NEXT:        loops.prefetch %x[%j * 8 + 8 + (%i * 2 + 1), 16] locality 2 : memref<32x32xf32>
// CHECK-NEXT:        loops.for "c"

// KEPT-LABEL: @rows(
// KEPT-COUNT-4:    loops.prefetch
func.func private @rows(%x: memref<32x32xf32>, %o: memref<32x32xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "j" %j = 0 to 4 parallel {
    loops.for "i" %i = 0 to 4 parallel {
      loops.for "c" %c = 0 to 8 parallel {
        loops.for "r" %r = 0 to 8 parallel {
          %v = loops.load %x[%j * 8 + %r, %i * 8 + %c] : memref<32x32xf32> to f32
          loops.store %v, %o[%i * 8 + %c, %j * 8 + %r] : f32 to memref<32x32xf32>
        }
      }
    }
  }
  func.return
}

// After the last of 2 pieces of a row comes the first one of the next rows. Lanes of vectors are read too. One line in
// each of 8 iterations.
// CHECK-LABEL: @pieces(
// CHECK:         loops.for "i" %i = 0 to 8 parallel {
// CHECK-NEXT:      loops.prefetch %x[%k * 4 + (%j + 1) floordiv 2 * 4 + %i floordiv 2, (%j + 1) mod 2 * 32 + %i mod 2 * 16] locality 2 : memref<32x64xf32>
// CHECK-NEXT:      loops.for "r"
func.func private @pieces(%x: memref<32x64xf32>, %o: memref<64x32xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "k" %k = 0 to 8 parallel {
    loops.for "j" %j = 0 to 2 parallel {
      loops.for "i" %i = 0 to 8 parallel {
        loops.for "r" %r = 0 to 4 parallel {
          %v = loops.load %x[%k * 4 + %r, %j * 32 + %i * 4 + l0] : memref<32x64xf32> to vector<4xf32>
          loops.store %v, %o[%j * 32 + %i * 4 + l0, %k * 4 + %r] : vector<4xf32> to memref<64x32xf32>
        }
      }
    }
  }
  func.return
}
