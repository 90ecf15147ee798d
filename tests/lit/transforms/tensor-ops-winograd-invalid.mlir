// RUN: not aicc-opt %s -p 'tensor-ops-winograd{outputs=3}' 2>&1 | filecheck %s

// CHECK: tensor-ops-winograd: outputs must be 0, 2 or 4, got 3
func.func @main() {
  func.return
}
