// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' --split-input-file | filecheck %s

// One sum of a million terms, in parts of one size; threads share them.
// CHECK-LABEL: transform.named_sequence @sum_schedule
// CHECK:         %{{.*}}, %{{.*}} = schedule.partial_results %{{.*}} {size = 262144 : i64, why = "threads share the parts"}
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 32>, why = "32 partial results"}
// CHECK:         %[[P:.*]] = schedule.loop %kernel {label = "s0_d0.p"}
// CHECK:         schedule.parallelize
func.func private @sum(%x: memref<1048576xf32>, %o: memref<1xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %s = loops.for "s0_d0" %k = 0 to 1048576 iter_args(%a = %z) -> (f32) {
    %v = loops.load %x[%k] : memref<1048576xf32> to f32
    %n = arith.addf %a, %v fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

// Not worth threads.
// CHECK-LABEL: transform.named_sequence @short_schedule
// CHECK-NOT:     partial_results
func.func private @short(%x: memref<65536xf32>, %o: memref<1xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %s = loops.for "s0_d0" %k = 0 to 65536 iter_args(%a = %z) -> (f32) {
    %v = loops.load %x[%k] : memref<65536xf32> to f32
    %n = arith.addf %a, %v fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

// Threads have a row each.
// CHECK-LABEL: transform.named_sequence @rows_schedule
// CHECK-NOT:     partial_results
// CHECK:         schedule.parallelize
func.func private @rows(%x: memref<64x65536xf32>, %o: memref<64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 64 parallel {
    %s = loops.for "s0_d1" %k = 0 to 65536 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<64x65536xf32> to f32
      %n = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %n : f32
    }
    loops.store %s, %o[%i] : f32 to memref<64xf32>
  }
  func.return
}

// -----

// Colours of pixels lie side by side: reading one of them reads all.
// CHECK-LABEL: transform.named_sequence @colours_schedule
// CHECK-NOT:     partial_results
func.func private @colours(%x: memref<1048576x3xf32>, %o: memref<3xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 3 parallel {
    %s = loops.for "s0_d1" %k = 0 to 1048576 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%k, %i] : memref<1048576x3xf32> to f32
      %n = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %n : f32
    }
    loops.store %s, %o[%i] : f32 to memref<3xf32>
  }
  func.return
}
