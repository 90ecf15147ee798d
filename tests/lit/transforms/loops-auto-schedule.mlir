// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s
// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic},loops-apply-schedules' | filecheck %s --check-prefix=DONE

// A product of matrices: blocks that fit the caches, the right operand copied, 6 x 16 results at a time in registers.
// CHECK-LABEL: transform.named_sequence @matmul_schedule
// CHECK:         schedule.tile %{{.*}} {{.*}}sizes = array<i64: 16>
// CHECK:         schedule.tile %{{.*}} {{.*}}sizes = array<i64: 4>, tails = ["mask"]
// CHECK:         %[[STEPS:.*]], %{{.*}} = schedule.split_reduction %{{.*}}, %{{.*}} {{.*}}size = 1024 : i64
// CHECK-NEXT:    schedule.stage %[[STEPS]] {{.*}}argument = 1 : i64, tiles = array<i64: 0, 16>, order = array<i64: 1, 0>
// CHECK-NEXT:    schedule.tile %{{.*}}, %{{.*}} {{.*}}sizes = array<i64: 6, 1>
// CHECK-NOT:     schedule.stage
// CHECK:         schedule.vectorize %{{.*}}, %{{.*}}
// CHECK:         schedule.parallelize

// DONE-LABEL: @matmul(
// DONE:         threads
// DONE:         %[[B:.*]] = loops.alloc {on_stack} : memref<4x1024x16xf32>
// DONE:         loops.load %[[B]][%{{.*}}, %[[K:.*]], l1] : memref<4x1024x16xf32> to vector<1x16xf32>
func.func private @matmul(%a: memref<1020x2048xf32>, %b: memref<2048x1024xf32>, %c: memref<1020x1024xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 1020 parallel {
    loops.for "s0_d1" %j = 0 to 1024 parallel {
      %s = loops.for "s0_d2" %k = 0 to 2048 iter_args(%acc = %z) -> (f32) {
        %x = loops.load %a[%i, %k] : memref<1020x2048xf32> to f32
        %y = loops.load %b[%k, %j] : memref<2048x1024xf32> to f32
        %p = arith.mulf %x, %y fastmath<contract,reassoc> : f32
        %q = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %q : f32
      }
      loops.store %s, %c[%i, %j] : f32 to memref<1020x1024xf32>
    }
  }
  func.return
}

// A transposed left operand: the steps of a tile's rows are far apart in memory, so that they are copied too.
// CHECK-LABEL: transform.named_sequence @transposed_schedule
// CHECK:         schedule.stage %{{.*}} {{.*}}argument = 1 : i64
// CHECK:         schedule.stage %{{.*}} {{.*}}argument = 0 : i64, {{.*}}why = "steps follow each other"
func.func private @transposed(%a: memref<1024x1020xf32>, %b: memref<1024x1024xf32>, %c: memref<1020x1024xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 1020 parallel {
    loops.for "s0_d1" %j = 0 to 1024 parallel {
      %s = loops.for "s0_d2" %k = 0 to 1024 iter_args(%acc = %z) -> (f32) {
        %x = loops.load %a[%k, %i] : memref<1024x1020xf32> to f32
        %y = loops.load %b[%k, %j] : memref<1024x1024xf32> to f32
        %p = arith.mulf %x, %y fastmath<contract,reassoc> : f32
        %q = arith.addf %acc, %p fastmath<contract,reassoc> : f32
        loops.yield %q : f32
      }
      loops.store %s, %c[%i, %j] : f32 to memref<1020x1024xf32>
    }
  }
  func.return
}

// Elementwise: contiguous loops become one, four registers at a time; too little work for threads.
// CHECK-LABEL: transform.named_sequence @double_schedule
// CHECK:         %[[C:.*]] = schedule.collapse
// CHECK-NEXT:    %{{.*}}, %[[I:.*]], %{{.*}} = schedule.tile %[[C]] {{.*}}sizes = array<i64: 32>
// CHECK-NEXT:    schedule.vectorize %[[I]]
// CHECK-NOT:     schedule.parallelize
// CHECK:         transform.yield
func.func private @double(%x: memref<16x24xf32>, %o: memref<16x24xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 16 parallel {
    loops.for "s0_d1" %j = 0 to 24 parallel {
      %v = loops.load %x[%i, %j] : memref<16x24xf32> to f32
      %w = arith.addf %v, %v : f32
      loops.store %w, %o[%i, %j] : f32 to memref<16x24xf32>
    }
  }
  func.return
}

// A sum along rows: each lane has a partial sum.
// CHECK-LABEL: transform.named_sequence @sum_schedule
// CHECK:         %[[R:.*]] = schedule.loop %kernel {label = "s0_d1"}
// CHECK-NEXT:    %[[O:.*]], %[[W:.*]], %{{.*}} = schedule.tile %[[R]] {{.*}}sizes = array<i64: 32>
// CHECK-NEXT:    %[[L:.*]], %{{.*}} = schedule.interchange %[[O]], %[[W]]
// CHECK-NEXT:    schedule.vectorize %[[L]]
func.func private @sum(%x: memref<16x1240xf32>, %o: memref<16xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 16 parallel {
    %s = loops.for "s0_d1" %j = 0 to 1240 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<16x1240xf32> to f32
      %w = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %w : f32
    }
    loops.store %s, %o[%i] : f32 to memref<16xf32>
  }
  func.return
}

// An index that is read from memory cannot run along lanes; the kernel is left as it is.
// CHECK-NOT: @gather_schedule
func.func private @gather(%x: memref<8xf32>, %p: memref<8xindex>, %o: memref<8xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 8 parallel {
    %j = loops.load %p[%i] : memref<8xindex> to index
    %v = loops.load %x[%j] : memref<8xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<8xf32>
  }
  func.return
}

// Tiled by hand already: left as it is.
// CHECK-LABEL: func.func private @tiled
// CHECK-NOT:   @tiled_schedule
func.func private @tiled(%x: memref<16x24xf32>, %o: memref<16x24xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0.o" %i = 0 to 4 parallel {
    loops.for "s0_d1" %j = 0 to 24 parallel {
      loops.for "s0_d0.i" %k = 0 to 4 parallel {
        %v = loops.load %x[%i * 4 + %k, %j] : memref<16x24xf32> to f32
        loops.store %v, %o[%i * 4 + %k, %j] : f32 to memref<16x24xf32>
      }
    }
  }
  func.return
}

// The width of vectors is chosen already: left as it is.
// CHECK-LABEL: func.func private @vectors
// CHECK-NOT:   @vectors_schedule
func.func private @vectors(%x: memref<16x24xf32>, %o: memref<16x24xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 16 parallel {
    %v = loops.load %x[%i, l0] : memref<16x24xf32> to vector<24xf32>
    loops.store %v, %o[%i, l0] : vector<24xf32> to memref<16x24xf32>
  }
  func.return
}

// An input that is contiguous along another loop: blocks of both are transposed in registers.
// CHECK-LABEL: transform.named_sequence @transpose_schedule
// CHECK:         %{{.*}}, %{{.*}}, %[[ROWS:.*]], %[[LANES:.*]], %{{.*}} = schedule.tile %{{.*}}, %{{.*}} {{.*}}sizes = array<i64: 16, 8>
// CHECK-NEXT:    schedule.vectorize %[[ROWS]], %[[LANES]]
// DONE-LABEL: @transpose(
// DONE:         %[[B:.*]] = loops.load %x[%{{.*}} + l1, %{{.*}} + l0] : memref<64x96xf32> to vector<16x8xf32>
// DONE-NEXT:    loops.store %[[B]], %o[%{{.*}} + l0, %{{.*}} + l1]
func.func private @transpose(%x: memref<64x96xf32>, %o: memref<96x64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 96 parallel {
    loops.for "s0_d1" %j = 0 to 64 parallel {
      %a = loops.load %x[%j, %i] : memref<64x96xf32> to f32
      loops.store %a, %o[%i, %j] : f32 to memref<96x64xf32>
    }
  }
  func.return
}

// Pixels that are read one after the other across rows of an image are one long row; the other way round, where they are
// the lanes, rows stay apart: all channels of a row are read while its lines are in a cache.
// CHECK-LABEL: transform.named_sequence @channels_last_schedule
// CHECK:         schedule.collapse %{{.*}}, %{{.*}} {why = "contiguous together"}
// CHECK:         schedule.tile %{{.*}}, %{{.*}}, %{{.*}} {sizes = array<i64: 1, 16, 8>, why = "blocks of 16 x 8 are transposed in registers"}
func.func private @channels_last(%x: memref<2x16x24x24xf32>, %o: memref<2x24x24x16xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %n = 0 to 2 parallel {
    loops.for "s0_d1" %i = 0 to 24 parallel {
      loops.for "s0_d2" %j = 0 to 24 parallel {
        loops.for "s0_d3" %c = 0 to 16 parallel {
          %a = loops.load %x[%n, %c, %i, %j] : memref<2x16x24x24xf32> to f32
          loops.store %a, %o[%n, %i, %j, %c] : f32 to memref<2x24x24x16xf32>
        }
      }
    }
  }
  func.return
}

// CHECK-LABEL: transform.named_sequence @channels_first_schedule
// CHECK-NOT:     schedule.collapse
// CHECK:         schedule.tile {{.*}} {sizes = array<i64: 1, 1, 16, 8>, why = "blocks of 16 x 8 are transposed in registers"}
func.func private @channels_first(%x: memref<2x24x24x16xf32>, %o: memref<2x16x24x24xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %n = 0 to 2 parallel {
    loops.for "s0_d1" %c = 0 to 16 parallel {
      loops.for "s0_d2" %i = 0 to 24 parallel {
        loops.for "s0_d3" %j = 0 to 24 parallel {
          %a = loops.load %x[%n, %i, %j, %c] : memref<2x24x24x16xf32> to f32
          loops.store %a, %o[%n, %c, %i, %j] : f32 to memref<2x16x24x24xf32>
        }
      }
    }
  }
  func.return
}

// Too few channels for a block: lanes along the pixels that are stored together.
// CHECK-LABEL: transform.named_sequence @few_channels_schedule
// CHECK-NOT:     transposed in registers
// CHECK:         transform.yield
func.func private @few_channels(%x: memref<64x3xf32>, %o: memref<3x64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 3 parallel {
    loops.for "s0_d1" %j = 0 to 64 parallel {
      %a = loops.load %x[%j, %i] : memref<64x3xf32> to f32
      loops.store %a, %o[%i, %j] : f32 to memref<3x64xf32>
    }
  }
  func.return
}

// Sums over the outer and the inner axis: tiles of a row follow each other, so that memory is walked in order.
// CHECK-LABEL: transform.named_sequence @sum_of_two_schedule
// CHECK:         %[[O:.*]], %[[I:.*]], %{{.*}} = schedule.tile %{{.*}} {{.*}}sizes = array<i64: 32>
// CHECK:         %[[OTHER:.*]] = schedule.loop %{{.*}} {label = "s0_d1"}
// CHECK-NEXT:    %[[V:.*]], %{{.*}}, %{{.*}} = schedule.interchange %[[O]], %[[I]], %[[OTHER]] {{.*}}order = array<i64: 1, 2, 0>
// CHECK-NEXT:    schedule.vectorize %[[V]]
func.func private @sum_of_two(%x: memref<32x128x256xf32>, %o: memref<128xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 128 parallel {
    %s = loops.for "s0_d1" %j = 0 to 32 iter_args(%a = %z) -> (f32) {
      %t = loops.for "s0_d2" %k = 0 to 256 iter_args(%b = %a) -> (f32) {
        %v = loops.load %x[%j, %i, %k] : memref<32x128x256xf32> to f32
        %q = arith.addf %b, %v fastmath<reassoc> : f32
        loops.yield %q : f32
      }
      loops.yield %t : f32
    }
    loops.store %s, %o[%i] : f32 to memref<128xf32>
  }
  func.return
}

// An index that is used by itself, as to tell what is padded, would be the remainder of a division by a size: the loops
// stay two where that is a symbol.
// CHECK-LABEL: transform.named_sequence @padded_schedule
// CHECK-NOT:     schedule.collapse
// CHECK:         schedule.vectorize
func.func private @padded(%m: index, %n: index, %k: index, %o: memref<?x?xf32, #loops.dims<M, N>>)
    attributes {aicc.kernel, aicc.symbols = ["M", "N", "K"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  loops.for "s0_d0" %i = 0 to %m parallel {
    loops.for "s0_d1" %j = 0 to %n parallel {
      %inside = arith.cmpi ult, %j, %k : index
      %v = arith.select %inside, %one, %zero : f32
      loops.store %v, %o[%i, %j] : f32 to memref<?x?xf32, #loops.dims<M, N>>
    }
  }
  func.return
}
