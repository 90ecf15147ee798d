// RUN: aicc-opt %s -p loops-simplify | filecheck %s --enable-var-scope

// A loop of one iteration becomes its body, for a step that is not 1 and a bound that is not 0, too; constants move
// into maps, and division disappears where the bounds of the loop allow.
// CHECK-LABEL: @one_iteration
// CHECK-SAME:  (%[[X:[a-z0-9]+]]: memref<4x64xf32>, %[[Y:[a-z0-9]+]]: memref<64xf32>)
// CHECK-NEXT:    loops.for "j" %[[J:.*]] = 0 to 8 parallel {
// CHECK-NEXT:      %[[V:.*]] = loops.load %[[X]][3, %[[J]] + 5]
// CHECK-NEXT:      loops.store %[[V]], %[[Y]][%[[J]] * 2]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func private @one_iteration(%x: memref<4x64xf32>, %y: memref<64xf32>) attributes {aicc.kernel} {
  %five = arith.constant 5 : index
  loops.for "i" %i = 3 to 5 step 2 parallel {
    loops.for "j" %j = 0 to 8 parallel {
      %k = loops.apply %j + %five
      %v = loops.load %x[%i, %k] : memref<4x64xf32> to f32
      loops.store %v, %y[%j floordiv 8 * 3 + %j mod 8 + %j] : f32 to memref<64xf32>
    }
  }
  func.return
}

// No iteration: the carried value is the first one.
// CHECK-LABEL: @no_iteration
// CHECK-SAME:  (%[[X:[a-z0-9]+]]: memref<4xf32>, %[[V:[a-z0-9]+]]: f32)
// CHECK-NEXT:    loops.store %[[V]], %[[X]][0]
// CHECK-NEXT:    func.return
func.func private @no_iteration(%x: memref<4xf32>, %v: f32) attributes {aicc.kernel} {
  %r = loops.for "i" %i = 4 to 4 iter_args(%acc = %v) -> (f32) {
    %w = loops.load %x[%i] : memref<4xf32> to f32
    loops.yield %w : f32
  }
  loops.store %r, %x[0] : f32 to memref<4xf32>
  func.return
}

// The number of iterations is 0 or more: the loop stays.
// CHECK-LABEL: @symbolic_bound
// CHECK:         loops.for "i" %{{.*}} = 0 to min(%{{.*}}, 1)
func.func private @symbolic_bound(%s0: index, %x: memref<4xf32>, %v: f32)
    attributes {aicc.kernel, aicc.symbols = ["s0"]} {
  loops.for "i" %i = 0 to min(%s0, 1) {
    loops.store %v, %x[%i] : f32 to memref<4xf32>
  }
  func.return
}

// The stored value is used, the buffer is then never read; each row keeps what a later loop reads.
// CHECK-LABEL: @buffers
// CHECK-SAME:  (%[[X:[a-z0-9]+]]: memref<8x16xf32>, %[[Y:[a-z0-9]+]]: memref<8x16xf32>)
// CHECK-NEXT:    loops.for "i" %[[I:.*]] = 0 to 8 parallel {
// CHECK-NEXT:      %[[B:.*]] = loops.alloc : memref<16xf32>
// CHECK-NEXT:      loops.for "j" %[[J:.*]] = 0 to 16 parallel {
// CHECK-NEXT:        %[[V:.*]] = loops.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT:        %[[S:.*]] = arith.addf %[[V]], %[[V]]
// CHECK-NEXT:        loops.store %[[S]], %[[B]][%[[J]]]
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.for "k" %[[K:.*]] = 0 to 16 parallel {
// CHECK-NEXT:        %[[W:.*]] = loops.load %[[B]][15 - %[[K]]]
// CHECK-NEXT:        loops.store %[[W]], %[[Y]][%[[I]], %[[K]]]
func.func private @buffers(%x: memref<8x16xf32>, %y: memref<8x16xf32>) attributes {aicc.kernel} {
  %a = loops.alloc : memref<8x16xf32>
  %b = loops.alloc : memref<8x16xf32>
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "j" %j = 0 to 16 parallel {
      %v = loops.load %x[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %a[%i, %j] : f32 to memref<8x16xf32>
      %w = loops.load %a[%i, %j] : memref<8x16xf32> to f32
      %s = arith.addf %v, %w : f32
      loops.store %s, %b[%i, %j] : f32 to memref<8x16xf32>
    }
    loops.for "k" %k = 0 to 16 parallel {
      %w = loops.load %b[%i, 15 - %k] : memref<8x16xf32> to f32
      loops.store %w, %y[%i, %k] : f32 to memref<8x16xf32>
    }
  }
  func.return
}

// Not the same element for sure: the second load stays.
// CHECK-LABEL: @may_alias
// CHECK-COUNT-2: loops.load
// CHECK:         func.return
func.func private @may_alias(%x: memref<8xf32>, %y: memref<8xf32>, %i: index, %j: index) attributes {aicc.kernel} {
  %a = loops.load %x[%i] : memref<8xf32> to f32
  loops.store %a, %x[%j] : f32 to memref<8xf32>
  %b = loops.load %x[%i] : memref<8xf32> to f32
  loops.store %b, %y[0] : f32 to memref<8xf32>
  func.return
}

// Each iteration of "o" needs what the one before left in the buffer: it stays outside.
// CHECK-LABEL: @kept_outside
// CHECK-NEXT:    %{{.*}} = loops.alloc : memref<8xf32>
// CHECK-NEXT:    loops.for "o"
func.func private @kept_outside(%y: memref<8xf32>, %v: f32) attributes {aicc.kernel} {
  %a = loops.alloc : memref<8xf32>
  loops.for "o" %o = 0 to 3 {
    loops.for "i" %i = 0 to 8 {
      %w = loops.load %a[%i] : memref<8xf32> to f32
      loops.store %w, %y[%i] : f32 to memref<8xf32>
      loops.store %v, %a[%i] : f32 to memref<8xf32>
    }
  }
  func.return
}

// Exponentials are written where the scores were, and what comes of those in the same place: the output, in the end.
// CHECK-LABEL: @in_place
// CHECK-SAME:    %[[X:[a-z]+]]: memref<8xf32>, %[[Y:[a-z]+]]: memref<8xf32>
// CHECK-NOT:     loops.alloc
// CHECK:         loops.for "i"
// CHECK:           loops.store %{{.*}}, %[[Y]]
// CHECK:         loops.for "j"
// CHECK-NEXT:      %[[E:.*]] = loops.load %[[Y]]
// CHECK:           loops.store %{{.*}}, %[[Y]]
func.func private @in_place(%x: memref<8xf32>, %y: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %a = loops.alloc : memref<8xf32>
  loops.for "i" %i = 0 to 8 parallel {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    %e = math.exp %v : f32
    loops.store %e, %a[%i] : f32 to memref<8xf32>
  }
  %z = arith.constant 0.0 : f32
  %s = loops.for "k" %k = 0 to 8 iter_args(%t = %z) -> (f32) {
    %w = loops.load %a[%k] : memref<8xf32> to f32
    %u = arith.addf %t, %w fastmath<reassoc> : f32
    loops.yield %u : f32
  }
  loops.for "j" %j = 0 to 8 parallel {
    %w = loops.load %a[%j] : memref<8xf32> to f32
    %q = arith.divf %w, %s : f32
    loops.store %q, %y[%j] : f32 to memref<8xf32>
  }
  func.return
}

// The element read is not the one written, or another one is read as well: two buffers.
// CHECK-LABEL: @not_in_place
// CHECK-COUNT-2: loops.alloc
// CHECK:         func.return
func.func private @not_in_place(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %a = loops.alloc : memref<8xf32>
  %b = loops.alloc : memref<8xf32>
  loops.for "i" %i = 0 to 8 parallel {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    %e = math.exp %v : f32
    loops.store %e, %a[%i] : f32 to memref<8xf32>
    loops.store %v, %b[%i] : f32 to memref<8xf32>
  }
  loops.for "j" %j = 0 to 8 parallel {
    %w = loops.load %a[-%j + 7] : memref<8xf32> to f32
    loops.store %w, %y[%j] : f32 to memref<8xf32>
  }
  loops.for "k" %k = 0 to 8 parallel {
    %w = loops.load %b[%k] : memref<8xf32> to f32
    %u = loops.load %b[0] : memref<8xf32> to f32
    %q = arith.subf %w, %u : f32
    loops.store %q, %z[%k] : f32 to memref<8xf32>
  }
  func.return
}

// Of a buffer that is walked in blocks each iteration has its own one.
// CHECK-LABEL: @blocks
// CHECK:         loops.for "o" %[[O:.*]] = 0 to 4 parallel {
// CHECK-NEXT:      %[[A:.*]] = loops.alloc : memref<8x5xf32>
// CHECK:             loops.store %{{.*}}, %[[A]][%{{.*}}, %{{.*}}] : f32 to memref<8x5xf32>
func.func private @blocks(%x: memref<30x5xf32>, %y: memref<30x5xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %a = loops.alloc : memref<30x5xf32>
  loops.for "o" %o = 0 to 4 parallel {
    loops.for "i" %i = 0 to min(8, 30 - 8 * %o) parallel {
      loops.for "j" %j = 0 to 5 parallel {
        %v = loops.load %x[8 * %o + %i, %j] : memref<30x5xf32> to f32
        loops.store %v, %a[8 * %o + %i, %j] : f32 to memref<30x5xf32>
      }
    }
    loops.for "k" %k = 0 to min(8, 30 - 8 * %o) parallel {
      loops.for "l" %l = 0 to 5 parallel {
        %v = loops.load %a[8 * %o + %k, -%l + 4] : memref<30x5xf32> to f32
        loops.store %v, %y[8 * %o + %k, %l] : f32 to memref<30x5xf32>
      }
    }
  }
  func.return
}
