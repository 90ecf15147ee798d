// RUN: aicc-opt %s -p 'loops-auto-schedule{target=generic}' | filecheck %s

// The number of a row is the same for all lanes: registers hold elements of 4 bytes, and not of 8.
// CHECK-LABEL: @rows(
// CHECK:       @rows_schedule
// CHECK:         schedule.tile {{.*}} {sizes = array<i64: 1, 32>, why = "4 registers of 8 lanes"}
func.func private @rows(%x: memref<1000x768xf32>, %n: memref<128xi64>, %o: memref<128x768xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 128 parallel {
    loops.for "j" %j = 0 to 768 parallel {
      %k = loops.load %n[%i] : memref<128xi64> to i64
      %r = arith.index_cast %k : i64 to index
      %v = loops.load %x[%r, %j] : memref<1000x768xf32> to f32
      loops.store %v, %o[%i, %j] : f32 to memref<128x768xf32>
    }
  }
  func.return
}

// Numbers that differ between lanes are vectors of 8 bytes.
// CHECK-LABEL: @converted(
// CHECK:       @converted_schedule
// CHECK:         schedule.tile {{.*}} {sizes = array<i64: 16>, why = "4 registers of 4 lanes"}
func.func private @converted(%n: memref<1280xi64>, %o: memref<1280xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  loops.for "i" %i = 0 to 1280 parallel {
    %k = loops.load %n[%i] : memref<1280xi64> to i64
    %v = arith.sitofp %k : i64 to f32
    loops.store %v, %o[%i] : f32 to memref<1280xf32>
  }
  func.return
}
