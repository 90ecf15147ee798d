// RUN: %exits 1 aicc-opt %s --emit=llvm 2>&1 | filecheck %s
// RUN: %exits 1 aicc-opt %s --emit=obj 2>&1 | filecheck %s --check-prefix=OBJ

// The levels below the llvm dialect have no machine code; the error lists what is left.
// CHECK: error: --emit=llvm needs IR in the llvm dialect, found arith.addi (x1), func.func (x1), func.return (x1) (lower it first, for example with -O2)
// OBJ:   error: --emit=obj needs IR in the llvm dialect
func.func @f(%a: i32) {
  %b = arith.addi %a, %a : i32
  func.return
}
