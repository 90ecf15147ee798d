// RUN: aicc-opt %s -p 'builtin.module(func.func(canonicalize,dce),cse)' | filecheck %s
// RUN: aicc-opt %s --pass-pipeline=canonicalize,dce,cse | filecheck %s
// RUN: aicc-opt %s --canonicalize --dce --cse | filecheck %s
// RUN: aicc-opt %s -canonicalize -pass-pipeline='any(dce)' -cse | filecheck %s
// RUN: aicc-opt < %s --passes canonicalize,dce,cse -o - | filecheck %s
// RUN: aicc-opt %s -p 'func.func( canonicalize ), scf-parallel-loop-tiling{ parallel-loop-tile-sizes=4,5 }' --dump-pass-pipeline -o %t 2>&1 | filecheck %s --check-prefix=DUMP
// RUN: aicc-opt %s --scf-parallel-loop-tiling='parallel-loop-tile-sizes=4,5' --dump-pass-pipeline -o %t 2>&1 | filecheck %s --check-prefix=FLAG

// The nested form, the flat form and flags, alone and mixed, run the same passes.

// CHECK-LABEL: func.func @fold
// CHECK-SAME:    %[[A:[a-z0-9]+]]: i32
// CHECK-NEXT:    %[[C:.*]] = arith.constant 3 : i32
// CHECK-NEXT:    %[[R:.*]] = arith.addi %[[A]], %[[C]] : i32
// CHECK-NEXT:    func.return %[[R]] : i32
func.func @fold(%a: i32) -> i32 {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %three = arith.addi %one, %two : i32
  %unused = arith.muli %a, %two : i32
  %r = arith.addi %a, %three : i32
  func.return %r : i32
}

// A function after the ones that were moved out and back in keeps its place.
// CHECK-LABEL: func.func @last
func.func @last() {
  func.return
}

// DUMP: builtin.module(func.func(canonicalize),scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,5})
// FLAG: builtin.module(scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,5})
