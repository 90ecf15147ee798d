// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-split{label=m size=6}' | filecheck %s

// Quotients by the size disappear; what is indexed by the loop alone is seen through a view.
// CHECK-LABEL: @groups
// CHECK:         %[[O:.*]] = loops.view %o : memref<18xf32> to memref<3x6xf32>
// CHECK:         loops.for "m.g" %[[G:.*]] = 0 to 3 parallel {
// CHECK-NEXT:      loops.for "m.m" %[[M:.*]] = 0 to 6 parallel {
// CHECK-NEXT:        %[[V:.*]] = loops.load %x[%[[G]]] : memref<3xf32> to f32
// CHECK-NEXT:        loops.store %[[V]], %[[O]][%[[G]], %[[M]]]
func.func private @groups(%x: memref<3xf32>, %o: memref<18xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "m" %m = 0 to 18 parallel {
    %v = loops.load %x[%m floordiv 6] : memref<3xf32> to f32
    loops.store %v, %o[%m] : f32 to memref<18xf32>
  }
  func.return
}

// -----

// Any other use of the index gets its value from the two.
// CHECK-LABEL: @shifted
// CHECK-NOT:     loops.view
// CHECK:         loops.store %{{.*}}, %o[%[[G:.*]] * 6 + %[[M:.*]] + 1]
func.func private @shifted(%o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "m" %m = 0 to 18 parallel {
    loops.store %z, %o[%m + 1] : f32 to memref<20xf32>
  }
  func.return
}

// -----

// Where the index is a number to compute with, that stands inside all loops: the nest stays a perfect one.
// CHECK-LABEL: @computed
// CHECK:         loops.for "m.g" %[[G:.*]] = 0 to 3 parallel {
// CHECK-NEXT:      loops.for "m.m" %[[M:.*]] = 0 to 6 parallel {
// CHECK-NEXT:        loops.for "n" %{{.*}} = 0 to 4 parallel {
// CHECK-NEXT:          %[[I:.*]] = loops.apply %[[G]] * 6 + %[[M]]
// CHECK-NEXT:          arith.index_cast %[[I]] : index to i64
func.func private @computed(%o: memref<18x4xi64>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "m" %m = 0 to 18 parallel {
    loops.for "n" %n = 0 to 4 parallel {
      %i = arith.index_cast %m : index to i64
      loops.store %i, %o[%m, %n] : i64 to memref<18x4xi64>
    }
  }
  func.return
}

// -----

func.func private @no_divisor(%o: memref<20xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{split: loop 'm': its number of iterations is 20, expected a multiple of 6}}
  loops.for "m" %m = 0 to 20 parallel {
    loops.store %z, %o[%m] : f32 to memref<20xf32>
  }
  func.return
}

// -----

func.func private @symbolic(%n: index, %o: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{split: loop 'm': its number of iterations is not a known number, expected a multiple of 6}}
  loops.for "m" %m = 0 to %n parallel {
    loops.store %z, %o[%m] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}
