// RUN: aicc-opt %s -p convert-tensor-ops-to-loops | filecheck %s --enable-var-scope

// The branches write into the buffers of the results, which are the outputs here; a value from outside is copied.
// CHECK-LABEL: func.func @main
// CHECK-SAME:  (%[[C:[a-z0-9]+]]: memref<i1>, %[[X:[a-z0-9]+]]: memref<4xf32>, %[[OUT0:[a-z0-9]+]]: memref<4xf32>, %[[OUT1:[a-z0-9]+]]: memref<4xf32>)
// CHECK:         %[[COND:.*]] = loops.load %[[C]][] : memref<i1> to i1
// CHECK-NEXT:    scf.if %[[COND]] {
// CHECK-NEXT:      loops.call @double(%[[X]], %[[OUT0]])
// CHECK-NEXT:    } else {
// CHECK-NEXT:      loops.copy %[[X]] to %[[OUT0]]
// CHECK-NEXT:    }

// The carried buffer is the output: no copy at the end. The next value may be read while it is made, so it is made
// elsewhere and copied.
// CHECK:         loops.copy %[[X]] to %[[OUT1]]
// CHECK-NEXT:    scf.while () : () -> () {
// CHECK:           %[[GO:.*]] = arith.cmpf olt
// CHECK-NEXT:      scf.condition(%[[GO]])
// CHECK-NEXT:    } do {
// CHECK-NEXT:      %[[NEXT:.*]] = loops.alloc : memref<4xf32>
// CHECK-NEXT:      loops.call @double(%[[OUT1]], %[[NEXT]])
// CHECK-NEXT:      loops.copy %[[NEXT]] to %[[OUT1]]
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
func.func @main(%c: tensor<i1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %cond = tensor_ops.extract %c[] : tensor<i1>
  %r = scf.if %cond -> (tensor<4xf32>) {
    %y = tensor_ops.call @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  %zero = arith.constant 0 : index
  %limit = arith.constant 100.0 : f32
  %s = scf.while (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %first = tensor_ops.extract %a[%zero] : tensor<4xf32>
    %go = arith.cmpf olt, %first, %limit : f32
    scf.condition(%go) %a : tensor<4xf32>
  } do {
  ^bb0(%a: tensor<4xf32>):
    %y = tensor_ops.call @double(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  func.return %r, %s : tensor<4xf32>, tensor<4xf32>
}

func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %y = tensor_ops.structured (%x as affine_map<(d0) -> (d0)>) over [parallel 4] body (%a : f32) {
    %s = arith.addf %a, %a : f32
    tensor_ops.yield %s : f32
  } : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
