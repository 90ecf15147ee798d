// RUN: aicc-opt %s -p 'loops-read-ahead{kernel=k argument=0 elements=16},loops-read-ahead{kernel=rows argument=0 elements=48}' | filecheck %s

// Loads of the last sweep over the buffer, through views of it too, and no others.
// CHECK-LABEL: @k(
// CHECK:         loops.for "a"
// CHECK:           loops.load %w[%i, %{{.*}}] : memref<8x16xf32> to f32
// CHECK:         loops.for "b"
// CHECK-NEXT:      loops.prefetch %w[%i, %{{.*}} + 16] locality 2 : memref<8x16xf32>
// CHECK-NEXT:      loops.load %w[%i, %{{.*}}] : memref<8x16xf32> to f32
// CHECK-NEXT:      loops.load %y[%i] : memref<8xf32> to f32
// CHECK:         loops.for "c"
// CHECK-NOT:       loops.prefetch
// CHECK:         func.return
func.func private @k(%x: memref<128xf32>, %y: memref<8xf32>, %o: memref<8x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %w = loops.view %x : memref<128xf32> to memref<8x16xf32>
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    %s = loops.for "a" %j = 0 to 16 iter_args(%a = %z) -> (f32) {
      %v = loops.load %w[%i, %j] : memref<8x16xf32> to f32
      %b = arith.addf %a, %v : f32
      loops.yield %b : f32
    }
    loops.for "b" %j = 0 to 16 parallel {
      %v = loops.load %w[%i, %j] : memref<8x16xf32> to f32
      %u = loops.load %y[%i] : memref<8xf32> to f32
      %p = arith.mulf %v, %u : f32
      loops.store %p, %o[%i, %j] : f32 to memref<8x16xf32>
    }
    loops.for "c" %j = 0 to 16 parallel {
      %v = loops.load %o[%i, %j] : memref<8x16xf32> to f32
      %p = arith.mulf %v, %s : f32
      loops.store %p, %o[%i, %j] : f32 to memref<8x16xf32>
    }
  }
  func.return
}

// Of vectors, each line of each row: 16 numbers of four bytes.
// CHECK-LABEL: @rows(
// CHECK:         loops.for "j"
// CHECK-NEXT:      loops.prefetch %x[%j, 64] locality 2 : memref<8x48xf32>
// CHECK-NEXT:      loops.prefetch %x[%j, 80] locality 2 : memref<8x48xf32>
// CHECK-NEXT:      loops.prefetch %x[%j + 1, 64] locality 2 : memref<8x48xf32>
// CHECK-NEXT:      loops.prefetch %x[%j + 1, 80] locality 2 : memref<8x48xf32>
// CHECK-NEXT:      loops.load %x[%j + l0, l1 + 16] : memref<8x48xf32> to vector<2x32xf32>
func.func private @rows(%x: memref<8x48xf32>, %o: memref<8x48xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "j" %j = 0 to 7 parallel {
    %v = loops.load %x[%j + l0, l1 + 16] : memref<8x48xf32> to vector<2x32xf32>
    loops.store %v, %o[%j + l0, l1 + 16] : vector<2x32xf32> to memref<8x48xf32>
  }
  func.return
}
