// RUN: aicc-opt %s --split-input-file -p 'loops-auto-schedule{target=generic}' | filecheck %s
// RUN: aicc-opt %s --split-input-file -p 'loops-auto-schedule{target=generic},loops-apply-schedules' | filecheck %s --check-prefix=APPLIED

// Two products share the rows %i: a block of them at a time, of which the intermediate is all that exists.
// CHECK-LABEL: named_sequence @chain_schedule
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: [[ROWS:[0-9]+]]>, tails = ["mask"]
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: [[ROWS]]>, tails = ["mask"]
// CHECK:         schedule.fuse %{{.*}}, %{{.*}} {why = "a block stays in cache"}
// APPLIED-LABEL: func.func private @chain(
// APPLIED:         loops.for "a_i.o"
// APPLIED-NEXT:      loops.alloc : memref<{{(6|12|24|48|96)}}x64xf32>
// APPLIED:         func.return
func.func private @chain(%s0: index, %x: memref<?x32xf32, #loops.dims<s0>>, %w: memref<32x64xf32>, %v: memref<64x16xf32>, %out: memref<?x16xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s0"]} {
  %z = arith.constant 0.0 : f32
  %t = loops.alloc : memref<?x64xf32, #loops.dims<s0>>
  loops.for "a_i" %i = 0 to %s0 parallel {
    loops.for "a_j" %j = 0 to 64 parallel {
      %r = loops.for "a_k" %k = 0 to 32 iter_args(%acc = %z) -> (f32) {
        %a = loops.load %x[%i, %k] : memref<?x32xf32, #loops.dims<s0>> to f32
        %b = loops.load %w[%k, %j] : memref<32x64xf32> to f32
        %p = arith.mulf %a, %b fastmath<contract,reassoc> : f32
        %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %s : f32
      }
      loops.store %r, %t[%i, %j] : f32 to memref<?x64xf32, #loops.dims<s0>>
    }
  }
  loops.for "b_i" %i = 0 to %s0 parallel {
    loops.for "b_j" %j = 0 to 16 parallel {
      %r = loops.for "b_k" %k = 0 to 64 iter_args(%acc = %z) -> (f32) {
        %a = loops.load %t[%i, %k] : memref<?x64xf32, #loops.dims<s0>> to f32
        %b = loops.load %v[%k, %j] : memref<64x16xf32> to f32
        %p = arith.mulf %a, %b fastmath<contract,reassoc> : f32
        %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %s : f32
      }
      loops.store %r, %out[%i, %j] : f32 to memref<?x16xf32, #loops.dims<s0>>
    }
  }
  func.return
}

// -----

// The second product sums over the rows of the first: nothing is shared but the columns, which are no rows.
// CHECK-LABEL: named_sequence @other_rows_schedule
// CHECK-NOT:     schedule.fuse
func.func private @other_rows(%s0: index, %x: memref<?x32xf32, #loops.dims<s0>>, %w: memref<32x64xf32>, %v: memref<16x?xf32, #loops.dims<s0>>, %out: memref<16x64xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s0"]} {
  %z = arith.constant 0.0 : f32
  %t = loops.alloc : memref<?x64xf32, #loops.dims<s0>>
  loops.for "a_i" %i = 0 to %s0 parallel {
    loops.for "a_j" %j = 0 to 64 parallel {
      %r = loops.for "a_k" %k = 0 to 32 iter_args(%acc = %z) -> (f32) {
        %a = loops.load %x[%i, %k] : memref<?x32xf32, #loops.dims<s0>> to f32
        %b = loops.load %w[%k, %j] : memref<32x64xf32> to f32
        %p = arith.mulf %a, %b fastmath<contract,reassoc> : f32
        %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %s : f32
      }
      loops.store %r, %t[%i, %j] : f32 to memref<?x64xf32, #loops.dims<s0>>
    }
  }
  loops.for "b_i" %i = 0 to 16 parallel {
    loops.for "b_j" %j = 0 to 64 parallel {
      %r = loops.for "b_k" %k = 0 to %s0 iter_args(%acc = %z) -> (f32) {
        %a = loops.load %v[%i, %k] : memref<16x?xf32, #loops.dims<s0>> to f32
        %b = loops.load %t[%k, %j] : memref<?x64xf32, #loops.dims<s0>> to f32
        %p = arith.mulf %a, %b fastmath<contract,reassoc> : f32
        %s = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %s : f32
      }
      loops.store %r, %out[%i, %j] : f32 to memref<16x64xf32>
    }
  }
  func.return
}

// A convolution takes its weights again for each pixel: it needs no other images for that, and a batch is no block.
// CHECK-LABEL: transform.named_sequence @images_schedule
// CHECK-NOT:     a block stays in cache
// CHECK:         transform.yield
func.func private @images(%n: index, %x: memref<?x64x32xf32, #loops.dims<s0>>, %w: memref<64x32x2xf32>, %o: memref<?x64x64xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %p = loops.alloc : memref<?x65x32xf32, #loops.dims<s0>>
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to 65 parallel {
      loops.for "s0_d2" %c = 0 to 32 parallel {
        %v = loops.load %x[%i, %j - 1, %c] fill 0.0 : f32 : memref<?x64x32xf32, #loops.dims<s0>> to f32
        loops.store %v, %p[%i, %j, %c] : f32 to memref<?x65x32xf32, #loops.dims<s0>>
      }
    }
  }
  loops.for "s1_d0" %i = 0 to %n parallel {
    loops.for "s1_d1" %j = 0 to 64 parallel {
      loops.for "s1_d2" %m = 0 to 64 parallel {
        %s = loops.for "s1_d3" %c = 0 to 32 iter_args(%a = %z) -> (f32) {
          %r = loops.for "s1_d4" %k = 0 to 2 iter_args(%b = %a) -> (f32) {
            %u = loops.load %p[%i, %j + %k, %c] : memref<?x65x32xf32, #loops.dims<s0>> to f32
            %q = loops.load %w[%m, %c, %k] : memref<64x32x2xf32> to f32
            %e = arith.mulf %u, %q fastmath<contract,reassoc> : f32
            %t = arith.addf %b, %e fastmath<contract,reassoc> : f32
            loops.yield %t : f32
          }
          loops.yield %r : f32
        }
        loops.store %s, %o[%i, %j, %m] : f32 to memref<?x64x64xf32, #loops.dims<s0>>
      }
    }
  }
  func.return
}

// -----

// Rows of all entries of a batch are one loop before they are cut to blocks, if all nests hand on and read them so: 24
// rows, of which threads share the lanes where there are few blocks; rows left over share what full tiles read.
// CHECK-LABEL: transform.named_sequence @batch_schedule
// CHECK:         schedule.collapse %s0_d0, %s0_d1 {why = "rows of all entries of a batch"}
// CHECK:         schedule.collapse %s1_d0, %s1_d1 {why = "rows of all entries of a batch"}
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 24>, tails = ["mask"], why = "blocks of 24 rows stay in cache"}
// CHECK:         schedule.parallelize %{{.*}} {least = 2 : i64}
// CHECK:         why = "least traffic between caches"
// CHECK:         schedule.fuse %{{.*}}, %{{.*}} {why = "tiles left over use what is in cache"}

// What one nest hands to the other is a block of rows of the whole batch.
// APPLIED-LABEL: func.func private @batch
// APPLIED:         loops.for "s0_d0*s0_d1.o"
// APPLIED:           loops.alloc : memref<24x256xf32>
func.func private @batch(%n: index, %s: index, %x: memref<?x?x256xf32, #loops.dims<n, s>>, %w: memref<256x256xf32>,
    %out: memref<?x?x256xf32, #loops.dims<n, s>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "s"], aicc.num_outputs = 1 : i64} {
  %0 = arith.constant 0.000000e+00 : f32
  %t = loops.alloc : memref<?x?x256xf32, #loops.dims<n, s>>
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to %s parallel {
      loops.for "s0_d2" %k = 0 to 256 parallel {
        %1 = loops.load %x[%i, %j, %k] : memref<?x?x256xf32, #loops.dims<n, s>> to f32
        %2 = arith.addf %1, %1 : f32
        loops.store %2, %t[%i, %j, %k] : f32 to memref<?x?x256xf32, #loops.dims<n, s>>
      }
    }
  }
  loops.for "s1_d0" %i = 0 to %n parallel {
    loops.for "s1_d1" %j = 0 to %s parallel {
      loops.for "s1_d2" %c = 0 to 256 parallel {
        %3 = loops.for "s1_d3" %k = 0 to 256 iter_args(%acc = %0) -> (f32) {
          %4 = loops.load %t[%i, %j, %k] : memref<?x?x256xf32, #loops.dims<n, s>> to f32
          %5 = loops.load %w[%k, %c] : memref<256x256xf32> to f32
          %6 = arith.mulf %4, %5 fastmath<reassoc,contract> : f32
          %7 = arith.addf %acc, %6 fastmath<reassoc,contract> : f32
          loops.yield %7 : f32
        }
        loops.store %3, %out[%i, %j, %c] : f32 to memref<?x?x256xf32, #loops.dims<n, s>>
      }
    }
  }
  func.return
}

// -----

// Weights that the second-level cache does not hold are not read anew for each block, nor for each row: the product is
// apart, and goes over all rows for each part of the weights.
// CHECK-LABEL: transform.named_sequence @heavy_schedule
// CHECK-NOT:     why = "a block stays in cache"
// CHECK-NOT:     why = "rows stay in cache"
// CHECK:         %[[LANES:.*]], %{{.*}} = schedule.interchange %[[ROWS:.*]], %{{.*}} {order = array<i64: 1, 0>, why = "least traffic between caches"}
// CHECK-NOT:     why = "rows stay in cache"
// CHECK:         transform.yield

// APPLIED-LABEL: func.func private @heavy(
// APPLIED-NOT:     memref<24x256xf32>
func.func private @heavy(%n: index, %s: index, %x: memref<?x?x256xf32, #loops.dims<n, s>>, %w: memref<256x512xf32>,
    %out: memref<?x?x512xf32, #loops.dims<n, s>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "s"], aicc.num_outputs = 1 : i64} {
  %0 = arith.constant 0.000000e+00 : f32
  %t = loops.alloc : memref<?x?x256xf32, #loops.dims<n, s>>
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to %s parallel {
      loops.for "s0_d2" %k = 0 to 256 parallel {
        %1 = loops.load %x[%i, %j, %k] : memref<?x?x256xf32, #loops.dims<n, s>> to f32
        %2 = arith.addf %1, %1 : f32
        loops.store %2, %t[%i, %j, %k] : f32 to memref<?x?x256xf32, #loops.dims<n, s>>
      }
    }
  }
  loops.for "s1_d0" %i = 0 to %n parallel {
    loops.for "s1_d1" %j = 0 to %s parallel {
      loops.for "s1_d2" %c = 0 to 512 parallel {
        %3 = loops.for "s1_d3" %k = 0 to 256 iter_args(%acc = %0) -> (f32) {
          %4 = loops.load %t[%i, %j, %k] : memref<?x?x256xf32, #loops.dims<n, s>> to f32
          %5 = loops.load %w[%k, %c] : memref<256x512xf32> to f32
          %6 = arith.mulf %4, %5 fastmath<reassoc,contract> : f32
          %7 = arith.addf %acc, %6 fastmath<reassoc,contract> : f32
          loops.yield %7 : f32
        }
        loops.store %3, %out[%i, %j, %c] : f32 to memref<?x?x512xf32, #loops.dims<n, s>>
      }
    }
  }
  func.return
}

// -----

// A product that has an operand for each entry of the batch does not take its rows together.
// CHECK-LABEL: transform.named_sequence @apart_schedule
// CHECK-NOT:     schedule.collapse
// CHECK:         transform.yield
func.func private @apart(%n: index, %s: index, %x: memref<?x?x256xf32, #loops.dims<n, s>>,
    %w: memref<?x256x512xf32, #loops.dims<n>>, %out: memref<?x?x512xf32, #loops.dims<n, s>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "s"], aicc.num_outputs = 1 : i64} {
  %0 = arith.constant 0.000000e+00 : f32
  %t = loops.alloc : memref<?x?x256xf32, #loops.dims<n, s>>
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %j = 0 to %s parallel {
      loops.for "s0_d2" %k = 0 to 256 parallel {
        %1 = loops.load %x[%i, %j, %k] : memref<?x?x256xf32, #loops.dims<n, s>> to f32
        %2 = arith.addf %1, %1 : f32
        loops.store %2, %t[%i, %j, %k] : f32 to memref<?x?x256xf32, #loops.dims<n, s>>
      }
    }
  }
  loops.for "s1_d0" %i = 0 to %n parallel {
    loops.for "s1_d1" %j = 0 to %s parallel {
      loops.for "s1_d2" %c = 0 to 512 parallel {
        %3 = loops.for "s1_d3" %k = 0 to 256 iter_args(%acc = %0) -> (f32) {
          %4 = loops.load %t[%i, %j, %k] : memref<?x?x256xf32, #loops.dims<n, s>> to f32
          %5 = loops.load %w[%i, %k, %c] : memref<?x256x512xf32, #loops.dims<n>> to f32
          %6 = arith.mulf %4, %5 fastmath<reassoc,contract> : f32
          %7 = arith.addf %acc, %6 fastmath<reassoc,contract> : f32
          loops.yield %7 : f32
        }
        loops.store %3, %out[%i, %j, %c] : f32 to memref<?x?x512xf32, #loops.dims<n, s>>
      }
    }
  }
  func.return
}
