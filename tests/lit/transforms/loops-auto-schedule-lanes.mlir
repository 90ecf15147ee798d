// RUN: aicc-opt %s -p 'loops-auto-schedule{target=znver4}' | filecheck %s

// 49 pixels fill a register of 16 lanes only three times: lanes along the channels, although the results are written
// across rows, as those of seven pixels are transposed in registers.
// CHECK-LABEL: @channels(
// CHECK:       transform.named_sequence @channels_schedule
// CHECK:       %[[D0:.*]] = schedule.loop %kernel {label = "s0_d0"}
// CHECK:       %[[D1:.*]] = schedule.loop %kernel {label = "s0_d1"}
// CHECK:       %[[P:.*]], %[[C:.*]] = schedule.interchange %[[D0]], %[[D1]] {order = array<i64: 1, 0>}
// CHECK:       schedule.tile %[[P]], %[[C]] {sizes = array<i64: 7, 32>
func.func private @channels(%x: memref<192x49xf32>, %w: memref<1152x192xf32>, %y: memref<1152x49xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 1152 parallel {
    loops.for "s0_d1" %p = 0 to 49 parallel {
      %s = loops.for "s0_d2" %k = 0 to 192 iter_args(%a = %z) -> (f32) {
        %u = loops.load %x[%k, %p] : memref<192x49xf32> to f32
        %v = loops.load %w[%c, %k] : memref<1152x192xf32> to f32
        %q = arith.mulf %u, %v fastmath<contract,reassoc> : f32
        %r = arith.addf %a, %q fastmath<contract,reassoc> : f32
        loops.yield %r : f32
      }
      loops.store %s, %y[%c, %p] : f32 to memref<1152x49xf32>
    }
  }
  func.return
}

// 64 of them fill four: lanes along the pixels, whose results are written as they are.
// CHECK-LABEL: @pixels(
// CHECK:       transform.named_sequence @pixels_schedule
// CHECK:       %[[D0:.*]] = schedule.loop %kernel {label = "s0_d0"}
// CHECK:       %[[D1:.*]] = schedule.loop %kernel {label = "s0_d1"}
// CHECK-NOT:   schedule.interchange %[[D0]], %[[D1]]
// CHECK:       schedule.tile %[[D0]], %[[D1]] {sizes = array<i64: 8, 32>
func.func private @pixels(%x: memref<192x64xf32>, %w: memref<1152x192xf32>, %y: memref<1152x64xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 1152 parallel {
    loops.for "s0_d1" %p = 0 to 64 parallel {
      %s = loops.for "s0_d2" %k = 0 to 192 iter_args(%a = %z) -> (f32) {
        %u = loops.load %x[%k, %p] : memref<192x64xf32> to f32
        %v = loops.load %w[%c, %k] : memref<1152x192xf32> to f32
        %q = arith.mulf %u, %v fastmath<contract,reassoc> : f32
        %r = arith.addf %a, %q fastmath<contract,reassoc> : f32
        loops.yield %r : f32
      }
      loops.store %s, %y[%c, %p] : f32 to memref<1152x64xf32>
    }
  }
  func.return
}

func.func @main(%x: memref<192x49xf32>, %v: memref<192x64xf32>, %y: memref<1152x49xf32>, %z: memref<1152x64xf32>)
    attributes {aicc.num_outputs = 2 : i64} {
  %w = loops.constant dense<1.0> : tensor<1152x192xf32> : memref<1152x192xf32>
  loops.call @channels(%x, %w, %y) : memref<192x49xf32>, memref<1152x192xf32>, memref<1152x49xf32>
  loops.call @pixels(%v, %w, %z) : memref<192x64xf32>, memref<1152x192xf32>, memref<1152x64xf32>
  func.return
}
