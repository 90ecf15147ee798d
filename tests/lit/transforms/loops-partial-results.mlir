// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-partial-results{label=k size=8}' | filecheck %s

// Each part starts from the identity; what the reduction started from is combined with the parts' results, in order.
// CHECK-LABEL: @parts
// CHECK:         %[[T:.*]] = loops.alloc : memref<3xf32>
// CHECK-NEXT:    loops.for "k.p" %[[P:.*]] = 0 to 3 parallel {
// CHECK-NEXT:      %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[U:.*]] = loops.for "k" %[[K:.*]] = 0 to 8 iter_args(%{{.*}} = %[[ZERO]]) -> (f32) {
// CHECK-NEXT:        loops.load %x[%[[P]] * 8 + %[[K]]]
// CHECK:           loops.store %[[U]], %[[T]][%[[P]]]
// CHECK:         %[[S:.*]] = loops.for "k.c" %[[C:.*]] = 0 to 3 iter_args(%[[ACC:.*]] = %z) -> (f32) {
// CHECK-NEXT:      %[[V:.*]] = loops.load %[[T]][%[[C]]]
// CHECK-NEXT:      %[[N:.*]] = arith.addf %[[ACC]], %[[V]] fastmath<reassoc> : f32
// CHECK-NEXT:      loops.yield %[[N]]
// CHECK:         loops.store %[[S]], %o[0]
func.func private @parts(%x: memref<24xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 5.0 : f32
  %s = loops.for "k" %k = 0 to 24 iter_args(%acc = %z) -> (f32) {
    %v = loops.load %x[%k] : memref<24xf32> to f32
    %n = arith.addf %acc, %v fastmath<reassoc> : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

// The last part is shorter; two values at once, each with its own identity, through an inner loop.
// CHECK-LABEL: @short
// CHECK:         loops.for "k.p" %[[P:.*]] = 0 to 3 parallel {
// CHECK:           arith.constant -2147483648 : i32
// CHECK:           loops.for "k" %{{.*}} = 0 to min(8, 19 - %[[P]] * 8) iter_args
// CHECK:         loops.for "k.c" %{{.*}} = 0 to 3 iter_args
// CHECK:           arith.maxsi
// CHECK:           arith.minsi
func.func private @short(%x: memref<38xi32>, %o: memref<2xi32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0 : i32
  %a, %b = loops.for "k" %k = 1 to 39 step 2 iter_args(%most = %z, %least = %z) -> (i32, i32) {
    %c, %d = loops.for "j" %j = 0 to 2 iter_args(%m = %most, %l = %least) -> (i32, i32) {
      %v = loops.load %x[%k + %j - 1] : memref<38xi32> to i32
      %n = arith.maxsi %m, %v : i32
      %p = arith.minsi %l, %v : i32
      loops.yield %n, %p : i32, i32
    }
    loops.yield %c, %d : i32, i32
  }
  loops.store %a, %o[0] : i32 to memref<2xi32>
  loops.store %b, %o[1] : i32 to memref<2xi32>
  func.return
}

// -----

func.func private @in_order(%x: memref<24xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{partial-results: loop 'k': does not carry reductions of free order alone}}
  %s = loops.for "k" %k = 0 to 24 iter_args(%acc = %z) -> (f32) {
    %v = loops.load %x[%k] : memref<24xf32> to f32
    %n = arith.addf %acc, %v : f32
    loops.yield %n : f32
  }
  loops.store %s, %o[0] : f32 to memref<1xf32>
  func.return
}

// -----

func.func private @one_part(%x: memref<8xi32>, %o: memref<1xi32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0 : i32
  // expected-error@+1 {{partial-results: loop 'k': has 8 iterations, expected more than the 8 of one part}}
  %s = loops.for "k" %k = 0 to 8 iter_args(%acc = %z) -> (i32) {
    %v = loops.load %x[%k] : memref<8xi32> to i32
    %n = arith.addi %acc, %v : i32
    loops.yield %n : i32
  }
  loops.store %s, %o[0] : i32 to memref<1xi32>
  func.return
}

// -----

func.func private @any_length(%n: index, %x: memref<?xi32, #loops.dims<n>>, %o: memref<1xi32>)
    attributes {aicc.kernel, aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0 : i32
  // expected-error@+1 {{partial-results: loop 'k': has a number of iterations that is not known, expected more than the 8 of one part}}
  %s = loops.for "k" %k = 0 to %n iter_args(%acc = %z) -> (i32) {
    %v = loops.load %x[%k] : memref<?xi32, #loops.dims<n>> to i32
    %m = arith.addi %acc, %v : i32
    loops.yield %m : i32
  }
  loops.store %s, %o[0] : i32 to memref<1xi32>
  func.return
}

// -----

func.func private @stores(%x: memref<24xi32>, %y: memref<24xi32>, %o: memref<1xi32>)
    attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %z = arith.constant 0 : i32
  // expected-error@+1 {{partial-results: loop 'k': stores something in each step}}
  %s = loops.for "k" %k = 0 to 24 iter_args(%acc = %z) -> (i32) {
    %v = loops.load %x[%k] : memref<24xi32> to i32
    loops.store %v, %y[%k] : i32 to memref<24xi32>
    %m = arith.addi %acc, %v : i32
    loops.yield %m : i32
  }
  loops.store %s, %o[0] : i32 to memref<1xi32>
  func.return
}
