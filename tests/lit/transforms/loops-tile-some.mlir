// RUN: aicc-opt %s -p 'loops-tile-some{label=i size=4 most=n*min(1,floordiv(192,max(1,s)))}' | filecheck %s
// RUN: not aicc-opt %s -p 'loops-tile-some{label=k size=4 most=1}' 2>&1 | filecheck %s --check-prefix=CARRIES
// RUN: not aicc-opt %s -p 'loops-tile-some{label=i size=4 most=n*}' 2>&1 | filecheck %s --check-prefix=TEXT

// How many tiles there are is a size, computed outside of the nest, and never more than fill the loop. The rest is a
// loop from there on.
// CHECK-LABEL: @open
// CHECK:         %[[T:.*]] = loops.size #graph.shape<min(floordiv(n,4),min(1,floordiv(192,max(1,s)))*n)>
// CHECK:         loops.for "i.o" %[[O:.*]] = 0 to %[[T]] parallel {
// CHECK-NEXT:      loops.for "i.i" %[[I:.*]] = 0 to 4 parallel {
// CHECK:             loops.store %{{.*}}, %o[%[[O]] * 4 + %[[I]]]
// CHECK:         loops.for "i.t" %[[J:.*]] = %[[T]] * 4 to %n parallel {
// CHECK:           loops.store %{{.*}}, %o[%[[J]]]
// CARRIES: error: tile_some: loop 'k': carries a value
// TEXT: error: loops-tile-some: most:
func.func private @open(%n: index, %s: index, %x: memref<?x?xf32, #loops.dims<n, s>>, %o: memref<?xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "s"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %n parallel {
    %r = loops.for "k" %k = 0 to %s iter_args(%a = %z) -> (f32) {
      %v = loops.load %x[%i, %k] : memref<?x?xf32, #loops.dims<n, s>> to f32
      %w = arith.addf %a, %v : f32
      loops.yield %w : f32
    }
    loops.store %r, %o[%i] : f32 to memref<?xf32, #loops.dims<n>>
  }
  func.return
}

// A number of tiles: as many as there are.
// CHECK-LABEL: @known
// CHECK:         %[[T:.*]] = loops.size #graph.shape<min(2,min(1,floordiv(192,max(1,s)))*n)>
// CHECK:         loops.for "i.o" %{{.*}} = 0 to %[[T]]
// CHECK:         loops.for "i.t" %{{.*}} = %[[T]] * 4 to 10
func.func private @known(%n: index, %s: index, %o: memref<10xf32>)
    attributes {aicc.kernel, aicc.symbols = ["n", "s"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 10 parallel {
    loops.store %z, %o[%i] : f32 to memref<10xf32>
  }
  func.return
}
