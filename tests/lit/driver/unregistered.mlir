// RUN: aicc-opt %s --allow-unregistered-dialect | filecheck %s
// RUN: aicc-opt %s --allow-unregistered-dialect --print-debuginfo | filecheck %s --check-prefix=DEBUG

// CHECK: %[[X:.*]] = "mystery.source"() {a = #mystery.attr<3>} : () -> !mystery.type
// CHECK: "mystery.sink"(%[[X]]) : (!mystery.type) -> ()
// DEBUG: "mystery.source"{{.*}} loc({{.*}}unregistered.mlir":[[# @LINE + 1]]:6)
%x = "mystery.source"() {a = #mystery.attr<3>} : () -> !mystery.type
"mystery.sink"(%x) : (!mystery.type) -> ()
