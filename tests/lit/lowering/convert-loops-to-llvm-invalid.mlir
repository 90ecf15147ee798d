// RUN: aicc-opt %s --convert-loops-to-llvm --verify-diagnostics --split-input-file

// All leftovers are named, at the first of them.
func.func @leftovers(%a: tensor<4xf32>, %m: memref<4xf32>) {
  // expected-error@+1 {{convert-loops-to-llvm: not lowered: graph.add (x2), memref.dealloc}}
  %b = graph.add %a, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %c = graph.add %b, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  memref.dealloc %m : memref<4xf32>
  func.return
}

// -----

func.func @large_scratch(%n: index) attributes {aicc.symbols = ["n"]} {
  // expected-error@+1 {{loops.alloc: memref<?xf32, #loops.dims<n>> is no small fixed buffer (at most 262144 bytes on the stack); loops-hoist-allocs makes it an argument}}
  %s = loops.alloc : memref<?xf32, #loops.dims<n>>
  func.return
}

// -----

func.func @weight_in_a_kernel(%o: memref<4xf32>) {
  // expected-error@+1 {{loops.constant: only @main and @prepare know weights; hand it to the kernel as an argument}}
  %w = loops.constant #graph.buffer<"w"> : memref<4xf32>
  func.return
}

// -----

func.func @prepared_in_a_kernel(%o: memref<4xf32>) {
  // expected-error@+1 {{loops.prepared: only @main and @prepare know prepared buffers; hand it to the kernel as an argument}}
  %w = loops.prepared "w" : memref<4xf32>
  func.return
}

// -----

func.func @several_results(%a: f32) -> (f32, f32) {
  // expected-error@+1 {{func.return: 2 results, expected at most one scalar; write to a memref argument instead}}
  func.return %a, %a : f32, f32
}

// -----

// expected-error@+1 {{@vector_argument has an argument of type vector<4xf32>, expected scalars, indices and memrefs}}
func.func @vector_argument(%a: vector<4xf32>) {
  func.return
}

// -----

func.func @unknown_callee() {
  // expected-error@+1 {{nowhere}}
  func.call @nowhere() : () -> ()
  func.return
}

// -----

// expected-error@+1 {{@main has an argument of type f32, expected symbols and memrefs}}
func.func @main(%a: f32) {
  func.return
}

// -----

// expected-error@+1 {{aicc.signature is no JSON}}
func.func @main() attributes {aicc.signature = "{"} {
  func.return
}
