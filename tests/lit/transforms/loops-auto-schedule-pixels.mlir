// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic},loops-apply-schedules' | filecheck %s --check-prefix=DONE

// Tiles of 5 + 2 pixels in each of 7 rows would waste what 9 tiles of 5 and one of 4 in all 49 pixels use.
// CHECK-LABEL: transform.named_sequence @small_image_schedule
// CHECK:         schedule.collapse %{{.*}}, %{{.*}} {why = "tiles go on in the next row"}
// CHECK:         schedule.tile %{{.*}}, %{{.*}} {sizes = array<i64: 5, 16>

// DONE-LABEL: @small_image(
// DONE:         loops.load %{{.*}}[0, %[[H:.*]] + (%[[P:.*]] * 5 + l0) floordiv 7, %[[W:.*]] + (%[[P]] * 5 + l0) mod 7, %{{.*}}] : memref<1x9x9x64xf32> to vector<5x1xf32>
func.func private @small_image(%x: memref<1x9x9x64xf32>, %w: memref<32x64x3x3xf32>, %o: memref<1x7x7x32xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d1" %i = 0 to 7 parallel {
    loops.for "s0_d2" %j = 0 to 7 parallel {
      loops.for "s0_d3" %c = 0 to 32 parallel {
        %s = loops.for "s0_d4" %h = 0 to 3 iter_args(%a0 = %z) -> (f32) {
          %t = loops.for "s0_d5" %v = 0 to 3 iter_args(%a1 = %a0) -> (f32) {
            %u = loops.for "s0_d6" %k = 0 to 64 iter_args(%a2 = %a1) -> (f32) {
              %p = loops.load %x[0, %i + %h, %j + %v, %k] : memref<1x9x9x64xf32> to f32
              %q = loops.load %w[%c, %k, %h, %v] : memref<32x64x3x3xf32> to f32
              %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
              %n = arith.addf %a2, %m fastmath<contract,reassoc> : f32
              loops.yield %n : f32
            }
            loops.yield %u : f32
          }
          loops.yield %t : f32
        }
        loops.store %s, %o[0, %i, %j, %c] : f32 to memref<1x7x7x32xf32>
      }
    }
  }
  func.return
}

// Rows of 12 pixels are two full tiles: nothing to gain.
// CHECK-LABEL: transform.named_sequence @full_tiles_schedule
// CHECK-NOT:     schedule.collapse
// CHECK:         transform.yield
func.func private @full_tiles(%x: memref<1x14x14x64xf32>, %w: memref<32x64x3x3xf32>, %o: memref<1x12x12x32xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d1" %i = 0 to 12 parallel {
    loops.for "s0_d2" %j = 0 to 12 parallel {
      loops.for "s0_d3" %c = 0 to 32 parallel {
        %s = loops.for "s0_d4" %h = 0 to 3 iter_args(%a0 = %z) -> (f32) {
          %t = loops.for "s0_d5" %v = 0 to 3 iter_args(%a1 = %a0) -> (f32) {
            %u = loops.for "s0_d6" %k = 0 to 64 iter_args(%a2 = %a1) -> (f32) {
              %p = loops.load %x[0, %i + %h, %j + %v, %k] : memref<1x14x14x64xf32> to f32
              %q = loops.load %w[%c, %k, %h, %v] : memref<32x64x3x3xf32> to f32
              %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
              %n = arith.addf %a2, %m fastmath<contract,reassoc> : f32
              loops.yield %n : f32
            }
            loops.yield %u : f32
          }
          loops.yield %t : f32
        }
        loops.store %s, %o[0, %i, %j, %c] : f32 to memref<1x12x12x32xf32>
      }
    }
  }
  func.return
}

// Four steps of reduction are too few to hide the divisions that find each pixel's address.
// CHECK-LABEL: transform.named_sequence @short_reduction_schedule
// CHECK-NOT:     "tiles go on in the next row"
// CHECK:         transform.yield
func.func private @short_reduction(%x: memref<1x14x14x4xf32>, %w: memref<32x4xf32>, %o: memref<1x7x7x32xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d1" %i = 0 to 7 parallel {
    loops.for "s0_d2" %j = 0 to 7 parallel {
      loops.for "s0_d3" %c = 0 to 32 parallel {
        %s = loops.for "s0_d4" %k = 0 to 4 iter_args(%acc = %z) -> (f32) {
          %p = loops.load %x[0, 2 * %i, 2 * %j, %k] : memref<1x14x14x4xf32> to f32
          %q = loops.load %w[%c, %k] : memref<32x4xf32> to f32
          %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
          %n = arith.addf %acc, %m fastmath<contract,reassoc> : f32
          loops.yield %n : f32
        }
        loops.store %s, %o[0, %i, %j, %c] : f32 to memref<1x7x7x32xf32>
      }
    }
  }
  func.return
}

// Each panel of weights is read from memory once: the pixels left over come right after the full tiles that use it.
// CHECK-LABEL: transform.named_sequence @rest_schedule
// CHECK:         schedule.fuse %{{.*}}, %{{.*}} {why = "tiles left over use what is in cache"}
// CHECK:         schedule.parallelize
// CHECK-NEXT:    transform.yield
func.func private @rest(%x: memref<1x9x9x64xf32>, %w: memref<512x64x3x3xf32>, %o: memref<1x7x7x512xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d1" %i = 0 to 7 parallel {
    loops.for "s0_d2" %j = 0 to 7 parallel {
      loops.for "s0_d3" %c = 0 to 512 parallel {
        %s = loops.for "s0_d4" %h = 0 to 3 iter_args(%a0 = %z) -> (f32) {
          %t = loops.for "s0_d5" %v = 0 to 3 iter_args(%a1 = %a0) -> (f32) {
            %u = loops.for "s0_d6" %k = 0 to 64 iter_args(%a2 = %a1) -> (f32) {
              %p = loops.load %x[0, %i + %h, %j + %v, %k] : memref<1x9x9x64xf32> to f32
              %q = loops.load %w[%c, %k, %h, %v] : memref<512x64x3x3xf32> to f32
              %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
              %n = arith.addf %a2, %m fastmath<contract,reassoc> : f32
              loops.yield %n : f32
            }
            loops.yield %u : f32
          }
          loops.yield %t : f32
        }
        loops.store %s, %o[0, %i, %j, %c] : f32 to memref<1x7x7x512xf32>
      }
    }
  }
  func.return
}
