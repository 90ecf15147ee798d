// RUN: aicc-opt %s --emit=llvm | filecheck %s
// RUN: aicc-opt %s --emit=asm --target=x86-64-v3 | filecheck %s --check-prefix=X86
// RUN: aicc-opt %s --emit=asm --target=aarch64 | filecheck %s --check-prefix=ARM

// Constants are written by their bits: infinities, NaN and short floats are exact.
// CHECK: @numbers = internal constant [4 x float] [float 0x3FF0000000000000, float 0x7FF0000000000000, float 0xFFF0000000000000, float 0x7FF8000000000000]
llvm.mlir.global internal constant @numbers(dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>) {addr_space = 0 : i32} : !llvm.array<4 x f32>
// CHECK: @short = external global [2 x bfloat]
llvm.mlir.global external @short() {addr_space = 0 : i32} : !llvm.array<2 x bf16>
// CHECK: @text = internal constant [3 x i8] c"a\0A\22", align 16
llvm.mlir.global internal constant @text("a\0A\"") {addr_space = 0 : i32, alignment = 16 : i64} : !llvm.array<3 x i8>

// CHECK-LABEL: define void @add(ptr noalias align 4 %a0, ptr noalias readonly align 4 %a1) nounwind "prefer-vector-width"="512" {
llvm.func @add(%p: !llvm.ptr {llvm.noalias, llvm.align = 4 : i64}, %q: !llvm.ptr {llvm.noalias, llvm.readonly, llvm.align = 4 : i64})
    attributes {no_unwind, passthrough = [["prefer-vector-width", "512"]]} {
  %v = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
  %one = llvm.mlir.constant(dense<1.0> : vector<4xf32>) : vector<4xf32>
  // CHECK: %[[W:.*]] = fadd contract <4 x float> %{{.*}}, splat (float 0x3FF0000000000000)
  // X86: vaddps
  // ARM: fadd v{{[0-9]+}}.4s
  %w = llvm.fadd %v, %one {fastmathFlags = #llvm.fastmath<contract>} : vector<4xf32>
  // CHECK-NEXT: store <4 x float> %[[W]], ptr %a0, align 4
  llvm.store %w, %p {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
  llvm.return
}

// The two edges of a branch to one block get a block each, and blocks may stand in any order.
// CHECK-LABEL: define internal i64 @pick(i1 %a0, i64 %a1, i64 %a2)
llvm.func internal @pick(%c: i1, %x: i64, %y: i64) -> i64 {
  llvm.br ^head
// CHECK: b1:
// CHECK-NEXT: %[[P:.*]] = phi i64 [ %a1, %b2 ], [ %a2, %split0 ]
// CHECK-NEXT: add nsw i64 %[[P]], 3
^out(%a: i64):
  %s = llvm.add %a, %three overflow<nsw> : i64
  llvm.return %s : i64
// CHECK: b2:
// CHECK-NEXT: br i1 %a0, label %b1, label %split0
// CHECK-NEXT: split0:
// CHECK-NEXT: br label %b1
^head:
  %three = llvm.mlir.constant(3 : i64) : i64
  llvm.cond_br %c, ^out(%x : i64), ^out(%y : i64)
}

// CHECK-LABEL: define void @metadata
llvm.func @metadata(%p: !llvm.ptr, %c: i1) {
  // CHECK: load float, ptr %a0, align 4, !alias.scope ![[LIST:[0-9]+]], !invariant.load ![[EMPTY:[0-9]+]]
  %x = llvm.load %p invariant {alignment = 4 : i64, alias_scopes = [#llvm.alias_scope<id = "s", domain = #llvm.alias_scope_domain<id = "d">>]} : !llvm.ptr -> f32
  llvm.br ^loop
^loop:
  // CHECK: br i1 %a1, label %b1, label %b2, !prof ![[PROF:[0-9]+]], !llvm.loop ![[LOOP:[0-9]+]]
  llvm.cond_br %c weights([9, 1]), ^loop, ^end {loop_annotation = #llvm.loop_annotation<vectorize = #llvm.loop_vectorize<disable = true>>}
^end:
  llvm.return
}
// CHECK: ![[DOMAIN:[0-9]+]] = distinct !{![[DOMAIN]]}
// CHECK: ![[SCOPE:[0-9]+]] = distinct !{![[SCOPE]], ![[DOMAIN]]}
// CHECK: ![[LIST]] = !{![[SCOPE]]}
// CHECK: ![[EMPTY]] = !{}
// CHECK: ![[PROF]] = !{!"branch_weights", i32 9, i32 1}
// CHECK: ![[HINT:[0-9]+]] = !{!"llvm.loop.vectorize.enable", i1 false}
// CHECK: ![[LOOP]] = distinct !{![[LOOP]], ![[HINT]]}
