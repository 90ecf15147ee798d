// RUN: printf '// first line\nfunc.func @f\377() {' | %exits 1 aicc-opt 2>&1 | filecheck %s

// Bytes that are not UTF-8.
// CHECK: <stdin>:2: error: not text in UTF-8, expected textual IR
// CHECK-NOT: {{(error|Traceback)}}
