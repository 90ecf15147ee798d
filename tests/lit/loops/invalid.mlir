// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// loops.for C1
func.func private @step() {
  // expected-error@+1 {{step is 0, expected at least 1}}
  loops.for "i" %i = 0 to 4 step 0 {
  }
  func.return
}

// -----

// loops.for C2
func.func private @bound_without_operand() {
  // expected-error@+1 {{the upper bound's map takes 1 operands, got 0}}
  "loops.for"() <{lower_map = affine_map<() -> (0)>, upper_map = affine_map<(d0) -> (d0)>, step = 1 : index, kind = "sequential", label = "i", operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%i: index):
    loops.yield
  }) : () -> ()
  func.return
}

// -----

// loops.for C2
func.func private @empty_bound() {
  // expected-error@+1 {{the lower bound has no value, expected at least one}}
  "loops.for"() <{lower_map = affine_map<() -> ()>, upper_map = affine_map<() -> (4)>, step = 1 : index, kind = "sequential", label = "i", operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%i: index):
    loops.yield
  }) : () -> ()
  func.return
}

// -----

// loops.for C3
func.func private @block_arguments(%x: f32) {
  // expected-error@+1 {{block arguments are (index), expected (index, f32)}}
  %r = "loops.for"(%x) <{lower_map = affine_map<() -> (0)>, upper_map = affine_map<() -> (4)>, step = 1 : index, kind = "sequential", label = "i", operandSegmentSizes = array<i32: 0, 0, 1>}> ({
  ^bb0(%i: index):
    loops.yield
  }) : (f32) -> f32
  func.return
}

// -----

// loops.for C3
func.func private @results(%x: f32) {
  // expected-error@+1 {{results are (f64), expected the types of inits (f32)}}
  %r = "loops.for"(%x) <{lower_map = affine_map<() -> (0)>, upper_map = affine_map<() -> (4)>, step = 1 : index, kind = "sequential", label = "i", operandSegmentSizes = array<i32: 0, 0, 1>}> ({
  ^bb0(%i: index, %a: f32):
    loops.yield %a : f32
  }) : (f32) -> f64
  func.return
}

// -----

// loops.for C4
func.func private @yielded_types(%x: f32, %y: f64) {
  // expected-error@+1 {{loops.yield gives (f64), expected the types of inits (f32)}}
  %r = loops.for "i" %i = 0 to 4 iter_args(%a = %x) -> (f32) {
    loops.yield %y : f64
  }
  func.return
}

// -----

// loops.for C5
func.func private @kind() {
  // expected-error@+1 {{kind is 'vector', expected one of sequential, parallel, simd, unroll}}
  "loops.for"() <{lower_map = affine_map<() -> (0)>, upper_map = affine_map<() -> (4)>, step = 1 : index, kind = "vector", label = "i", operandSegmentSizes = array<i32: 0, 0, 0>}> ({
  ^bb0(%i: index):
    loops.yield
  }) : () -> ()
  func.return
}

// -----

// loops.for C6
func.func private @threads_on_sequential() {
  // expected-error@+1 {{threads on a sequential loop; only a parallel loop can run on threads}}
  loops.for "i" %i = 0 to 4 threads {
  }
  func.return
}

// -----

// loops.for C7
func.func private @parallel_that_carries(%x: f32) {
  // expected-error@+1 {{a parallel loop carries (f32); its iterations must be independent}}
  %r = loops.for "i" %i = 0 to 4 iter_args(%a = %x) -> (f32) parallel {
    loops.yield %a : f32
  }
  func.return
}

// -----

func.func private @product_of_values(%m: memref<8xf32>, %i: index) {
  // expected-error@+1 {{product of two values; one factor must be an integer}}
  %v = loops.load %m[%i * %i] : memref<8xf32> to f32
  func.return
}

// -----

func.func private @division_by_zero(%m: memref<8xf32>, %i: index) {
  // expected-error@+1 {{'mod' by 0; expected a positive integer}}
  %v = loops.load %m[%i mod 0] : memref<8xf32> to f32
  func.return
}

// -----

func.func private @lane_of_a_scalar(%m: memref<8xf32>) {
  // expected-error@+1 {{lane l0 does not exist: the value has 0 vector dimensions}}
  %v = loops.load %m[l0] : memref<8xf32> to f32
  func.return
}

// -----

// loops.load C1
func.func private @too_few_indices(%m: memref<8x8xf32>, %i: index) {
  // expected-error@+1 {{the map has 1 results, expected 2: one per dimension}}
  %v = loops.load %m[%i] : memref<8x8xf32> to f32
  func.return
}

// -----

// loops.load C1
func.func private @map_without_lanes(%m: memref<8xf32>, %i: index) {
  // expected-error@+1 {{the map takes 1 dimensions and 0 symbols, expected one input for each of 1 indices and 1 lane dimensions}}
  %v = loops.load %m[affine_map<(d0) -> (d0)>(%i)] : memref<8xf32> to vector<4xf32>
  func.return
}

// -----

// loops.load C2
func.func private @load_of_another_type(%m: memref<8xf32>) {
  // expected-error@+1 {{the value is vector<4xf64>, expected f32 or a vector of it}}
  %v = loops.load %m[l0] : memref<8xf32> to vector<4xf64>
  func.return
}

// -----

// loops.load C3
func.func private @fill_of_another_type(%m: memref<8xf32>) {
  // expected-error@+1 {{fill is of type f64, expected the element type f32}}
  %v = loops.load %m[l0] fill 0.0 : f64 : memref<8xf32> to vector<4xf32>
  func.return
}

// -----

// loops.load C4
func.func private @masked_scalar(%m: memref<8xf32>, %n: index) {
  // expected-error@+1 {{lanes given for a value of type f32; only a vector has lanes to mask}}
  %v = loops.load %m[0] lanes %n : memref<8xf32> to f32
  func.return
}

// -----

// loops.store C1
func.func private @store_map(%m: memref<8xf32>, %v: f32) {
  // expected-error@+1 {{the map has 2 results, expected 1: one per dimension}}
  loops.store %v, %m[0, 1] : f32 to memref<8xf32>
  func.return
}

// -----

// loops.store C2
func.func private @store_type(%m: memref<8xf32>, %v: i32) {
  // expected-error@+1 {{the value is i32, expected f32 or a vector of it}}
  loops.store %v, %m[0] : i32 to memref<8xf32>
  func.return
}

// -----

// loops.store C3
func.func private @store_mask(%m: memref<8xf32>, %v: f32, %n: index) {
  // expected-error@+1 {{lanes given for a value of type f32; only a vector has lanes to mask}}
  loops.store %v, %m[0] lanes %n : f32 to memref<8xf32>
  func.return
}

// -----

// loops.apply C1
func.func private @apply(%i: index) {
  // expected-error@+1 {{the map has 2 results, expected one}}
  %r = loops.apply affine_map<(d0) -> (d0, d0)>(%i)
  func.return
}

// -----

// loops.size C1
func.func private @size() attributes {aicc.symbols = []} {
  // expected-error@+1 {{got 2 expressions, expected one}}
  %n = loops.size #graph.shape<1, 2>
  func.return
}

// -----

// loops.alloc C1
func.func private @unnamed_dimension() {
  // expected-error@+1 {{memref<?xf32> has 1 unknown dimensions and layout none; expected no layout, or #loops.dims with one expression for each ?}}
  %m = loops.alloc : memref<?xf32>
  func.return
}

// -----

// loops.view C2
func.func private @large_view(%m: memref<8xf32>) {
  // expected-error@+1 {{the view has 9 elements, more than the 8 of its source}}
  %v = loops.view %m : memref<8xf32> to memref<3x3xf32>
  func.return
}

// -----

// loops.constant C1
func.func private @constant() {
  // expected-error@+1 {{the value has shape [2], the result memref<3xi64>}}
  %c = loops.constant dense<[1, 2]> : tensor<2xi64> : memref<3xi64>
  func.return
}

// -----

// loops.prepared C1
func.func private @prepared() {
  // expected-error@+1 {{memref<?xf32, #loops.dims<N>> has unknown dimensions; a prepared buffer has a fixed size}}
  %c = loops.prepared "p" : memref<?xf32, #loops.dims<N>>
  func.return
}

// -----

// loops.copy C1
func.func private @copy(%a: memref<?xf32, #loops.dims<N>>, %b: memref<?xf32, #loops.dims<M>>) {
  // expected-error@+1 {{shapes and element types must be equal}}
  loops.copy %a to %b : memref<?xf32, #loops.dims<N>> to memref<?xf32, #loops.dims<M>>
  func.return
}

// -----

// loops.broadcast C1
func.func private @broadcast_rank(%v: vector<4x1xf32>) {
  // expected-error@+1 {{cannot broadcast vector<4x1xf32> to vector<4xf32>, which has fewer dimensions}}
  %b = loops.broadcast %v : vector<4x1xf32> to vector<4xf32>
  func.return
}

// -----

// loops.broadcast C1
func.func private @broadcast_type(%v: vector<4xf32>) {
  // expected-error@+1 {{element types must be equal}}
  %b = loops.broadcast %v : vector<4xf32> to vector<4x2xf64>
  func.return
}

// -----

// loops.broadcast C2: the dimensions that are missing are the last ones
func.func private @broadcast_lanes(%v: vector<4xf32>) {
  // expected-error@+1 {{only dimensions of size 1 are repeated}}
  %b = loops.broadcast %v : vector<4xf32> to vector<2x4xf32>
  func.return
}

// -----

// loops.broadcast C2
func.func private @broadcast_size(%v: vector<2x4xf32>) {
  // expected-error@+1 {{only dimensions of size 1 are repeated}}
  %b = loops.broadcast %v : vector<2x4xf32> to vector<4x4xf32>
  func.return
}

// -----

// loops.reduce C1
func.func private @reduce_kind(%v: vector<2x4xf32>) {
  // expected-error@+1 {{kind is 'sub', expected one of add, mul, minimumf, maximumf, minnumf, maxnumf, minsi, maxsi, minui, maxui, and, or, xor}}
  %b = loops.reduce "sub" %v axes [0] : vector<2x4xf32> to vector<4xf32>
  func.return
}

// -----

// loops.reduce C2
func.func private @reduce_axes(%v: vector<2x4xf32>) {
  // expected-error@+1 {{axes [1, 0] do not ascend within the 2 dimensions of the operand}}
  %b = loops.reduce "add" %v axes [1, 0] : vector<2x4xf32> to f32
  func.return
}

// -----

// loops.reduce C3
func.func private @reduce_result(%v: vector<2x4xf32>) {
  // expected-error@+1 {{the result is vector<2xf32>, expected vector<4xf32>}}
  %b = loops.reduce "add" %v axes [0] : vector<2x4xf32> to vector<2xf32>
  func.return
}

// -----

// loops.transpose C1
func.func private @transpose_permutation(%v: vector<2x4xf32>) {
  // expected-error@+1 {{[0, 0] is no permutation of 2 dimensions}}
  %b = loops.transpose %v permutation [0, 0] : vector<2x4xf32> to vector<2x2xf32>
  func.return
}

// -----

// loops.transpose C2
func.func private @transpose_result(%v: vector<2x4xf32>) {
  // expected-error@+1 {{the result is vector<2x4xf32>, expected vector<4x2xf32>}}
  %b = loops.transpose %v permutation [1, 0] : vector<2x4xf32> to vector<2x4xf32>
  func.return
}

// -----

// loops.call C1
func.func private @no_callee() {
  // expected-error@+1 {{'missing' is no function of this module}}
  loops.call @missing()
  func.return
}

// -----

func.func private @callee(%x: memref<4xf32>) {
  func.return
}
// loops.call C2
func.func private @argument_count() {
  // expected-error@+1 {{@callee takes 1 arguments, got 0}}
  loops.call @callee()
  func.return
}

// -----

func.func private @with_result() -> index {
  %c = arith.constant 0 : index
  func.return %c : index
}
// loops.call C3
func.func private @result() {
  // expected-error@+1 {{@with_result has results, expected a function that writes into its arguments}}
  loops.call @with_result()
  func.return
}

// -----

func.func private @symbolic(%s0: index, %x: memref<?xf32, #loops.dims<2*s0>>) attributes {aicc.symbols = ["s0"]} {
  func.return
}
// loops.call C4
func.func private @sizes(%m: memref<7xf32>) {
  %c = arith.constant 3 : index
  // expected-error@+1 {{argument 1 is memref<7xf32>, but @symbolic takes memref<?xf32, #loops.dims<2*s0>> with s0 = 3}}
  loops.call @symbolic(%c, %m) : index, memref<7xf32>
  func.return
}

// -----

// loops.prefetch C1
func.func private @prefetch_rank(%i: index, %m: memref<8x64xf32>) {
  // expected-error@+1 {{the map has 1 results, expected 2: one per dimension}}
  loops.prefetch %m[%i] locality 2 : memref<8x64xf32>
  func.return
}

// -----

// loops.prefetch C2
func.func private @prefetch_locality(%i: index, %m: memref<64xf32>) {
  // expected-error@+1 {{locality is 4, expected 0 to 3}}
  loops.prefetch %m[%i] locality 4 : memref<64xf32>
  func.return
}

// -----

func.func private @prefetch_without_locality(%i: index, %m: memref<64xf32>) {
  // expected-error@+1 {{expected 'locality'}}
  loops.prefetch %m[%i] write : memref<64xf32>
  func.return
}
