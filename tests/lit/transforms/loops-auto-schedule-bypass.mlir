// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s

// The generic target has a last-level cache of 8 MiB.

// 8 MiB read and 8 MiB written: nothing of the result would be found in the cache by who reads it from its start.
// CHECK-LABEL: @large(
// CHECK:       @large_schedule
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
func.func private @large(%x: memref<2097152xf32>, %o: memref<2097152xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 2097152 parallel {
    %v = loops.load %x[%i] : memref<2097152xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<2097152xf32>
  }
  func.return
}

// 4 and 4 MiB stay in the cache.
// CHECK-LABEL: @small(
// CHECK:       @small_schedule
// CHECK-NOT:     bypass_caches
// CHECK:         transform.yield
func.func private @small(%x: memref<1048576xf32>, %o: memref<1048576xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 1048576 parallel {
    %v = loops.load %x[%i] : memref<1048576xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<1048576xf32>
  }
  func.return
}

// 16 MiB read, a result of 2 MiB: it is in the cache at the end.
// CHECK-LABEL: @little_written(
// CHECK:       @little_written_schedule
// CHECK-NOT:     bypass_caches
// CHECK:         transform.yield
func.func private @little_written(%x: memref<524288x8xf32>, %o: memref<524288xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 524288 parallel {
    %s = loops.for "k" %k = 0 to 8 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<524288x8xf32> to f32
      %b = arith.addf %a, %v fastmath<reassoc,contract> : f32
      loops.yield %b : f32
    }
    loops.store %s, %o[%i] : f32 to memref<524288xf32>
  }
  func.return
}

// The kernel reads what it wrote, a row later: the first of the two results stays in the caches.
// CHECK-LABEL: @read_again(
// CHECK:       @read_again_schedule
// CHECK-NOT:     argument = 1
// CHECK:         schedule.bypass_caches %kernel {argument = 2 : i64
func.func private @read_again(%x: memref<1024x2048xf32>, %o: memref<1024x2048xf32>, %p: memref<1024x2048xf32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  loops.for "a_i" %i = 0 to 1024 parallel {
    loops.for "a_j" %j = 0 to 2048 parallel {
      %v = loops.load %x[%i, %j] : memref<1024x2048xf32> to f32
      %w = arith.addf %v, %v : f32
      loops.store %w, %o[%i, %j] : f32 to memref<1024x2048xf32>
    }
  }
  loops.for "b_i" %i = 0 to 1024 parallel {
    loops.for "b_j" %j = 0 to 2048 parallel {
      %v = loops.load %o[%i, 2047 - %j] : memref<1024x2048xf32> to f32
      loops.store %v, %p[%i, %j] : f32 to memref<1024x2048xf32>
    }
  }
  func.return
}

// Nobody knows how much it is.
// CHECK-LABEL: @symbolic(
// CHECK:       @symbolic_schedule
// CHECK-NOT:     bypass_caches
// CHECK:         transform.yield
func.func private @symbolic(%n: index, %x: memref<?x1048576xf32, #loops.dims<n>>,
                            %o: memref<?x1048576xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["n"]} {
  loops.for "i" %i = 0 to %n parallel {
    loops.for "j" %j = 0 to 1048576 parallel {
      %v = loops.load %x[%i, %j] : memref<?x1048576xf32, #loops.dims<n>> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<?x1048576xf32, #loops.dims<n>>
    }
  }
  func.return
}

// Past the caches, parts of the input are fetched ahead and copied; lines of the result are written four at once.
// CHECK-LABEL: @turned(
// CHECK:       @turned_schedule
// CHECK:         schedule.interchange %s0_d0, %s0_d1 {order = array<i64: 1, 0>}
// CHECK-NEXT:    %{{.*}}, %[[AROUND:.*]], %[[LANE:.*]], %[[ROW:.*]], %{{.*}} = schedule.tile %s0_d1{{.*}}, %s0_d0{{.*}} {sizes = array<i64: 64, 512>
// CHECK-NEXT:    %[[A:.*]] = schedule.select %[[AROUND]] {positions = array<i64: 0>}
// CHECK-NEXT:    %[[L:.*]] = schedule.select %[[LANE]]
// CHECK-NEXT:    %[[R:.*]] = schedule.select %[[ROW]]
// CHECK-NEXT:    %[[R1:.*]], %[[L1:.*]] = schedule.interchange %[[L]], %[[R]] {order = array<i64: 1, 0>}
// CHECK-NEXT:    %[[PARTS:.*]], %[[ALONG:.*]], %{{.*}} = schedule.tile %[[R1]] {sizes = array<i64: 64>
// CHECK-NEXT:    schedule.stage %[[PARTS]] {argument = 0 : i64, tiles = array<i64: 0, 0>, order = array<i64: 0, 1>
// CHECK-NEXT:    %[[BLOCKS:.*]], %{{.*}}, %[[X:.*]], %[[Y:.*]], %{{.*}} = schedule.tile %[[ALONG]], %[[L1]] {sizes = array<i64: 4, 16>
// CHECK-NEXT:    schedule.vectorize %[[X]], %[[Y]]
// CHECK-NEXT:    schedule.prefetch %[[A]], %[[BLOCKS]] {argument = 0 : i64, line = 64 : i64, locality = 2 : i64
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
func.func private @turned(%x: memref<2048x1024xf32>, %o: memref<1024x2048xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 1024 parallel {
    loops.for "s0_d1" %j = 0 to 2048 parallel {
      %v = loops.load %x[%j, %i] : memref<2048x1024xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<1024x2048xf32>
    }
  }
  func.return
}

// The rest, which is less than a part, is done by blocks.
// CHECK-LABEL: @turned_odd(
// CHECK:       @turned_odd_schedule
// CHECK:         schedule.prefetch
// CHECK:         schedule.select %s0_d1_i {positions = array<i64: 1, 2, 3>}
// CHECK-NEXT:    schedule.select %s0_d0_i {positions = array<i64: 1, 2, 3>}
// CHECK-NEXT:    schedule.tile %{{.*}}, %{{.*}} {sizes = array<i64: 8, 16>
func.func private @turned_odd(%x: memref<2051x1027xf32>, %o: memref<1027x2051xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 1027 parallel {
    loops.for "s0_d1" %j = 0 to 2051 parallel {
      %v = loops.load %x[%j, %i] : memref<2051x1027xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<1027x2051xf32>
    }
  }
  func.return
}

// Rows 64 KiB apart have one place in the second-level cache, which does not hold a part of all: it is fetched into the
// last one, two lines of the result at a time, as more of each row are copied.
// CHECK-LABEL: @turned_far(
// CHECK:       @turned_far_schedule
// CHECK:         schedule.tile %s0_d1{{.*}}, %s0_d0{{.*}} {sizes = array<i64: 32, 512>
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 128>, why = "parts that are copied"}
// CHECK:         schedule.prefetch {{.*}}locality = 1 : i64
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
func.func private @turned_far(%x: memref<128x16384xf32>, %o: memref<16384x128xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 16384 parallel {
    loops.for "s0_d1" %j = 0 to 128 parallel {
      %v = loops.load %x[%j, %i] : memref<128x16384xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<16384x128xf32>
    }
  }
  func.return
}

// All dimensions in the order of the input, whose next part is fetched: what lies in between is not outermost.
// CHECK-LABEL: @turned_around(
// CHECK:       @turned_around_schedule
// CHECK:         schedule.interchange %s0_d0, %s0_d1, %s0_d2 {order = array<i64: 2, 1, 0>}
// CHECK-NEXT:    schedule.tile %s0_d2{{.*}}, %s0_d1{{.*}}, %s0_d0{{.*}} {sizes = array<i64: 32, 1, 128>
// CHECK:         schedule.prefetch
func.func private @turned_around(%x: memref<128x128x128xf32>, %o: memref<128x128x128xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 128 parallel {
    loops.for "s0_d1" %j = 0 to 128 parallel {
      loops.for "s0_d2" %k = 0 to 128 parallel {
        %v = loops.load %x[%k, %j, %i] : memref<128x128x128xf32> to f32
        loops.store %v, %o[%i, %j, %k] : f32 to memref<128x128x128xf32>
      }
    }
  }
  func.return
}

// Little of a row is left over: copies of three lines are parts of both halves, those of four are not.
// CHECK-LABEL: @turned_pieces(
// CHECK:       @turned_pieces_schedule
// CHECK:         schedule.tile %s0_d1{{.*}}, %s0_d0{{.*}} {sizes = array<i64: 64, 480>
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: 48>, why = "parts that are copied"}
func.func private @turned_pieces(%x: memref<2048x960xf32>, %o: memref<960x2048xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 960 parallel {
    loops.for "s0_d1" %j = 0 to 2048 parallel {
      %v = loops.load %x[%j, %i] : memref<2048x960xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<960x2048xf32>
    }
  }
  func.return
}

// Rows are shorter than a part is wide.
// CHECK-LABEL: @turned_short(
// CHECK:       @turned_short_schedule
// CHECK-NOT:     schedule.prefetch
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
func.func private @turned_short(%x: memref<131072x24xf32>, %o: memref<24x131072xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 24 parallel {
    loops.for "s0_d1" %j = 0 to 131072 parallel {
      %v = loops.load %x[%j, %i] : memref<131072x24xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<24x131072xf32>
    }
  }
  func.return
}

// Of an index that is divided, no part is known.
// CHECK-LABEL: @turned_divided(
// CHECK:       @turned_divided_schedule
// CHECK-NOT:     schedule.prefetch
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
func.func private @turned_divided(%x: memref<2x2048x1024xf32>, %o: memref<4x1024x2048xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %b = 0 to 4 parallel {
    loops.for "s0_d1" %i = 0 to 1024 parallel {
      loops.for "s0_d2" %j = 0 to 2048 parallel {
        %v = loops.load %x[%b floordiv 2, %j, %i] : memref<2x2048x1024xf32> to f32
        loops.store %v, %o[%b, %i, %j] : f32 to memref<4x1024x2048xf32>
      }
    }
  }
  func.return
}

// In the caches they follow the result.
// CHECK-LABEL: @turned_small(
// CHECK:       @turned_small_schedule
// CHECK-NOT:     schedule.interchange
// CHECK-NOT:     schedule.prefetch
// CHECK:         schedule.tile %s0_d0{{.*}}, %s0_d1{{.*}} {sizes = array<i64: 16, 8>
func.func private @turned_small(%x: memref<512x256xf32>, %o: memref<256x512xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 256 parallel {
    loops.for "s0_d1" %j = 0 to 512 parallel {
      %v = loops.load %x[%j, %i] : memref<512x256xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<256x512xf32>
    }
  }
  func.return
}

// Rows that change places: the input is read from end to end.
// CHECK-LABEL: @rows(
// CHECK:       @rows_schedule
// CHECK:         schedule.interchange %s0_d0, %s0_d1, %s0_d2 {order = array<i64: 1, 0, 2>, why = "reads in the order of memory, writes go past the caches"}
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
func.func private @rows(%x: memref<1024x16x128xf32>, %o: memref<16x1024x128xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 16 parallel {
    loops.for "s0_d1" %j = 0 to 1024 parallel {
      loops.for "s0_d2" %k = 0 to 128 parallel {
        %v = loops.load %x[%j, %i, %k] : memref<1024x16x128xf32> to f32
        loops.store %v, %o[%i, %j, %k] : f32 to memref<16x1024x128xf32>
      }
    }
  }
  func.return
}

// Sweeps over long rows: what is kept of a row lies in scratch, the result is only written, and the next row is fetched.
// CHECK-LABEL: @swept(
// CHECK:       @swept_schedule
// CHECK:         schedule.privatize %a_i{{.*}} {argument = 1 : i64
// CHECK:         schedule.bypass_caches %kernel {argument = 1 : i64
// CHECK-NEXT:    schedule.read_ahead %kernel {argument = 0 : i64, elements = 2048 : i64
func.func private @swept(%x: memref<1024x2048xf32>, %o: memref<1024x2048xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %m = loops.alloc : memref<1024xf32>
  %t = loops.alloc : memref<1024xf32>
  loops.for "a_i" %i = 0 to 1024 parallel {
    %s = loops.for "a_j" %j = 0 to 2048 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<1024x2048xf32> to f32
      %b = arith.maximumf %a, %v : f32
      loops.yield %b : f32
    }
    loops.store %s, %m[%i] : f32 to memref<1024xf32>
  }
  loops.for "b_i" %i = 0 to 1024 parallel {
    loops.for "b_j" %j = 0 to 2048 parallel {
      %v = loops.load %x[%i, %j] : memref<1024x2048xf32> to f32
      %w = loops.load %m[%i] : memref<1024xf32> to f32
      %d = arith.subf %v, %w : f32
      loops.store %d, %o[%i, %j] : f32 to memref<1024x2048xf32>
    }
  }
  loops.for "c_i" %i = 0 to 1024 parallel {
    %s = loops.for "c_j" %j = 0 to 2048 iter_args(%a = %z) -> (f32) {
      %v = loops.load %o[%i, %j] : memref<1024x2048xf32> to f32
      %b = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %b : f32
    }
    loops.store %s, %t[%i] : f32 to memref<1024xf32>
  }
  loops.for "d_i" %i = 0 to 1024 parallel {
    loops.for "d_j" %j = 0 to 2048 parallel {
      %v = loops.load %o[%i, %j] : memref<1024x2048xf32> to f32
      %w = loops.load %t[%i] : memref<1024xf32> to f32
      %p = arith.mulf %v, %w : f32
      loops.store %p, %o[%i, %j] : f32 to memref<1024x2048xf32>
    }
  }
  func.return
}

// Short rows are read ahead by the machine.
// CHECK-LABEL: @swept_short(
// CHECK:       @swept_short_schedule
// CHECK:         schedule.privatize
// CHECK-NOT:     read_ahead
// CHECK:         transform.yield
func.func private @swept_short(%x: memref<8192x256xf32>, %o: memref<8192x256xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %m = loops.alloc : memref<8192xf32>
  %t = loops.alloc : memref<8192xf32>
  loops.for "a_i" %i = 0 to 8192 parallel {
    %s = loops.for "a_j" %j = 0 to 256 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<8192x256xf32> to f32
      %b = arith.maximumf %a, %v : f32
      loops.yield %b : f32
    }
    loops.store %s, %m[%i] : f32 to memref<8192xf32>
  }
  loops.for "b_i" %i = 0 to 8192 parallel {
    loops.for "b_j" %j = 0 to 256 parallel {
      %v = loops.load %x[%i, %j] : memref<8192x256xf32> to f32
      %w = loops.load %m[%i] : memref<8192xf32> to f32
      %d = arith.subf %v, %w : f32
      loops.store %d, %o[%i, %j] : f32 to memref<8192x256xf32>
    }
  }
  loops.for "c_i" %i = 0 to 8192 parallel {
    %s = loops.for "c_j" %j = 0 to 256 iter_args(%a = %z) -> (f32) {
      %v = loops.load %o[%i, %j] : memref<8192x256xf32> to f32
      %b = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %b : f32
    }
    loops.store %s, %t[%i] : f32 to memref<8192xf32>
  }
  loops.for "d_i" %i = 0 to 8192 parallel {
    loops.for "d_j" %j = 0 to 256 parallel {
      %v = loops.load %o[%i, %j] : memref<8192x256xf32> to f32
      %w = loops.load %t[%i] : memref<8192xf32> to f32
      %p = arith.mulf %v, %w : f32
      loops.store %p, %o[%i, %j] : f32 to memref<8192x256xf32>
    }
  }
  func.return
}

// Rows that no cache of a core holds.
// CHECK-LABEL: @swept_huge(
// CHECK:       @swept_huge_schedule
// CHECK-NOT:     privatize
// CHECK-NOT:     read_ahead
// CHECK:         transform.yield
func.func private @swept_huge(%x: memref<32x65536xf32>, %o: memref<32x65536xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %m = loops.alloc : memref<32xf32>
  %t = loops.alloc : memref<32xf32>
  loops.for "a_i" %i = 0 to 32 parallel {
    %s = loops.for "a_j" %j = 0 to 65536 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<32x65536xf32> to f32
      %b = arith.maximumf %a, %v : f32
      loops.yield %b : f32
    }
    loops.store %s, %m[%i] : f32 to memref<32xf32>
  }
  loops.for "b_i" %i = 0 to 32 parallel {
    loops.for "b_j" %j = 0 to 65536 parallel {
      %v = loops.load %x[%i, %j] : memref<32x65536xf32> to f32
      %w = loops.load %m[%i] : memref<32xf32> to f32
      %d = arith.subf %v, %w : f32
      loops.store %d, %o[%i, %j] : f32 to memref<32x65536xf32>
    }
  }
  loops.for "c_i" %i = 0 to 32 parallel {
    %s = loops.for "c_j" %j = 0 to 65536 iter_args(%a = %z) -> (f32) {
      %v = loops.load %o[%i, %j] : memref<32x65536xf32> to f32
      %b = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %b : f32
    }
    loops.store %s, %t[%i] : f32 to memref<32xf32>
  }
  loops.for "d_i" %i = 0 to 32 parallel {
    loops.for "d_j" %j = 0 to 65536 parallel {
      %v = loops.load %o[%i, %j] : memref<32x65536xf32> to f32
      %w = loops.load %t[%i] : memref<32xf32> to f32
      %p = arith.mulf %v, %w : f32
      loops.store %p, %o[%i, %j] : f32 to memref<32x65536xf32>
    }
  }
  func.return
}

// All of it stays in a cache.
// CHECK-LABEL: @swept_small(
// CHECK:       @swept_small_schedule
// CHECK-NOT:     privatize
// CHECK-NOT:     read_ahead
// CHECK:         transform.yield
func.func private @swept_small(%x: memref<64x2048xf32>, %o: memref<64x2048xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %m = loops.alloc : memref<64xf32>
  %t = loops.alloc : memref<64xf32>
  loops.for "a_i" %i = 0 to 64 parallel {
    %s = loops.for "a_j" %j = 0 to 2048 iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<64x2048xf32> to f32
      %b = arith.maximumf %a, %v : f32
      loops.yield %b : f32
    }
    loops.store %s, %m[%i] : f32 to memref<64xf32>
  }
  loops.for "b_i" %i = 0 to 64 parallel {
    loops.for "b_j" %j = 0 to 2048 parallel {
      %v = loops.load %x[%i, %j] : memref<64x2048xf32> to f32
      %w = loops.load %m[%i] : memref<64xf32> to f32
      %d = arith.subf %v, %w : f32
      loops.store %d, %o[%i, %j] : f32 to memref<64x2048xf32>
    }
  }
  loops.for "c_i" %i = 0 to 64 parallel {
    %s = loops.for "c_j" %j = 0 to 2048 iter_args(%a = %z) -> (f32) {
      %v = loops.load %o[%i, %j] : memref<64x2048xf32> to f32
      %b = arith.addf %a, %v fastmath<reassoc> : f32
      loops.yield %b : f32
    }
    loops.store %s, %t[%i] : f32 to memref<64xf32>
  }
  loops.for "d_i" %i = 0 to 64 parallel {
    loops.for "d_j" %j = 0 to 2048 parallel {
      %v = loops.load %o[%i, %j] : memref<64x2048xf32> to f32
      %w = loops.load %t[%i] : memref<64xf32> to f32
      %p = arith.mulf %v, %w : f32
      loops.store %p, %o[%i, %j] : f32 to memref<64x2048xf32>
    }
  }
  func.return
}
