// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// gather C1
func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{axis is 1, expected 0 to 0 for rank 1}}
  %0 = graph.gather %x, %i {axis = 1} : tensor<4xf32>, tensor<2xi64> -> tensor<2xf32>
  func.return
}

// -----

// gather C2
func.func @f(%x: tensor<4xf32>, %i: tensor<2xi8>) {
  // expected-error@+1 {{indices have element type i8, expected i32 or i64}}
  %0 = graph.gather %x, %i {axis = 0} : tensor<4xf32>, tensor<2xi8> -> tensor<2xf32>
  func.return
}

// -----

// gather C3
func.func @f(%x: tensor<0xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{axis 0 has size 0, expected an element for the indices to choose}}
  %0 = graph.gather %x, %i {axis = 0} : tensor<0xf32>, tensor<2xi64> -> tensor<2xf32>
  func.return
}

// -----

// gather_elements C1
func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{axis is 1}}
  %0 = graph.gather_elements %x, %i {axis = 1} : tensor<4xf32>, tensor<2xi64> -> tensor<2xf32>
  func.return
}

// -----

// gather_elements C2: rank
func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{indices [2, 1] have another rank than the operand [4]}}
  %0 = graph.gather_elements %x, %i {axis = 0} : tensor<4xf32>, tensor<2x1xi64> -> tensor<2x1xf32>
  func.return
}

// -----

// gather_elements C2: size
func.func @f(%x: tensor<4x3xf32>, %i: tensor<2x5xi64>) {
  // expected-error@+1 {{indices have size 5 on axis 1, expected at most 3}}
  %0 = graph.gather_elements %x, %i {axis = 0} : tensor<4x3xf32>, tensor<2x5xi64> -> tensor<2x5xf32>
  func.return
}

// -----

// gather_elements C3
func.func @f(%x: tensor<0xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{axis 0 has size 0}}
  %0 = graph.gather_elements %x, %i {axis = 0} : tensor<0xf32>, tensor<2xi64> -> tensor<2xf32>
  func.return
}

// -----

// gather_nd C1: batch axes
func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{batch_dims is 2, expected 0 to 1 for indices of this rank}}
  %0 = graph.gather_nd %x, %i {batch_dims = 2} : tensor<4xf32>, tensor<2x1xi64> -> tensor<2xf32>
  func.return
}

// -----

// gather_nd C2: constant depth
func.func @f(%x: tensor<4xf32>, %i: tensor<2x?xi64, #graph.dims<N>>) {
  // expected-error@+1 {{the last size of the indices is N, expected a constant}}
  %0 = graph.gather_nd %x, %i : tensor<4xf32>, tensor<2x?xi64, #graph.dims<N>> -> tensor<2xf32>
  func.return
}

// -----

// gather_nd C2: depth
func.func @f(%x: tensor<4xf32>, %i: tensor<2x2xi64>) {
  // expected-error@+1 {{indices address 2 axes, but the operand has rank 1}}
  %0 = graph.gather_nd %x, %i : tensor<4xf32>, tensor<2x2xi64> -> tensor<2xf32>
  func.return
}

// -----

// gather_nd C3
func.func @f(%x: tensor<3x4xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{batch axis 0 has sizes 3 and 2, expected equal ones}}
  %0 = graph.gather_nd %x, %i {batch_dims = 1} : tensor<3x4xf32>, tensor<2x1xi64> -> tensor<2xf32>
  func.return
}

// -----

// scatter C1
func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xf32>, %u: tensor<2xf32>) {
  // expected-error@+1 {{indices have element type f32, expected i32 or i64}}
  %0 = graph.scatter_nd %x, %i, %u : tensor<4xf32>, tensor<2x1xf32>, tensor<2xf32> -> tensor<4xf32>
  func.return
}

// -----

// scatter C2
func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf16>) {
  // expected-error@+1 {{updates have element type f16, expected f32}}
  %0 = graph.scatter_nd %x, %i, %u : tensor<4xf32>, tensor<2x1xi64>, tensor<2xf16> -> tensor<4xf32>
  func.return
}

// -----

// scatter C3: name
func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xf32>) {
  // expected-error@+1 {{reduction is "sub", expected one of none, add, mul, min, max}}
  %0 = graph.scatter_nd %x, %i, %u {reduction = "sub"} : tensor<4xf32>, tensor<2x1xi64>, tensor<2xf32> -> tensor<4xf32>
  func.return
}

// -----

// scatter C3: element type
func.func @f(%x: tensor<4xi1>, %i: tensor<2x1xi64>, %u: tensor<2xi1>) {
  // expected-error@+1 {{input has element type i1}}
  %0 = graph.scatter_nd %x, %i, %u {reduction = "add"} : tensor<4xi1>, tensor<2x1xi64>, tensor<2xi1> -> tensor<4xi1>
  func.return
}

// -----

// scatter_nd C4
func.func @f(%x: tensor<4xf32>, %i: tensor<i64>, %u: tensor<2xf32>) {
  // expected-error@+1 {{indices have rank 0, expected at least 1}}
  %0 = graph.scatter_nd %x, %i, %u : tensor<4xf32>, tensor<i64>, tensor<2xf32> -> tensor<4xf32>
  func.return
}

// -----

// scatter_nd C5
func.func @f(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<3xf32>) {
  // expected-error@+1 {{updates have shape [3], expected [2]}}
  %0 = graph.scatter_nd %x, %i, %u : tensor<4xf32>, tensor<2x1xi64>, tensor<3xf32> -> tensor<4xf32>
  func.return
}

// -----

// scatter_elements C4
func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error@+1 {{axis is 1, expected 0 to 0 for rank 1}}
  %0 = graph.scatter_elements %x, %i, %u {axis = 1} : tensor<4xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<4xf32>
  func.return
}

// -----

// scatter_elements C5
func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<3xf32>) {
  // expected-error@+1 {{updates have shape [3], expected [2]}}
  %0 = graph.scatter_elements %x, %i, %u {axis = 0} : tensor<4xf32>, tensor<2xi64>, tensor<3xf32> -> tensor<4xf32>
  func.return
}
