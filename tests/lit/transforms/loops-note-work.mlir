// RUN: aicc-opt %s -p loops-note-work | filecheck %s

// A multiply-add counts twice, once per iteration of all loops around; integers and comparisons do not count.
// CHECK: func.func private @k(
// CHECK-SAME: aicc.flops = "136*N", aicc.schedule = "tile rows, columns by 6 x 16; vectorize inner; parallelize outer"
func.func private @k(%N: index, %x: memref<?x16xf32, #loops.dims<N>>, %w: memref<16x4xf32>, %out: memref<?x4xf32, #loops.dims<N>>)
    attributes {aicc.kernel, aicc.symbols = ["N"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "d0" %i = 0 to %N parallel {
    loops.for "d1" %j = 0 to 4 parallel {
      %s = loops.for "d2" %k = 0 to 16 iter_args(%acc = %zero) -> (f32) {
        %a = loops.load %x[%i, %k] : memref<?x16xf32, #loops.dims<N>> to f32
        %b = loops.load %w[%k, %j] : memref<16x4xf32> to f32
        %p = arith.mulf %a, %b : f32
        %n = arith.addf %acc, %p : f32
        loops.yield %n : f32
      }
      %e = math.exp %s : f32
      %f = arith.addf %e, %e : f32
      %c = arith.cmpf olt, %f, %zero : f32
      %r = arith.select %c, %zero, %f : f32
      loops.store %r, %out[%i, %j] : f32 to memref<?x4xf32, #loops.dims<N>>
    }
  }
  func.return
}
transform.named_sequence @k_schedule(%kernel: !transform.any_op) {
  %rows = schedule.loop %kernel {label = "d0"}
  %columns = schedule.loop %kernel {label = "d1"}
  %outer, %a, %inner, %b, %rest = schedule.tile %rows, %columns {sizes = array<i64: 6, 16>}
  schedule.vectorize %inner
  schedule.parallelize %outer
  transform.yield
}

// Two products, added up and to what is there.
// CHECK: func.func private @dot(
// CHECK-SAME: aicc.flops = "4"
func.func private @dot(%x: memref<1xi32>, %out: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %a = loops.load %x[0] : memref<1xi32> to i32
  %b = loops.load %out[0] : memref<1xf32> to f32
  %p = packed.dot %a, %a {parts = 2 : i64, floats} : i32, i32 -> f32
  %s = arith.addf %b, %p : f32
  loops.store %s, %out[0] : f32 to memref<1xf32>
  func.return
}

// No schedule: none is noted. What is no kernel notes nothing.
// CHECK: func.func private @copy({{.*}}) attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.flops = "0"} {
func.func private @copy(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}
// CHECK: func.func @main({{.*}}) attributes {aicc.num_outputs = 1 : i64} {
func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.num_outputs = 1 : i64} {
  loops.call @copy(%x, %out) : memref<4xf32>, memref<4xf32>
  func.return
}
