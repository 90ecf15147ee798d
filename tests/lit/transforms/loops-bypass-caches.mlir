// RUN: aicc-opt %s -p 'loops-bypass-caches{kernel=k argument=2}' | filecheck %s

// All stores to the buffer, through views of it too, and no others; other kernels are left alone.
// CHECK-LABEL: @k(
// CHECK:         loops.store %{{.*}}, %p[%i * 8 + l0] : vector<8xf32> to memref<64xf32>
// CHECK:         loops.store %{{.*}}, %q[%i * 8 + l0] nontemporal : vector<8xf32> to memref<64xf32>
// CHECK:         loops.store %{{.*}}, %w[%i, 0] nontemporal : f32 to memref<8x8xf32>
func.func private @k(%x: memref<64xf32>, %p: memref<64xf32>, %q: memref<64xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %w = loops.view %q : memref<64xf32> to memref<8x8xf32>
  loops.for "i" %i = 0 to 8 parallel {
    %v = loops.load %x[%i * 8 + l0] : memref<64xf32> to vector<8xf32>
    loops.store %v, %p[%i * 8 + l0] : vector<8xf32> to memref<64xf32>
    loops.store %v, %q[%i * 8 + l0] : vector<8xf32> to memref<64xf32>
    %s = loops.load %x[%i] : memref<64xf32> to f32
    loops.store %s, %w[%i, 0] : f32 to memref<8x8xf32>
  }
  func.return
}

// CHECK-LABEL: @other(
// CHECK-NOT:     nontemporal
func.func private @other(%x: memref<8xf32>, %p: memref<8xf32>, %q: memref<8xf32>)
    attributes {aicc.kernel, aicc.num_outputs = 2 : i64} {
  %v = loops.load %x[l0] : memref<8xf32> to vector<8xf32>
  loops.store %v, %p[l0] : vector<8xf32> to memref<8xf32>
  loops.store %v, %q[l0] : vector<8xf32> to memref<8xf32>
  func.return
}
