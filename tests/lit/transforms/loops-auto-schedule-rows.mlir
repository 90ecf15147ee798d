// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic},loops-apply-schedules' | filecheck %s --check-prefix=DONE
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=znver4}' | filecheck %s --check-prefix=LATENCY
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4}' | filecheck %s --check-prefix=PORTS

// Weights are read once: full tiles of rows and the rows left over of an unknown number share the loop over columns.
// Rows left over have too few sums for the latency of an addition, so two tiles of columns are done at once.
// CHECK-LABEL: transform.named_sequence @even_schedule
// CHECK-NOT:     "pair"
// CHECK:         %[[O:.*]], %{{.*}}, %{{.*}} = schedule.tile %{{.*}} {sizes = array<i64: 2>, why = "rows left over of 2 tiles at once"}
// CHECK:         schedule.fuse %{{.*}}, %{{.*}} {why = "tiles left over use what is in cache"}

// DONE-LABEL: func.func private @even(
// DONE:         loops.for "s0_d1.o.o" %[[J:.*]] = 0 to 32 parallel threads attributes {work = #graph.shape<262144*s0+2097152>, part = {{[0-9]+}} : i64} {
// DONE-NEXT:      loops.for "s0_d1.o.i" %{{.*}} = 0 to 2 parallel {
// DONE-NEXT:        loops.for "s0_d0.o" %{{.*}} = 0 to %{{.*}} floordiv 6 parallel {
// DONE:               loops.store %{{.*}} : vector<6x16xf32> to
// DONE:           loops.for "s0_d0.t"
// DONE:             loops.load %{{.*}}[%[[J]] * 2 + l1, %{{.*}}, l2] : memref<64x256x16xf32> to vector<1x2x16xf32>
// DONE:             loops.store %{{.*}} : vector<2x2x16xf32> to
func.func private @even(%n: index, %x: memref<?x256xf32, #loops.dims<s0>>, %w: memref<256x1024xf32>, %o: memref<?x1024xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to 1024 parallel {
      %s = loops.for "s0_d2" %k = 0 to 256 iter_args(%a = %z) -> (f32) {
        %p = loops.load %x[%i, %k] : memref<?x256xf32, #loops.dims<s0>> to f32
        %q = loops.load %w[%k, %j] : memref<256x1024xf32> to f32
        %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
        %t = arith.addf %a, %m fastmath<contract,reassoc> : f32
        loops.yield %t : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<?x1024xf32, #loops.dims<s0>>
    }
  }
  func.return
}

// Columns left over make nests of their own, which stay apart. Where registers suffice rows left over are done by four,
// by three, by two, and one; one alone goes with the last full tile, by four and three.
// CHECK-LABEL: transform.named_sequence @left_over_schedule
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 6, 16>, tails = ["pair", "peel"], why = "6 rows x 2 vectors of 8 lanes in registers"}
// CHECK-NOT:     schedule.fuse
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 4, 1>, why = "rows left over"}
// CHECK-NOT:     schedule.fuse
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 3, 1>, why = "rows left over"}
// CHECK-NOT:     schedule.fuse
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 2, 1>, why = "rows left over"}
// CHECK-NOT:     schedule.fuse
// CHECK:         transform.yield

// Of tiles of 8 rows, 5 to 7 may be left over. They are done at once where by four, three and two there are too few sums:
// with one unit 4 and 3 are not.
// LATENCY-LABEL: transform.named_sequence @left_over_schedule
// LATENCY:         schedule.tile %{{.*}} {sizes = array<i64: 8, 32>, why = "8 rows x 2 vectors of 16 lanes in registers"}
// LATENCY-NOT:     array<i64: 7, 1>
// LATENCY:         schedule.tile %{{.*}} {sizes = array<i64: 6, 1>, why = "rows left over"}
// LATENCY:         schedule.tile %{{.*}} {sizes = array<i64: 5, 1>, why = "rows left over"}
// LATENCY:         schedule.tile %{{.*}} {sizes = array<i64: 4, 1>, why = "rows left over"}
// LATENCY:         schedule.tile %{{.*}} {sizes = array<i64: 3, 1>, why = "rows left over"}

// Two units have tiles with more work for each step, though 32 lanes of weights alone would fit the first-level cache:
// there may be few rows, and each weight is read once then.
// PORTS-LABEL: transform.named_sequence @left_over_schedule
// PORTS:         schedule.tile %{{.*}} {sizes = array<i64: 6, 64>, tails = ["pair", "peel"], why = "6 rows x 4 vectors of 16 lanes in registers"}
// PORTS:         schedule.tile %{{.*}} {sizes = array<i64: 5, 1>, why = "rows left over"}
// PORTS:         schedule.tile %{{.*}} {sizes = array<i64: 4, 1>, why = "rows left over"}
// PORTS:         transform.yield
func.func private @left_over(%n: index, %x: memref<?x256xf32, #loops.dims<s0>>, %w: memref<256x1000xf32>, %o: memref<?x1000xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to 1000 parallel {
      %s = loops.for "s0_d2" %k = 0 to 256 iter_args(%a = %z) -> (f32) {
        %p = loops.load %x[%i, %k] : memref<?x256xf32, #loops.dims<s0>> to f32
        %q = loops.load %w[%k, %j] : memref<256x1000xf32> to f32
        %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
        %t = arith.addf %a, %m fastmath<contract,reassoc> : f32
        loops.yield %t : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<?x1000xf32, #loops.dims<s0>>
    }
  }
  func.return
}

func.func @main(%N: index, %x: memref<?x256xf32, #loops.dims<N>>, %a: memref<?x1024xf32, #loops.dims<N>>, %b: memref<?x1000xf32, #loops.dims<N>>)
    attributes {aicc.symbols = ["N"], aicc.num_outputs = 2 : i64} {
  %v = loops.constant #graph.buffer<"v"> : memref<256x1024xf32>
  %w = loops.constant #graph.buffer<"w"> : memref<256x1000xf32>
  loops.call @even(%N, %x, %v, %a) : index, memref<?x256xf32, #loops.dims<N>>, memref<256x1024xf32>, memref<?x1024xf32, #loops.dims<N>>
  loops.call @left_over(%N, %x, %w, %b) : index, memref<?x256xf32, #loops.dims<N>>, memref<256x1000xf32>, memref<?x1000xf32, #loops.dims<N>>
  func.return
}

// Rows along two loops of unknown sizes that are one are not taken to be few, as those of a batch are: the points of a
// transform, of which there is a known number, share no weights.
// PORTS-LABEL: transform.named_sequence @points_schedule
// PORTS:         schedule.collapse %{{.*}} {why = "contiguous together"}
// PORTS:         why = "6 rows x 64 lanes in registers"
// PORTS:         schedule.tile %{{.*}} {sizes = array<i64: 6, 1>}
func.func private @points(%n: index, %m: index, %x: memref<16x?x?x256xf32, #loops.dims<s0, s1>>, %w: memref<16x256x128xf32>, %o: memref<16x?x?x128xf32, #loops.dims<s0, s1>>)
    attributes {aicc.kernel, aicc.symbols = ["s0", "s1"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %p = 0 to 16 parallel {
    loops.for "s0_d1" %i = 0 to %n parallel {
      loops.for "s0_d2" %j = 0 to %m parallel {
        loops.for "s0_d3" %c = 0 to 128 parallel {
          %s = loops.for "s0_d4" %k = 0 to 256 iter_args(%a = %z) -> (f32) {
            %u = loops.load %x[%p, %i, %j, %k] : memref<16x?x?x256xf32, #loops.dims<s0, s1>> to f32
            %v = loops.load %w[%p, %k, %c] : memref<16x256x128xf32> to f32
            %e = arith.mulf %u, %v fastmath<contract,reassoc> : f32
            %t = arith.addf %a, %e fastmath<contract,reassoc> : f32
            loops.yield %t : f32
          }
          loops.store %s, %o[%p, %i, %j, %c] : f32 to memref<16x?x?x128xf32, #loops.dims<s0, s1>>
        }
      }
    }
  }
  func.return
}
