// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' --split-input-file | filecheck %s

// Sums over pixels, channels last: nothing is read again, so that sums are kept for many channels of one image, whose
// pixels are read from end to end, and not for several images.
// CHECK-LABEL: transform.named_sequence @mean_schedule
// CHECK:       schedule.tile %{{.*}}, %{{.*}} {{.*}}sizes = array<i64: 1, 64>
// CHECK-NOT:   schedule.tile
// CHECK:       transform.yield
func.func private @mean(
  %n: index, %x: memref<?x14x14x256xf32, #loops.dims<n>>, %o: memref<?x256xf32, #loops.dims<n>>
) attributes {aicc.kernel, aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to %n parallel {
    loops.for "s0_d1" %c = 0 to 256 parallel {
      %s = loops.for "s0_d2" %k = 0 to 14 iter_args(%a = %zero) -> (f32) {
        %r = loops.for "s0_d3" %l = 0 to 14 iter_args(%b = %a) -> (f32) {
          %v = loops.load %x[%i, %k, %l, %c] : memref<?x14x14x256xf32, #loops.dims<n>> to f32
          %t = arith.addf %b, %v fastmath<reassoc> : f32
          loops.yield %t : f32
        }
        loops.yield %r : f32
      }
      loops.store %s, %o[%i, %c] : f32 to memref<?x256xf32, #loops.dims<n>>
    }
  }
  func.return
}

// -----

// Windows overlap: what neighbours read again is kept in registers too, and weights are shared by pixels of a row.
// CHECK-LABEL: transform.named_sequence @windows_schedule
// CHECK:       schedule.tile %{{.*}}, %{{.*}}, %{{.*}} {{.*}}sizes = array<i64: 1, 7, 8>
func.func private @windows(
  %x: memref<30x30x256xf32>, %w: memref<3x3x256xf32>, %o: memref<28x28x256xf32>
) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 28 parallel {
    loops.for "s0_d1" %j = 0 to 28 parallel {
      loops.for "s0_d2" %c = 0 to 256 parallel {
        %s = loops.for "s0_d3" %k = 0 to 3 iter_args(%a = %zero) -> (f32) {
          %r = loops.for "s0_d4" %l = 0 to 3 iter_args(%b = %a) -> (f32) {
            %v = loops.load %x[%i + %k, %j + %l, %c] : memref<30x30x256xf32> to f32
            %u = loops.load %w[%k, %l, %c] : memref<3x3x256xf32> to f32
            %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
            %t = arith.addf %b, %p fastmath<contract,reassoc> : f32
            loops.yield %t : f32
          }
          loops.yield %r : f32
        }
        loops.store %s, %o[%i, %j, %c] : f32 to memref<28x28x256xf32>
      }
    }
  }
  func.return
}

// -----

// Sums over pixels, channels first: both loops walk memory from end to end and become one, whose lanes are all full.
// CHECK-LABEL: transform.named_sequence @image_schedule
// CHECK:       schedule.collapse %s0_d1, %s0_d2 {why = "contiguous together"}
// CHECK:       schedule.tile %s0_d1_s0_d2 {sizes = array<i64: 8>, why = "8 lanes"}
func.func private @image(%x: memref<64x12x12xf32>, %o: memref<64xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %c = 0 to 64 parallel {
    %s = loops.for "s0_d1" %k = 0 to 12 iter_args(%a = %zero) -> (f32) {
      %r = loops.for "s0_d2" %l = 0 to 12 iter_args(%b = %a) -> (f32) {
        %v = loops.load %x[%c, %k, %l] : memref<64x12x12xf32> to f32
        %t = arith.addf %b, %v fastmath<reassoc> : f32
        loops.yield %t : f32
      }
      loops.yield %r : f32
    }
    loops.store %s, %o[%c] : f32 to memref<64xf32>
  }
  func.return
}

// -----

// A matrix times a vector: rows share the vector, so that eight of them are done at once; the five left over are not.
// CHECK-LABEL: transform.named_sequence @matvec_schedule
// CHECK:       schedule.tile %s0_d0 {sizes = array<i64: 8>, why = "8 rows share what they read"}
// CHECK:       schedule.vectorize %[[ROWS:.*]], %[[LANES:.*]]
// CHECK:       schedule.vectorize %[[REST:[a-z0-9_]+]]{{$}}
func.func private @matvec(%x: memref<1029x512xf32>, %y: memref<512xf32>, %o: memref<1029xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 1029 parallel {
    %s = loops.for "s0_d1" %k = 0 to 512 iter_args(%a = %zero) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<1029x512xf32> to f32
      %w = loops.load %y[%k] : memref<512xf32> to f32
      %p = arith.mulf %v, %w fastmath<contract,reassoc> : f32
      %t = arith.addf %a, %p fastmath<contract,reassoc> : f32
      loops.yield %t : f32
    }
    loops.store %s, %o[%i] : f32 to memref<1029xf32>
  }
  func.return
}

// -----

// Rows that share nothing are done one by one.
// CHECK-LABEL: transform.named_sequence @dots_schedule
// CHECK-NOT:   rows share
// CHECK:       transform.yield
func.func private @dots(%x: memref<1024x512xf32>, %y: memref<1024x512xf32>, %o: memref<1024xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 1024 parallel {
    %s = loops.for "s0_d1" %k = 0 to 512 iter_args(%a = %zero) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<1024x512xf32> to f32
      %w = loops.load %y[%i, %k] : memref<1024x512xf32> to f32
      %p = arith.mulf %v, %w fastmath<contract,reassoc> : f32
      %t = arith.addf %a, %p fastmath<contract,reassoc> : f32
      loops.yield %t : f32
    }
    loops.store %s, %o[%i] : f32 to memref<1024xf32>
  }
  func.return
}
