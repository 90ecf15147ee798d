// RUN: aicc-opt %s --split-input-file --verify-diagnostics

// constant C1
func.func @f() {
  // expected-error@+1 {{value is "text", expected dense elements or a #graph.buffer}}
  %0 = graph.constant "text" : tensor<2xf32>
  func.return
}

// -----

// constant C2: type
func.func @f() {
  // expected-error@+1 {{value has type tensor<3xf32>, expected tensor<2xf32>}}
  %0 = "graph.constant"() <{value = dense<1.0> : tensor<3xf32>}> : () -> tensor<2xf32>
  func.return
}

// -----

// constant C2: symbolic shape
func.func @f() {
  // expected-error@+1 {{result has type tensor<?xf32, #graph.dims<N>>, expected a static shape}}
  %0 = graph.constant #graph.buffer<"w"> : tensor<?xf32, #graph.dims<N>>
  func.return
}

// -----

// iota C1
func.func @f() {
  // expected-error@+1 {{axis is 1, expected 0 to 0 for rank 1}}
  %0 = graph.iota {axis = 1} : tensor<2xi64>
  func.return
}

// -----

// iota C2
func.func @f() {
  // expected-error@+1 {{result has element type i1}}
  %0 = graph.iota {axis = 0} : tensor<2xi1>
  func.return
}

// -----

// a size in the encoding that is a constant
// expected-error@+1 {{size 3 is a constant; write it in the shape in place of '?'}}
func.func @f(%x: tensor<?xf32, #graph.dims<3>>) {
  func.return
}

// -----

// a size that divides by nothing
// expected-error@+1 {{division of N by 0, expected a divisor of at least 1}}
func.func @f(%x: tensor<?xf32, #graph.dims<floordiv(N, 0)>>) {
  func.return
}

// -----

// a size that is too long to be meant
// expected-error@+1 {{a size is a sum of more than 1000 terms}}
func.func @f(%x: tensor<?xf32, #graph.dims<(A+B+C+D+E+F+G+H)*(A+B+C+D+E+F+G+H)*(A+B+C+D+E+F+G+H)*(A+B+C+D+E+F+G+H)*(A+B+C+D+E+F+G+H)*(A+B+C+D+E+F+G+H)*(A+B+C+D+E+F+G+H)>>) {
  func.return
}
