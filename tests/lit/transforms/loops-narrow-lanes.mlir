// RUN: aicc-opt %s --split-input-file -p 'loops-narrow-lanes{target=znver4}' | filecheck %s
// RUN: aicc-opt %s --split-input-file -p 'loops-narrow-lanes{target=x86-64-v4}' | filecheck %s --check-prefix FULL

// 49 of 64 lanes, in registers of 16: 32 and 16, and one lane. Where a narrow register saves no time, 4 registers stay.
// CHECK-LABEL: @sums
// CHECK: [[A:%.*]] = loops.broadcast {{.*}} vector<5x32xf32>
// CHECK: [[B:%.*]] = loops.broadcast {{.*}} vector<5x16xf32>
// CHECK: [[C:%.*]] = loops.broadcast {{.*}} vector<5x1xf32>
// CHECK: iter_args({{%.*}} = [[A]], {{%.*}} = [[B]], {{%.*}} = [[C]]) -> (vector<5x32xf32>, vector<5x16xf32>, vector<5x1xf32>)
// CHECK: loops.load %0[l0, %k] : memref<5x8xf32> to vector<5x1xf32>
// CHECK-NEXT: loops.load %1[%k, l1] : memref<8x49xf32> to vector<1x32xf32>
// CHECK-NEXT: loops.load %1[%k, l1 + 32] : memref<8x49xf32> to vector<1x16xf32>
// CHECK-NEXT: loops.load %1[%k, l1 + 48] : memref<8x49xf32> to vector<1x1xf32>
// CHECK: loops.yield {{.*}} : vector<5x32xf32>, vector<5x16xf32>, vector<5x1xf32>
// CHECK: loops.store {{%.*}}, %2[l0, l1] : vector<5x32xf32>
// CHECK-NEXT: loops.store {{%.*}}, %2[l0, l1 + 32] : vector<5x16xf32>
// CHECK-NEXT: loops.store {{%.*}}, %2[l0, l1 + 48] : vector<5x1xf32>
// CHECK-NOT: x64xf32
// FULL-LABEL: @sums
// FULL: loops.store {{.*}} vector<5x64xf32>
func.func private @sums(%0 : memref<5x8xf32>, %1 : memref<8x49xf32>, %2 : memref<5x49xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %lanes = arith.constant 49 : index
  %start = loops.broadcast %zero : f32 to vector<5x64xf32>
  %sum = loops.for "k" %k = 0 to 8 iter_args(%acc = %start) -> (vector<5x64xf32>) {
    %a = loops.load %0[l0, %k] : memref<5x8xf32> to vector<5x1xf32>
    %b = loops.load %1[%k, l1] lanes %lanes : memref<8x49xf32> to vector<1x64xf32>
    %aa = loops.broadcast %a : vector<5x1xf32> to vector<5x64xf32>
    %bb = loops.broadcast %b : vector<1x64xf32> to vector<5x64xf32>
    %p = arith.mulf %aa, %bb : vector<5x64xf32>
    %s = arith.addf %acc, %p : vector<5x64xf32>
    loops.yield %s : vector<5x64xf32>
  }
  loops.store %sum, %2[l0, l1] lanes %lanes : vector<5x64xf32> to memref<5x49xf32>
  func.return
}

// -----

// 19 of 32: the rest is masked. What loops carry beside it stays. A register less is one less on any machine (33 of 64).
// CHECK-LABEL: @rest_and_others
// CHECK: %{{.*}}, %{{.*}}, [[COUNT:%.*]] = loops.for {{.*}} -> (vector<16xf32>, vector<4xf32>, f32)
// CHECK: [[THREE:%.*]] = arith.constant 3 : index
// CHECK: loops.load %0[%k, l0 + 16] lanes [[THREE]] : memref<8x19xf32> to vector<4xf32>
// CHECK: loops.yield {{.*}} : vector<16xf32>, vector<4xf32>, f32
// CHECK: loops.store {{%.*}}, %1[l0 + 16] lanes {{%.*}} : vector<4xf32>
// CHECK: loops.store [[COUNT]], %2[] : f32
// FULL-LABEL: @rest_and_others
// FULL: vector<32xf32>
func.func private @rest_and_others(%0 : memref<8x19xf32>, %1 : memref<19xf32>, %2 : memref<f32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %lanes = arith.constant 19 : index
  %start = loops.broadcast %zero : f32 to vector<32xf32>
  %sum, %n = loops.for "k" %k = 0 to 8 iter_args(%acc = %start, %c = %zero) -> (vector<32xf32>, f32) {
    %b = loops.load %0[%k, l0] lanes %lanes : memref<8x19xf32> to vector<32xf32>
    %s = arith.addf %acc, %b : vector<32xf32>
    %d = arith.addf %c, %one : f32
    loops.yield %s, %d : vector<32xf32>, f32
  }
  loops.store %sum, %1[l0] lanes %lanes : vector<32xf32> to memref<19xf32>
  loops.store %n, %2[] : f32 to memref<f32>
  func.return
}

// -----

// CHECK-LABEL: @fewer_registers
// CHECK: loops.store {{.*}} vector<32xf32>
// CHECK-NEXT: loops.store {{.*}} vector<1xf32>
// FULL-LABEL: @fewer_registers
// FULL: loops.store {{.*}} vector<32xf32>
// FULL: loops.store {{.*}} lanes {{.*}} vector<16xf32>
func.func private @fewer_registers(%0 : memref<8x64xf32>, %1 : memref<33xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %lanes = arith.constant 33 : index
  %start = loops.broadcast %zero : f32 to vector<64xf32>
  %sum = loops.for "k" %k = 0 to 8 iter_args(%acc = %start) -> (vector<64xf32>) {
    %b = loops.load %0[%k, l0] : memref<8x64xf32> to vector<64xf32>
    %s = arith.addf %acc, %b : vector<64xf32>
    loops.yield %s : vector<64xf32>
  }
  loops.store %sum, %1[l0] lanes %lanes : vector<64xf32> to memref<33xf32>
  func.return
}

// -----

// Left alone: lanes that are combined, a number of lanes that is not known, and stores that do not agree.
// CHECK-LABEL: @combined
// CHECK: loops.reduce "add" {{.*}} vector<32xf32>
// CHECK: loops.store {{.*}} vector<32xf32>
func.func private @combined(%0 : memref<8x19xf32>, %1 : memref<19xf32>, %2 : memref<f32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %lanes = arith.constant 19 : index
  %b = loops.load %0[0, l0] lanes %lanes : memref<8x19xf32> to vector<32xf32>
  %s = loops.reduce "add" %b axes [0] : vector<32xf32> to f32
  loops.store %b, %1[l0] lanes %lanes : vector<32xf32> to memref<19xf32>
  loops.store %s, %2[] : f32 to memref<f32>
  func.return
}

// -----

// CHECK-LABEL: @unknown
// CHECK: loops.store {{.*}} vector<32xf32>
func.func private @unknown(%n : index, %0 : memref<?xf32, #loops.dims<s0>>, %1 : memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %limit = arith.constant 19 : index
  %lanes = arith.minsi %n, %limit : index
  %b = loops.load %0[l0] lanes %lanes : memref<?xf32, #loops.dims<s0>> to vector<32xf32>
  loops.store %b, %1[l0] lanes %lanes : vector<32xf32> to memref<?xf32, #loops.dims<s0>>
  func.return
}

// -----

// CHECK-LABEL: @disagreement
// CHECK: loops.store {{.*}} vector<32xf32>
// CHECK: loops.store {{.*}} vector<32xf32>
func.func private @disagreement(%0 : memref<32xf32>, %1 : memref<19xf32>, %2 : memref<32xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %lanes = arith.constant 19 : index
  %b = loops.load %0[l0] : memref<32xf32> to vector<32xf32>
  loops.store %b, %1[l0] lanes %lanes : vector<32xf32> to memref<19xf32>
  loops.store %b, %2[l0] : vector<32xf32> to memref<32xf32>
  func.return
}
