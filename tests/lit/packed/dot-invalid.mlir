// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// packed.dot C1
func.func @f(%x: i32, %y: i16) {
  // expected-error@+1 {{i16 does not hold 4 parts of 8 or 16 bits}}
  %s = packed.dot %x, %y {parts = 4 : i64} : i32, i16 -> i32
  func.return
}

// -----

// packed.dot C2
func.func @f(%x: vector<4xi32>, %y: vector<8xi32>) {
  // expected-error@+1 {{vector<4xi32>, vector<8xi32> and vector<4xi32> differ in their lanes}}
  %s = packed.dot %x, %y {parts = 2 : i64} : vector<4xi32>, vector<8xi32> -> vector<4xi32>
  func.return
}

// -----

// packed.dot C3
func.func @f(%x: i32) {
  // expected-error@+1 {{result is of i32, expected f32}}
  %s = packed.dot %x, %x {parts = 2 : i64, floats} : i32, i32 -> i32
  func.return
}

// -----

// packed.dot C4
func.func @f(%x: i32) {
  // expected-error@+1 {{parts that are floats have 16 bits and a sign}}
  %s = packed.dot %x, %x {parts = 4 : i64, floats} : i32, i32 -> f32
  func.return
}

// -----

// packed.dot C4
func.func @f(%x: i32) {
  // expected-error@+1 {{parts that are floats have 16 bits and a sign}}
  %s = packed.dot %x, %x {parts = 2 : i64, lhs_unsigned, floats} : i32, i32 -> f32
  func.return
}
