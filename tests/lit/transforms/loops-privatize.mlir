// RUN: aicc-opt %s -p 'loops-privatize{label=i argument=1}' | filecheck %s

// All but the last store go to a row of scratch.
// CHECK-LABEL: @rows(
// CHECK:         loops.for "i" %i = 0 to 8 parallel {
// CHECK-NEXT:      %[[T:.*]] = loops.alloc : memref<16xf32>
// CHECK:           loops.store %{{.*}}, %[[T]][%j] : f32 to memref<16xf32>
// CHECK:           loops.load %[[T]][%{{.*}}] : memref<16xf32> to f32
// CHECK:           %[[V:.*]] = loops.load %[[T]][%[[J:.*]]] : memref<16xf32> to f32
// CHECK:           loops.store %{{.*}}, %o[%i, %[[J]]] : f32 to memref<8x16xf32>
func.func private @rows(%x: memref<8x16xf32>, %o: memref<8x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to 8 parallel {
    loops.for "a" %j = 0 to 16 parallel {
      %v = loops.load %x[%i, %j] : memref<8x16xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<8x16xf32>
    }
    %s = loops.for "b" %k = 0 to 16 iter_args(%a = %z) -> (f32) {
      %v = loops.load %o[%i, %k] : memref<8x16xf32> to f32
      %b = arith.addf %a, %v : f32
      loops.yield %b : f32
    }
    loops.for "c" %j = 0 to 16 parallel {
      %v = loops.load %o[%i, %j] : memref<8x16xf32> to f32
      %w = arith.mulf %v, %s : f32
      loops.store %w, %o[%i, %j] : f32 to memref<8x16xf32>
    }
  }
  func.return
}

// Through a view, under an outer loop.
// CHECK-LABEL: @viewed(
// CHECK:         loops.for "h" %h = 0 to 2 parallel {
// CHECK:           loops.for "i" %i = 0 to 4 parallel {
// CHECK-NEXT:        %[[T:.*]] = loops.alloc : memref<16xf32>
// CHECK:             loops.store %{{.*}}, %[[T]][%{{.*}}]
// CHECK:             loops.store %{{.*}}, %p[%h, %i, %{{.*}}] : f32 to memref<2x4x16xf32>
func.func private @viewed(%x: memref<2x4x16xf32>, %o: memref<8x16xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %p = loops.view %o : memref<8x16xf32> to memref<2x4x16xf32>
  loops.for "h" %h = 0 to 2 parallel {
    loops.for "i" %i = 0 to 4 parallel {
      loops.for "a" %j = 0 to 16 parallel {
        %v = loops.load %x[%h, %i, %j] : memref<2x4x16xf32> to f32
        loops.store %v, %p[%h, %i, %j] : f32 to memref<2x4x16xf32>
      }
      loops.for "c" %j = 0 to 16 parallel {
        %v = loops.load %p[%h, %i, %j] : memref<2x4x16xf32> to f32
        %w = arith.addf %v, %v : f32
        loops.store %w, %p[%h, %i, %j] : f32 to memref<2x4x16xf32>
      }
    }
  }
  func.return
}
