// RUN: aicc-opt %s -p 'loops-vectorize{label=r lanes=i,j}' | filecheck %s

// Two sweeps along four rows at once: what stands between them has a lane for each row, also the maximum that a buffer
// of one element held. A sweep that is cut short, in a loop around it, has lanes that are not in use.
// CHECK-LABEL: @rows
// CHECK-NOT:     loops.alloc
// CHECK:         %[[I:.*]] = loops.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK:         loops.load %x[l0, l1] : memref<4x?xf32, #loops.dims<n>> to vector<4x8xf32>
// CHECK:         %[[R:.*]] = loops.reduce "maximumf" %{{.*}} axes [1] : vector<4x8xf32> to vector<4xf32>
// CHECK-NEXT:    %[[M:.*]] = arith.maximumf %[[I]], %[[R]] : vector<4xf32>
// CHECK-NEXT:    %[[N:.*]] = arith.negf %[[M]] : vector<4xf32>
// CHECK:         loops.for "t" %[[T:.*]] = 0 to (%n + 7) floordiv 8 parallel {
// CHECK:           %[[L:.*]] = loops.apply
// CHECK:           %[[X:.*]] = loops.load %x[l0, %[[T]] * 8 + l1] lanes %{{.*}} : memref<4x?xf32, #loops.dims<n>> to vector<4x8xf32>
// CHECK-NEXT:      %[[W:.*]] = loops.broadcast %[[N]] : vector<4xf32> to vector<4x8xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[X]], %[[W]] : vector<4x8xf32>
// CHECK-NEXT:      loops.store %[[S]], %o[l0, %[[T]] * 8 + l1] lanes %{{.*}} : vector<4x8xf32> to memref<4x?xf32, #loops.dims<n>>
func.func private @rows(%n: index, %x: memref<4x?xf32, #loops.dims<n>>, %o: memref<4x?xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  %low = arith.constant 0xff800000 : f32
  loops.for "r" %r = 0 to 4 parallel {
    %m = loops.alloc : memref<1xf32>
    %s = loops.for "i" %i = 0 to 8 iter_args(%a = %low) -> (f32) {
      %v = loops.load %x[%r, %i] : memref<4x?xf32, #loops.dims<n>> to f32
      %q = arith.maximumf %a, %v : f32
      loops.yield %q : f32
    }
    %d = arith.negf %s : f32
    loops.store %d, %m[0] : f32 to memref<1xf32>
    loops.for "t" %t = 0 to (%n + 7) floordiv 8 parallel {
      loops.for "j" %j = 0 to min(8, %n - %t * 8) parallel {
        %v = loops.load %x[%r, %t * 8 + %j] : memref<4x?xf32, #loops.dims<n>> to f32
        %w = loops.load %m[0] : memref<1xf32> to f32
        %q = arith.addf %v, %w : f32
        loops.store %q, %o[%r, %t * 8 + %j] : f32 to memref<4x?xf32, #loops.dims<n>>
      }
    }
  }
  func.return
}
