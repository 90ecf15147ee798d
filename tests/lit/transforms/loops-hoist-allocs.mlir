// RUN: aicc-opt %s -p loops-hoist-allocs{limit=64} | filecheck %s --enable-var-scope
// RUN: aicc-opt %s -p 'loops-hoist-allocs{limit=64 private=200}' | filecheck %s --check-prefix=OWN

// Scratch of unknown size, and what is larger than the limit, goes in front of the outputs.
// CHECK-LABEL: func.func private @k
// CHECK-SAME:  (%[[S:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: memref<?xf32, #loops.dims<s0>>, %[[A:[a-z0-9]+]]: memref<?xf32, #loops.dims<s0>>, %[[B:[a-z0-9]+]]: memref<17xf32>, %[[OUT:[a-z0-9]+]]: memref<?xf32, #loops.dims<s0>>)
// CHECK-SAME:  aicc.num_outputs = 1 : i64, aicc.num_scratch = 2 : i64
// CHECK-NEXT:    %[[C:.*]] = loops.alloc : memref<16xf32>
// CHECK-NEXT:    loops.copy %[[X]] to %[[A]]
// CHECK-NEXT:    loops.copy %[[A]] to %[[OUT]]
func.func private @k(%s0: index, %x: memref<?xf32, #loops.dims<s0>>, %out: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %a = loops.alloc : memref<?xf32, #loops.dims<s0>>
  %b = loops.alloc : memref<17xf32>
  %c = loops.alloc : memref<16xf32>
  loops.copy %x to %a : memref<?xf32, #loops.dims<s0>> to memref<?xf32, #loops.dims<s0>>
  loops.copy %a to %out : memref<?xf32, #loops.dims<s0>> to memref<?xf32, #loops.dims<s0>>
  %zero = arith.constant 0.0 : f32
  loops.store %zero, %b[0] : f32 to memref<17xf32>
  loops.store %zero, %c[0] : f32 to memref<16xf32>
  func.return
}

// A large buffer inside of a loop on threads: room for each iteration, of which each one takes its own.
// CHECK-LABEL: func.func private @inside
// CHECK-SAME:  %[[A:[a-z0-9]+]]: memref<?x100xf32, #loops.dims<floordiv(s0+1,2)>>
// CHECK:         loops.for "i" %[[I:.*]] = 1 to %{{.*}} + 1 step 2 parallel threads {
// CHECK-NEXT:      %[[NUMBER:.*]] = loops.apply (%[[I]] - 1) floordiv 2
// CHECK-NEXT:      %[[BYTES:.*]] = arith.constant 400 : index
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[NUMBER]], %[[BYTES]] : index
// CHECK-NEXT:      %{{.*}} = loops.view %[[A]][%[[AT]]] : memref<?x100xf32, #loops.dims<floordiv(s0+1,2)>> to memref<100xf32>
func.func private @inside(%s0: index, %out: memref<?x100xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "i" %i = 1 to %s0 + 1 step 2 parallel threads {
    %a = loops.alloc : memref<100xf32>
    loops.store %zero, %a[3] : f32 to memref<100xf32>
  }
  func.return
}

// A chunk of iterations runs on one thread, one after the other, and so do the loops inside: one buffer for them all.
// CHECK-LABEL: func.func private @chunks
// CHECK-SAME:  %[[A:[a-z0-9]+]]: memref<?x100xf32, #loops.dims<floordiv(s0+1,2)+s0>>
// CHECK:         loops.for "i" %[[I:.*]] = 0 to %{{.*}} parallel threads attributes {grain = 4 : i64, nested = 2 : i64} {
// CHECK-NEXT:      loops.for "j" %[[J:.*]] = 0 to 6 parallel {
// CHECK-NEXT:        loops.for "k" %{{.*}} = 0 to 5 {
// CHECK:               %[[NUMBER:.*]] = loops.apply %{{.*}} floordiv 4
// CHECK:               %{{.*}} = loops.view %[[A]][%{{.*}}] : memref<?x100xf32, #loops.dims<floordiv(s0+1,2)+s0>> to memref<100xf32>
func.func private @chunks(%s0: index, %out: memref<?x100xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %s0 parallel threads attributes {grain = 4 : i64, nested = 2 : i64, part = 8 : i64, work = #graph.shape<2*s0>} {
    loops.for "j" %j = 0 to 6 parallel {
      loops.for "k" %k = 0 to 5 parallel {
        %a = loops.alloc : memref<100xf32>
        loops.store %zero, %a[3] : f32 to memref<100xf32>
      }
    }
  }
  func.return
}

// Without threads there is one buffer.
// CHECK-LABEL: func.func private @one_after_the_other
// CHECK-SAME:  %{{[a-z0-9]+}}: memref<100xf32>
// CHECK:         loops.for "i" %{{.*}} = 0 to %{{.*}} {
func.func private @one_after_the_other(%s0: index, %out: memref<?x100xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %s0 parallel {
    %a = loops.alloc : memref<100xf32>
    loops.store %zero, %a[3] : f32 to memref<100xf32>
  }
  func.return
}

// CHECK-LABEL: func.func @main
// CHECK:         %[[A:.*]] = loops.alloc : memref<?xf32, #loops.dims<2*N>>
// CHECK-NEXT:    %[[B:.*]] = loops.alloc : memref<17xf32>
// CHECK-NEXT:    loops.call @k(%{{.*}}, %{{.*}}, %[[A]], %[[B]], %{{.*}})
func.func @main(%N: index, %x: memref<?xf32, #loops.dims<2*N>>, %out: memref<?xf32, #loops.dims<2*N>>)
    attributes {aicc.symbols = ["N"], aicc.num_outputs = 1 : i64} {
  %n = loops.size #graph.shape<2*N>
  loops.call @k(%n, %x, %out) : index, memref<?xf32, #loops.dims<2*N>>, memref<?xf32, #loops.dims<2*N>>
  func.return
}

// With `private`, what one thread works in stays where it is, up to that size and to twice as much in all.
// OWN-LABEL: func.func private @own(
// OWN-SAME:    %{{[a-z]+}}: memref<8x60xf32>, %{{[a-z]+}}: memref<8x40xf32>, %{{[a-z]+}}: memref<8xf32>) attributes
// OWN:         loops.for "i" %{{.*}} = 0 to 8 parallel threads {
// OWN:           loops.alloc : memref<50xf32>
// OWN:           loops.alloc : memref<45xf32>
// OWN-NOT:       loops.alloc
func.func private @own(%out: memref<8xf32>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %v = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel threads {
    %a = loops.alloc : memref<50xf32>
    %b = loops.alloc : memref<60xf32>
    %c = loops.alloc : memref<45xf32>
    %d = loops.alloc : memref<40xf32>
    loops.store %v, %a[%i] : f32 to memref<50xf32>
    loops.store %v, %b[%i] : f32 to memref<60xf32>
    loops.store %v, %c[%i] : f32 to memref<45xf32>
    loops.store %v, %d[%i] : f32 to memref<40xf32>
    loops.store %v, %out[%i] : f32 to memref<8xf32>
  }
  func.return
}
