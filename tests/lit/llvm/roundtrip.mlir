// RUN: aicc-opt %s | aicc-opt | filecheck %s
// RUN: aicc-opt %s --print-op-generic | aicc-opt | filecheck %s

// What xDSL's llvm dialect lacks, in upstream MLIR's syntax.

#no_vectors = #llvm.loop_vectorize<disable = true>
#no_unrolling = #llvm.loop_unroll<disable = true>
#loop = #llvm.loop_annotation<vectorize = #no_vectors, unroll = #no_unrolling, mustProgress = true>
#domain = #llvm.alias_scope_domain<id = "kernel", description = "one per function">
#scope = #llvm.alias_scope<id = "a", domain = #domain>

llvm.func @callee(f32) -> f32
llvm.mlir.global internal constant @data(dense<[1.0, 2.0]> : tensor<2xf32>) {addr_space = 0 : i32, alignment = 64 : i64} : !llvm.array<2 x f32>

// CHECK-LABEL: @memory
// CHECK-SAME:    %{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: i64
// CHECK-SAME:    attributes {no_unwind, target_cpu = "znver3"}
llvm.func @memory(%p: !llvm.ptr {llvm.noalias, llvm.readonly}, %n: i64, %m: vector<8xi1>) attributes {no_unwind, target_cpu = "znver3"} {
  // CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64, alias_scopes = [#llvm.alias_scope<{{.*}}>]} : !llvm.ptr -> vector<8xf32>
  %v = llvm.load %p invariant {alignment = 4 : i64, alias_scopes = [#scope]} : !llvm.ptr -> vector<8xf32>
  // CHECK-NEXT: llvm.load volatile %{{.*}} atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
  %a = llvm.load volatile %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64
  // CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
  llvm.store %v, %p {alignment = 4 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
  // CHECK-NEXT: llvm.getelementptr inbounds|nuw %{{.*}}[%{{.*}}, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  %q = llvm.getelementptr inbounds|nuw %p[%n, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
  // CHECK-NEXT: llvm.getelementptr nusw|nuw %{{.*}}[3] : (!llvm.ptr) -> !llvm.ptr, i8
  %r = llvm.getelementptr nusw|nuw %p[3] : (!llvm.ptr) -> !llvm.ptr, i8
  %i = llvm.mlir.constant(dense<3> : vector<8xi64>) : vector<8xi64>
  // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, vector<8xi64>) -> vector<8x!llvm.ptr>, f32
  %s = llvm.getelementptr %p[%i] : (!llvm.ptr, vector<8xi64>) -> vector<8x!llvm.ptr>, f32
  // CHECK-NEXT: llvm.intr.masked.load %{{.*}}, %{{.*}}, %{{.*}} {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %ml = llvm.intr.masked.load %p, %m, %v {alignment = 4 : i32} : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  // CHECK-NEXT: llvm.intr.masked.store %{{.*}}, %{{.*}}, %{{.*}} {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
  // CHECK-NEXT: llvm.intr.masked.gather %{{.*}}, %{{.*}}, %{{.*}} {alignment = 4 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %mg = llvm.intr.masked.gather %s, %m, %v {alignment = 4 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  // CHECK-NEXT: llvm.intr.masked.scatter %{{.*}}, %{{.*}}, %{{.*}} {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into vector<8x!llvm.ptr>
  llvm.intr.masked.scatter %v, %s, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into vector<8x!llvm.ptr>
  // CHECK-NEXT: "llvm.intr.memcpy"(%{{.*}}, %{{.*}}, %{{.*}}) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  "llvm.intr.memcpy"(%p, %q, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  // CHECK-NEXT: "llvm.intr.memmove"
  "llvm.intr.memmove"(%p, %q, %n) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %zero = llvm.mlir.constant(0 : i8) : i8
  // CHECK: "llvm.intr.memset"(%{{.*}}, %{{.*}}, %{{.*}}) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  "llvm.intr.memset"(%p, %zero, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()
  // CHECK-NEXT: "llvm.intr.prefetch"(%{{.*}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
  // CHECK-NEXT: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic : !llvm.ptr, i64
  %x = llvm.atomicrmw add %p, %n monotonic : !llvm.ptr, i64
  // CHECK-NEXT: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} acq_rel monotonic : !llvm.ptr, i64
  %y = llvm.cmpxchg %p, %n, %n acq_rel monotonic : !llvm.ptr, i64
  // CHECK-NEXT: llvm.fence acquire
  llvm.fence acquire
  llvm.return
}

// CHECK-LABEL: @values
llvm.func @values(%v: vector<8xf32>, %i: i64, %c: i1) {
  // CHECK: llvm.fcmp "olt" %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<nnan>} : vector<8xf32>
  %m = llvm.fcmp "olt" %v, %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<8xf32>
  // CHECK-NEXT: llvm.select %{{.*}}, %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xf32>
  %s = llvm.select %m, %v, %v : vector<8xi1>, vector<8xf32>
  // CHECK-NEXT: llvm.select %{{.*}}, %{{.*}}, %{{.*}} {fastmathFlags = #llvm.fastmath<nsz>} : i1, vector<8xf32>
  %t = llvm.select %c, %v, %v {fastmathFlags = #llvm.fastmath<nsz>} : i1, vector<8xf32>
  // CHECK-NEXT: llvm.extractelement %{{.*}}[%{{.*}} : i64] : vector<8xf32>
  %e = llvm.extractelement %v[%i : i64] : vector<8xf32>
  // CHECK-NEXT: "llvm.intr.vector.reduce.fadd"(%{{.*}}, %{{.*}}) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  %f = "llvm.intr.vector.reduce.fadd"(%e, %v) <{fastmathFlags = #llvm.fastmath<reassoc>}> : (f32, vector<8xf32>) -> f32
  // CHECK-NEXT: llvm.intr.vector.reduce.fmaximum(%{{.*}}) {fastmathFlags = #llvm.fastmath<nsz>} : (vector<8xf32>) -> f32
  %g = llvm.intr.vector.reduce.fmaximum(%v) {fastmathFlags = #llvm.fastmath<nsz>} : (vector<8xf32>) -> f32
  // CHECK-NEXT: llvm.intr.maximum(%{{.*}}, %{{.*}}) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %h = llvm.intr.maximum(%v, %v) : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  // CHECK-NEXT: llvm.intr.fmuladd(%{{.*}}, %{{.*}}, %{{.*}}) {fastmathFlags = #llvm.fastmath<contract>} : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %j = llvm.intr.fmuladd(%v, %v, %v) {fastmathFlags = #llvm.fastmath<contract>} : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  // CHECK-NEXT: "llvm.intr.abs"(%{{.*}}) <{is_int_min_poison = false}> : (i64) -> i64
  %k = "llvm.intr.abs"(%i) <{is_int_min_poison = false}> : (i64) -> i64
  // CHECK-NEXT: "llvm.intr.ctlz"(%{{.*}}) <{is_zero_poison = false}> : (i64) -> i64
  %l = "llvm.intr.ctlz"(%i) <{is_zero_poison = false}> : (i64) -> i64
  // CHECK-NEXT: llvm.intr.ctpop(%{{.*}}) : (i64) -> i64
  %n = llvm.intr.ctpop(%i) : (i64) -> i64
  // CHECK-NEXT: llvm.intr.smax(%{{.*}}, %{{.*}}) : (i64, i64) -> i64
  %o = llvm.intr.smax(%i, %i) : (i64, i64) -> i64
  // CHECK-NEXT: llvm.intr.assume %{{.*}} : i1
  llvm.intr.assume %c : i1
  // CHECK-NEXT: llvm.fptosi %{{.*}} : vector<8xf32> to vector<8xi32>
  %p = llvm.fptosi %v : vector<8xf32> to vector<8xi32>
  // CHECK-NEXT: llvm.fptoui %{{.*}} : vector<8xf32> to vector<8xi32>
  %q = llvm.fptoui %v : vector<8xf32> to vector<8xi32>
  // CHECK-NEXT: llvm.uitofp %{{.*}} : vector<8xi32> to vector<8xf32>
  %r = llvm.uitofp %p : vector<8xi32> to vector<8xf32>
  // CHECK-NEXT: llvm.mlir.poison : vector<8xf32>
  %u = llvm.mlir.poison : vector<8xf32>
  // CHECK-NEXT: llvm.freeze %{{.*}} : i64
  %w = llvm.freeze %i : i64
  // CHECK-NEXT: "llvm.intr.is.fpclass"(%{{.*}}) <{bit = 3 : i32}> : (f32) -> i1
  %x = "llvm.intr.is.fpclass"(%e) <{bit = 3 : i32}> : (f32) -> i1
  %y = llvm.mlir.addressof @callee : !llvm.ptr
  // CHECK: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (f32) -> f32
  %z = llvm.call %y(%e) : !llvm.ptr, (f32) -> f32
  llvm.return
}

// CHECK-LABEL: @branches
llvm.func @branches(%n: i64, %c: i1) -> i64 {
  // CHECK: llvm.switch %{{.*}} : i64, ^{{.*}} [1: ^{{.*}}, -2: ^{{.*}}(%{{.*}} : i64)]
  llvm.switch %n : i64, ^one [1: ^one, -2: ^two(%n : i64)]
^one:
  // CHECK: llvm.br ^{{.*}}(%{{.*}} : i64) {loop_annotation = #llvm.loop_annotation<vectorize = #llvm.loop_vectorize<disable = true>, unroll = #llvm.loop_unroll<disable = true>, mustProgress = true>}
  llvm.br ^two(%n : i64) {loop_annotation = #loop}
^two(%x: i64):
  // CHECK: llvm.cond_br %{{.*}} weights([99, 1]), ^{{.*}}, ^{{.*}}(%{{.*}} : i64)
  llvm.cond_br %c weights([99, 1]), ^one, ^three(%x : i64)
^three(%y: i64):
  llvm.return %y : i64
}
