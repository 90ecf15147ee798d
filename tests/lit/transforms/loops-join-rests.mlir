// RUN: aicc-opt %s -p 'loops-join-rests' | filecheck %s

// The rest goes on from the vector of the full tiles, whose lanes are summed up once.
// CHECK-LABEL: @sum
// CHECK:         %[[FULL:.*]] = loops.for "k.o" {{.*}} -> (vector<16xf32>) {
// CHECK:         %[[ALL:.*]] = loops.for "k.t" {{.*}} iter_args(%[[C:.*]] = %[[FULL]]) -> (vector<16xf32>) {
// CHECK:           %[[P:.*]] = arith.addf %[[C]], %{{.*}} fastmath<reassoc> : vector<16xf32>
// CHECK-NEXT:      loops.yield %[[P]] : vector<16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[T:.*]] = loops.reduce "add" %[[ALL]] axes [0]
// CHECK-NEXT:    %[[S:.*]] = arith.addf %{{.*}}, %[[T]] fastmath<reassoc> : f32
// CHECK-NEXT:    loops.store %[[S]], %o[]
func.func private @sum(%s0: index, %a: memref<?xf32, #loops.dims<s0>>, %o: memref<f32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %zeros = loops.broadcast %zero : f32 to vector<16xf32>
  %v = loops.for "k.o" %k = 0 to %s0 floordiv 16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %x = loops.load %a[%k * 16 + l0] : memref<?xf32, #loops.dims<s0>> to vector<16xf32>
    %n = arith.addf %acc, %x fastmath<reassoc> : vector<16xf32>
    loops.yield %n : vector<16xf32>
  }
  %t = loops.reduce "add" %v axes [0] : vector<16xf32> to f32
  %c = arith.addf %z, %t fastmath<reassoc> : f32
  %s = loops.for "k.t" %k = %s0 floordiv 16 to (%s0 + 15) floordiv 16 iter_args(%acc = %c) -> (f32) {
    %lanes = loops.apply %s0 mod 16
    %y = arith.constant 0.0 : f32
    %ys = loops.broadcast %y : f32 to vector<16xf32>
    %x = loops.load %a[%k * 16 + l0] lanes %lanes : memref<?xf32, #loops.dims<s0>> to vector<16xf32>
    %p = arith.addf %ys, %x fastmath<reassoc> : vector<16xf32>
    %u = loops.reduce "add" %p axes [0] : vector<16xf32> to f32
    %d = arith.addf %acc, %u fastmath<reassoc> : f32
    loops.yield %d : f32
  }
  loops.store %s, %o[] : f32 to memref<f32>
  func.return
}

// The sum of the full tiles is needed by itself.
// CHECK-LABEL: @needed
// CHECK:         loops.for "k.t" {{.*}} -> (f32) {
func.func private @needed(%s0: index, %a: memref<?xf32, #loops.dims<s0>>, %o: memref<f32>, %q: memref<f32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 2 : i64} {
  %z = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %zeros = loops.broadcast %zero : f32 to vector<16xf32>
  %v = loops.for "k.o" %k = 0 to %s0 floordiv 16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %x = loops.load %a[%k * 16 + l0] : memref<?xf32, #loops.dims<s0>> to vector<16xf32>
    %n = arith.addf %acc, %x fastmath<reassoc> : vector<16xf32>
    loops.yield %n : vector<16xf32>
  }
  %t = loops.reduce "add" %v axes [0] : vector<16xf32> to f32
  %c = arith.addf %z, %t fastmath<reassoc> : f32
  loops.store %c, %q[] : f32 to memref<f32>
  %s = loops.for "k.t" %k = %s0 floordiv 16 to (%s0 + 15) floordiv 16 iter_args(%acc = %c) -> (f32) {
    %lanes = loops.apply %s0 mod 16
    %x = loops.load %a[%k * 16 + l0] lanes %lanes : memref<?xf32, #loops.dims<s0>> to vector<16xf32>
    %p = arith.addf %zeros, %x fastmath<reassoc> : vector<16xf32>
    %u = loops.reduce "add" %p axes [0] : vector<16xf32> to f32
    %d = arith.addf %acc, %u fastmath<reassoc> : f32
    loops.yield %d : f32
  }
  loops.store %s, %o[] : f32 to memref<f32>
  func.return
}

// What the rest begins with is not what changes nothing.
// CHECK-LABEL: @other
// CHECK:         loops.for "k.t" {{.*}} -> (f32) {
func.func private @other(%s0: index, %a: memref<?xf32, #loops.dims<s0>>, %o: memref<f32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %zeros = loops.broadcast %zero : f32 to vector<16xf32>
  %ones = loops.broadcast %z : f32 to vector<16xf32>
  %v = loops.for "k.o" %k = 0 to %s0 floordiv 16 iter_args(%acc = %zeros) -> (vector<16xf32>) {
    %x = loops.load %a[%k * 16 + l0] : memref<?xf32, #loops.dims<s0>> to vector<16xf32>
    %n = arith.addf %acc, %x fastmath<reassoc> : vector<16xf32>
    loops.yield %n : vector<16xf32>
  }
  %t = loops.reduce "add" %v axes [0] : vector<16xf32> to f32
  %c = arith.addf %z, %t fastmath<reassoc> : f32
  %s = loops.for "k.t" %k = %s0 floordiv 16 to (%s0 + 15) floordiv 16 iter_args(%acc = %c) -> (f32) {
    %lanes = loops.apply %s0 mod 16
    %x = loops.load %a[%k * 16 + l0] lanes %lanes : memref<?xf32, #loops.dims<s0>> to vector<16xf32>
    %p = arith.addf %ones, %x fastmath<reassoc> : vector<16xf32>
    %u = loops.reduce "add" %p axes [0] : vector<16xf32> to f32
    %d = arith.addf %acc, %u fastmath<reassoc> : f32
    loops.yield %d : f32
  }
  loops.store %s, %o[] : f32 to memref<f32>
  func.return
}
