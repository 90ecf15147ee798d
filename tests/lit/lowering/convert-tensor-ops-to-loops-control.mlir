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

// A kernel that replaces elements of what a loop carries works in the loop's buffer; elsewhere its base is copied first.
// CHECK-LABEL: func.func @updates(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[I:.*]]: memref<1xi64>, %[[U:.*]]: memref<1xf32>, %[[OUT0:.*]]: memref<8xf32>, %[[OUT1:.*]]: memref<8xf32>)
// CHECK:         loops.copy %[[X]] to %[[OUT0]]
// CHECK:         scf.while
// CHECK:         } do {
// CHECK-NEXT:      loops.call @put(%[[I]], %[[U]], %[[OUT0]]) : memref<1xi64>, memref<1xf32>, memref<8xf32>
// CHECK-NEXT:      scf.yield
// CHECK:         loops.copy %[[X]] to %[[OUT1]]
// CHECK-NEXT:    loops.call @put(%[[I]], %[[U]], %[[OUT1]])
func.func @updates(%x: tensor<8xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %w = scf.while (%s = %x) : (tensor<8xf32>) -> tensor<8xf32> {
    %true = arith.constant true
    scf.condition(%true) %s : tensor<8xf32>
  } do {
  ^bb0(%s: tensor<8xf32>):
    %n = tensor_ops.call @put(%s, %i, %u) : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  %o = tensor_ops.call @put(%x, %i, %u) : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
  func.return %w, %o : tensor<8xf32>, tensor<8xf32>
}

// What else reads the carried tensor must see the old one: no update in place.
// CHECK-LABEL: func.func @read_again(
// CHECK:         } do {
// CHECK:           loops.copy %{{.*}} to %[[NEW:.*]] :
// CHECK-NEXT:      loops.call @put(%{{.*}}, %{{.*}}, %[[NEW]])
// CHECK:           loops.copy %[[NEW]] to
func.func @read_again(%x: tensor<8xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<8xf32> {
  %w, %v = scf.while (%s = %x, %t = %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %true = arith.constant true
    scf.condition(%true) %s, %t : tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%s: tensor<8xf32>, %t: tensor<8xf32>):
    %n = tensor_ops.call @put(%s, %i, %u) : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
    scf.yield %n, %s : tensor<8xf32>, tensor<8xf32>
  }
  func.return %w : tensor<8xf32>
}

// CHECK-LABEL: func.func private @put(
// CHECK-SAME:    memref<1xi64>, %{{.*}}: memref<1xf32>, %[[OUT:.*]]: memref<8xf32>)
// CHECK-NOT:     loops.copy
// CHECK:         loops.store %{{.*}}, %[[OUT]]
func.func private @put(%x: tensor<8xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<8xf32> attributes {aicc.kernel, aicc.symbols = []} {
  %r = tensor_ops.scatter into %x (%i as affine_map<(d0) -> (d0)>, %u as affine_map<(d0) -> (d0)>) over [1] body (%i0 : i64, %u0 : f32) {
    %at = arith.index_cast %i0 : i64 to index
    tensor_ops.yield %at, %u0 : index, f32
  } : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}
