// RUN: aicc-opt %s --convert-loops-to-llvm --split-input-file | filecheck %s

// A loop is tested at its end; the test in front stays, as there may be no iteration. The row's address is computed in
// the outer loop.
// CHECK-LABEL: llvm.func @row_sums(
// CHECK-SAME:    %[[N:.*]]: i64, %[[A:.*]]: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64, llvm.readonly}, %[[O:.*]]: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64}, %{{.*}}: i64)
// CHECK:         %[[ENTER:.*]] = llvm.icmp "slt" %[[ZERO:.*]], %[[N]] : i64
// CHECK-NEXT:    llvm.cond_br %[[ENTER]], ^[[OUTER:.*]](%[[ZERO]] : i64), ^[[END:.*]]
// CHECK-NEXT:  ^[[OUTER]](%[[I:.*]]: i64):
// CHECK-NEXT:    %[[OFFSET:.*]] = llvm.mul %[[I]], %{{.*}} overflow<nsw> : i64
// CHECK-NEXT:    %[[ROW:.*]] = llvm.getelementptr %[[A]][%[[OFFSET]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// CHECK-NEXT:    llvm.br ^[[INNER:.*]](%[[ZERO]], %{{.*}} : i64, f32)
// CHECK-NEXT:  ^[[INNER]](%[[K:.*]]: i64, %[[ACC:.*]]: f32):
// CHECK-NEXT:    %[[P:.*]] = llvm.getelementptr %[[ROW]][%[[K]]]
// CHECK-NEXT:    %[[V:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:    %[[S:.*]] = llvm.fadd %[[ACC]], %[[V]] : f32
// CHECK-NEXT:    %[[NEXT:.*]] = llvm.add %[[K]], %{{.*}} overflow<nsw> : i64
// CHECK-NEXT:    %[[MORE:.*]] = llvm.icmp "slt" %[[NEXT]], %{{.*}} : i64
// CHECK-NEXT:    llvm.cond_br %[[MORE]], ^[[INNER]](%[[NEXT]], %[[S]] : i64, f32), ^[[STORE:.*]](%[[S]] : f32)
// CHECK-NEXT:  ^[[STORE]](%[[R:.*]]: f32):
// CHECK-NEXT:    %[[Q:.*]] = llvm.getelementptr %[[O]][%[[I]]]
// CHECK-NEXT:    llvm.store %[[R]], %[[Q]] {alignment = 4 : i64} : f32, !llvm.ptr
func.func @row_sums(%n: index, %a: memref<?x16xf32, #loops.dims<n>>, %o: memref<?xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.symbols = ["n"]} {
  %z = arith.constant 0.0 : f32
  loops.for "i" %i = 0 to %n {
    %r = loops.for "k" %k = 0 to 16 iter_args(%acc = %z) -> (f32) {
      %v = loops.load %a[%i, %k] : memref<?x16xf32, #loops.dims<n>> to f32
      %s = arith.addf %acc, %v : f32
      loops.yield %s : f32
    }
    loops.store %r, %o[%i] : f32 to memref<?xf32, #loops.dims<n>>
  }
  func.return
}

// -----

// A 2x8 tile is two rows; a row of one lane is a scalar, which the broadcast repeats; the rows share an address.
// CHECK-LABEL: llvm.func @tile(
// CHECK:       ^{{.*}}(%[[K:.*]]: i64, %[[R0:.*]]: vector<8xf32>, %[[R1:.*]]: vector<8xf32>):
// CHECK:         %[[A0:.*]] = llvm.load %[[PA:.*]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK-NEXT:    %[[PA1:.*]] = llvm.getelementptr %[[PA]][1] : (!llvm.ptr) -> !llvm.ptr, f32
// CHECK-NEXT:    %[[A1:.*]] = llvm.load %[[PA1]] {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK:         %[[B:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK:         %[[I0:.*]] = llvm.insertelement %[[A0]]
// CHECK-NEXT:    %[[S0:.*]] = llvm.shufflevector %[[I0]], %[[I0]] [0, 0, 0, 0, 0, 0, 0, 0]
// CHECK:         %[[S1:.*]] = llvm.shufflevector
// CHECK-NEXT:    %[[M0:.*]] = llvm.fmul %[[S0]], %[[B]] {fastmathFlags = #llvm.fastmath<contract>} : vector<8xf32>
// CHECK-NEXT:    %[[M1:.*]] = llvm.fmul %[[S1]], %[[B]]
// CHECK-NEXT:    llvm.fadd %[[R0]], %[[M0]]
// CHECK-NEXT:    llvm.fadd %[[R1]], %[[M1]]
func.func @tile(%a: memref<64x2xf32>, %b: memref<64x8xf32>, %c: memref<2x8xf32>) {
  %z = arith.constant dense<0.0> : vector<2x8xf32>
  %r = loops.for "k" %k = 0 to 64 iter_args(%acc = %z) -> (vector<2x8xf32>) {
    %x = loops.load %a[%k, l0] : memref<64x2xf32> to vector<2x1xf32>
    %y = loops.load %b[%k, l1] : memref<64x8xf32> to vector<1x8xf32>
    %xs = loops.broadcast %x : vector<2x1xf32> to vector<2x8xf32>
    %ys = loops.broadcast %y : vector<1x8xf32> to vector<2x8xf32>
    %m = arith.mulf %xs, %ys fastmath<contract> : vector<2x8xf32>
    %s = arith.addf %acc, %m fastmath<contract> : vector<2x8xf32>
    loops.yield %s : vector<2x8xf32>
  }
  loops.store %r, %c[l0, l1] : vector<2x8xf32> to memref<2x8xf32>
  func.return
}

// -----

// A masked tail.
// CHECK-LABEL: llvm.func @tail(
// CHECK-SAME:    %[[N:.*]]: i64
// CHECK:         %[[IOTA:.*]] = llvm.mlir.constant(dense<[0, 1, 2, 3]> : vector<4xi32>) : vector<4xi32>
// CHECK:         %[[MASK:.*]] = llvm.icmp "slt" %[[IOTA]], %{{.*}} : vector<4xi32>
// CHECK:         %[[V:.*]] = llvm.intr.masked.load %{{.*}}, %[[MASK]], %{{.*}} {alignment = 4 : i32}
// CHECK-NOT:     llvm.icmp
// CHECK:         llvm.intr.masked.store %[[V]], %{{.*}}, %[[MASK]] {alignment = 4 : i32}
func.func @tail(%n: index, %a: memref<8xf32>, %o: memref<8xf32>) {
  %v = loops.load %a[l0] lanes %n : memref<8xf32> to vector<4xf32>
  loops.store %v, %o[l0 + 1] lanes %n : vector<4xf32> to memref<8xf32>
  func.return
}

// -----

// Lanes that lie outside read as the fill. The second load is inside for every i and has no test.
// CHECK-LABEL: llvm.func @padded(
// CHECK:       ^{{.*}}(%[[I:.*]]: i64):
// CHECK:         %[[INSIDE:.*]] = llvm.icmp "ult" %{{.*}}, %{{.*}} : i64
// CHECK:         %[[P:.*]] = llvm.select %[[INSIDE]], %{{.*}}, %{{.*}} : i1, !llvm.ptr
// CHECK-NEXT:    llvm.load %[[P]]
// CHECK-NOT:     llvm.select
// CHECK:         llvm.return
func.func @padded(%a: memref<8xf32>, %o: memref<2x8xf32>) {
  loops.for "i" %i = 0 to 8 {
    %x = loops.load %a[%i - 1] fill 0.0 : f32 : memref<8xf32> to f32
    loops.store %x, %o[0, %i] : f32 to memref<2x8xf32>
    %y = loops.load %a[%i] fill 0.0 : f32 : memref<8xf32> to f32
    loops.store %y, %o[1, %i] : f32 to memref<2x8xf32>
  }
  func.return
}

// -----

// Loops of one iteration and unrolled loops leave no branch.
// CHECK-LABEL: llvm.func @no_loops(
// CHECK-NOT:     llvm.cond_br
// CHECK-COUNT-4: llvm.store
// CHECK:         llvm.return
func.func @no_loops(%o: memref<8xindex>) {
  loops.for "a" %i = 3 to 4 {
    loops.store %i, %o[%i] : index to memref<8xindex>
  }
  loops.for "b" %i = 0 to 3 unroll {
    loops.store %i, %o[%i] : index to memref<8xindex>
  }
  loops.for "c" %i = 5 to 5 {
    loops.store %i, %o[%i] : index to memref<8xindex>
  }
  func.return
}

// -----

// The panel of a packed matrix: the loop's step makes the division exact, and the rest of it is known.
// CHECK-LABEL: llvm.func @panels(
// CHECK:         llvm.udiv
// CHECK-NOT:     llvm.udiv
// CHECK-NOT:     llvm.urem
// CHECK:         llvm.return
func.func @panels(%a: memref<4x8xf32>, %o: memref<32xf32>) {
  loops.for "i" %i = 0 to 32 step 8 {
    %v = loops.load %a[(%i + l0) floordiv 8, (%i + l0) mod 8] : memref<4x8xf32> to vector<8xf32>
    loops.store %v, %o[%i + l0] : vector<8xf32> to memref<32xf32>
  }
  func.return
}

// -----

// Threads: the body is a function of a range of iterations, and what it uses from around it is handed over in a struct.
// CHECK:       llvm.func @aicc_parallel(!llvm.ptr, !llvm.ptr, i64, i64, i64, i64)
// CHECK-LABEL: llvm.func internal @scale.par0.body(
// CHECK-SAME:    %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias}
// CHECK:         llvm.fadd
// CHECK-LABEL: llvm.func internal @scale.par0(
// CHECK-SAME:    %[[CONTEXT:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64)
// CHECK:         %[[N:.*]] = llvm.load
// CHECK:         llvm.call @scale.par0.body(%[[BEGIN]], %[[END]], %[[N]]
// CHECK-LABEL: llvm.func @scale(
// CHECK-SAME:    %[[N:[^ ]*]]: i64
// CHECK-SAME:    %[[THREADS:[^ ]*]]: i64) attributes
// CHECK:         %[[SOME:.*]] = llvm.icmp "sgt" %[[N]], %{{.*}} : i64
// CHECK-NEXT:    llvm.cond_br %[[SOME]]
// CHECK:         %[[ALONE:.*]] = llvm.icmp "slt" %[[THREADS]], %{{.*}} : i64
// CHECK-NEXT:    llvm.cond_br %[[ALONE]], ^[[DIRECT:.*]], ^[[SHARED:.*]]
// CHECK:       ^[[DIRECT]]:
// CHECK-NEXT:    llvm.call @scale.par0.body(%{{.*}}, %[[N]], %[[N]], %{{.*}}, %{{.*}})
// CHECK:       ^[[SHARED]]:
// CHECK-NEXT:    llvm.getelementptr
// CHECK-NEXT:    llvm.store %[[N]]
// CHECK:         llvm.call @aicc_parallel(%{{.*}}, %{{.*}}, %{{.*}}, %[[GRAIN:.*]], %[[THREADS]]) :
// CHECK-NOT:     llvm.call

// Loops that are nested are counted as one: a part begins and ends anywhere in it. Only a part divides to know where.
// CHECK-LABEL: llvm.func internal @nested.par0.body(
// CHECK-SAME:    %[[FROM:[^:]*]]: i64, %[[TO:[^:]*]]: i64,
// CHECK:         llvm.cond_br %{{.*}}, ^{{.*}}, ^[[PART:.*]]
// CHECK:       ^[[PART]]:
// CHECK-NEXT:    llvm.udiv %[[FROM]], %[[INSIDE:[^ ]*]]
// CHECK:         llvm.intr.smax
// CHECK:         llvm.intr.smin
// CHECK-LABEL: llvm.func @nested(
// CHECK:         %[[TOTAL:.*]] = llvm.mul
// CHECK:         llvm.call @aicc_parallel(
func.func @scale(%n: index, %a: memref<?xf32, #loops.dims<n>>, %o: memref<?xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.symbols = ["n"]} {
  loops.for "i" %i = 0 to %n parallel threads {
    %x = loops.load %a[%i] : memref<?xf32, #loops.dims<n>> to f32
    %y = arith.addf %x, %x : f32
    loops.store %y, %o[%i] : f32 to memref<?xf32, #loops.dims<n>>
  }
  func.return
}

func.func @nested(%n: index, %m: index, %o: memref<?x?xf32, #loops.dims<n, m>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "m"]} {
  %one = arith.constant 1.0 : f32
  loops.for "i" %i = 0 to %n parallel threads attributes {grain = 4 : i64, nested = 2 : i64} {
    loops.for "j" %j = 0 to %m parallel {
      loops.store %one, %o[%i, %j] : f32 to memref<?x?xf32, #loops.dims<n, m>>
    }
  }
  func.return
}

// -----

// Loops in a loop that may stay on one thread are shared out then: the body gets the number of threads. In others they
// are plain loops.
// CHECK-LABEL: llvm.func internal @few.par0.body(
// CHECK:         llvm.call @aicc_parallel(
// CHECK-LABEL: llvm.func @few(
// CHECK:         %[[LEAST:.*]] = llvm.mlir.constant(2) : i64
// CHECK:         llvm.call @aicc_parallel(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[LEAST]], %{{.*}})
// CHECK-LABEL: llvm.func internal @many.par0.body(
// CHECK-NOT:     llvm.call @aicc_parallel(
// CHECK-LABEL: llvm.func internal @many.par0(
func.func @few(%n: index, %m: index, %o: memref<?x?xf32, #loops.dims<n, m>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "m"]} {
  %one = arith.constant 1.0 : f32
  loops.for "i" %i = 0 to %n parallel threads attributes {least = 2 : i64} {
    loops.for "j" %j = 0 to %m parallel threads {
      loops.store %one, %o[%i, %j] : f32 to memref<?x?xf32, #loops.dims<n, m>>
    }
  }
  func.return
}

func.func @many(%n: index, %m: index, %o: memref<?x?xf32, #loops.dims<n, m>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "m"]} {
  %one = arith.constant 1.0 : f32
  loops.for "i" %i = 0 to %n parallel threads {
    loops.for "j" %j = 0 to %m parallel threads {
      loops.store %one, %o[%i, %j] : f32 to memref<?x?xf32, #loops.dims<n, m>>
    }
  }
  func.return
}

// -----

// As many iterations as do a part of the work that is worth a thread, where there are several.
// CHECK-LABEL: llvm.func @worth(
// CHECK:         llvm.call @worth.par0.body(
// CHECK:         %[[NEAREST:.*]] = llvm.udiv
// CHECK:         %[[GRAIN:.*]] = llvm.intr.smax(%[[NEAREST]], %{{.*}})
// CHECK:         llvm.call @aicc_parallel(%{{.*}}, %{{.*}}, %{{.*}}, %[[GRAIN]], %{{.*}}, %{{.*}})
func.func @worth(%n: index, %m: index, %o: memref<?x?xf32, #loops.dims<n, m>>)
    attributes {aicc.kernel, aicc.symbols = ["n", "m"]} {
  %one = arith.constant 1.0 : f32
  loops.for "i" %i = 0 to %n parallel threads attributes {part = 100 : i64, work = #graph.shape<n*m>} {
    loops.for "j" %j = 0 to %m parallel {
      loops.store %one, %o[%i, %j] : f32 to memref<?x?xf32, #loops.dims<n, m>>
    }
  }
  func.return
}

// -----

// main takes a table of pointers, the sizes and the number of threads; the signature says what they are.
// CHECK-LABEL: llvm.func @main(
// CHECK-SAME:    %[[TABLE:.*]]: !llvm.ptr, %[[SIZES:.*]]: !llvm.ptr, %[[THREADS:.*]]: i64)
// CHECK-SAME:    aicc.signature = "{\22version\22: 1, \22symbols\22: [\22n\22], {{.*}}\22buffers\22: [{\22kind\22: \22input\22, \22index\22: 0}, {\22kind\22: \22output\22, \22index\22: 0}, {\22kind\22: \22arena\22, \22bytes\22: \224*n\22}, {\22kind\22: \22weight\22, \22name\22: \22w\22, \22file\22: null, \22kept\22: true}]}"
// CHECK:         %[[N:.*]] = llvm.load %[[SIZES]] : !llvm.ptr -> i64
// CHECK-NEXT:    %[[X:.*]] = llvm.load %[[TABLE]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:    %[[P1:.*]] = llvm.getelementptr %[[TABLE]][1]
// CHECK-NEXT:    %[[O:.*]] = llvm.load %[[P1]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.call @kernel(%[[N]], %[[X]], %{{.*}}, %[[T:.*]], %[[THREADS]])
func.func private @kernel(%n: index, %a: memref<?xf32, #loops.dims<n>>, %w: memref<4xf32>, %o: memref<?xf32, #loops.dims<n>>)
    attributes {aicc.kernel, aicc.symbols = ["n"], aicc.num_outputs = 1 : i64} {
  func.return
}
func.func @main(%n: index, %x: memref<?xf32, #loops.dims<n>>, %o: memref<?xf32, #loops.dims<n>>) attributes {aicc.symbols = ["n"]} {
  %t = loops.alloc : memref<?xf32, #loops.dims<n>>
  %w = loops.constant #graph.buffer<"w"> : memref<4xf32>
  func.call @kernel(%n, %x, %w, %t) : (index, memref<?xf32, #loops.dims<n>>, memref<4xf32>, memref<?xf32, #loops.dims<n>>) -> ()
  func.call @kernel(%n, %t, %w, %o) : (index, memref<?xf32, #loops.dims<n>>, memref<4xf32>, memref<?xf32, #loops.dims<n>>) -> ()
  func.return
}

// -----

// Divisions cannot trap.
// CHECK-LABEL: llvm.func @divide(
// CHECK-SAME:    %[[A:.*]]: i32, %[[B:.*]]: i32
// CHECK:         %[[ZERO:.*]] = llvm.icmp "eq" %[[B]], %{{.*}} : i32
// CHECK-NEXT:    %[[MINUS:.*]] = llvm.icmp "eq" %[[B]], %{{.*}} : i32
// CHECK-NEXT:    %[[BAD:.*]] = llvm.or %[[ZERO]], %[[MINUS]] : i1
// CHECK-NEXT:    %[[SAFE:.*]] = llvm.select %[[BAD]], %{{.*}}, %[[B]] : i1, i32
// CHECK-NEXT:    %[[Q:.*]] = llvm.sdiv %[[A]], %[[SAFE]] : i32
// CHECK-NEXT:    %[[NEG:.*]] = llvm.sub %{{.*}}, %[[A]] : i32
// CHECK-NEXT:    %[[R:.*]] = llvm.select %[[MINUS]], %[[NEG]], %[[Q]] : i1, i32
// CHECK-NEXT:    llvm.select %[[ZERO]], %{{.*}}, %[[R]] : i1, i32
func.func @divide(%a: i32, %b: i32) -> i32 {
  %r = arith.divsi %a, %b : i32
  func.return %r : i32
}

// -----

// Lanes two apart of which some lie outside: what is between them is read too, under a mask, and sorted out.
// CHECK-LABEL: llvm.func @strided_border(
// CHECK-NOT:     llvm.load
// CHECK-COUNT-4: llvm.intr.masked.load
// CHECK-NOT:     llvm.load
// CHECK:         llvm.shufflevector
// CHECK:         llvm.return
func.func @strided_border(%i: index, %x: memref<32xf32>, %o: memref<16xf32>) attributes {aicc.kernel} {
  %v = loops.load %x[%i + 2 * l0 - 1] fill 0.0 : f32 : memref<32xf32> to vector<16xf32>
  loops.store %v, %o[l0] : vector<16xf32> to memref<16xf32>
  func.return
}
