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

// Past the caches, blocks that are transposed follow the input: lines of the result are whole at once.
// CHECK-LABEL: @turned(
// CHECK:       @turned_schedule
// CHECK:         schedule.interchange %s0_d0, %s0_d1 {order = array<i64: 1, 0>}
// CHECK-NEXT:    schedule.tile %s0_d1{{.*}}, %s0_d0{{.*}} {sizes = array<i64: 8, 16>
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

// In the caches they follow the result.
// CHECK-LABEL: @turned_small(
// CHECK:       @turned_small_schedule
// CHECK-NOT:     schedule.interchange
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
