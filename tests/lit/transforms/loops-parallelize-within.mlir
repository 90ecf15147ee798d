// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-parallelize{label=part within=true}' | filecheck %s
// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-parallelize{label=part within=true},convert-loops-to-llvm' | filecheck %s --check-prefix=LLVM

// CHECK-LABEL: @rows
// CHECK:         loops.for "part" %{{.*}} = 0 to 4 parallel threads attributes {within} {

// A thread runs the rows once, and within each of them what it takes of the parts: from %0 to %1.
// LLVM-LABEL: llvm.func internal @rows.par0.body(%0: i64, %1: i64,
// LLVM:       llvm.br ^[[ROW:bb[0-9]+]](
// LLVM:       ^[[ROW]](%{{.*}}: i64):
// LLVM:       %[[SOME:.*]] = llvm.icmp "slt" %0, %1 : i64
// LLVM-NEXT:  llvm.cond_br %[[SOME]], ^[[PART:bb[0-9]+]](%0 : i64)
// LLVM:       ^[[PART]](%{{.*}}: i64):
// LLVM:       llvm.store
// LLVM:       %[[MORE:.*]] = llvm.icmp "slt" %{{.*}}, %1 : i64
// LLVM-NEXT:  llvm.cond_br %[[MORE]], ^[[PART]](
// LLVM:       llvm.cond_br %{{.*}}, ^[[ROW]](
func.func private @rows(%o: memref<64x4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "part" %t = 0 to 4 parallel {
    loops.for "row" %i = 0 to 64 {
      loops.store %z, %o[%i, %t] : f32 to memref<64x4xf32>
    }
  }
  func.return
}

// -----

// Something else than loops in the body would be done once for all parts.
func.func private @other(%o: memref<64x4xf32>, %p: memref<4xf32>) attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{parallelize: loop 'part': its iterations are to run within the loops in it; expected nothing there but loops}}
  loops.for "part" %t = 0 to 4 parallel {
    loops.store %z, %p[%t] : f32 to memref<4xf32>
    loops.for "row" %i = 0 to 64 {
      loops.store %z, %o[%i, %t] : f32 to memref<64x4xf32>
    }
  }
  func.return
}

// -----

// Parts with rows of their own.
func.func private @triangle(%o: memref<64x4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{parallelize: loop 'part': its iterations are to run within the loops in it}}
  loops.for "part" %t = 0 to 4 parallel {
    loops.for "row" %i = 0 to %t {
      loops.store %z, %o[%i, %t] : f32 to memref<64x4xf32>
    }
  }
  func.return
}

// -----

// Parts with memory of their own: in turns, they would overwrite it.
func.func private @memory(%o: memref<64x4xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  // expected-error@+1 {{parallelize: loop 'part': its iterations are to run within the loops in it}}
  loops.for "part" %t = 0 to 4 parallel {
    %m = loops.alloc : memref<64xf32>
    loops.for "row" %i = 0 to 64 {
      loops.store %z, %m[%i] : f32 to memref<64xf32>
    }
    loops.for "back" %i = 0 to 64 {
      %v = loops.load %m[%i] : memref<64xf32> to f32
      loops.store %v, %o[%i, %t] : f32 to memref<64x4xf32>
    }
  }
  func.return
}
