// RUN: aicc-opt %s --split-input-file -p loops-profile | filecheck %s --enable-var-scope

// Each call has a row of its own, in program order, calls in regions included.
// CHECK:       func.func private @aicc_clock() -> i64
// CHECK-LABEL: func.func @main
// CHECK-SAME:    %[[P:[a-z0-9]+]]: memref<2x6xi64> {aicc.profile})
// CHECK-SAME:    aicc.profile = [{kernel = "k", nodes = ["conv1", "relu1"], bytes = "32", flops = "12", schedule = "unroll d0"}, {kernel = "k", nodes = [], bytes = "32", flops = "12", schedule = "unroll d0"}]
// CHECK:         %[[START:.*]] = func.call @aicc_clock() : () -> i64
// CHECK-NEXT:    loops.call @k(%[[X:.*]], %[[OUT:.*]]) :
// CHECK-NEXT:    %[[END:.*]] = func.call @aicc_clock() : () -> i64
// CHECK-NEXT:    %[[TIME:.*]] = arith.subi %[[END]], %[[START]] : i64
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i64
// CHECK-NEXT:    %[[RUNS:.*]] = loops.load %[[P]][0, 0]
// CHECK-NEXT:    %[[TOTAL:.*]] = loops.load %[[P]][0, 1]
// CHECK-NEXT:    %[[SHORTEST:.*]] = loops.load %[[P]][0, 2]
// CHECK-NEXT:    %[[R:.*]] = arith.addi %[[RUNS]], %[[ONE]] : i64
// CHECK-NEXT:    %[[T:.*]] = arith.addi %[[TOTAL]], %[[TIME]] : i64
// CHECK-NEXT:    %[[S:.*]] = arith.minsi %[[SHORTEST]], %[[TIME]] : i64
// CHECK-NEXT:    loops.store %[[R]], %[[P]][0, 0]
// CHECK-NEXT:    loops.store %[[T]], %[[P]][0, 1]
// CHECK-NEXT:    loops.store %[[S]], %[[P]][0, 2]
// CHECK-NEXT:    loops.store %[[START]], %[[P]][0, 3]
// CHECK:         scf.if
// CHECK-NEXT:      func.call @aicc_clock
// CHECK-NEXT:      loops.call @k(
// CHECK:           loops.store %{{.*}}, %[[P]][1, 3]
func.func private @k(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.flops = "12", aicc.schedule = "unroll d0"} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}
func.func @main(%x: memref<4xf32>, %c: memref<i1>, %out: memref<4xf32>) attributes {aicc.num_outputs = 1 : i64} {
  loops.call @k(%x, %out) : memref<4xf32>, memref<4xf32> loc(fused["conv1", "relu1"])
  %b = loops.load %c[] : memref<i1> to i1
  scf.if %b {
    loops.call @k(%x, %out) : memref<4xf32>, memref<4xf32>
  }
  func.return
}

// -----

// Nothing to time: nothing changes.
// CHECK-LABEL: builtin.module
// CHECK-NOT:   aicc_clock
// CHECK:       func.func @main(%{{[a-z0-9]+}}: memref<4xf32>, %{{[a-z0-9]+}}: memref<4xf32>) attributes {aicc.num_outputs = 1 : i64} {
func.func @main(%x: memref<4xf32>, %out: memref<4xf32>) attributes {aicc.num_outputs = 1 : i64} {
  loops.copy %x to %out : memref<4xf32> to memref<4xf32>
  func.return
}

// -----

// Where @main gives a size its value, the row adds up bytes and operations: each call may be of another size.
// CHECK-LABEL: func.func @main(%{{[a-z0-9]+}}: memref<index>,
// CHECK-SAME:    %[[P:[a-z0-9]+]]: memref<1x6xi64> {aicc.profile})
// CHECK-SAME:    bytes = "8*s", flops = "3*s", counted}]
// CHECK:         loops.define_size "s"
// CHECK:         loops.call @k(
// CHECK:         loops.store %{{.*}}, %[[P]][0, 3]
// CHECK-NEXT:    %[[SIZE:.*]] = loops.size #graph.shape<8*s>
// CHECK-NEXT:    %[[BYTES:.*]] = arith.index_cast %[[SIZE]] : index to i64
// CHECK-NEXT:    %[[BEFORE:.*]] = loops.load %[[P]][0, 4]
// CHECK-NEXT:    %[[AFTER:.*]] = arith.addi %[[BEFORE]], %[[BYTES]] : i64
// CHECK-NEXT:    loops.store %[[AFTER]], %[[P]][0, 4]
// CHECK-NEXT:    %[[WORK:.*]] = loops.size #graph.shape<3*s>
// CHECK:         loops.store %{{.*}}, %[[P]][0, 5]
func.func private @k(%s0: index, %x: memref<?xf32, #loops.dims<s0>>, %out: memref<?xf32, #loops.dims<s0>>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64, aicc.symbols = ["s0"], aicc.flops = "3*s0"} {
  loops.copy %x to %out : memref<?xf32, #loops.dims<s0>> to memref<?xf32, #loops.dims<s0>>
  func.return
}
func.func @main(%c: memref<index>) attributes {aicc.num_outputs = 0 : i64} {
  %n = loops.load %c[] : memref<index> to index
  loops.define_size "s" is %n : index
  %a = loops.reserve "a" : memref<?xf32, #loops.dims<s>>
  %b = loops.reserve "b" : memref<?xf32, #loops.dims<s>>
  %s = loops.size #graph.shape<s>
  loops.call @k(%s, %a, %b) : index, memref<?xf32, #loops.dims<s>>, memref<?xf32, #loops.dims<s>>
  func.return
}
