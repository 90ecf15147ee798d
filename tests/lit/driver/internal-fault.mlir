// RUN: %exits 1 aicc-opt %s -p 'cse,lower-affine' --crash-reproducer=%t.mlir 2>&1 | filecheck %s
// RUN: filecheck %s --input-file %t.mlir --check-prefix=FILE
// RUN: %exits 1 aicc-opt %t.mlir --run-reproducer 2>&1 | filecheck %s
// RUN: %exits 1 aicc-opt %s --lower-affine --print-ir-after-failure -o %t.out 2>&1 | filecheck %s --check-prefix=IR
// RUN: %exits 1 aicc-opt %s --lower-affine --traceback 2>&1 | filecheck %s --check-prefix=TRACE

// A pass that ends in an exception: the driver says so, names the pass, and writes what reproduces it.
// CHECK:      error: internal fault in pass 'lower-affine': IndexError:
// CHECK-NEXT: note: to see it: aicc-opt {{.*}} --run-reproducer
// CHECK-NOT:  Traceback
// FILE:       // configuration: --pass-pipeline='builtin.module(cse,lower-affine)'
// FILE-NEXT:  // internal fault in pass 'lower-affine'
// FILE:       func.func @bound_with_operand
// IR:         // -----// IR Dump After LowerAffinePass Failed (lower-affine) //----- //
// TRACE:      Traceback (most recent call last)
func.func @bound_with_operand(%n: index) {
  affine.for %i = 0 to affine_map<(d0) -> (d0)>(%n) {
  }
  func.return
}
