// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// size C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{value lists 2 sizes, expected 1}}
  %r = tensor_ops.size #graph.shape<2, 3>
  func.return
}

// -----

// extract C1
func.func @f(%y: f32) {
  // expected-error@+1 {{extract reads a value of type f32, expected a ranked tensor}}
  %r = tensor_ops.extract %y[] : f32
  func.return
}

// -----

// extract C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{extract has 0 indices for a tensor of rank 2}}
  %r = tensor_ops.extract %x[] : tensor<4x6xf32>
  func.return
}

// -----

// extract C3
func.func @f(%y: tensor<f32>) {
  // expected-error@+1 {{extract has result type f64, expected f32}}
  %r = "tensor_ops.extract"(%y) : (tensor<f32>) -> f64
  func.return
}

// -----

// kernel C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{region has arguments (tensor<6x4xf32>), expected (tensor<4x6xf32>)}}
  %r = "tensor_ops.kernel"(%x) ({
  ^bb0(%a: tensor<6x4xf32>):
    tensor_ops.yield %a : tensor<6x4xf32>
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// kernel C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{region yields (), expected (tensor<4x6xf32>)}}
  %r = "tensor_ops.kernel"(%x) ({
  ^bb0(%a: tensor<4x6xf32>):
    tensor_ops.yield
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// kernel C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{region ends with graph.yield, expected tensor_ops.yield}}
  %r = "tensor_ops.kernel"(%x) ({
  ^bb0(%a: tensor<4x6xf32>):
    graph.yield
  }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// call C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{'nowhere' is no function of this module}}
  tensor_ops.call @nowhere() : () -> ()
  func.return
}

// -----

// call C2
func.func private @k(%y: tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>> attributes {aicc.symbols = ["s0"]}
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{found 0 symbol values, but @k has 1 symbols}}
  %r = tensor_ops.call @k(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// call C3
func.func private @k(%y: tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>> attributes {aicc.symbols = ["s0"]}
func.func @f(%z: tensor<4xf32>) {
  // expected-error@+1 {{operand types (tensor<4xf32>) do not match (tensor<5xf32>) of @k}}
  %r = tensor_ops.call @k(%z) symbols [5] : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

// call C3
func.func private @k(%y: tensor<?xf32, #graph.dims<s0>>) -> tensor<?xf32, #graph.dims<s0>> attributes {aicc.symbols = ["s0"]}
func.func @f(%z: tensor<4xf32>) {
  // expected-error@+1 {{result types (tensor<5xf32>) do not match (tensor<4xf32>) of @k}}
  %r = tensor_ops.call @k(%z) symbols [4] : (tensor<4xf32>) -> tensor<5xf32>
  func.return
}

// -----

// view C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{result has element type f64, expected f32}}
  %r = tensor_ops.view %x : tensor<4x6xf32> to tensor<24xf64>
  func.return
}

// -----

// view C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{shape [5, 5] has not as many elements as [4, 6]}}
  %r = tensor_ops.view %x : tensor<4x6xf32> to tensor<5x5xf32>
  func.return
}

// -----

// view C1
func.func @f(%x: tensor<4x8xi16>) {
  // expected-error@+1 {{result has element type i32, expected i16}}
  %r = tensor_ops.view %x : tensor<4x8xi16> to tensor<4x4xi32>
  func.return
}

// -----

// view C1
func.func @f(%x: tensor<4x8xbf16>) {
  // expected-error@+1 {{result has element type i16, expected bf16}}
  %r = tensor_ops.view %x : tensor<4x8xbf16> to tensor<4x8xi16>
  func.return
}

// -----

// view C3
func.func @f(%x: tensor<4x8xbf16>) {
  // expected-error@+1 {{shape [4, 8] is not that of 2 parts for each element of [2, 8]}}
  %r = tensor_ops.view %x : tensor<4x8xbf16> to tensor<2x8xi32>
  func.return
}

// -----

// view C3
func.func @f(%x: tensor<4x8xui8>) {
  // expected-error@+1 {{shape [4, 8] is not that of 4 parts for each element of [8]}}
  %r = tensor_ops.view %x : tensor<4x8xui8> to tensor<8xi32>
  func.return
}

// -----

// constant C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{value has type tensor<4xf32>, expected tensor<5xf32>}}
  %r = tensor_ops.constant dense<1.0> : tensor<4xf32> : tensor<5xf32>
  func.return
}

// -----

// concat C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{concat has no inputs, expected at least 1}}
  %r = "tensor_ops.concat"() <{axis = 0 : i64}> : () -> tensor<4xf32>
  func.return
}

// -----

// concat C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1}}
  %r = tensor_ops.concat %x axis 2 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  func.return
}

// -----

// concat C3
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{input of type tensor<4x6xf32> does not fit a result of type tensor<4x5xf32>}}
  %r = tensor_ops.concat %x axis 0 : (tensor<4x6xf32>) -> tensor<4x5xf32>
  func.return
}

// -----

// concat C4
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{sizes along axis 0 add up to 8, not 7}}
  %r = tensor_ops.concat %x, %x axis 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<7x6xf32>
  func.return
}

// -----

// scatter C1
func.func @f(%b: tensor<9xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{has 2 dimensions and 0 symbols, expected 1 and 0}}
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0, d1) -> (d0)>) over [3] body (%a: i64) {
    %j = arith.index_cast %a : i64 to index
    %v = arith.constant 1.0 : f32
    tensor_ops.yield %j, %v : index, f32
  } : (tensor<9xf32>, tensor<3xi64>) -> tensor<9xf32>
  func.return
}

// -----

// scatter C2
func.func @f(%b: tensor<9xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{body has arguments (i32), expected (i64)}}
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>) over [3] body (%a: i32) {
    %j = arith.index_cast %a : i32 to index
    %v = arith.constant 1.0 : f32
    tensor_ops.yield %j, %v : index, f32
  } : (tensor<9xf32>, tensor<3xi64>) -> tensor<9xf32>
  func.return
}

// -----

// scatter C3
func.func @f(%b: tensor<9xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{body yields (f32), expected (index, f32)}}
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>) over [3] body (%a: i64) {
    %v = arith.constant 1.0 : f32
    tensor_ops.yield %v : f32
  } : (tensor<9xf32>, tensor<3xi64>) -> tensor<9xf32>
  func.return
}

// -----

// scatter C4
func.func @f(%b: tensor<9xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{combine has arguments (f32), expected (f32, f32)}}
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>) over [3] body (%a: i64) {
    %j = arith.index_cast %a : i64 to index
    %v = arith.constant 1.0 : f32
    tensor_ops.yield %j, %v : index, f32
  } combine (%o: f32) {
    tensor_ops.yield %o : f32
  } : (tensor<9xf32>, tensor<3xi64>) -> tensor<9xf32>
  func.return
}

// -----

// scatter C5
func.func @f(%b: tensor<9xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{result has type tensor<8xf32>, expected tensor<9xf32>}}
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>) over [3] body (%a: i64) {
    %j = arith.index_cast %a : i64 to index
    %v = arith.constant 1.0 : f32
    tensor_ops.yield %j, %v : index, f32
  } : (tensor<9xf32>, tensor<3xi64>) -> tensor<8xf32>
  func.return
}

// -----

// scatter C6
func.func @f(%b: tensor<9xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{tensor_ops.index 1 in body, expected a dimension below 1}}
  %r = tensor_ops.scatter into %b (%i as affine_map<(d0) -> (d0)>) over [3] body (%a: i64) {
    %j = tensor_ops.index 1
    %v = arith.constant 1.0 : f32
    tensor_ops.yield %j, %v : index, f32
  } : (tensor<9xf32>, tensor<3xi64>) -> tensor<9xf32>
  func.return
}

// -----

// scan C1
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{axis is 2, expected 0 to 1}}
  %r = tensor_ops.scan %x axis 2 init 0.0 : f32 body (%v: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// -----

// scan C2
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{body has arguments (f32, f64), expected (f32, f32)}}
  %r = tensor_ops.scan %x axis 1 init 0.0 : f32 body (%v: f32, %acc: f64) {
    tensor_ops.yield %acc : f64
  } : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// -----

// scan C3
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{finish has arguments (f64), expected (f32)}}
  %r = tensor_ops.scan %x axis 1 init 0.0 : f32 body (%v: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } finish (%t: f64) {
    %u = arith.truncf %t : f64 to f32
    tensor_ops.yield %u : f32
  } : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// -----

// scan C3
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{accumulator f64 is not the result's scalar f32}}
  %r = tensor_ops.scan %x axis 1 init 0.0 : f64 body (%v: f32, %acc: f64) {
    tensor_ops.yield %acc : f64
  } : tensor<4x6xf32> -> tensor<4x6xf32>
  func.return
}

// -----

// scan C4
func.func @f(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{result has type tensor<4x5xf32>, expected the dimensions of tensor<4x6xf32>}}
  %r = tensor_ops.scan %x axis 1 init 0.0 : f32 body (%v: f32, %acc: f32) {
    tensor_ops.yield %acc : f32
  } : tensor<4x6xf32> -> tensor<4x5xf32>
  func.return
}
