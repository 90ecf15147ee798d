// RUN: aicc-opt %s -p "loops-fuse{first=a second=b}" | filecheck %s --enable-var-scope
// RUN: aicc-opt %s -p "loops-fuse{first=a second=b depth=2}" | filecheck %s --check-prefix=DEEP
// RUN: aicc-opt %s -p loops-fuse{depth=2} | filecheck %s --check-prefix=ALL

// Two levels of loops over the same indices; the bound of the second is another name for the same size.
// CHECK-LABEL: @pointwise
// CHECK-SAME:  (%[[S:[a-z0-9]+]]: index
// CHECK:         loops.for "a" %[[I:.*]] = 0 to %[[S]] parallel {
// CHECK-NEXT:      loops.for "a1" %[[J:.*]] = 0 to 5 parallel {
// CHECK:             loops.store %{{.*}}, %[[T:.*]][%[[I]], %[[J]]]
// CHECK:           loops.for "b1" %[[K:.*]] = 0 to 5 parallel {
// CHECK-NEXT:        %{{.*}} = loops.load %[[T]][%[[I]], %[[K]]]
// CHECK-NOT:     loops.for "b"
// DEEP-LABEL: @pointwise
// DEEP:         loops.for "a" %[[I:.*]] = 0 to %{{.*}} parallel {
// DEEP-NEXT:      loops.for "a1" %[[J:.*]] = 0 to 5 parallel {
// What has just been stored is at hand.
// DEEP:             loops.store %[[V:.*]], %[[T:.*]][%[[I]], %[[J]]]
// DEEP-NEXT:        loops.store %[[V]], %y[%[[I]], %[[J]]]
// DEEP-NOT:       loops.for "b1"
// ALL-LABEL: @pointwise
// ALL:         loops.for "a"
// ALL-NEXT:      loops.for "a1"
// ALL-NOT:     loops.for "b
// ALL:         func.return
func.func private @pointwise(%s0: index, %x: memref<?x5xf32, #loops.dims<s0>>, %y: memref<?x5xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %t = loops.alloc : memref<?x5xf32, #loops.dims<s0>>
  loops.for "a" %i = 0 to %s0 parallel threads {
    loops.for "a1" %j = 0 to 5 parallel {
      %v = loops.load %x[%i, %j] : memref<?x5xf32, #loops.dims<s0>> to f32
      loops.store %v, %t[%i, %j] : f32 to memref<?x5xf32, #loops.dims<s0>>
    }
  }
  %n = loops.size #graph.shape<s0>
  loops.for "b" %i = 0 to %n parallel {
    loops.for "b1" %j = 0 to 5 parallel {
      %v = loops.load %t[%i, %j] : memref<?x5xf32, #loops.dims<s0>> to f32
      loops.store %v, %y[%i, %j] : f32 to memref<?x5xf32, #loops.dims<s0>>
    }
  }
  func.return
}

// The second loop needs the value of an earlier iteration: the fused loop is not parallel. Fusing all neighbours keeps
// loops parallel, so it leaves these alone.
// CHECK-LABEL: @earlier
// CHECK:         loops.for "a" %[[I:.*]] = 1 to 9 {
// CHECK-NEXT:      loops.for "a1"
// CHECK:           loops.for "b1"
// DEEP-LABEL: @earlier
// ALL-LABEL: @earlier
// ALL:         loops.for "a" %{{.*}} = 1 to 9 parallel
// ALL:         loops.for "b" %{{.*}} = 1 to 9 parallel
func.func private @earlier(%t: memref<10xf32>, %y: memref<10xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "a" %i = 1 to 9 parallel {
    loops.for "a1" %j = 0 to 2 parallel {
      loops.store %zero, %t[%i] : f32 to memref<10xf32>
    }
  }
  loops.for "b" %i = 1 to 9 parallel {
    loops.for "b1" %j = 0 to 2 parallel {
      %v = loops.load %t[%i - 1] : memref<10xf32> to f32
      loops.store %v, %y[%i] : f32 to memref<10xf32>
    }
  }
  func.return
}

// What stands between the loops and touches no memory moves in front of them.
// CHECK-LABEL: @widened
// CHECK:         arith.extsi
// CHECK-NEXT:    loops.for "a"
// CHECK-NOT:     loops.for "b"
// DEEP-LABEL: @widened
// ALL-LABEL: @widened
// ALL:         arith.extsi
// ALL-NEXT:    loops.for "a"
// ALL-NOT:     loops.for "b"
func.func private @widened(%x: memref<5xi8>, %n: i8, %t: memref<5xi8>, %y: memref<5xi32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  loops.for "a" %i = 0 to 5 parallel {
    loops.for "a1" %j = 0 to 1 parallel {
      %v = loops.load %x[%i] : memref<5xi8> to i8
      loops.store %v, %t[%i] : i8 to memref<5xi8>
    }
  }
  %w = arith.extsi %n : i8 to i32
  loops.for "b" %i = 0 to 5 parallel {
    loops.for "b1" %j = 0 to 1 parallel {
      loops.store %w, %y[%i] : i32 to memref<5xi32>
    }
  }
  func.return
}
