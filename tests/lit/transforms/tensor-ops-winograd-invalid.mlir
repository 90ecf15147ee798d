// RUN: not aicc-opt %s -p 'tensor-ops-winograd{outputs=5}' 2>&1 | filecheck %s

// CHECK: tensor-ops-winograd: outputs must be one of 0, 2, 3, 4, got 5
func.func @main() {
  func.return
}
