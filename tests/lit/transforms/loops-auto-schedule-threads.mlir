// RUN: aicc-opt %s -p 'loops-auto-schedule{target=x86-64-v4},loops-apply-schedules' | filecheck %s

// A batch of unknown size: it is shared out if it turns out to be large enough, else what is done for each of it.
// CHECK-LABEL: @unknown(
// CHECK:         loops.for "a_n" %{{.*}} = 0 to %s0 parallel threads attributes {{{.*}}least = 2 : i64, work = #graph.shape<64*s0*s1>, part = {{.*}}} {
// CHECK:           loops.for "b_i" {{.*}} threads
func.func private @unknown(%s0: index, %s1: index, %x: memref<?x?x64xf32, #loops.dims<s0, s1>>,
                           %m: memref<?x64xf32, #loops.dims<s0>>, %out: memref<?x?x64xf32, #loops.dims<s0, s1>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s0", "s1"]} {
  %z = arith.constant 0.0 : f32
  loops.for "a_n" %n = 0 to %s0 parallel {
    loops.for "a_i" %i = 0 to 64 parallel {
      %s = loops.for "a_k" %k = 0 to %s1 iter_args(%acc = %z) -> (f32) {
        %a = loops.load %x[%n, %k, %i] : memref<?x?x64xf32, #loops.dims<s0, s1>> to f32
        %r = arith.addf %acc, %a fastmath<contract,reassoc> : f32
        loops.yield %r : f32
      }
      loops.store %s, %m[%n, %i] : f32 to memref<?x64xf32, #loops.dims<s0>>
    }
    loops.for "b_i" %i = 0 to %s1 parallel {
      loops.for "b_j" %j = 0 to 64 parallel {
        %a = loops.load %m[%n, %j] : memref<?x64xf32, #loops.dims<s0>> to f32
        %b = loops.load %x[%n, %i, %j] : memref<?x?x64xf32, #loops.dims<s0, s1>> to f32
        %r = arith.subf %b, %a : f32
        loops.store %r, %out[%n, %i, %j] : f32 to memref<?x?x64xf32, #loops.dims<s0, s1>>
      }
    }
  }
  func.return
}

// There are enough in any case; what each does is known when the program runs.
// CHECK-LABEL: @enough(
// CHECK:         loops.for "a_n" %{{.*}} = 0 to 64 parallel threads attributes {grain = {{[0-9]+}} : i64, work = #graph.shape<4096*s1>, part = {{[0-9]+}} : i64} {
// CHECK-NOT:     threads
// CHECK:         func.return
func.func private @enough(%s1: index, %x: memref<64x?x64xf32, #loops.dims<s1>>, %m: memref<64x64xf32>,
                          %out: memref<64x?x64xf32, #loops.dims<s1>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s1"]} {
  %z = arith.constant 0.0 : f32
  loops.for "a_n" %n = 0 to 64 parallel {
    loops.for "a_i" %i = 0 to 64 parallel {
      %s = loops.for "a_k" %k = 0 to %s1 iter_args(%acc = %z) -> (f32) {
        %a = loops.load %x[%n, %k, %i] : memref<64x?x64xf32, #loops.dims<s1>> to f32
        %r = arith.addf %acc, %a fastmath<contract,reassoc> : f32
        loops.yield %r : f32
      }
      loops.store %s, %m[%n, %i] : f32 to memref<64x64xf32>
    }
    loops.for "b_i" %i = 0 to %s1 parallel {
      loops.for "b_j" %j = 0 to 64 parallel {
        %a = loops.load %m[%n, %j] : memref<64x64xf32> to f32
        %b = loops.load %x[%n, %i, %j] : memref<64x?x64xf32, #loops.dims<s1>> to f32
        %r = arith.subf %b, %a : f32
        loops.store %r, %out[%n, %i, %j] : f32 to memref<64x?x64xf32, #loops.dims<s1>>
      }
    }
  }
  func.return
}

// Each iteration does the same: a number says how many are worth a thread.
// CHECK-LABEL: func.func private @same(
// CHECK:         loops.for {{.*}} threads attributes {grain = {{[0-9]+}} : i64} {
func.func private @same(%s0: index, %x: memref<?x64xf32, #loops.dims<s0>>, %out: memref<?x64xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s0"]} {
  loops.for "i" %i = 0 to %s0 parallel {
    loops.for "j" %j = 0 to 64 parallel {
      %a = loops.load %x[%i, %j] : memref<?x64xf32, #loops.dims<s0>> to f32
      %r = arith.addf %a, %a : f32
      loops.store %r, %out[%i, %j] : f32 to memref<?x64xf32, #loops.dims<s0>>
    }
  }
  func.return
}

// At most five columns never fill a tile: the nest of full tiles is reckoned to take no time, and is not shared out.
// CHECK-LABEL: func.func private @never_full(
// CHECK-NOT:     threads
// CHECK:         func.return
func.func private @never_full(%n: index, %w: memref<5x2x?x3xf32, #loops.dims<s0>>, %x: memref<3x?x?xf32, #loops.dims<s0, s0>>, %o: memref<5x3x2x?xf32, #loops.dims<-2*s0+5>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %c = loops.size #graph.shape<-2*s0+5>
  loops.for "s0_d0" %b = 0 to 3 parallel {
    loops.for "s0_d1" %i = 0 to 5 parallel {
      loops.for "s0_d2" %h = 0 to 2 parallel {
        loops.for "s0_d3" %j = 0 to %c parallel {
          %s = loops.for "s0_d4" %k = 0 to %n iter_args(%a = %z) -> (f32) {
            %t = loops.for "s0_d5" %l = 0 to %n iter_args(%d = %a) -> (f32) {
              %p = loops.load %w[%i, %h, %k, %j + %l * 2] : memref<5x2x?x3xf32, #loops.dims<s0>> to f32
              %q = loops.load %x[%b, %k, %l] : memref<3x?x?xf32, #loops.dims<s0, s0>> to f32
              %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
              %e = arith.addf %d, %m fastmath<contract,reassoc> : f32
              loops.yield %e : f32
            }
            loops.yield %t : f32
          }
          loops.store %s, %o[%i, %b, %h, %j] : f32 to memref<5x3x2x?xf32, #loops.dims<-2*s0+5>>
        }
      }
    }
  }
  func.return
}

// One image alone is work for many threads: they share out its rows, which follow each other in memory as do those of
// what is read, though columns outside would keep more of the window in the nearest cache.
// CHECK-LABEL: @one_image(
// CHECK:         loops.for "w_n" {{.*}} parallel threads attributes {{{.*}}nested = 2
// CHECK-NEXT:      loops.for "w_i" {{.*}} = 0 to 112 parallel
func.func private @one_image(%s0: index, %x: memref<?x114x114x32xf32, #loops.dims<s0>>, %w: memref<3x3x32xf32>,
                             %out: memref<?x112x112x32xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s0"]} {
  %z = arith.constant 0.0 : f32
  loops.for "w_n" %n = 0 to %s0 parallel {
    loops.for "w_i" %i = 0 to 112 parallel {
      loops.for "w_j" %j = 0 to 112 parallel {
        loops.for "w_c" %c = 0 to 32 parallel {
          %s = loops.for "w_k" %k = 0 to 3 iter_args(%a = %z) -> (f32) {
            %r = loops.for "w_l" %l = 0 to 3 iter_args(%b = %a) -> (f32) {
              %v = loops.load %x[%n, %i + %k, %j + %l, %c] : memref<?x114x114x32xf32, #loops.dims<s0>> to f32
              %u = loops.load %w[%k, %l, %c] : memref<3x3x32xf32> to f32
              %p = arith.mulf %v, %u fastmath<contract,reassoc> : f32
              %t = arith.addf %b, %p fastmath<contract,reassoc> : f32
              loops.yield %t : f32
            }
            loops.yield %r : f32
          }
          loops.store %s, %out[%n, %i, %j, %c] : f32 to memref<?x112x112x32xf32, #loops.dims<s0>>
        }
      }
    }
  }
  func.return
}

// Shuffled channels: threads share the pixels, outermost on both sides, not the channels that move.
// CHECK-LABEL: @shuffled(
// CHECK:         loops.for "t_p.o" {{.*}} = 0 to 98 parallel threads
func.func private @shuffled(%x: memref<1568x4x34xf32>, %out: memref<1568x34x4xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = []} {
  loops.for "t_p" %p = 0 to 1568 parallel {
    loops.for "t_c" %c = 0 to 34 parallel {
      loops.for "t_g" %g = 0 to 4 parallel {
        %v = loops.load %x[%p, %g, %c] : memref<1568x4x34xf32> to f32
        loops.store %v, %out[%p, %c, %g] : f32 to memref<1568x34x4xf32>
      }
    }
  }
  func.return
}
