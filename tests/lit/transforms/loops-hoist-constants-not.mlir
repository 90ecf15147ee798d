// RUN: aicc-opt %s -p loops-hoist-constants | filecheck %s

// CHECK-NOT: @prepare

func.func private @k(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}

func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %w = loops.constant dense<1.0> : tensor<4xf32> : memref<4xf32>
  // The buffer is written a second time.
  %a = loops.alloc : memref<4xf32>
  // CHECK: loops.call @k
  loops.call @k(%w, %a) : memref<4xf32>, memref<4xf32>
  loops.copy %x to %a : memref<4xf32> to memref<4xf32>
  // A view of the buffer is filled.
  %b = loops.alloc : memref<8xf32>
  %v = loops.view %b : memref<8xf32> to memref<4xf32>
  // CHECK: loops.call @k
  loops.call @k(%w, %v) : memref<4xf32>, memref<4xf32>
  // CHECK: loops.call @k
  loops.call @k(%w, %out) : memref<4xf32>, memref<4xf32>
  func.return
}
