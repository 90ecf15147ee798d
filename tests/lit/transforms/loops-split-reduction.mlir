// RUN: aicc-opt %s --split-input-file --verify-diagnostics -p 'loops-split-reduction{label=k around=j size=8}' | filecheck %s

// A known number of steps: blocks, then what is left over; what comes of the sum follows the last step alone.
// CHECK-LABEL: @known
// CHECK:         loops.for "k.b" %[[B:.*]] = 0 to 2 {
// CHECK:           %[[FIRST:.*]] = arith.cmpi eq, %[[B]], %{{.*}} : index
// CHECK-NEXT:      loops.for "j" %[[J:.*]] = 0 to 32 parallel {
// CHECK-NEXT:        %[[OLD:.*]] = loops.load %o[%[[J]]]
// CHECK-NEXT:        %[[START:.*]] = arith.select %[[FIRST]], %z, %[[OLD]] : f32
// CHECK-NEXT:        %[[S:.*]] = loops.for "k" %[[K:.*]] = 0 to 8 iter_args(%{{.*}} = %[[START]]) -> (f32) {
// CHECK-NEXT:          loops.load %a[%[[B]] * 8 + %[[K]]]
// CHECK-NEXT:          loops.load %w[%[[B]] * 8 + %[[K]], %[[J]]]
// CHECK:             loops.store %[[S]], %o[%[[J]]]
// CHECK:         loops.for "j" %[[L:.*]] = 0 to 32 parallel {
// CHECK-NEXT:      %[[REST:.*]] = loops.load %o[%[[L]]]
// CHECK-NEXT:      %[[T:.*]] = loops.for "k" %{{.*}} = 0 to 3 iter_args(%{{.*}} = %[[REST]]) -> (f32) {
// CHECK:           %[[R:.*]] = arith.maximumf %[[T]], %z
// CHECK-NEXT:      loops.store %[[R]], %o[%[[L]]]
func.func private @known(%a: memref<19xf32>, %w: memref<19x32xf32>, %o: memref<32xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "j" %j = 0 to 32 parallel {
    %s = loops.for "k" %k = 0 to 19 iter_args(%acc = %z) -> (f32) {
      %x = loops.load %a[%k] : memref<19xf32> to f32
      %y = loops.load %w[%k, %j] : memref<19x32xf32> to f32
      %p = arith.mulf %x, %y : f32
      %n = arith.addf %acc, %p : f32
      loops.yield %n : f32
    }
    %r = arith.maximumf %s, %z : f32
    loops.store %r, %o[%j] : f32 to memref<32xf32>
  }
  func.return
}

// -----

// An unknown number of steps: the last block is shorter, or empty; without any step it still stores.
// CHECK-LABEL: @unknown
// CHECK:         loops.for "k.b" %[[B:.*]] = 0 to %s0 floordiv 8 + 1 {
// CHECK:           %last = arith.cmpi eq, %[[B]], %{{.*}} : index
// CHECK:           loops.for "j" %[[J:.*]] = 0 to 32 parallel {
// CHECK:             %[[S:.*]] = loops.for "k" %[[K:.*]] = 0 to min(8, %s0 - %[[B]] * 8) iter_args
// CHECK:             %[[R:.*]] = arith.maximumf %[[S]], %z
// CHECK-NEXT:        %[[V:.*]] = arith.select %last, %[[R]], %[[S]] : f32
// CHECK-NEXT:        loops.store %[[V]], %o[%[[J]]]
func.func private @unknown(%s0: index, %a: memref<?xf32, #loops.dims<s0>>, %o: memref<32xf32>)
    attributes {aicc.kernel, aicc.symbols = ["s0"], aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "j" %j = 0 to 32 parallel {
    %s = loops.for "k" %k = 0 to %s0 iter_args(%acc = %z) -> (f32) {
      %x = loops.load %a[%k] : memref<?xf32, #loops.dims<s0>> to f32
      %n = arith.addf %acc, %x : f32
      loops.yield %n : f32
    }
    %r = arith.maximumf %s, %z : f32
    loops.store %r, %o[%j] : f32 to memref<32xf32>
  }
  func.return
}

// -----

func.func private @short(%a: memref<8xf32>, %o: memref<32xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "j" %j = 0 to 32 parallel {
    // expected-error@+1 {{split-reduction: loop 'k': has 8 iterations, expected more than the 8 of one block}}
    %s = loops.for "k" %k = 0 to 8 iter_args(%acc = %z) -> (f32) {
      %x = loops.load %a[%k] : memref<8xf32> to f32
      %n = arith.addf %acc, %x : f32
      loops.yield %n : f32
    }
    loops.store %s, %o[%j] : f32 to memref<32xf32>
  }
  func.return
}

// -----

func.func private @other_type(%a: memref<80xf32>, %o: memref<32xf16>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "j" %j = 0 to 32 parallel {
    // expected-error@+1 {{split-reduction: loop 'k': carries another type than is stored, or the store has conditions}}
    %s = loops.for "k" %k = 0 to 80 iter_args(%acc = %z) -> (f32) {
      %x = loops.load %a[%k] : memref<80xf32> to f32
      %n = arith.addf %acc, %x : f32
      loops.yield %n : f32
    }
    %h = arith.truncf %s : f32 to f16
    loops.store %h, %o[%j] : f16 to memref<32xf16>
  }
  func.return
}

// -----

func.func private @reads_results(%o: memref<80xf32>) attributes {aicc.kernel, aicc.num_outputs = 1 : i64} {
  %z = arith.constant 0.0 : f32
  loops.for "j" %j = 0 to 40 parallel {
    // expected-error@+1 {{split-reduction: loop 'k': reads what the loops around it store}}
    %s = loops.for "k" %k = 0 to 40 iter_args(%acc = %z) -> (f32) {
      %x = loops.load %o[%k + 40] : memref<80xf32> to f32
      %n = arith.addf %acc, %x : f32
      loops.yield %n : f32
    }
    loops.store %s, %o[%j] : f32 to memref<80xf32>
  }
  func.return
}
