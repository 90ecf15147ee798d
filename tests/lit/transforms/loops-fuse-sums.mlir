// RUN: aicc-opt %s -p "loops-fuse{first=a second=b}" | filecheck %s --enable-var-scope

// Sums are carried side by side; what needs the first sum stays behind, the constant moves in front.
// CHECK-LABEL: @sums
// CHECK-SAME:  (%[[X:[a-z0-9]+]]: memref<8xf32>, %[[Y:[a-z0-9]+]]: memref<2xf32>)
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT:    %[[R:.*]], %[[Q:.*]] = loops.for "a" %[[I:.*]] = 0 to 8 iter_args(%[[A:.*]] = %[[ZERO]], %[[B:.*]] = %[[ONE]]) -> (f32, f32) {
// CHECK-NEXT:      %[[V:.*]] = loops.load %[[X]][%[[I]]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[V]]
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[B]], %[[V]]
// CHECK-NEXT:      loops.yield %[[S]], %[[P]]
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.store %[[R]], %[[Y]][0]
// CHECK-NEXT:    loops.store %[[Q]], %[[Y]][1]
func.func private @sums(%x: memref<8xf32>, %y: memref<2xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %r = loops.for "a" %i = 0 to 8 iter_args(%acc = %zero) -> (f32) {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    %s = arith.addf %acc, %v : f32
    loops.yield %s : f32
  }
  loops.store %r, %y[0] : f32 to memref<2xf32>
  %one = arith.constant 1.0 : f32
  %q = loops.for "b" %i = 0 to 8 iter_args(%acc = %one) -> (f32) {
    %v = loops.load %x[%i] : memref<8xf32> to f32
    %s = arith.mulf %acc, %v : f32
    loops.yield %s : f32
  }
  loops.store %q, %y[1] : f32 to memref<2xf32>
  func.return
}
