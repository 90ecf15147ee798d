// RUN: %exits 1 aicc-opt %s 2>&1 | filecheck %s

// An affine map over a dimension that it does not declare.
// CHECK: affine-map.mlir:[[# @LINE + 3]]:52: error: identifier not in space d1
// CHECK-NOT: {{(error|Traceback)}}

func.func @f() attributes {m = affine_map<(d0) -> (d1)>} {
  func.return
}
