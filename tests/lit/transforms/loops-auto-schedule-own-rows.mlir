// RUN: aicc-opt %s --verify-diagnostics -p 'loops-auto-schedule{target=x86-64-v3},loops-apply-schedules' | filecheck %s

// Fused rows keep the maximum, which only they read, in an element of their own. All rows use that one element, so rows
// are no lanes: lanes go along the reductions.
// CHECK-LABEL: @rows
// CHECK:         loops.for "s0_d0"
// CHECK-NEXT:      %[[M:.*]] = loops.alloc : memref<1xf32>
// CHECK:           loops.reduce "maximumf"
// CHECK:           loops.store %{{.*}}, %[[M]][0]
// CHECK:           loops.reduce "add"
func.func private @rows(%x: memref<32x600xf32>, %e: memref<32x600xf32>, %o: memref<32x1xf32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64, aicc.symbols = []} {
  %low = arith.constant 0xff800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = loops.alloc : memref<32x1xf32>
  loops.for "s0_d0" %i = 0 to 32 parallel {
    %r = loops.for "s0_d1" %k = 0 to 600 iter_args(%acc = %low) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<32x600xf32> to f32
      %n = arith.maximumf %acc, %v fastmath<reassoc> : f32
      loops.yield %n : f32
    }
    loops.store %r, %m[%i, 0] : f32 to memref<32x1xf32>
  }
  loops.for "s1_d0" %i = 0 to 32 parallel {
    loops.for "s1_d1" %k = 0 to 600 parallel {
      %v = loops.load %x[%i, %k] : memref<32x600xf32> to f32
      %r = loops.load %m[%i, 0] : memref<32x1xf32> to f32
      %d = arith.subf %v, %r : f32
      loops.store %d, %e[%i, %k] : f32 to memref<32x600xf32>
    }
  }
  loops.for "s2_d0" %i = 0 to 32 parallel {
    %r = loops.for "s2_d1" %k = 0 to 600 iter_args(%acc = %zero) -> (f32) {
      %v = loops.load %e[%i, %k] : memref<32x600xf32> to f32
      %n = arith.addf %acc, %v fastmath<reassoc> : f32
      loops.yield %n : f32
    }
    loops.store %r, %o[%i, 0] : f32 to memref<32x1xf32>
  }
  func.return
}
