// RUN: aicc-opt %s -p loops-plan-memory --verify-diagnostics

func.func @main(%c: memref<i1>, %x: memref<4xf32>) {
  %a = loops.alloc : memref<4xf32>
  %go = loops.load %c[] : memref<i1> to i1
  %r = scf.if %go -> (memref<4xf32>) {
    // expected-error@+1 {{'scf.yield' passes on a buffer that is to be planned; expected a copy into another one}}
    scf.yield %a : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  func.return
}
