// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-collapse{label=i,j}' | filecheck %s

// All buffers are walked contiguously: one index, no division.
// CHECK-LABEL: @contiguous
// CHECK-DAG:     %[[X:.*]] = loops.view %x : memref<6x7xf32> to memref<42xf32>
// CHECK-DAG:     %[[O:.*]] = loops.view %o : memref<6x7xf32> to memref<42xf32>
// CHECK:         loops.for "i*j" %[[C:.*]] = 0 to 42 parallel {
// CHECK-NEXT:      %[[V:.*]] = loops.load %[[X]][%[[C]]] : memref<42xf32> to f32
// CHECK-NEXT:      loops.store %[[V]], %[[O]][%[[C]]]
func.func private @contiguous(%x: memref<6x7xf32>, %o: memref<6x7xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 7 parallel {
      %v = loops.load %x[%i, %j] : memref<6x7xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<6x7xf32>
    }
  }
  func.return
}

// -----

// A buffer that is read along one of the two keeps its own index.
// CHECK-LABEL: @row
// CHECK:         loops.for "i*j" %[[C:.*]] = 0 to 42 parallel {
// CHECK-NEXT:      loops.load %x[%[[C]] mod 7]
func.func private @row(%x: memref<7xf32>, %o: memref<6x7xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 7 parallel {
      %v = loops.load %x[%j] : memref<7xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<6x7xf32>
    }
  }
  func.return
}

// -----

// An index that is data is worked out in the innermost loop, so that the nest stays perfect.
// CHECK-LABEL: @index_as_data
// CHECK:         loops.for "i*j" %[[C:.*]] = 0 to 42 parallel {
// CHECK-NEXT:      loops.for "k" %[[K:.*]] = 0 to 3 parallel {
// CHECK-NEXT:        %[[I:.*]] = loops.apply %[[C]] floordiv 7
// CHECK:             arith.index_cast %[[I]]
func.func private @index_as_data(%o: memref<6x7x3xi64>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 7 parallel {
      loops.for "k" %k = 0 to 3 parallel {
        %v = arith.index_cast %i : index to i64
        loops.store %v, %o[%i, %j, %k] : i64 to memref<6x7x3xi64>
      }
    }
  }
  func.return
}

// -----

// The order stays, so what is no free reduction may be collapsed too.
// CHECK-LABEL: @in_order
// CHECK: loops.for "i*j" %{{.*}} = 0 to 12 iter_args(
// CHECK: arith.subf
func.func private @in_order(%x: memref<3x4xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %zero = arith.constant 0 : index
  %s = loops.for "i" %i = 0 to 3 iter_args(%a = %z) -> (f32) {
    %t = loops.for "j" %j = 0 to 4 iter_args(%b = %a) -> (f32) {
      %v = loops.load %x[%i, %j] : memref<3x4xf32> to f32
      %d = arith.subf %v, %b : f32
      loops.yield %d : f32
    }
    loops.yield %t : f32
  }
  loops.store %s, %o[%zero] : f32 to memref<1xf32>
  func.return
}

// -----

// One that needs its order keeps the other from running at once.
// CHECK-LABEL: @not_parallel
// CHECK: loops.for "i*j" %{{.*}} = 0 to 12 {
func.func private @not_parallel(%x: memref<3x4xf32>, %o: memref<3xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 3 parallel {
    loops.for "j" %j = 0 to 4 {
      %v = loops.load %x[%i, %j] : memref<3x4xf32> to f32
      loops.store %v, %o[%i] : f32 to memref<3xf32>
    }
  }
  func.return
}

// -----

// The same with an inner trip count that is no number would divide by it.
func.func private @symbolic(%n: index, %x: memref<?xf32, #loops.dims<s0>>, %o: memref<6x?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 6 parallel {
    // expected-error@+1 {{collapse: loop 'j': its index is needed by itself, which takes a trip count of the inner loop that is a number}}
    loops.for "j" %j = 0 to %n parallel {
      %v = loops.load %x[%j] : memref<?xf32, #loops.dims<s0>> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<6x?xf32, #loops.dims<s0>>
    }
  }
  func.return
}

// -----

func.func private @triangle(%o: memref<8x8xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    // expected-error@+1 {{collapse: loop 'j': its bounds depend on loop 'i'}}
    loops.for "j" %j = 0 to %i parallel {
      loops.store %z, %o[%i, %j] : f32 to memref<8x8xf32>
    }
  }
  func.return
}

// -----

// Once both nests see an allocation by one view, it has the type of the view.
// CHECK-LABEL: @handed_on
// CHECK:         %[[T:.*]] = loops.alloc : memref<42xf32>
// CHECK-NOT:     loops.view %[[T]]
// CHECK:         loops.store %{{.*}}, %[[T]][%{{.*}}]
// CHECK:         loops.load %[[T]][%{{.*}}]
func.func private @handed_on(%x: memref<6x7xf32>, %o: memref<6x7xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %t = loops.alloc : memref<6x7xf32>
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 7 parallel {
      %v = loops.load %x[%i, %j] : memref<6x7xf32> to f32
      loops.store %v, %t[%i, %j] : f32 to memref<6x7xf32>
    }
  }
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 7 parallel {
      %v = loops.load %t[%i, %j] : memref<6x7xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<6x7xf32>
    }
  }
  func.return
}

// -----

// One that something else uses as well keeps its own.
// CHECK-LABEL: @also_as_it_was
// CHECK:         %[[T:.*]] = loops.alloc : memref<6x7xf32>
// CHECK-NEXT:    loops.view %[[T]] : memref<6x7xf32> to memref<42xf32>
// CHECK:         loops.load %[[T]][2, 3]
func.func private @also_as_it_was(%x: memref<6x7xf32>, %o: memref<1xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %t = loops.alloc : memref<6x7xf32>
  loops.for "i" %i = 0 to 6 parallel {
    loops.for "j" %j = 0 to 7 parallel {
      %v = loops.load %x[%i, %j] : memref<6x7xf32> to f32
      loops.store %v, %t[%i, %j] : f32 to memref<6x7xf32>
    }
  }
  %v = loops.load %t[2, 3] : memref<6x7xf32> to f32
  loops.store %v, %o[0] : f32 to memref<1xf32>
  func.return
}
