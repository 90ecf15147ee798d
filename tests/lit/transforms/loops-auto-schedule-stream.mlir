// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s

// The generic target has a last-level cache of 8 MiB.

// 16 MiB in short rows that follow each other: one after the other, as they lie in memory.
// CHECK-LABEL: @short_rows(
// CHECK:       @short_rows_schedule
// CHECK:         schedule.split_reduction {{.*}} {size = 1 : i64
func.func private @short_rows(%x: memref<32x256x512xf32>, %o: memref<32x512xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 32 parallel {
    loops.for "j" %j = 0 to 512 parallel {
      %s = loops.for "k" %k = 0 to 256 iter_args(%a = %z) -> (f32) {
        %v = loops.load %x[%i, %k, %j] : memref<32x256x512xf32> to f32
        %b = arith.addf %a, %v fastmath<reassoc,contract> : f32
        loops.yield %b : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<32x512xf32>
    }
  }
  func.return
}

// In the cache, and with long rows, several rows side by side: results are loaded and stored less often.
// CHECK-LABEL: @in_cache(
// CHECK:       @in_cache_schedule
// CHECK:         schedule.split_reduction {{.*}} {size = 8 : i64
func.func private @in_cache(%x: memref<8x256x512xf32>, %o: memref<8x512xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "j" %j = 0 to 512 parallel {
      %s = loops.for "k" %k = 0 to 256 iter_args(%a = %z) -> (f32) {
        %v = loops.load %x[%i, %k, %j] : memref<8x256x512xf32> to f32
        %b = arith.addf %a, %v fastmath<reassoc,contract> : f32
        loops.yield %b : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<8x512xf32>
    }
  }
  func.return
}

// CHECK-LABEL: @long_rows(
// CHECK:       @long_rows_schedule
// CHECK:         schedule.split_reduction {{.*}} {size = 8 : i64
func.func private @long_rows(%x: memref<4x256x8192xf32>, %o: memref<4x8192xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 4 parallel {
    loops.for "j" %j = 0 to 8192 parallel {
      %s = loops.for "k" %k = 0 to 256 iter_args(%a = %z) -> (f32) {
        %v = loops.load %x[%i, %k, %j] : memref<4x256x8192xf32> to f32
        %b = arith.addf %a, %v fastmath<reassoc,contract> : f32
        loops.yield %b : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<4x8192xf32>
    }
  }
  func.return
}
