// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4}' --split-input-file | filecheck %s

// Rows of pixels, each channel by itself: the taps along which rows share what they read are innermost and unrolled,
// lanes that lie two apart are as good as neighbours, and threads share the channels.
// CHECK-LABEL: transform.named_sequence @stride_two_schedule
// CHECK-DAG:   %[[H:.*]] = schedule.loop %kernel {label = "s0_d3"}
// CHECK-DAG:   %[[W:.*]] = schedule.loop %kernel {label = "s0_d4"}
// CHECK:       schedule.interchange %[[H]], %[[W]] {order = array<i64: 1, 0>
// CHECK:       schedule.tile {{.*}} rows x {{[12]}} vectors of 16 lanes in registers"}
// CHECK:       %[[T:.*]] = schedule.loop %kernel {label = "s0_d3"}
// CHECK-NEXT:  schedule.unroll %[[T]] {factor = 5 : i64, why = "rows share what is loaded"}
// CHECK:       schedule.parallelize
func.func private @stride_two(
  %x: memref<96x67x67xf32>, %w: memref<96x5x5xf32>, %o: memref<96x32x32xf32>
) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 96 parallel {
    loops.for "s0_d1" %i = 0 to 32 parallel {
      loops.for "s0_d2" %j = 0 to 32 parallel {
        %s = loops.for "s0_d3" %k = 0 to 5 iter_args(%a = %zero) -> (f32) {
          %r = loops.for "s0_d4" %l = 0 to 5 iter_args(%b = %a) -> (f32) {
            %v = loops.load %x[%c, %i * 2 + %k, %j * 2 + %l] : memref<96x67x67xf32> to f32
            %u = loops.load %w[%c, %k, %l] : memref<96x5x5xf32> to f32
            %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
            %t = arith.addf %b, %p fastmath<contract,reassoc> : f32
            loops.yield %t : f32
          }
          loops.yield %r : f32
        }
        loops.store %s, %o[%c, %i, %j] : f32 to memref<96x32x32xf32>
      }
    }
  }
  func.return
}

// -----

// Nothing is shared along rows that read apart from each other, by guarded accesses, or by sums whose order counts.
// CHECK-LABEL: transform.named_sequence @apart_schedule
// CHECK-NOT:   rows share what is loaded
func.func private @apart(
  %x: memref<96x160x36xf32>, %w: memref<96x5x5xf32>, %o: memref<96x32x32xf32>
) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 96 parallel {
    loops.for "s0_d1" %i = 0 to 32 parallel {
      loops.for "s0_d2" %j = 0 to 32 parallel {
        %s = loops.for "s0_d3" %k = 0 to 5 iter_args(%a = %zero) -> (f32) {
          %r = loops.for "s0_d4" %l = 0 to 5 iter_args(%b = %a) -> (f32) {
            %v = loops.load %x[%c, %i * 5 + %k, %j + %l] : memref<96x160x36xf32> to f32
            %u = loops.load %w[%c, %k, %l] : memref<96x5x5xf32> to f32
            %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
            %t = arith.addf %b, %p fastmath<contract,reassoc> : f32
            loops.yield %t : f32
          }
          loops.yield %r : f32
        }
        loops.store %s, %o[%c, %i, %j] : f32 to memref<96x32x32xf32>
      }
    }
  }
  func.return
}

// -----

// CHECK-LABEL: transform.named_sequence @guarded_schedule
// CHECK-NOT:   rows share what is loaded
func.func private @guarded(%x: memref<96x32x32xf32>, %o: memref<96x32x32xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %low = arith.constant 0xff800000 : f32
  loops.for "s0_d0" %c = 0 to 96 parallel {
    loops.for "s0_d1" %i = 0 to 32 parallel {
      loops.for "s0_d2" %j = 0 to 32 parallel {
        %s = loops.for "s0_d3" %k = 0 to 3 iter_args(%a = %low) -> (f32) {
          %r = loops.for "s0_d4" %l = 0 to 3 iter_args(%b = %a) -> (f32) {
            %v = loops.load %x[%c, %i + %k - 1, %j + %l - 1] fill 0xff800000 : f32 : memref<96x32x32xf32> to f32
            %t = arith.maximumf %b, %v fastmath<reassoc> : f32
            loops.yield %t : f32
          }
          loops.yield %r : f32
        }
        loops.store %s, %o[%c, %i, %j] : f32 to memref<96x32x32xf32>
      }
    }
  }
  func.return
}

// -----

// CHECK-LABEL: transform.named_sequence @ordered_schedule
// CHECK-NOT:   rows share what is loaded
func.func private @ordered(
  %x: memref<96x36x36xf32>, %w: memref<96x5x5xf32>, %o: memref<96x32x32xf32>
) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 96 parallel {
    loops.for "s0_d1" %i = 0 to 32 parallel {
      loops.for "s0_d2" %j = 0 to 32 parallel {
        %s = loops.for "s0_d3" %k = 0 to 5 iter_args(%a = %zero) -> (f32) {
          %r = loops.for "s0_d4" %l = 0 to 5 iter_args(%b = %a) -> (f32) {
            %v = loops.load %x[%c, %i + %k, %j + %l] : memref<96x36x36xf32> to f32
            %u = loops.load %w[%c, %k, %l] : memref<96x5x5xf32> to f32
            %p = arith.mulf %v, %u : f32
            %t = arith.addf %b, %p : f32
            loops.yield %t : f32
          }
          loops.yield %r : f32
        }
        loops.store %s, %o[%c, %i, %j] : f32 to memref<96x32x32xf32>
      }
    }
  }
  func.return
}
