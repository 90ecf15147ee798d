// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s

// Two nests write a part of each row: short rows are written in sequence, whole, and shared out whole.
// CHECK-LABEL: transform.named_sequence @short_rows_schedule
// CHECK:         schedule.fuse %s0_d0, %s1_d0 {why = "rows stay in cache"}
// CHECK-NOT:     schedule.fuse
// CHECK:         schedule.parallelize %s0_d0
// CHECK-NOT:     schedule.parallelize
// CHECK:       }
func.func private @short_rows(%x: memref<6000x40xf32>, %y: memref<6000x24xf32>, %o: memref<6000x64xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 6000 parallel {
    loops.for "s0_d1" %j = 0 to 40 parallel {
      %v = loops.load %x[%i, %j] : memref<6000x40xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<6000x64xf32>
    }
  }
  loops.for "s1_d0" %i = 0 to 6000 parallel {
    loops.for "s1_d1" %j = 0 to 24 parallel {
      %v = loops.load %y[%i, %j] : memref<6000x24xf32> to f32
      loops.store %v, %o[%i, %j + 40] : f32 to memref<6000x64xf32>
    }
  }
  func.return
}

// Parts of many lines of cache gain nothing by it.
// CHECK-LABEL: transform.named_sequence @long_rows_schedule
// CHECK-NOT:     schedule.fuse
// CHECK:       }
func.func private @long_rows(%x: memref<8x40000xf32>, %y: memref<8x24000xf32>, %o: memref<8x64000xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 8 parallel {
    loops.for "s0_d1" %j = 0 to 40000 parallel {
      %v = loops.load %x[%i, %j] : memref<8x40000xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x64000xf32>
    }
  }
  loops.for "s1_d0" %i = 0 to 8 parallel {
    loops.for "s1_d1" %j = 0 to 24000 parallel {
      %v = loops.load %y[%i, %j] : memref<8x24000xf32> to f32
      loops.store %v, %o[%i, %j + 40000] : f32 to memref<8x64000xf32>
    }
  }
  func.return
}

// Nests that write different buffers have nothing in common.
// CHECK-LABEL: transform.named_sequence @unrelated_schedule
// CHECK-NOT:     schedule.fuse
// CHECK:       }
func.func private @unrelated(%x: memref<600x40xf32>, %y: memref<600x24xf32>, %o: memref<600x40xf32>, %p: memref<600x24xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  loops.for "s0_d0" %i = 0 to 600 parallel {
    loops.for "s0_d1" %j = 0 to 40 parallel {
      %v = loops.load %x[%i, %j] : memref<600x40xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<600x40xf32>
    }
  }
  loops.for "s1_d0" %i = 0 to 600 parallel {
    loops.for "s1_d1" %j = 0 to 24 parallel {
      %v = loops.load %y[%i, %j] : memref<600x24xf32> to f32
      loops.store %v, %p[%i, %j] : f32 to memref<600x24xf32>
    }
  }
  func.return
}

// The lanes left over of a row (20 = 2 x 8 + 4) read the lines that the full ones have just read.
// CHECK-LABEL: transform.named_sequence @lanes_left_over_schedule
// CHECK:         schedule.fuse %{{.*}}, %{{.*}} {why = "tiles left over use what is in cache"}
// CHECK:         schedule.parallelize
func.func private @lanes_left_over(%x: memref<512x23x22xf32>, %o: memref<512x21x20xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %low = arith.constant 0xff800000 : f32
  loops.for "s0_d0" %c = 0 to 512 parallel {
    loops.for "s0_d1" %i = 0 to 21 parallel {
      loops.for "s0_d2" %j = 0 to 20 parallel {
        %r = loops.for "s0_d3" %k = 0 to 3 iter_args(%a = %low) -> (f32) {
          %s = loops.for "s0_d4" %l = 0 to 3 iter_args(%b = %a) -> (f32) {
            %v = loops.load %x[%c, %i + %k, %j + %l] : memref<512x23x22xf32> to f32
            %m = arith.maximumf %b, %v fastmath<reassoc> : f32
            loops.yield %m : f32
          }
          loops.yield %s : f32
        }
        loops.store %r, %o[%c, %i, %j] : f32 to memref<512x21x20xf32>
      }
    }
  }
  func.return
}
