// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4},loops-apply-schedules' | filecheck %s

// A second-level cache of 1 MiB would hold blocks of 512 KiB: more than may be copied. Blocks stay below that, whatever
// the cache.
// CHECK-LABEL: @symbolic(
// CHECK:         loops.alloc {on_stack} : memref<2x512x64xf32>
// CHECK:         vector<
func.func private @symbolic(%s0: index, %a: memref<?x?xf32, #loops.dims<s0, s0>>,
                            %b: memref<?x2048xf32, #loops.dims<s0>>, %c: memref<?x2048xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to %s0 parallel {
    loops.for "s0_d1" %j = 0 to 2048 parallel {
      %s = loops.for "s0_d2" %k = 0 to %s0 iter_args(%acc = %z) -> (f32) {
        %x = loops.load %a[%i, %k] : memref<?x?xf32, #loops.dims<s0, s0>> to f32
        %y = loops.load %b[%k, %j] : memref<?x2048xf32, #loops.dims<s0>> to f32
        %p = arith.mulf %x, %y fastmath<contract,reassoc> : f32
        %q = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %q : f32
      }
      loops.store %s, %c[%i, %j] : f32 to memref<?x2048xf32, #loops.dims<s0>>
    }
  }
  func.return
}
