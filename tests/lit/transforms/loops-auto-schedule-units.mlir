// RUN: aicc-opt %s -p 'loops-auto-schedule{target=cascadelake}' | filecheck %s --check-prefix=TWO
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=znver4}' | filecheck %s --check-prefix=ONE

// Lanes along the channels save loads and scatter the results; lanes along the pixels, which are five apart, need more
// loads and write rows. Which of them is faster depends on how many multiply-adds there are in a cycle to wait for.
// TWO-LABEL: @pixels(
// TWO:       schedule.tile %{{.*}} {sizes = array<i64: 5, 64>
// ONE-LABEL: @pixels(
// ONE:       schedule.tile %{{.*}} {sizes = array<i64: 8, 16>
func.func private @pixels(%x: memref<16000xf32>, %w: memref<512x10xf32>, %y: memref<512x3199xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.constants = array<i64: 1>} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 512 parallel {
    loops.for "s0_d1" %p = 0 to 3199 parallel {
      %s = loops.for "s0_d2" %k = 0 to 10 iter_args(%a = %z) -> (f32) {
        %u = loops.load %x[%p * 5 + %k] : memref<16000xf32> to f32
        %v = loops.load %w[%c, %k] : memref<512x10xf32> to f32
        %q = arith.mulf %u, %v fastmath<contract,reassoc> : f32
        %r = arith.addf %a, %q fastmath<contract,reassoc> : f32
        loops.yield %r : f32
      }
      loops.store %s, %y[%c, %p] : f32 to memref<512x3199xf32>
    }
  }
  func.return
}
