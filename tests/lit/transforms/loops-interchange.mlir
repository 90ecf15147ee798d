// RUN: aicc-opt %s -p 'loops-interchange{label=k,i,j}' | filecheck %s

// CHECK-LABEL: @copy
// CHECK:         loops.for "k" %[[K:.*]] = 0 to 6 parallel {
// CHECK-NEXT:      loops.for "i" %[[I:.*]] = 0 to 4 parallel {
// CHECK-NEXT:        loops.for "j" %[[J:.*]] = 0 to 5 parallel {
// CHECK-NEXT:          %[[V:.*]] = loops.load %x[%[[I]], %[[J]], %[[K]]]
func.func private @copy(%x: memref<4x5x6xf32>, %o: memref<4x5x6xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 4 parallel {
    loops.for "j" %j = 0 to 5 parallel {
      loops.for "k" %k = 0 to 6 parallel {
        %v = loops.load %x[%i, %j, %k] : memref<4x5x6xf32> to f32
        loops.store %v, %o[%i, %j, %k] : f32 to memref<4x5x6xf32>
      }
    }
  }
  func.return
}

// A reduction that may be reassociated: values are carried through the new nest.
// CHECK-LABEL: @sum
// CHECK:         %[[R:.*]] = loops.for "k" %{{.*}} = 0 to 6 iter_args(%[[A:.*]] = %z) -> (f32) {
// CHECK-NEXT:      %[[S:.*]] = loops.for "i" %{{.*}} = 0 to 4 iter_args(%[[B:.*]] = %[[A]]) -> (f32) {
// CHECK-NEXT:        %[[T:.*]] = loops.for "j" %{{.*}} = 0 to 5 iter_args(%[[C:.*]] = %[[B]]) -> (f32) {
// CHECK:               loops.yield
// CHECK-NEXT:        }
// CHECK-NEXT:        loops.yield %[[T]] : f32
// CHECK-NEXT:      }
// CHECK-NEXT:      loops.yield %[[S]] : f32
// CHECK-NEXT:    }
// CHECK-NEXT:    loops.store %[[R]], %o[0]
func.func private @sum(%x: memref<4x5x6xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %r = loops.for "i" %i = 0 to 4 iter_args(%a = %z) -> (f32) {
    %s = loops.for "j" %j = 0 to 5 iter_args(%b = %a) -> (f32) {
      %t = loops.for "k" %k = 0 to 6 iter_args(%c = %b) -> (f32) {
        %v = loops.load %x[%i, %j, %k] : memref<4x5x6xf32> to f32
        %u = arith.addf %c, %v fastmath<reassoc> : f32
        loops.yield %u : f32
      }
      loops.yield %t : f32
    }
    loops.yield %s : f32
  }
  loops.store %r, %o[0] : f32 to memref<1xf32>
  func.return
}
