// RUN: aicc-opt %s --loops-expand-math --split-input-file | filecheck %s

// The two factors of 2^n come of one shift, and 1 is added as the first of them.
// CHECK-LABEL: @exponential
// CHECK-SAME:    %[[X:.*]]: vector<2x8xf32>
// CHECK-NOT:   math.exp
// CHECK:       arith.select
// CHECK:       %[[D:.*]] = arith.shli
// CHECK-NOT:   arith.sh
// CHECK:       %[[H:.*]] = arith.andi %[[D]], %{{.*}} : vector<2x8xi32>
// CHECK-DAG:   %[[F:.*]] = arith.bitcast %[[H]] : vector<2x8xi32> to vector<2x8xf32>
// CHECK-DAG:   %[[N:.*]] = arith.addi %[[D]], %[[D]]
// CHECK:       %[[E:.*]] = math.fma %{{.*}}, %[[F]], %[[F]] fastmath<contract> : vector<2x8xf32>
// CHECK:       %[[R:r]] = arith.mulf %[[E]], %{{.*}} : vector<2x8xf32>
// CHECK-NEXT:  func.return %[[R]]
func.func @exponential(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  %r = math.exp %x : vector<2x8xf32>
  func.return %r : vector<2x8xf32>
}

// -----

// Short floats are computed in f32 and rounded at the end.
// CHECK-LABEL: @short
// CHECK-SAME:    %[[X:.*]]: bf16
// CHECK-NEXT:  %[[W:.*]] = arith.extf %[[X]] : bf16 to f32
// CHECK:       %[[R:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT:  func.return %[[R]]
func.func @short(%x: bf16) -> bf16 {
  %r = math.tanh %x : bf16
  func.return %r : bf16
}

// -----

// Large arguments of sine go to the library, all lanes together.
// CHECK-LABEL: @sine
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>
// CHECK:       %[[SIZE:.*]] = math.absf %[[X]]
// CHECK:       %[[LARGE:.*]] = arith.cmpf ogt, %[[SIZE]], %{{.*}} : vector<8xf32>
// CHECK-NEXT:  %[[ANY:.*]] = loops.reduce "or" %[[LARGE]] axes [0] : vector<8xi1> to i1
// CHECK-NEXT:  %[[R:.*]] = scf.if %[[ANY]] -> (vector<8xf32>) {
// CHECK-NEXT:    %[[SLOW:.*]] = math.sin %[[X]] {aicc.library} : vector<8xf32>
// CHECK-NEXT:    scf.yield %[[SLOW]]
// CHECK-NEXT:  } else {
// CHECK-NOT:     math.sin
// CHECK:       func.return %[[R]]
func.func @sine(%x: vector<8xf32>) -> vector<8xf32> {
  %r = math.sin %x : vector<8xf32>
  func.return %r : vector<8xf32>
}

// -----

// The power of f32 is computed in f64.
// CHECK-LABEL: @power
// CHECK-NOT:   math.powf
// CHECK:       arith.extf %{{.*}} : f32 to f64
// CHECK:       arith.truncf %{{.*}} : f64 to f32
func.func @power(%x: f32, %y: f32) -> f32 {
  %r = math.powf %x, %y : f32
  func.return %r : f32
}

// -----

// What is left to the library, and what machines can do.
// CHECK-LABEL: @keep
// CHECK:       math.exp %{{.*}} : f64
// CHECK-NEXT:  math.acos %{{.*}} : f32
// CHECK-NEXT:  math.sqrt %{{.*}} : f32
// CHECK-NEXT:  math.floor %{{.*}} : f32
// CHECK-NEXT:  math.sin %{{.*}} {aicc.library} : f32
func.func @keep(%x: f64, %y: f32) {
  %a = math.exp %x : f64
  %b = math.acos %y : f32
  %c = math.sqrt %y : f32
  %d = math.floor %y : f32
  %e = math.sin %y {aicc.library} : f32
  func.return
}

// -----

// With `afn` the exponential of a negation takes the number itself, between bounds with the opposite sign.
// CHECK-LABEL: @decay
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK-NOT:   math.exp
// CHECK:       %[[LOW:.*]] = arith.constant -8.900000e+01 : f32
// CHECK:       arith.cmpf olt, %[[X]], %[[LOW]] : f32
// CHECK:       func.return
func.func @decay(%x: f32) -> f32 {
  %y = arith.negf %x : f32
  %r = math.exp %y fastmath<afn> : f32
  func.return %r : f32
}

// -----

// Without it, it takes the negation.
// CHECK-LABEL: @exact_decay
// CHECK-SAME:    %[[X:.*]]: f32
// CHECK-NEXT:  %[[Y:.*]] = arith.negf %[[X]] : f32
// CHECK:       arith.cmpf olt, %[[Y]], %{{.*}} : f32
func.func @exact_decay(%x: f32) -> f32 {
  %y = arith.negf %x : f32
  %r = math.exp %y : f32
  func.return %r : f32
}

// -----

// An exponential that is known to be at most 1 needs no upper bound.
// CHECK-LABEL: @approximate(
// CHECK:       arith.cmpf olt
// CHECK:       arith.cmpf ogt
// CHECK:       func.return
func.func @approximate(%x: vector<8xf32>) -> vector<8xf32> {
  %r = math.exp %x fastmath<afn> : vector<8xf32>
  func.return %r : vector<8xf32>
}

// -----

// CHECK-LABEL: @at_most_zero(
// CHECK:       arith.cmpf olt
// CHECK-NOT:   arith.cmpf
// CHECK:       func.return
func.func @at_most_zero(%x: vector<8xf32>) -> vector<8xf32> {
  %r = math.exp %x fastmath<afn> {aicc.at_most_zero} : vector<8xf32>
  func.return %r : vector<8xf32>
}
