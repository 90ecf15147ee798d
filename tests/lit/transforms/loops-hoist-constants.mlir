// RUN: aicc-opt %s -p loops-hoist-constants | filecheck %s --enable-var-scope

func.func private @k(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}

// @a is only needed to make @b; the two calls for it are the same.
// CHECK-LABEL: func.func @prepare() {
// CHECK-DAG:     %[[A:.*]] = loops.alloc : memref<4xf32>
// CHECK-DAG:     %[[B:.*]] = loops.prepared "k.0" : memref<4xf32>
// CHECK-DAG:     %[[W:.*]] = loops.constant #graph.buffer<"w"> : memref<2x2xf32>
// CHECK-DAG:     %[[V:.*]] = loops.view %[[W]] : memref<2x2xf32> to memref<4xf32>
// CHECK:         loops.call @k(%[[V]], %[[A]])
// CHECK-NEXT:    loops.call @k(%[[A]], %[[B]])
// CHECK-NEXT:    func.return
// CHECK-LABEL: func.func @main
// CHECK-SAME:  (%[[X:[a-z0-9]+]]: memref<4xf32>, %[[OUT0:[a-z0-9]+]]: memref<4xf32>, %[[OUT1:[a-z0-9]+]]: memref<4xf32>)
// CHECK-NEXT:    %[[B:.*]] = loops.prepared "k.0" : memref<4xf32>
// CHECK-NOT:     loops.constant
// CHECK:         loops.call @k(%[[B]], %[[OUT0]])
// CHECK-NEXT:    %[[Y:.*]] = loops.alloc : memref<4xf32>
// CHECK-NEXT:    loops.call @k(%[[X]], %[[Y]])
// CHECK-NEXT:    loops.copy %[[B]] to %[[Y]]
// CHECK-NEXT:    loops.copy %[[Y]] to %[[OUT1]]
func.func @main(%x: memref<4xf32>, %out0: memref<4xf32>, %out1: memref<4xf32>)
    attributes {aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %w = loops.constant #graph.buffer<"w"> : memref<2x2xf32>
  %v = loops.view %w : memref<2x2xf32> to memref<4xf32>
  %a = loops.alloc : memref<4xf32>
  loops.call @k(%v, %a) : memref<4xf32>, memref<4xf32>
  %b = loops.alloc : memref<4xf32>
  loops.call @k(%a, %b) : memref<4xf32>, memref<4xf32>
  %c = loops.alloc : memref<4xf32>
  loops.call @k(%a, %c) : memref<4xf32>, memref<4xf32>
  // An output is written each time.
  loops.call @k(%c, %out0) : memref<4xf32>, memref<4xf32>
  // An input is no constant.
  %y = loops.alloc : memref<4xf32>
  loops.call @k(%x, %y) : memref<4xf32>, memref<4xf32>
  loops.copy %b to %y : memref<4xf32> to memref<4xf32>
  loops.copy %y to %out1 : memref<4xf32> to memref<4xf32>
  func.return
}
