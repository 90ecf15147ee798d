// RUN: aicc-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: aicc-opt %s --elide-large-constants | filecheck %s --check-prefix=ELIDE
// RUN: aicc-opt %s --mlir-elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=TWO
// RUN: aicc-opt %s --print-debuginfo | filecheck %s --check-prefix=DEBUG
// RUN: aicc-opt %s -o %t && filecheck %s --input-file %t

// GENERIC: "func.func"() <{
// GENERIC: "arith.constant"()

// More than sixteen elements are elided, a splat is not.
// ELIDE: dense<[1, 2, 3]> : tensor<3xi32>
// ELIDE: dense_resource<__elided__> : tensor<17xi32>
// ELIDE: dense<7> : tensor<100xi32>

// TWO: dense_resource<__elided__> : tensor<3xi32>

// CHECK: dense<[1, 2, 3]> : tensor<3xi32>

// A location that the text has is kept; another op gets its place in the file.
// DEBUG: func.func @f(%a: i32 loc({{.*}}printing.mlir":[[# @LINE + 4]]:14))
// DEBUG: tensor<3xi32> loc("model":7:1)
// DEBUG: tensor<17xi32> loc({{.*}}printing.mlir":[[# @LINE + 4]]:8)
// DEBUG: tensor<100xi32> loc("conv1"({{.*}}"model":9:1))
func.func @f(%a: i32) {
  %x = arith.constant dense<[1, 2, 3]> : tensor<3xi32> loc("model":7:1)
  %y = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]> : tensor<17xi32>
  %z = arith.constant dense<7> : tensor<100xi32> loc("conv1"("model":9:1))
  func.return
}
