// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-stage{label=t argument=1 tiles=0,16 order=1,0}' | filecheck %s

// The part that one block of columns needs, tile by tile; large strides of the input outside.
// CHECK-LABEL: @columns
// CHECK:         loops.for "t" %[[T:.*]] = 0 to 4 parallel {
// CHECK-NEXT:      %[[P:.*]] = loops.alloc {on_stack} : memref<2x64x16xf32>
// CHECK-NEXT:      loops.for "k.s" %[[K:.*]] = 0 to 64 parallel {
// CHECK-NEXT:        loops.for "u.s" %[[U:.*]] = 0 to min(2, 7 - %[[T]] * 2) parallel {
// CHECK-NEXT:          %[[V:.*]] = loops.load %b[%[[K]], %[[T]] * 32 + %[[U]] * 16 + l0] : memref<64x112xf32> to vector<16xf32>
// CHECK-NEXT:          loops.store %[[V]], %[[P]][%[[U]], %[[K]], l0]
// CHECK:           loops.for "i" %[[I:.*]] = 0 to 8 parallel {
// CHECK:             loops.load %a[%[[I]], %[[L:.*]]]
// CHECK-NEXT:        loops.load %[[P]][%{{.*}}, %[[L]], %{{.*}}] : memref<2x64x16xf32> to f32
func.func private @columns(%a: memref<8x64xf32>, %b: memref<64x112xf32>, %o: memref<8x112xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "t" %t = 0 to 4 parallel {
    loops.for "i" %i = 0 to 8 parallel {
      loops.for "u" %u = 0 to min(2, 7 - %t * 2) parallel {
        loops.for "c" %c = 0 to 16 parallel {
          %s = loops.for "k" %k = 0 to 64 iter_args(%acc = %z) -> (f32) {
            %x = loops.load %a[%i, %k] : memref<8x64xf32> to f32
            %y = loops.load %b[%k, %t * 32 + %u * 16 + %c] : memref<64x112xf32> to f32
            %p = arith.mulf %x, %y : f32
            %n = arith.addf %acc, %p : f32
            loops.yield %n : f32
          }
          loops.store %s, %o[%i, %t * 32 + %u * 16 + %c] : f32 to memref<8x112xf32>
        }
      }
    }
  }
  func.return
}

// -----

func.func private @quotient(%a: memref<64xf32>, %b: memref<128x16xf32>, %o: memref<2x16xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{stage: loop 't': reads the input at an index that is not linear in the loops}}
  loops.for "t" %t = 0 to 2 parallel {
    loops.for "c" %c = 0 to 16 parallel {
      %y = loops.load %b[%c floordiv 2, %c] : memref<128x16xf32> to f32
      loops.store %y, %o[%t, %c] : f32 to memref<2x16xf32>
    }
  }
  func.return
}

// -----

func.func private @unknown(%n: index, %a: memref<64xf32>, %b: memref<?x16xf32, #loops.dims<s0>>, %o: memref<2x16xf32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{stage: loop 't': reads a part of the input whose size has no known limit}}
  loops.for "t" %t = 0 to 2 parallel {
    %s = loops.for "k" %k = 0 to %n iter_args(%acc = %z) -> (f32) {
      %y = loops.load %b[%k, %t] : memref<?x16xf32, #loops.dims<s0>> to f32
      %m = arith.addf %acc, %y : f32
      loops.yield %m : f32
    }
    loops.store %s, %o[%t, 0] : f32 to memref<2x16xf32>
  }
  func.return
}

// -----

func.func private @unread(%a: memref<64xf32>, %b: memref<128x16xf32>, %o: memref<2x16xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  // expected-error@+1 {{stage: loop 't': does not read input 1}}
  loops.for "t" %t = 0 to 2 parallel {
    %y = loops.load %a[%t] : memref<64xf32> to f32
    loops.store %y, %o[%t, 0] : f32 to memref<2x16xf32>
  }
  func.return
}
