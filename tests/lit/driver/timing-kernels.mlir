// RUN: aicc-opt %s -O2 --timing -o %t 2>&1 | filecheck %s
// RUN: aicc run %s --timing --no-cache 2>&1 | filecheck %s --check-prefix=TIMED

// The import of dialects is not the parser's; each kernel has a line with what was done to it.
// CHECK:      Import of dialects
// CHECK-NEXT: Parser
// CHECK:      loops-auto-schedule
// CHECK:      (100.0%) {{ +}}Total
// CHECK:      schedule      apply      lower       emit  ----Kernel----
// CHECK:      @matmul_0

// TIMED-DAG:  loops-apply-schedules
// TIMED-DAG:  @matmul_0
// TIMED-DAG:  @main
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x32xf32>) -> tensor<8x32xf32> {
  %m = graph.matmul %x, %w : tensor<8x16xf32>, tensor<16x32xf32> -> tensor<8x32xf32>
  func.return %m : tensor<8x32xf32>
}
