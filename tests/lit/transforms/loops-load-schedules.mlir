// RUN: aicc-opt %s -p 'loops-load-schedules{file="%S/Inputs/schedules.mlir"}' | filecheck %s --check-prefix LOAD
// RUN: aicc-opt %s --apply-schedules=%S/Inputs/schedules.mlir | filecheck %s --check-prefix APPLY
// RUN: aicc-opt %s -O2 --apply-schedules=%S/Inputs/schedules.mlir --print-ir-after=loops-apply-schedules 2>&1 | filecheck %s --check-prefix APPLY
// RUN: %exits 1 aicc-opt %s --apply-schedules=%S/Inputs/schedules-unknown.mlir 2>&1 | filecheck %s --check-prefix UNKNOWN
// RUN: %exits 1 aicc-opt %s --apply-schedules=%S/Inputs/schedules-impossible.mlir 2>&1 | filecheck %s --check-prefix IMPOSSIBLE
// RUN: %exits 1 aicc-opt %s --apply-schedules=%S/Inputs/none.mlir 2>&1 | filecheck %s --check-prefix NONE
// RUN: %exits 1 aicc-opt %s --apply-schedules=%s 2>&1 | filecheck %s --check-prefix EMPTY

// The schedule stands behind its kernel, and is no longer the automatic scheduler's.
// LOAD:      builtin.module attributes {transform.with_named_sequence}
// LOAD:      func.func private @k(
// LOAD:      transform.named_sequence @k_schedule(%k: !transform.any_op) {
// LOAD:        schedule.tile %r {sizes = array<i64: 4>, why = "by hand"}

// APPLY:     loops.for "d0.o" %{{.*}} = 0 to 4
// APPLY:     loops.for "d0.i" %{{.*}} = 0 to 4

// UNKNOWN:     schedules-unknown.mlir:1:1: error: there is no kernel '@kk'; did you mean 'k'?
// IMPOSSIBLE:  schedules-impossible.mlir:2:8: error: no loop is labelled 'd9'; there are d0
// NONE:        error: cannot read the schedules in '{{.*}}none.mlir': No such file or directory
// EMPTY:       error: '{{.*}}loops-load-schedules.mlir' holds no schedule; expected transform.named_sequence @<kernel>_schedule
func.func @main(%x: memref<16xf32> {aicc.name = "x"}, %o: memref<16xf32> {aicc.name = "o"})
    attributes {aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.call @k(%x, %o) : memref<16xf32>, memref<16xf32>
  func.return
}
func.func private @k(%x: memref<16xf32>, %o: memref<16xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "d0" %i = 0 to 16 parallel {
    %v = loops.load %x[%i] : memref<16xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<16xf32>
  }
  func.return
}
