// RUN: aicc-opt %s -p loops-apply-schedules | filecheck %s

// Tile, interchange, vectorise and spread over threads, as a person would write it.
// CHECK-LABEL: @k
// CHECK:         loops.for "d1.o" %[[J:.*]] = 0 to 2 parallel threads {
// CHECK-NEXT:      loops.for "d0.o" %[[I:.*]] = 0 to 4 parallel {
// CHECK-NEXT:        %[[V:.*]] = loops.load %x[%[[I]] * 2 + l0, %[[J]] * 16 + l1] : memref<8x32xf32> to vector<2x16xf32>
// CHECK-NEXT:        loops.store %[[V]], %o[%[[I]] * 2 + l0, %[[J]] * 16 + l1]
// CHECK-NOT:     transform
func.func private @k(%x: memref<8x32xf32>, %o: memref<8x32xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "d0" %i = 0 to 8 parallel {
    loops.for "d1" %j = 0 to 32 parallel {
      %v = loops.load %x[%i, %j] : memref<8x32xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x32xf32>
    }
  }
  func.return
}
transform.named_sequence @k_schedule(%k: !transform.any_op) {
  %r = schedule.loop %k {label = "d0"}
  %c = schedule.loop %k {label = "d1"}
  %ro, %co, %ri, %ci, %rest = schedule.tile %r, %c {sizes = array<i64: 2, 16>}
  %outer, %inner = schedule.interchange %ro, %co {order = array<i64: 1, 0>}
  schedule.vectorize %ri, %ci
  %main = schedule.select %outer {positions = array<i64: 0>}
  schedule.parallelize %main
  transform.yield
}
