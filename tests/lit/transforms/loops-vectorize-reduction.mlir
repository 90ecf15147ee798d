// RUN: aicc-opt %s --split-input-file -p 'loops-vectorize{label=i}' | filecheck %s

// One partial sum per lane; the lanes, then the value to start from, are combined at the end.
// CHECK-LABEL: @sum
// CHECK:         %[[C:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:    %[[Z:.*]] = loops.broadcast %[[C]] : f32 to vector<8xf32>
// CHECK-NEXT:    %[[T:.*]] = loops.for "o" %[[O:.*]] = 0 to 4 iter_args(%[[A:.*]] = %[[Z]]) -> (vector<8xf32>) {
// CHECK-NEXT:      %[[X:.*]] = loops.load %x[%[[O]] * 8 + l0] : memref<32xf32> to vector<8xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[X]] fastmath<reassoc> : vector<8xf32>
// CHECK-NEXT:      loops.yield %[[S]] : vector<8xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[R:.*]] = loops.reduce "add" %[[T]] axes [0] : vector<8xf32> to f32
// CHECK-NEXT:    %[[F:.*]] = arith.addf %init, %[[R]] fastmath<reassoc> : f32
// CHECK-NEXT:    loops.store %[[F]], %o[0]
func.func private @sum(%x: memref<32xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %init = arith.constant 3.0 : f32
  %s = loops.for "i" %i = 0 to 8 iter_args(%a = %init) -> (f32) {
    %t = loops.for "o" %k = 0 to 4 iter_args(%b = %a) -> (f32) {
      %v = loops.load %x[%k * 8 + %i] : memref<32xf32> to f32
      %r = arith.addf %b, %v fastmath<reassoc> : f32
      loops.yield %r : f32
    }
    loops.yield %t : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

// Lanes that are not in use take the identity: the smallest of 5 values is not 0.
// CHECK-LABEL: @masked_minimum
// CHECK:         %[[I:.*]] = arith.constant 2147483647 : i32
// CHECK:         %[[X:.*]] = loops.load %x[l0] lanes %{{.*}} : {{.*}} to vector<8xi32>
// CHECK:         %[[L:.*]] = loops.apply l0 : vector<8xindex>
// CHECK:         %[[M:.*]] = arith.cmpi slt, %[[L]], %{{.*}} : vector<8xindex>
// CHECK:         %[[V:.*]] = arith.select %[[M]], %[[X]], %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK:         arith.minsi %{{.*}}, %[[V]] : vector<8xi32>
// CHECK:         loops.reduce "minsi"
func.func private @masked_minimum(%n: index, %x: memref<?xi32, #loops.dims<s0>>, %o: memref<1xi32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %init = arith.constant 2147483647 : i32
  %s = loops.for "i" %i = 0 to min(8, %n) iter_args(%a = %init) -> (i32) {
    %v = loops.load %x[%i] : memref<?xi32, #loops.dims<s0>> to i32
    %r = arith.minsi %a, %v : i32
    loops.yield %r : i32
  }
  loops.store %s, %o[0] : i32 to memref<1xi32>
  func.return
}
