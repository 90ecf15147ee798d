// RUN: aicc-opt %s --convert-loops-to-llvm | filecheck %s
// RUN: aicc-opt %s --convert-loops-to-llvm --emit=llvm --target=aarch64 | filecheck %s --check-prefix=TEXT
// RUN: aicc-opt %s --convert-loops-to-llvm --emit=llvm --target=x86-64-v3 | filecheck %s --check-prefix=TEXT

// The address may lie outside the buffer, so nothing is promised of it; the hint outlives simplification.
// CHECK-LABEL: llvm.func @ahead(
// CHECK-NOT:     inbounds
// CHECK:         llvm.getelementptr %{{.*}} : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK:         "llvm.intr.prefetch"(%{{.*}}) <{{.*}}rw = 0 : i32, hint = 2 : i32, cache = 1 : i32
// CHECK:         "llvm.intr.prefetch"(%{{.*}}) <{{.*}}rw = 1 : i32, hint = 3 : i32, cache = 1 : i32

// TEXT-LABEL: define {{.*}}@ahead(
// TEXT:         call void @llvm.prefetch.p0(ptr %{{.*}}, i32 0, i32 2, i32 1)
// TEXT:         call void @llvm.prefetch.p0(ptr %{{.*}}, i32 1, i32 3, i32 1)
func.func @ahead(%x: memref<64x64xf32>) attributes {aicc.kernel} {
  loops.for "i" %i = 0 to 64 {
    loops.prefetch %x[%i + 8, %i mod 2 * 16] locality 2 : memref<64x64xf32>
    loops.prefetch %x[%i - 1, 0] write locality 3 : memref<64x64xf32>
  }
  func.return
}
