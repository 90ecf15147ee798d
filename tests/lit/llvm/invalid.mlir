// RUN: aicc-opt %s --verify-diagnostics --split-input-file

llvm.func @predicate(%a: f32) {
  // expected-error@+1 {{unknown predicate 'less', expected one of _false, oeq}}
  %r = llvm.fcmp "less" %a, %a : f32
  llvm.return
}

// -----

llvm.func @lanes_of_comparison(%a: vector<4xf32>) {
  // expected-error@+1 {{result vector<8xi1> does not have the operands' 4 lanes}}
  %r = "llvm.fcmp"(%a, %a) <{predicate = 1 : i64}> : (vector<4xf32>, vector<4xf32>) -> vector<8xi1>
  llvm.return
}

// -----

llvm.func @lanes_of_condition(%c: vector<8xi1>, %a: vector<4xf32>) {
  // expected-error@+1 {{condition has 8 lanes, the values are of type vector<4xf32>}}
  %r = llvm.select %c, %a, %a : vector<8xi1>, vector<4xf32>
  llvm.return
}

// -----

llvm.func @index_without_operand(%p: !llvm.ptr) {
  // expected-error@+1 {{1 dynamic indices, but 0 operands for them}}
  %q = "llvm.getelementptr"(%p) <{elem_type = f32, noWrapFlags = 0 : i32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr) -> !llvm.ptr
  llvm.return
}

// -----

llvm.func @field_by_value(%p: !llvm.ptr, %i: i64) {
  // expected-error@+1 {{index 1 goes into a struct and must be constant}}
  %q = llvm.getelementptr %p[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.struct<(i64, f32)>
  llvm.return
}

// -----

llvm.func @field_out_of_range(%p: !llvm.ptr) {
  // expected-error@+1 {{index 1 is 2, the struct has 2 fields}}
  %q = llvm.getelementptr %p[0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, f32)>
  llvm.return
}

// -----

llvm.func @index_into_scalar(%p: !llvm.ptr) {
  // expected-error@+1 {{index 1 goes into f32, expected an array or a struct}}
  %q = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.return
}

// -----

llvm.func @extract_from_scalar(%a: f32, %i: i64) {
  // expected-error@+1 {{llvm.extractelement}}
  %r = "llvm.extractelement"(%a, %i) : (f32, i64) -> f32
  llvm.return
}

// -----

llvm.func @cases_without_values(%n: i64) {
  // expected-error@+1 {{1 case blocks, but 0 values and 1 operand segments}}
  "llvm.switch"(%n) [^a, ^a] <{case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i64) -> ()
^a:
  llvm.return
}

// -----

llvm.func @operands_of_cases(%n: i64) {
  // expected-error@+1 {{operand segments add up to 0, got 1 operands}}
  "llvm.switch"(%n, %n) [^a, ^b] <{case_values = dense<1> : vector<1xi64>, case_operand_segments = array<i32: 0>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (i64, i64) -> ()
^a:
  llvm.return
^b:
  llvm.return
}
