// RUN: aicc-opt %s --split-input-file -p 'loops-sum-in-blocks{length=8}' | filecheck %s

// Blocks of one size as nearly as can be, each summed from zero.
// CHECK-LABEL: @long
// CHECK:         %[[Z:.*]] = arith.constant 1.0
// CHECK:         loops.for "k.o" %[[B:.*]] = 0 to 3 iter_args(%[[T:.*]] = %[[Z]]) -> (f32) {
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:      %[[P:.*]] = loops.for "k.i" %[[K:.*]] = 0 to min(7, 19 - %[[B]] * 7) iter_args(%[[A:.*]] = %[[ZERO]]) -> (f32) {
// CHECK-NEXT:        loops.load %a[%[[B]] * 7 + %[[K]]]
// CHECK:           %[[S:.*]] = arith.addf %[[T]], %[[P]] fastmath<reassoc> : f32
// CHECK-NEXT:      loops.yield %[[S]] : f32
func.func private @long(%a: memref<19xf32>, %o: memref<f32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 1.0 : f32
  %s = loops.for "k" %k = 0 to 19 iter_args(%acc = %z) -> (f32) {
    %x = loops.load %a[%k] : memref<19xf32> to f32
    %n = arith.addf %acc, %x fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[] : f32 to memref<f32>
  func.return
}

// -----

// A kernel may ask for shorter blocks, not for longer ones.
// CHECK-LABEL: @shorter
// CHECK:         loops.for "k.i" %{{.*}} = 0 to 4 iter_args
func.func private @shorter(%a: memref<8xf32>, %o: memref<f32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.sum_length = 4 : i64} {
  %z = arith.constant 1.0 : f32
  %s = loops.for "k" %k = 0 to 8 iter_args(%acc = %z) -> (f32) {
    %x = loops.load %a[%k] : memref<8xf32> to f32
    %n = arith.addf %acc, %x fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[] : f32 to memref<f32>
  func.return
}

// CHECK-LABEL: @no_longer
// CHECK:         loops.for "k.i" %{{.*}} = 0 to 8 iter_args
func.func private @no_longer(%a: memref<16xf32>, %o: memref<f32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.sum_length = 64 : i64} {
  %z = arith.constant 1.0 : f32
  %s = loops.for "k" %k = 0 to 16 iter_args(%acc = %z) -> (f32) {
    %x = loops.load %a[%k] : memref<16xf32> to f32
    %n = arith.addf %acc, %x fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[] : f32 to memref<f32>
  func.return
}

// -----

// A sum through two loops: the inner one is long enough for a block. Vectors start from vectors of zeros.
// CHECK-LABEL: @nested
// CHECK:         loops.for "k" %{{.*}} = 0 to 3 iter_args(%[[T:.*]] = %{{.*}}) -> (vector<4xf32>) {
// CHECK:           %[[ZERO:.*]] = loops.broadcast %{{.*}} : f32 to vector<4xf32>
// CHECK-NEXT:      %[[P:.*]] = loops.for "c" %{{.*}} = 0 to 8 iter_args(%{{.*}} = %[[ZERO]]) -> (vector<4xf32>) {
// CHECK:           %[[S:.*]] = arith.addf %[[T]], %[[P]] fastmath<reassoc>
// CHECK-NEXT:      loops.yield %[[S]]
func.func private @nested(%a: memref<3x8x4xf32>, %o: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %v = loops.broadcast %z : f32 to vector<4xf32>
  %s = loops.for "k" %k = 0 to 3 iter_args(%acc = %v) -> (vector<4xf32>) {
    %t = loops.for "c" %c = 0 to 8 iter_args(%in = %acc) -> (vector<4xf32>) {
      %x = loops.load %a[%k, %c, l0] : memref<3x8x4xf32> to vector<4xf32>
      %n = arith.addf %in, %x fastmath<reassoc> : vector<4xf32>
      loops.yield %n : vector<4xf32>
    }
    loops.yield %t : vector<4xf32>
  }
  loops.store %s, %o[l0] : vector<4xf32> to memref<4xf32>
  func.return
}

// -----

// A block of a reduction that goes on from what waits in memory.
// CHECK-LABEL: @waiting
// CHECK:           %[[W:.*]] = arith.select
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:      %[[P:.*]] = loops.for "k" %{{.*}} = 0 to 8 iter_args(%{{.*}} = %[[ZERO]]) -> (f32) {
// CHECK:           %[[S:.*]] = arith.addf %[[W]], %[[P]] fastmath<reassoc>
// CHECK-NEXT:      loops.store %[[S]], %o[]
func.func private @waiting(%a: memref<16xf32>, %o: memref<f32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %zero = arith.constant 0 : index
  loops.for "b" %b = 0 to 2 {
    %first = arith.cmpi eq, %b, %zero : index
    %old = loops.load %o[] : memref<f32> to f32
    %start = arith.select %first, %z, %old : f32
    %s = loops.for "k" %k = 0 to 8 iter_args(%acc = %start) -> (f32) {
      %x = loops.load %a[%b * 8 + %k] : memref<16xf32> to f32
      %n = arith.addf %acc, %x fastmath<reassoc> : f32
      loops.yield %n : f32
    }
    loops.store %s, %o[] : f32 to memref<f32>
  }
  func.return
}

// -----

// Short sums, sums whose order is the model's, other reductions and sums of integers stay.
// CHECK-LABEL: @others
// CHECK-NOT:     ".o"
func.func private @others(%a: memref<19xf32>, %i: memref<19xi32>, %o: memref<3xf32>, %p: memref<i32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %z = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %short = loops.for "short" %k = 0 to 8 iter_args(%acc = %z) -> (f32) {
    %x = loops.load %a[%k] : memref<19xf32> to f32
    %n = arith.addf %acc, %x fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %short, %o[0] : f32 to memref<3xf32>
  %strict = loops.for "strict" %k = 0 to 19 iter_args(%acc = %z) -> (f32) {
    %x = loops.load %a[%k] : memref<19xf32> to f32
    %n = arith.addf %acc, %x : f32
    loops.yield %n : f32
  }
  loops.store %strict, %o[1] : f32 to memref<3xf32>
  %largest = loops.for "max" %k = 0 to 19 iter_args(%acc = %z) -> (f32) {
    %x = loops.load %a[%k] : memref<19xf32> to f32
    %n = arith.maximumf %acc, %x : f32
    loops.yield %n : f32
  }
  loops.store %largest, %o[2] : f32 to memref<3xf32>
  %count = loops.for "int" %k = 0 to 19 iter_args(%acc = %none) -> (i32) {
    %x = loops.load %i[%k] : memref<19xi32> to i32
    %n = arith.addi %acc, %x : i32
    loops.yield %n : i32
  }
  loops.store %count, %p[] : i32 to memref<i32>
  func.return
}
