// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// element types differ
func.func @f(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error@+1 {{operands have element types f32 and f16, expected the same}}
  %0 = graph.add %x, %y : tensor<2xf32>, tensor<2xf16> -> tensor<2xf32>
  func.return
}

// -----

// element type not allowed
func.func @f(%x: tensor<2xi1>) {
  // expected-error@+1 {{operand has element type i1, expected floats or signed integers or unsigned integers}}
  %0 = graph.add %x, %x : tensor<2xi1>, tensor<2xi1> -> tensor<2xi1>
  func.return
}

// -----

// element type that no tensor has
func.func @f(%x: tensor<2xi7>) {
  // expected-error@+1 {{element type i7 is not supported, expected f64, f32}}
  %0 = graph.neg %x : tensor<2xi7> -> tensor<2xi7>
  func.return
}

// -----

// shapes do not broadcast
func.func @f(%x: tensor<2x3xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{operands of shapes [2, 3] and [4] do not broadcast: size 3 does not match size 4, expected equal sizes or 1}}
  %0 = graph.add %x, %y : tensor<2x3xf32>, tensor<4xf32> -> tensor<2x3xf32>
  func.return
}

// -----

// symbolic sizes that cannot be equal
func.func @f(%x: tensor<?xf32, #graph.dims<N+2>>, %y: tensor<?xf32, #graph.dims<N+3>>) {
  // expected-error@+1 {{size N+2 does not match size N+3}}
  %0 = graph.add %x, %y : tensor<?xf32, #graph.dims<N+2>>, tensor<?xf32, #graph.dims<N+3>> -> tensor<?xf32, #graph.dims<N+2>>
  func.return
}

// -----

// result differs from what is inferred
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{result has type tensor<3xf32>, but tensor<2xf32> is inferred}}
  %0 = graph.neg %x : tensor<2xf32> -> tensor<3xf32>
  func.return
}

// -----

// a comparison gives i1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{result has type tensor<2xf32>, but tensor<2xi1> is inferred}}
  %0 = graph.lt %x, %x : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// a size without a name
func.func @f(%x: tensor<?xf32>) {
  // expected-error@+1 {{type tensor<?xf32> has '?' dimensions, expected a #graph.dims encoding that names them}}
  %0 = graph.neg %x : tensor<?xf32> -> tensor<?xf32>
  func.return
}

// -----

// too many names
func.func @f(%x: tensor<?xf32, #graph.dims<N, M>>) {
  // expected-error@+1 {{has 1 '?' dimensions, but its encoding names 2}}
  %0 = graph.neg %x : tensor<?xf32, #graph.dims<N, M>> -> tensor<?xf32, #graph.dims<N>>
  func.return
}

// -----

// where C1
func.func @f(%c: tensor<2xi8>, %x: tensor<2xf32>) {
  // expected-error@+1 {{condition has element type i8, expected i1}}
  %0 = graph.where %c, %x, %x : tensor<2xi8>, tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// where C2
func.func @f(%c: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error@+1 {{operands have element types f32 and f64, expected the same}}
  %0 = graph.where %c, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<2xf64> -> tensor<2xf32>
  func.return
}

// -----

// clip C1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{min has type tensor<2xf32>, expected rank 0}}
  %0 = graph.clip %x min(%x) : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// clip C2
func.func @f(%x: tensor<2xf32>, %m: tensor<f64>) {
  // expected-error@+1 {{operands have element types f32 and f64, expected the same}}
  %0 = graph.clip %x max(%m) : tensor<2xf32>, tensor<f64> -> tensor<2xf32>
  func.return
}

// -----

// gelu: the approximation
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{approximate is "fast", expected "none" or "tanh"}}
  %0 = graph.gelu %x {approximate = "fast"} : tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// celu C1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{alpha is 0, expected a number to divide by}}
  %0 = graph.celu %x {alpha = 0.0} : tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// cast: how to round
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{round_mode is 'odd', expected one of up, down, nearest}}
  %0 = graph.cast %x {round_mode = "odd"} : tensor<2xf32> -> tensor<2xf8E8M0FNU>
  func.return
}

// -----

// narrow types are not computed with
func.func @f(%x: tensor<2xf8E5M2>) {
  // expected-error@+1 {{operand has element type f8E5M2, expected floats or signed integers or unsigned integers}}
  %0 = graph.add %x, %x : tensor<2xf8E5M2>, tensor<2xf8E5M2> -> tensor<2xf8E5M2>
  func.return
}

// -----

// cast: the shape stays
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{result has type tensor<3xi8>, but tensor<2xi8> is inferred}}
  %0 = graph.cast %x : tensor<2xf32> -> tensor<3xi8>
  func.return
}

// -----

// a property that is missing
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{property 'alpha' expected}}
  %0 = graph.elu %x : tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// a property that is misspelt
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{graph.reduce_sum has no property 'axis'; did you mean 'axes'?}}
  %0 = graph.reduce_sum %x {axis = [0]} : tensor<2xf32> -> tensor<f32>
  func.return
}

// -----

// a property that is given twice
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{'axes' is given twice}}
  %0 = graph.reduce_sum %x {axes = [0], axes = [0]} : tensor<2xf32> -> tensor<f32>
  func.return
}

// -----

// too few operands
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{graph.add has 1 operands, expected 2}}
  %0 = graph.add %x : tensor<2xf32> -> tensor<2xf32>
  func.return
}

// -----

// too many results
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{graph.neg has 2 result types, expected 1}}
  %0, %1 = graph.neg %x : tensor<2xf32> -> tensor<2xf32>, tensor<2xf32>
  func.return
}

// -----

// bitcast C1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{elements of f32 have 32 bits, but those of i16 have 16}}
  %0 = graph.bitcast %x : tensor<2xf32> -> tensor<2xi16>
  func.return
}
