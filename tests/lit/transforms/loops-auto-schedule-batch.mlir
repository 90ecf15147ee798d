// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4},loops-apply-schedules' | filecheck %s

// Eight channels fill half of a register, and a batch of unknown size might fill whole ones; but its images lie apart
// in memory, and there may be one only.
// CHECK-LABEL: @channels(
// CHECK-NOT:     packed
// CHECK:         vector<{{[0-9]+}}x8xf32>
func.func private @channels(%s0: index, %x: memref<?x302x8xf32, #loops.dims<s0>>, %w: memref<39x8x8xf32>,
                            %y: memref<?x264x8xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %n = 0 to %s0 parallel {
    loops.for "s0_d1" %p = 0 to 264 parallel {
      loops.for "s0_d2" %c = 0 to 8 parallel {
        %s = loops.for "s0_d3" %d = 0 to 39 iter_args(%a = %z) -> (f32) {
          %t = loops.for "s0_d4" %k = 0 to 8 iter_args(%b = %a) -> (f32) {
            %u = loops.load %x[%n, %p + %d, %k] : memref<?x302x8xf32, #loops.dims<s0>> to f32
            %v = loops.load %w[%d, %k, %c] : memref<39x8x8xf32> to f32
            %q = arith.mulf %u, %v fastmath<contract,reassoc> : f32
            %r = arith.addf %b, %q fastmath<contract,reassoc> : f32
            loops.yield %r : f32
          }
          loops.yield %t : f32
        }
        loops.store %s, %y[%n, %p, %c] : f32 to memref<?x264x8xf32, #loops.dims<s0>>
      }
    }
  }
  func.return
}
