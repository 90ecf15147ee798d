// RUN: aicc-opt %s -p 'canonicalize,cse' --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=ALL
// RUN: aicc-opt %s -p 'canonicalize,cse' --mlir-print-ir-before-all -o %t 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: aicc-opt %s -p 'canonicalize,cse' --print-ir-after=cse -o %t 2>&1 | filecheck %s --check-prefix=ONE
// RUN: aicc-opt %s -p 'canonicalize,cse' --print-ir-before=canonicalize --mlir-print-debuginfo -o %t 2>&1 | filecheck %s --check-prefix=DEBUG
// RUN: aicc-opt %s -p 'canonicalize,cse,canonicalize' --print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: aicc-opt %s -p 'func.func(canonicalize)' --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: aicc-opt %s -p 'func.func(canonicalize)' --print-ir-after-all --print-ir-module-scope -o %t 2>&1 | filecheck %s --check-prefix=SCOPE

// ALL:      // -----// IR Dump After CanonicalizePass (canonicalize) //----- //
// ALL-NEXT: builtin.module {
// ALL:      // -----// IR Dump After CommonSubexpressionElimination (cse) //----- //
// ALL-NEXT: builtin.module {

// BEFORE: // -----// IR Dump Before CanonicalizePass (canonicalize) //----- //
// BEFORE: arith.addi
// BEFORE: // -----// IR Dump Before CommonSubexpressionElimination (cse) //----- //
// BEFORE-NOT: arith.addi

// ONE-NOT: (canonicalize)
// ONE:     IR Dump After {{.*}} (cse)

// DEBUG: arith.addi %{{.*}}, %{{.*}} : i32 loc({{.*}}print-ir.mlir":[[# @LINE + 20]]:8)

// Only the first pass finds something to do.
// CHANGE:     (canonicalize)
// CHANGE-NOT: IR Dump

// A nested pass shows its function; the module on demand.
// NESTED:      IR Dump After
// NESTED-NEXT: func.func @fold
// NESTED:      IR Dump After
// NESTED-NEXT: func.func @other

// SCOPE:      IR Dump After CanonicalizePass (canonicalize) ('func.func' operation: @fold)
// SCOPE-NEXT: builtin.module {
// SCOPE:      func.func @other
// SCOPE:      IR Dump After CanonicalizePass (canonicalize) ('func.func' operation: @other)


func.func @fold() -> i32 {
  %one = arith.constant 1 : i32
  %r = arith.addi %one, %one : i32
  func.return %r : i32
}
func.func @other() {
  func.return
}
