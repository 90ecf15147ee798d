// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4}' --split-input-file | filecheck %s
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4},loops-apply-schedules' --split-input-file | filecheck %s --check-prefix=DONE

// Rows of 4096 bytes: 16 of them have one place in a cache that holds 8 lines there. Parts are copied first.
// CHECK-LABEL: transform.named_sequence @rows_schedule
// CHECK:         schedule.tile %{{.*}} {{.*}}sizes = array<i64: 64, 64>, why = "parts that are copied"
// CHECK-NEXT:    schedule.stage %{{.*}} {argument = 0 : i64, tiles = array<i64: 0, 0>, order = array<i64: 0, 1>
// CHECK-NEXT:    schedule.tile %{{.*}} {{.*}}sizes = array<i64: 16, 16>
// CHECK-NEXT:    schedule.vectorize

// DONE-LABEL: @rows(
// DONE:         %[[PART:.*]] = loops.alloc {on_stack} : memref<64x64xf32>
// DONE:         loops.store %{{.*}}, %[[PART]][
// DONE:         loops.load %[[PART]][{{.*}}] : memref<64x64xf32> to vector<16x16xf32>
func.func private @rows(%x: memref<128x1024xf32>, %o: memref<1024x128xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 1024 parallel {
    loops.for "s0_d1" %j = 0 to 128 parallel {
      %v = loops.load %x[%j, %i] : memref<128x1024xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<1024x128xf32>
    }
  }
  func.return
}

// -----

// Rows of 2048 bytes have two places, for 16 lines.
// CHECK-LABEL: transform.named_sequence @apart_schedule
// CHECK-NOT:     schedule.stage
// CHECK:         transform.yield
func.func private @apart(%x: memref<128x512xf32>, %o: memref<512x128xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 512 parallel {
    loops.for "s0_d1" %j = 0 to 128 parallel {
      %v = loops.load %x[%j, %i] : memref<128x512xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<512x128xf32>
    }
  }
  func.return
}

// -----

// Parts have as many blocks, up to 4, as leave nothing over.
// CHECK-LABEL: transform.named_sequence @thirds_schedule
// CHECK:         schedule.tile %{{.*}} {{.*}}sizes = array<i64: 64, 48>, why = "parts that are copied"
// CHECK:         schedule.stage
func.func private @thirds(%x: memref<48x3072xf32>, %o: memref<3072x48xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 3072 parallel {
    loops.for "s0_d1" %j = 0 to 48 parallel {
      %v = loops.load %x[%j, %i] : memref<48x3072xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<3072x48xf32>
    }
  }
  func.return
}

// -----

// 40 rows are two blocks and a half: none is copied.
// CHECK-LABEL: transform.named_sequence @left_over_schedule
// CHECK-NOT:     schedule.stage
// CHECK:         transform.yield
func.func private @left_over(%x: memref<40x1024xf32>, %o: memref<1024x40xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 1024 parallel {
    loops.for "s0_d1" %j = 0 to 40 parallel {
      %v = loops.load %x[%j, %i] : memref<40x1024xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<1024x40xf32>
    }
  }
  func.return
}

// -----

// Images of 7x7 become rows of 49 pixels, which have blocks.
// CHECK-LABEL: transform.named_sequence @image_schedule
// CHECK:         schedule.collapse %{{.*}}, %{{.*}} {why = "contiguous together"}
// CHECK:         blocks of 16 x 16 are transposed in registers
func.func private @image(%x: memref<7x7x240xf32>, %o: memref<240x7x7xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %c = 0 to 240 parallel {
    loops.for "s0_d1" %i = 0 to 7 parallel {
      loops.for "s0_d2" %j = 0 to 7 parallel {
        %v = loops.load %x[%i, %j, %c] : memref<7x7x240xf32> to f32
        loops.store %v, %o[%c, %i, %j] : f32 to memref<240x7x7xf32>
      }
    }
  }
  func.return
}

// -----

// Rows of 56 pixels are long enough.
// CHECK-LABEL: transform.named_sequence @wide_schedule
// CHECK-NOT:     schedule.collapse
// CHECK:         blocks of 16 x 16 are transposed in registers
func.func private @wide(%x: memref<56x56x240xf32>, %o: memref<240x56x56xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %c = 0 to 240 parallel {
    loops.for "s0_d1" %i = 0 to 56 parallel {
      loops.for "s0_d2" %j = 0 to 56 parallel {
        %v = loops.load %x[%i, %j, %c] : memref<56x56x240xf32> to f32
        loops.store %v, %o[%c, %i, %j] : f32 to memref<240x56x56xf32>
      }
    }
  }
  func.return
}

// -----

// With space around the image, its rows do not follow each other.
// CHECK-LABEL: transform.named_sequence @framed_schedule
// CHECK-NOT:     schedule.collapse
// CHECK:         transform.yield
func.func private @framed(%x: memref<7x7x240xf32>, %o: memref<240x9x9xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %c = 0 to 240 parallel {
    loops.for "s0_d1" %i = 0 to 7 parallel {
      loops.for "s0_d2" %j = 0 to 7 parallel {
        %v = loops.load %x[%i, %j, %c] : memref<7x7x240xf32> to f32
        loops.store %v, %o[%c, %i + 1, %j + 1] : f32 to memref<240x9x9xf32>
      }
    }
  }
  func.return
}
