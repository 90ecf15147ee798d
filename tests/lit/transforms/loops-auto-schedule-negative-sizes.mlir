// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4},loops-apply-schedules' 2>&1 | filecheck %s

// The rows are one fewer than a size, which may be 0: what is left over of them is in no blocks, and all is scheduled.
// CHECK-NOT:   warning
// CHECK-LABEL: @windows(
// CHECK:         vector<
func.func private @windows(%s0: index, %0: memref<1x?x?x?xf32, #loops.dims<s0, s0, s0>>, %out: memref<1x?x?x?xf32, #loops.dims<s0, s0-1, floordiv(s0+1,2)>>) attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %1 = loops.size #graph.shape<s0-1>
  %2 = loops.size #graph.shape<floordiv(s0+1,2)>
  %3 = arith.constant 0.000000e+00 : f32
  %4 = arith.constant 3.000000e+00 : f32
  loops.for "s0_d1" %d1 = 0 to %s0 parallel {
    loops.for "s0_d2" %d2 = 0 to %1 parallel {
      loops.for "s0_d3" %d3 = 0 to %2 parallel {
        %5 = loops.for "s0_d4" %d4 = 0 to 2 iter_args(%acc = %3) -> (f32) {
          %6 = loops.load %0[0, %d1, %d2 + %d4, %d3 * 2] : memref<1x?x?x?xf32, #loops.dims<s0, s0, s0>> to f32
          %7 = math.absf %6 : f32
          %8 = math.powf %7, %4 : f32
          %9 = arith.addf %acc, %8 fastmath<reassoc> : f32
          loops.yield %9 : f32
        }
        loops.store %5, %out[0, %d1, %d2, %d3] : f32 to memref<1x?x?x?xf32, #loops.dims<s0, s0-1, floordiv(s0+1,2)>>
      }
    }
  }
  func.return
}
