// RUN: aicc-opt %s -p loops-store-padded --split-input-file | filecheck %s

// The only reader makes a padded copy: the writer stores with a margin, and fills it.
// CHECK-LABEL: func.func @main
// CHECK:         %r = loops.alloc : memref<9x9x4xf32>
// CHECK-NEXT:    loops.call @double_0(%x, %r) : memref<7x7x4xf32>, memref<9x9x4xf32>
// CHECK-NEXT:    loops.call @sum_0(%r, %o) : memref<9x9x4xf32>, memref<7x7x4xf32>
func.func @main(%x: memref<7x7x4xf32>, %o: memref<7x7x4xf32>) attributes {aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %r = loops.alloc : memref<7x7x4xf32>
  loops.call @double_0(%x, %r) : memref<7x7x4xf32>, memref<7x7x4xf32>
  loops.call @sum_0(%r, %o) : memref<7x7x4xf32>, memref<7x7x4xf32>
  func.return
}

// CHECK-LABEL: func.func private @double_0(
// CHECK:         loops.store %{{.*}}, %o[%i + 1, %j + 1, %c] : f32 to memref<9x9x4xf32>
// CHECK:         loops.for "margin0_1_d0" %{{.*}} = 0 to 2 parallel
// CHECK:           loops.for "margin0_1_d1" %{{.*}} = 0 to 9 parallel
// CHECK:             loops.store %{{.*}}, %o[%{{.*}} * 8, %{{.*}}, %{{.*}}]
// CHECK:         loops.for "margin1_1_d0" %{{.*}} = 0 to 7 parallel
// CHECK:           loops.for "margin1_1_d1" %{{.*}} = 0 to 2 parallel
// CHECK:             loops.store %{{.*}}, %o[%{{.*}} + 1, %{{.*}} * 8, %{{.*}}]
func.func private @double_0(%x: memref<7x7x4xf32>, %o: memref<7x7x4xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 7 parallel {
    loops.for "s0_d1" %j = 0 to 7 parallel {
      loops.for "s0_d2" %c = 0 to 4 parallel {
        %v = loops.load %x[%i, %j, %c] : memref<7x7x4xf32> to f32
        %w = arith.addf %v, %v : f32
        loops.store %w, %o[%i, %j, %c] : f32 to memref<7x7x4xf32>
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func private @sum_0(
// CHECK-NOT:     loops.alloc
// CHECK:         loops.for "s1_d0" %i
// CHECK:         loops.load %x[%i + %k, %j + %k, %c] : memref<9x9x4xf32> to f32
func.func private @sum_0(%x: memref<7x7x4xf32>, %o: memref<7x7x4xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  %p = loops.alloc : memref<9x9x4xf32>
  loops.for "s0_d0" %i = 0 to 9 parallel {
    loops.for "s0_d1" %j = 0 to 9 parallel {
      loops.for "s0_d2" %c = 0 to 4 parallel {
        %v = loops.load %x[%i - 1, %j - 1, %c] fill 0.0 : f32 : memref<7x7x4xf32> to f32
        loops.store %v, %p[%i, %j, %c] : f32 to memref<9x9x4xf32>
      }
    }
  }
  loops.for "s1_d0" %i = 0 to 7 parallel {
    loops.for "s1_d1" %j = 0 to 7 parallel {
      loops.for "s1_d2" %c = 0 to 4 parallel {
        %s = loops.for "s1_d3" %k = 0 to 3 iter_args(%acc = %z) -> (f32) {
          %v = loops.load %p[%i + %k, %j + %k, %c] : memref<9x9x4xf32> to f32
          %a = arith.addf %acc, %v fastmath<reassoc> : f32
          loops.yield %a : f32
        }
        loops.store %s, %o[%i, %j, %c] : f32 to memref<7x7x4xf32>
      }
    }
  }
  func.return
}

// -----

// Symbolic sizes, and paddings that differ: the margin is as wide as the widest, and the narrower reader starts later.
// CHECK-LABEL: func.func @main
// CHECK:         loops.alloc : memref<?xf32, #loops.dims<N+5>>
// CHECK-LABEL: func.func private @copy_0(
// CHECK:         loops.store %{{.*}}, %o[%i + 2]
// CHECK:         loops.for "margin0_0_d0" %{{.*}} = 0 to 2 parallel
// CHECK-NEXT:      loops.store %{{.*}}, %o[%{{.*}}]
// CHECK:         loops.for "margin0_1_d0" %{{.*}} = 0 to 3 parallel
// CHECK-NEXT:      loops.store %{{.*}}, %o[%{{.*}} + %{{.*}}]
// CHECK-LABEL: func.func private @wide_0(
// CHECK:         loops.load %x[%i] : memref<?xf32, #loops.dims<s0+5>>
// CHECK-LABEL: func.func private @narrow_0(
// CHECK:         loops.load %x[%i + 1] : memref<?xf32, #loops.dims<s0+5>>
func.func @main(%N: index, %x: memref<?xf32, #loops.dims<N>>, %o: memref<?xf32, #loops.dims<N+2>>, %q: memref<?xf32, #loops.dims<N + 4>>)
    attributes {aicc.symbols = ["N"], aicc.num_outputs = 2 : i64} {
  %r = loops.alloc : memref<?xf32, #loops.dims<N>>
  loops.call @copy_0(%N, %x, %r) : index, memref<?xf32, #loops.dims<N>>, memref<?xf32, #loops.dims<N>>
  loops.call @wide_0(%N, %r, %o) : index, memref<?xf32, #loops.dims<N>>, memref<?xf32, #loops.dims<N+2>>
  loops.call @narrow_0(%N, %r, %q) : index, memref<?xf32, #loops.dims<N>>, memref<?xf32, #loops.dims<N+4>>
  func.return
}

func.func private @copy_0(%n: index, %x: memref<?xf32, #loops.dims<s0>>, %o: memref<?xf32, #loops.dims<s0>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to %n parallel {
    %v = loops.load %x[%i] : memref<?xf32, #loops.dims<s0>> to f32
    loops.store %v, %o[%i] : f32 to memref<?xf32, #loops.dims<s0>>
  }
  func.return
}

func.func private @wide_0(%n: index, %x: memref<?xf32, #loops.dims<s0>>, %o: memref<?xf32, #loops.dims<s0+2>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %p = loops.alloc : memref<?xf32, #loops.dims<s0+2>>
  %e = loops.size #graph.shape<s0 + 2>
  loops.for "s0_d0" %i = 0 to %e parallel {
    %v = loops.load %x[%i - 2] fill 0.0 : f32 : memref<?xf32, #loops.dims<s0>> to f32
    loops.store %v, %p[%i] : f32 to memref<?xf32, #loops.dims<s0+2>>
  }
  loops.for "s1_d0" %i = 0 to %e parallel {
    %v = loops.load %p[%i] : memref<?xf32, #loops.dims<s0+2>> to f32
    loops.store %v, %o[%i] : f32 to memref<?xf32, #loops.dims<s0+2>>
  }
  func.return
}

func.func private @narrow_0(%n: index, %x: memref<?xf32, #loops.dims<s0>>, %o: memref<?xf32, #loops.dims<s0+4>>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %p = loops.alloc : memref<?xf32, #loops.dims<s0+4>>
  %e = loops.size #graph.shape<s0 + 4>
  loops.for "s0_d0" %i = 0 to %e parallel {
    %v = loops.load %x[%i - 1] fill 0.0 : f32 : memref<?xf32, #loops.dims<s0>> to f32
    loops.store %v, %p[%i] : f32 to memref<?xf32, #loops.dims<s0+4>>
  }
  loops.for "s1_d0" %i = 0 to %e parallel {
    %v = loops.load %p[%i] : memref<?xf32, #loops.dims<s0+4>> to f32
    loops.store %v, %o[%i] : f32 to memref<?xf32, #loops.dims<s0+4>>
  }
  func.return
}

// -----

// Another reader needs the result as it is.
// CHECK-LABEL: func.func @main
// CHECK:         loops.alloc : memref<7xf32>
// CHECK-LABEL: func.func private @padded_0(
// CHECK:         loops.alloc : memref<9xf32>
func.func @main(%x: memref<7xf32>, %o: memref<9xf32>, %q: memref<7xf32>) attributes {aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %r = loops.alloc : memref<7xf32>
  loops.call @copy_0(%x, %r) : memref<7xf32>, memref<7xf32>
  loops.call @padded_0(%r, %o) : memref<7xf32>, memref<9xf32>
  loops.call @copy_0(%r, %q) : memref<7xf32>, memref<7xf32>
  func.return
}

func.func private @copy_0(%x: memref<7xf32>, %o: memref<7xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 7 parallel {
    %v = loops.load %x[%i] : memref<7xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<7xf32>
  }
  func.return
}

func.func private @padded_0(%x: memref<7xf32>, %o: memref<9xf32>)
    attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %p = loops.alloc : memref<9xf32>
  loops.for "s0_d0" %i = 0 to 9 parallel {
    %v = loops.load %x[%i - 1] fill 0.0 : f32 : memref<7xf32> to f32
    loops.store %v, %p[%i] : f32 to memref<9xf32>
  }
  loops.for "s1_d0" %i = 0 to 9 parallel {
    %v = loops.load %p[%i] : memref<9xf32> to f32
    loops.store %v, %o[%i] : f32 to memref<9xf32>
  }
  func.return
}

// -----

// The copy may be read through a view of packed bytes: rows are as long, and the same bytes are read.
// CHECK-LABEL: func.func private @packed_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<9x4xi8>
// CHECK-NOT:     loops.alloc
// CHECK:         %[[V:.*]] = loops.view %[[X]] : memref<9x4xi8> to memref<9x1xi32>
// CHECK:         loops.load %[[V]][%i + 1, 0] : memref<9x1xi32> to i32
// A view of other rows is none of these, and the copy stays.
// CHECK-LABEL: func.func private @other_0(
// CHECK:         loops.alloc : memref<9x4xi8>
func.func @main(%x: memref<7x4xi8>, %y: memref<7x4xi8>, %o: memref<7x1xi32>, %q: memref<7x1xi32>) attributes {aicc.symbols = [], aicc.num_outputs = 2 : i64} {
  %r = loops.alloc : memref<7x4xi8>
  loops.call @byte_0(%x, %r) : memref<7x4xi8>, memref<7x4xi8>
  loops.call @packed_0(%r, %o) : memref<7x4xi8>, memref<7x1xi32>
  %s = loops.alloc : memref<7x4xi8>
  loops.call @byte_1(%y, %s) : memref<7x4xi8>, memref<7x4xi8>
  loops.call @other_0(%s, %q) : memref<7x4xi8>, memref<7x1xi32>
  func.return
}
func.func private @byte_0(%x: memref<7x4xi8>, %o: memref<7x4xi8>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 7 parallel {
    loops.for "s0_d1" %c = 0 to 4 parallel {
      %v = loops.load %x[%i, %c] : memref<7x4xi8> to i8
      loops.store %v, %o[%i, %c] : i8 to memref<7x4xi8>
    }
  }
  func.return
}
func.func private @byte_1(%x: memref<7x4xi8>, %o: memref<7x4xi8>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  loops.for "s0_d0" %i = 0 to 7 parallel {
    loops.for "s0_d1" %c = 0 to 4 parallel {
      %v = loops.load %x[%i, %c] : memref<7x4xi8> to i8
      loops.store %v, %o[%i, %c] : i8 to memref<7x4xi8>
    }
  }
  func.return
}
func.func private @packed_0(%x: memref<7x4xi8>, %o: memref<7x1xi32>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %p = loops.alloc : memref<9x4xi8>
  loops.for "s0_d0" %i = 0 to 9 parallel {
    loops.for "s0_d1" %c = 0 to 4 parallel {
      %v = loops.load %x[%i - 1, %c] fill 7 : i8 : memref<7x4xi8> to i8
      loops.store %v, %p[%i, %c] : i8 to memref<9x4xi8>
    }
  }
  %w = loops.view %p : memref<9x4xi8> to memref<9x1xi32>
  loops.for "s1_d0" %i = 0 to 7 parallel {
    %v = loops.load %w[%i + 1, 0] : memref<9x1xi32> to i32
    loops.store %v, %o[%i, 0] : i32 to memref<7x1xi32>
  }
  func.return
}
func.func private @other_0(%x: memref<7x4xi8>, %o: memref<7x1xi32>) attributes {aicc.kernel, aicc.symbols = [], aicc.num_outputs = 1 : i64} {
  %p = loops.alloc : memref<9x4xi8>
  loops.for "s0_d0" %i = 0 to 9 parallel {
    loops.for "s0_d1" %c = 0 to 4 parallel {
      %v = loops.load %x[%i - 1, %c] fill 7 : i8 : memref<7x4xi8> to i8
      loops.store %v, %p[%i, %c] : i8 to memref<9x4xi8>
    }
  }
  %w = loops.view %p : memref<9x4xi8> to memref<9xi32>
  loops.for "s1_d0" %i = 0 to 7 parallel {
    %v = loops.load %w[%i + 1] : memref<9xi32> to i32
    loops.store %v, %o[%i, 0] : i32 to memref<7x1xi32>
  }
  func.return
}
