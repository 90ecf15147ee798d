// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic},loops-apply-schedules' | filecheck %s --check-prefix=DONE

// Rows of an open length: the rows of all entries of the batch are one sequence, of which four are done at once, one
// register of each at a time; those left over of the whole sequence are done one by one, and so are all if they are long.
// CHECK-LABEL: transform.named_sequence @centre_schedule
// CHECK:         schedule.collapse %s0_d0, %s0_d1 {why = "contiguous together"}
// CHECK:         schedule.collapse %s1_d0, %s1_d1 {why = "contiguous together"}
// CHECK:         schedule.fuse
// CHECK:         schedule.tile_some %{{.*}} {size = 4 : i64, most = #graph.shape<3*min(1,floordiv(192,max(1,s)))*n>, why = "4 rows at once if these are short"}
// CHECK:         schedule.vectorize_rows %[[R:.*]], %{{.*}}, %{{.*}}, %{{.*}}
// CHECK:         why = "32 partial results"
// CHECK:         transform.yield

// DONE-LABEL: @centre
// DONE:         %[[T:.*]] = loops.size #graph.shape<min(3*min(1,floordiv(192,max(1,s)))*n,floordiv(3*n,4))>
// DONE:         loops.for "s0_d0*s0_d1.o" %[[O:.*]] = 0 to %[[T]] parallel threads
// DONE:           loops.load %{{.*}}[%[[O]] * 4 + l0, %{{.*}} * 8 + l1] : memref<?x?xf32, #loops.dims<3*n, s>> to vector<4x8xf32>
// DONE:           %[[M:.*]] = loops.reduce "maximumf" %{{.*}} axes [1] : vector<4x8xf32> to vector<4xf32>
// DONE:           loops.broadcast %{{.*}} : vector<4xf32> to vector<4x8xf32>
// DONE:         loops.for "s0_d0*s0_d1.t" %{{.*}} = %[[T]] * 4 to %{{.*}} parallel threads
// DONE:           loops.reduce "maximumf" %{{.*}} axes [0] : vector<32xf32> to f32
func.func private @centre(
  %n: index, %s: index, %x: memref<?x3x?xf32, #loops.dims<n, s>>, %o: memref<?x3x?xf32, #loops.dims<n, s>>
) attributes {aicc.kernel, aicc.symbols = ["n", "s"], aicc.num_outputs = 1 : i64} {
  %low = arith.constant 0xff800000 : f32
  %m = loops.alloc : memref<?x3x1xf32, #loops.dims<n>>
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to 3 parallel {
      %r = loops.for "s0_d2" %k = 0 to %s iter_args(%acc = %low) -> (f32) {
        %v = loops.load %x[%i, %j, %k] : memref<?x3x?xf32, #loops.dims<n, s>> to f32
        %w = arith.maximumf %acc, %v fastmath<reassoc> : f32
        loops.yield %w : f32
      }
      loops.store %r, %m[%i, %j, 0] : f32 to memref<?x3x1xf32, #loops.dims<n>>
    }
  }
  loops.for "s1_d0" %i = 0 to %n parallel {
    loops.for "s1_d1" %j = 0 to 3 parallel {
      loops.for "s1_d2" %k = 0 to %s parallel {
        %v = loops.load %x[%i, %j, %k] : memref<?x3x?xf32, #loops.dims<n, s>> to f32
        %r = loops.load %m[%i, %j, 0] : memref<?x3x1xf32, #loops.dims<n>> to f32
        %d = arith.subf %v, %r : f32
        loops.store %d, %o[%i, %j, %k] : f32 to memref<?x3x?xf32, #loops.dims<n, s>>
      }
    }
  }
  func.return
}

// Long rows are done one by one: their sums take no time to speak of.
// CHECK-LABEL: transform.named_sequence @long_schedule
// CHECK-NOT:     rows at once
// CHECK:         transform.yield
func.func private @long(%x: memref<64x1000xf32>, %o: memref<64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 64 parallel {
    %r = loops.for "s0_d1" %k = 0 to 1000 iter_args(%acc = %zero) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<64x1000xf32> to f32
      %w = arith.addf %acc, %v fastmath<reassoc> : f32
      loops.yield %w : f32
    }
    loops.store %r, %o[%i] : f32 to memref<64xf32>
  }
  func.return
}

// Rows of a known length, of a number that four divides.
// CHECK-LABEL: transform.named_sequence @known_schedule
// CHECK:         schedule.tile %s0_d0 {sizes = array<i64: 4>, why = "4 rows at once"}
// CHECK-NOT:     schedule.vectorize %
// CHECK:         schedule.vectorize_rows
// CHECK-NEXT:    transform.yield
func.func private @known(%x: memref<64x100xf32>, %o: memref<64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 64 parallel {
    %r = loops.for "s0_d1" %k = 0 to 100 iter_args(%acc = %zero) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<64x100xf32> to f32
      %w = arith.addf %acc, %v fastmath<reassoc> : f32
      loops.yield %w : f32
    }
    loops.store %r, %o[%i] : f32 to memref<64xf32>
  }
  func.return
}

// Three rows are no four.
// CHECK-LABEL: transform.named_sequence @few_schedule
// CHECK-NOT:     rows at once
// CHECK:         transform.yield
func.func private @few(%x: memref<3x64xf32>, %o: memref<3xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 3 parallel {
    %r = loops.for "s0_d1" %k = 0 to 64 iter_args(%acc = %zero) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<3x64xf32> to f32
      %w = arith.addf %acc, %v fastmath<reassoc> : f32
      loops.yield %w : f32
    }
    loops.store %r, %o[%i] : f32 to memref<3xf32>
  }
  func.return
}
