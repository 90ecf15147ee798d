// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s

// Weights come from memory, more slowly than a tile uses them: each panel is read once, and all rows go by inside.
// CHECK-LABEL: transform.named_sequence @weights_outside_schedule
// CHECK:         schedule.interchange %{{.*}}, %{{.*}} {order = array<i64: 1, 0>, why = "least traffic between caches"}
// CHECK-NEXT:    schedule.vectorize
func.func private @weights_outside(%x: memref<96x768xf32>, %w: memref<768x3072xf32>, %o: memref<96x3072xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 96 parallel {
    loops.for "s0_d1" %j = 0 to 3072 parallel {
      %s = loops.for "s0_d2" %k = 0 to 768 iter_args(%a = %z) -> (f32) {
        %p = loops.load %x[%i, %k] : memref<96x768xf32> to f32
        %q = loops.load %w[%k, %j] : memref<768x3072xf32> to f32
        %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
        %t = arith.addf %a, %m fastmath<contract,reassoc> : f32
        loops.yield %t : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<96x3072xf32>
    }
  }
  func.return
}

// Weights that the last cache holds are fast enough to be read again for each block of rows, which then stays near.
// CHECK-LABEL: transform.named_sequence @rows_outside_schedule
// CHECK:         schedule.tile %{{.*}} {sizes = array<i64: {{[0-9]+}}>, tails = ["mask"], why = "blocks of {{[0-9]+}} rows stay in cache"}
// CHECK-NEXT:    schedule.interchange %{{.*}}, %{{.*}}, %{{.*}} {order = array<i64: 0, 2, 1>, why = "least traffic between caches"}
func.func private @rows_outside(%x: memref<1536x512xf32>, %w: memref<512x512xf32>, %o: memref<1536x512xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 1536 parallel {
    loops.for "s0_d1" %j = 0 to 512 parallel {
      %s = loops.for "s0_d2" %k = 0 to 512 iter_args(%a = %z) -> (f32) {
        %p = loops.load %x[%i, %k] : memref<1536x512xf32> to f32
        %q = loops.load %w[%k, %j] : memref<512x512xf32> to f32
        %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
        %t = arith.addf %a, %m fastmath<contract,reassoc> : f32
        loops.yield %t : f32
      }
      loops.store %s, %o[%i, %j] : f32 to memref<1536x512xf32>
    }
  }
  func.return
}

// Any order costs about the same in the caches of one core: rows are outside, as in the kernels before and after, so that
// threads find what they wrote themselves.
// CHECK-LABEL: transform.named_sequence @own_rows_schedule
// CHECK:         schedule.tile
// CHECK-NEXT:    schedule.vectorize
// CHECK:         schedule.parallelize %s0_d0_o
func.func private @own_rows(%x: memref<30x30x256xf32>, %w: memref<3x3x256xf32>, %o: memref<28x28x256xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "s0_d0" %i = 0 to 28 parallel {
    loops.for "s0_d1" %j = 0 to 28 parallel {
      loops.for "s0_d2" %c = 0 to 256 parallel {
        %s = loops.for "s0_d3" %k = 0 to 3 iter_args(%a = %z) -> (f32) {
          %r = loops.for "s0_d4" %l = 0 to 3 iter_args(%b = %a) -> (f32) {
            %p = loops.load %x[%i + %k, %j + %l, %c] : memref<30x30x256xf32> to f32
            %q = loops.load %w[%k, %l, %c] : memref<3x3x256xf32> to f32
            %m = arith.mulf %p, %q fastmath<contract,reassoc> : f32
            %t = arith.addf %b, %m fastmath<contract,reassoc> : f32
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

func.func @main(%x: memref<96x768xf32>, %y: memref<1536x512xf32>, %a: memref<96x3072xf32>, %b: memref<1536x512xf32>)
    attributes {aicc.num_outputs = 2 : i64} {
  %v = loops.constant #graph.buffer<"v"> : memref<768x3072xf32>
  %w = loops.constant #graph.buffer<"w"> : memref<512x512xf32>
  loops.call @weights_outside(%x, %v, %a) : memref<96x768xf32>, memref<768x3072xf32>, memref<96x3072xf32>
  loops.call @rows_outside(%y, %w, %b) : memref<1536x512xf32>, memref<512x512xf32>, memref<1536x512xf32>
  func.return
}
