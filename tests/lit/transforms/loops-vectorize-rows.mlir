// RUN: aicc-opt %s -p 'loops-vectorize{label=r,i}' | filecheck %s

// A matrix times a vector: each row has its sums in the lanes, the vector is read once for all rows, and what comes
// before and after the sums has a lane for each row.
// CHECK-LABEL: @rows
// CHECK:         %[[B:.*]] = loops.load %b[l0] : memref<4xf32> to vector<4xf32>
// CHECK:         %[[Z:.*]] = loops.broadcast %{{.*}} : f32 to vector<4x8xf32>
// CHECK-NEXT:    %[[T:.*]] = loops.for "o" %[[O:.*]] = 0 to 3 iter_args(%[[A:.*]] = %[[Z]]) -> (vector<4x8xf32>) {
// CHECK-NEXT:      %[[X:.*]] = loops.load %x[l0, %[[O]] * 8 + l1] : memref<4x24xf32> to vector<4x8xf32>
// CHECK-NEXT:      %[[Y:.*]] = loops.load %y[%[[O]] * 8 + l1] : memref<24xf32> to vector<1x8xf32>
// CHECK-NEXT:      %[[W:.*]] = loops.broadcast %[[Y]] : vector<1x8xf32> to vector<4x8xf32>
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[X]], %[[W]] fastmath<reassoc> : vector<4x8xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[P]] fastmath<reassoc> : vector<4x8xf32>
// CHECK-NEXT:      loops.yield %[[S]] : vector<4x8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[R:.*]] = loops.reduce "add" %[[T]] axes [1] : vector<4x8xf32> to vector<4xf32>
// CHECK-NEXT:    %[[F:.*]] = arith.addf %[[B]], %[[R]] fastmath<reassoc> : vector<4xf32>
// CHECK-NEXT:    %[[D:.*]] = arith.mulf %[[F]], %[[F]] : vector<4xf32>
// CHECK-NEXT:    loops.store %[[D]], %o[l0] : vector<4xf32> to memref<4xf32>
func.func private @rows(%x: memref<4x24xf32>, %y: memref<24xf32>, %b: memref<4xf32>, %o: memref<4xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "r" %r = 0 to 4 parallel {
    %first = loops.load %b[%r] : memref<4xf32> to f32
    %s = loops.for "i" %i = 0 to 8 iter_args(%a = %first) -> (f32) {
      %t = loops.for "o" %k = 0 to 3 iter_args(%c = %a) -> (f32) {
        %v = loops.load %x[%r, %k * 8 + %i] : memref<4x24xf32> to f32
        %w = loops.load %y[%k * 8 + %i] : memref<24xf32> to f32
        %p = arith.mulf %v, %w fastmath<reassoc> : f32
        %q = arith.addf %c, %p fastmath<reassoc> : f32
        loops.yield %q : f32
      }
      loops.yield %t : f32
    }
    %d = arith.mulf %s, %s : f32
    loops.store %d, %o[%r] : f32 to memref<4xf32>
  }
  func.return
}
