// RUN: aicc-opt %s -p loops-plan-memory --split-input-file | filecheck %s --enable-var-scope

// %a and %c are never needed at one time: they share an offset. %b is alive with both.
// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[ARENA:[a-z0-9]+]]: memref<128xi8> {aicc.arena = "128"})
// CHECK:         %[[A:.*]] = loops.view %[[ARENA]][%[[FIRST:.*]]] : memref<128xi8> to memref<16xf32>
// CHECK-NEXT:    loops.copy %{{.*}} to %[[A]]
// CHECK-NEXT:    %[[B:.*]] = loops.view %[[ARENA]][%[[SECOND:.*]]] : memref<128xi8> to memref<4x4xf32>
// CHECK-NEXT:    %[[V:.*]] = loops.view %[[B]] : memref<4x4xf32> to memref<16xf32>
// CHECK-NEXT:    loops.copy %[[A]] to %[[V]]
// CHECK-NEXT:    %[[C:.*]] = loops.view %[[ARENA]][%[[FIRST]]] : memref<128xi8> to memref<13xf32>
// CHECK-NOT:     loops.alloc
func.func @main(%x: memref<16xf32>, %out: memref<16xf32>, %last: memref<13xf32>)
    attributes {aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %a = loops.alloc : memref<16xf32>
  loops.copy %x to %a : memref<16xf32> to memref<16xf32>
  %b = loops.alloc : memref<4x4xf32>
  %v = loops.view %b : memref<4x4xf32> to memref<16xf32>
  loops.copy %a to %v : memref<16xf32> to memref<16xf32>
  %c = loops.alloc : memref<13xf32>
  %w = loops.view %b : memref<4x4xf32> to memref<13xf32>
  loops.copy %w to %c : memref<13xf32> to memref<13xf32>
  loops.copy %c to %last : memref<13xf32> to memref<13xf32>
  loops.copy %v to %out : memref<16xf32> to memref<16xf32>
  func.return
}

// -----

// Sizes that are multiples of N lie in one part of the arena, at offsets that are multiples of it; the constant one
// in another.
// CHECK-LABEL: func.func @main
// CHECK-SAME:  %[[ARENA:[a-z0-9]+]]: memref<?xi8, #loops.dims<128*N+64>> {aicc.arena = "128*N+64"})
// CHECK-DAG:     %[[N64:.*]] = loops.size #graph.shape<64*N>
// CHECK-DAG:     %[[N128:.*]] = loops.size #graph.shape<128*N>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     loops.view %[[ARENA]][%[[ZERO]]] : memref<?xi8, #loops.dims<128*N+64>> to memref<?xf32, #loops.dims<N>>
// CHECK-DAG:     loops.view %[[ARENA]][%[[N64]]] : memref<?xi8, #loops.dims<128*N+64>> to memref<?xf32, #loops.dims<N>>
// CHECK-DAG:     loops.view %[[ARENA]][%[[N128]]] : memref<?xi8, #loops.dims<128*N+64>> to memref<3xf32>
func.func @main(%N: index, %x: memref<?xf32, #loops.dims<N>>, %out: memref<?xf32, #loops.dims<N>>)
    attributes {aicc.symbols = ["N"], aicc.num_outputs = 1 : i64} {
  %a = loops.alloc : memref<?xf32, #loops.dims<N>>
  %b = loops.alloc : memref<?xf32, #loops.dims<N>>
  %c = loops.alloc : memref<3xf32>
  %zero = arith.constant 0.0 : f32
  loops.store %zero, %c[0] : f32 to memref<3xf32>
  loops.copy %x to %a : memref<?xf32, #loops.dims<N>> to memref<?xf32, #loops.dims<N>>
  loops.copy %a to %b : memref<?xf32, #loops.dims<N>> to memref<?xf32, #loops.dims<N>>
  loops.copy %b to %out : memref<?xf32, #loops.dims<N>> to memref<?xf32, #loops.dims<N>>
  func.return
}

// -----

// Nothing to plan: no arena. A buffer inside of a loop belongs to the iteration and stays; so do those of kernels.
// CHECK-LABEL: func.func @main
// CHECK-NOT:   arena
// CHECK:       loops.for
// CHECK-NEXT:    loops.alloc
// CHECK-LABEL: func.func private @kernel
// CHECK-NEXT:    loops.alloc
func.func @main(%out: memref<4xf32>) attributes {aicc.num_outputs = 1 : i64} {
  %unused = loops.alloc : memref<4xf32>
  loops.for "i" %i = 0 to 4 parallel {
    %a = loops.alloc : memref<1xf32>
    %v = loops.load %a[0] : memref<1xf32> to f32
    loops.store %v, %out[%i] : f32 to memref<4xf32>
  }
  func.return
}
func.func private @kernel(%out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %a = loops.alloc : memref<4xf32>
  loops.copy %a to %out : memref<4xf32> to memref<4xf32>
  func.return
}

// -----

// A pooled buffer is needed from where it is asked for on: what its memory held is gone then, so that one whose last
// reader comes later has a pool of its own.
// CHECK-LABEL: func.func @asked_for_early
// CHECK:         %[[A:.*]] = loops.reserve "pool 0"
// CHECK:         %[[B:.*]] = loops.reserve "pool 1"
// CHECK:         loops.copy %[[A]] to %out
// CHECK-NEXT:    loops.copy %x to %[[B]]
// CHECK:         loops.reserve "pool 0"
func.func @asked_for_early(%n: memref<i64>, %x: memref<?xf32, #loops.dims<n>>, %out: memref<?xf32, #loops.dims<n>>)
    attributes {aicc.num_outputs = 1 : i64} {
  %count = loops.load %n[] : memref<i64> to i64
  %size = arith.index_cast %count : i64 to index
  loops.define_size "n" is %size : index
  %a = loops.alloc : memref<?xf32, #loops.dims<n>>
  loops.copy %x to %a : memref<?xf32, #loops.dims<n>> to memref<?xf32, #loops.dims<n>>
  %b = loops.alloc : memref<?xf32, #loops.dims<n>>
  loops.copy %a to %out : memref<?xf32, #loops.dims<n>> to memref<?xf32, #loops.dims<n>>
  loops.copy %x to %b : memref<?xf32, #loops.dims<n>> to memref<?xf32, #loops.dims<n>>
  %c = loops.alloc : memref<?xf32, #loops.dims<n>>
  loops.copy %b to %c : memref<?xf32, #loops.dims<n>> to memref<?xf32, #loops.dims<n>>
  func.return
}
