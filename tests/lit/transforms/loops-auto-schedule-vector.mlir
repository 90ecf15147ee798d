// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v3}' --split-input-file | filecheck %s

// A vector times a matrix larger than the near caches: rows of memory side by side, each thread its part of them.
// CHECK-LABEL: transform.named_sequence @vecmat_schedule
// CHECK:       schedule.tile %s0_d0 {{.*}}a part of each row per thread
// CHECK:       schedule.split_reduction {{.*}}8 rows of memory side by side
// CHECK:       schedule.parallelize %{{.*}} {within}
// CHECK:       schedule.tile %{{.*}} {sizes = array<i64: 16>, why = "2 registers of 8 lanes"}
func.func private @vecmat(%x: memref<2048xf32>, %w: memref<2048x8192xf32>, %o: memref<8192xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %j = 0 to 8192 parallel {
    %s = loops.for "s0_d1" %k = 0 to 2048 iter_args(%a = %zero) -> (f32) {
      %v = loops.load %x[%k] : memref<2048xf32> to f32
      %u = loops.load %w[%k, %j] : memref<2048x8192xf32> to f32
      %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
      %t = arith.addf %a, %p fastmath<contract,reassoc> : f32
      loops.yield %t : f32
    }
    loops.store %s, %o[%j] : f32 to memref<8192xf32>
  }
  func.return
}

// -----

// Rows that are no power of two of bytes apart have places of their own in the cache: more of them are read at once.
// CHECK-LABEL: transform.named_sequence @apart_schedule
// CHECK:       schedule.split_reduction {{.*}}16 rows of memory side by side
func.func private @apart(%x: memref<2048xf32>, %w: memref<2048x1000xf32>, %o: memref<1000xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %j = 0 to 1000 parallel {
    %s = loops.for "s0_d1" %k = 0 to 2048 iter_args(%a = %zero) -> (f32) {
      %v = loops.load %x[%k] : memref<2048xf32> to f32
      %u = loops.load %w[%k, %j] : memref<2048x1000xf32> to f32
      %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
      %t = arith.addf %a, %p fastmath<contract,reassoc> : f32
      loops.yield %t : f32
    }
    loops.store %s, %o[%j] : f32 to memref<1000xf32>
  }
  func.return
}

// -----

// Parts of short rows would be read from their start too often: one thread reads them whole.
// CHECK-LABEL: transform.named_sequence @short_schedule
// CHECK-NOT:   schedule.parallelize
// CHECK:       schedule.split_reduction {{.*}}8 rows of memory side by side
// CHECK-NOT:   schedule.parallelize
// CHECK:       transform.yield
func.func private @short(%x: memref<4096xf32>, %w: memref<4096x512xf32>, %o: memref<512xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %j = 0 to 512 parallel {
    %s = loops.for "s0_d1" %k = 0 to 4096 iter_args(%a = %zero) -> (f32) {
      %v = loops.load %x[%k] : memref<4096xf32> to f32
      %u = loops.load %w[%k, %j] : memref<4096x512xf32> to f32
      %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
      %t = arith.addf %a, %p fastmath<contract,reassoc> : f32
      loops.yield %t : f32
    }
    loops.store %s, %o[%j] : f32 to memref<512xf32>
  }
  func.return
}

// -----

// Eight rows of results read the matrix often enough to keep their sums in registers.
// CHECK-LABEL: transform.named_sequence @more_rows_schedule
// CHECK-NOT:   rows of memory side by side
// CHECK:       transform.yield
func.func private @more_rows(%x: memref<8x2048xf32>, %w: memref<2048x4096xf32>, %o: memref<8x4096xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 8 parallel {
    loops.for "s0_d1" %j = 0 to 4096 parallel {
      %s = loops.for "s0_d2" %k = 0 to 2048 iter_args(%a = %zero) -> (f32) {
        %v = loops.load %x[%i, %k] : memref<8x2048xf32> to f32
        %u = loops.load %w[%k, %j] : memref<2048x4096xf32> to f32
        %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
        %t = arith.addf %a, %p fastmath<contract,reassoc> : f32
        loops.yield %t : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<8x4096xf32>
    }
  }
  func.return
}
