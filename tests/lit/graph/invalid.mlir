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

// reductions C1: bounds
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{one of the axes is 3, expected 0 to 2 for rank 3}}
  %0 = graph.reduce_sum %x {axes = [3]} : tensor<2x3x4xf32> -> tensor<2x3xf32>
  func.return
}
// -----

// reductions C1: order
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axes are [1, 0], expected them ascending and each only once}}
  %0 = graph.reduce_sum %x {axes = [1, 0]} : tensor<2x3x4xf32> -> tensor<4xf32>
  func.return
}
// -----

// reductions C2
func.func @f(%x: tensor<2xi32>) {
  // expected-error@+1 {{input has element type i32, expected floats}}
  %0 = graph.reduce_l2 %x {axes = [0]} : tensor<2xi32> -> tensor<i32>
  func.return
}
// -----

// reductions: keepdims
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{result has type tensor<2x4xf32>, but tensor<2x1x4xf32> is inferred}}
  %0 = graph.reduce_sum %x {axes = [1], keepdims} : tensor<2x3x4xf32> -> tensor<2x4xf32>
  func.return
}
// -----

// arg_max C1
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{axis is 3, expected 0 to 2 for rank 3}}
  %0 = graph.arg_max %x {axis = 3} : tensor<2x3x4xf32> -> tensor<2x3xi64>
  func.return
}
// -----

// arg_max C2
func.func @f(%x: tensor<2x0xf32>) {
  // expected-error@+1 {{axis 1 has size 0, expected at least one element to choose from}}
  %0 = graph.arg_max %x {axis = 1} : tensor<2x0xf32> -> tensor<2xi64>
  func.return
}
// -----

// arg_max C3
func.func @f(%x: tensor<2xi1>) {
  // expected-error@+1 {{input has element type i1, expected floats or signed integers or unsigned integers}}
  %0 = graph.arg_max %x {axis = 0} : tensor<2xi1> -> tensor<i64>
  func.return
}
// -----

// cumsum C1
func.func @f(%x: tensor<f32>) {
  // expected-error@+1 {{axis is 0, but the operand has rank 0}}
  %0 = graph.cumsum %x {axis = 0} : tensor<f32> -> tensor<f32>
  func.return
}
// -----

// cumsum C2
func.func @f(%x: tensor<2xi1>) {
  // expected-error@+1 {{input has element type i1}}
  %0 = graph.cumsum %x {axis = 0} : tensor<2xi1> -> tensor<2xi1>
  func.return
}
// -----

// reshape C1
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{shape [5, 5] has 25 elements, but the operand [2, 3, 4] has 24}}
  %0 = graph.reshape %x {shape = [5, 5]} : tensor<2x3x4xf32> -> tensor<5x5xf32>
  func.return
}
// -----

// transpose C1
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{permutation is [0, 1, 1], expected each axis of rank 3 once}}
  %0 = graph.transpose %x {permutation = [0, 1, 1]} : tensor<2x3x4xf32> -> tensor<2x3x3xf32>
  func.return
}
// -----

// expand C1
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{shape [3, 4] has lower rank than the operand [2, 3, 4]}}
  %0 = graph.expand %x {shape = [3, 4]} : tensor<2x3x4xf32> -> tensor<3x4xf32>
  func.return
}
// -----

// expand C2
func.func @f(%x: tensor<2x3x4xf32>) {
  // expected-error@+1 {{operand of shape [2, 3, 4] does not expand to [2, 6, 4]}}
  %0 = graph.expand %x {shape = [2, 6, 4]} : tensor<2x3x4xf32> -> tensor<2x6x4xf32>
  func.return
}
// -----

// concat C1
func.func @f() {
  // expected-error@+1 {{concat has no operands, expected at least one}}
  %0 = graph.concat {axis = 0} : tensor<2xf32>
  func.return
}
// -----

// concat C2
func.func @f(%x: tensor<2xf32>, %y: tensor<2x1xf32>) {
  // expected-error@+1 {{operands have types tensor<2xf32> and tensor<2x1xf32>, expected equal ranks and element types}}
  %0 = graph.concat %x, %y {axis = 0} : tensor<2xf32>, tensor<2x1xf32> -> tensor<4xf32>
  func.return
}
// -----

// concat C3
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis is 1, expected 0 to 0 for rank 1}}
  %0 = graph.concat %x, %x {axis = 1} : tensor<2xf32>, tensor<2xf32> -> tensor<4xf32>
  func.return
}
// -----

// concat C4
func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{sizes 3 and 4 of axis 1 differ, expected equal ones}}
  %0 = graph.concat %x, %y {axis = 0} : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<4x3xf32>
  func.return
}
// -----

// split C1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{axis is 1, expected 0 to 0 for rank 1}}
  %0 = graph.split %x {axis = 1, sizes = [2]} : tensor<2xf32> -> tensor<2xf32>
  func.return
}
// -----

// split C2
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{there are 1 results for 2 sizes, expected one each}}
  %0 = graph.split %x {axis = 0, sizes = [1, 1]} : tensor<2xf32> -> tensor<2xf32>
  func.return
}
// -----

// split C3
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{sizes [1, 2] add up to 3, expected 2}}
  %0, %1 = graph.split %x {axis = 0, sizes = [1, 2]} : tensor<2xf32> -> tensor<1xf32>, tensor<2xf32>
  func.return
}
// -----

// slice C1
func.func @f(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{there are 1 starts, 1 sizes, 1 steps, expected 2 of each}}
  %0 = graph.slice %x {starts = [0], sizes = [1], steps = [1]} : tensor<4x4xf32> -> tensor<1xf32>
  func.return
}
// -----

// slice C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{step of axis 0 is 0, expected another number}}
  %0 = graph.slice %x {starts = [0], sizes = [1], steps = [0]} : tensor<4xf32> -> tensor<1xf32>
  func.return
}
// -----

// slice C3: start
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{start of axis 0 is -1, expected at least 0}}
  %0 = graph.slice %x {starts = [-1], sizes = [1], steps = [1]} : tensor<4xf32> -> tensor<1xf32>
  func.return
}
// -----

// slice C3: end
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{index 5 of axis 0 is out of bounds, the size is 4}}
  %0 = graph.slice %x {starts = [1], sizes = [3], steps = [2]} : tensor<4xf32> -> tensor<3xf32>
  func.return
}
// -----

// pad C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{there are 2 low and 1 high pads, expected 1 of each}}
  %0 = graph.pad %x {low = [1, 1], high = [0]} : tensor<4xf32> -> tensor<5xf32>
  func.return
}
// -----

// pad C2: mode
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{mode is "wrap", expected "constant", "edge" or "reflect"}}
  %0 = graph.pad %x {low = [1], high = [0], mode = "wrap"} : tensor<4xf32> -> tensor<5xf32>
  func.return
}
// -----

// pad C2: value of another type
func.func @f(%x: tensor<4xf32>, %v: tensor<f64>) {
  // expected-error@+1 {{value has type tensor<f64>, expected tensor<f32>}}
  %0 = graph.pad %x value(%v) {low = [1], high = [0]} : tensor<4xf32>, tensor<f64> -> tensor<5xf32>
  func.return
}
// -----

// pad C2: value for another mode
func.func @f(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{mode "edge" takes no value}}
  %0 = graph.pad %x value(%v) {low = [1], high = [0], mode = "edge"} : tensor<4xf32>, tensor<f32> -> tensor<5xf32>
  func.return
}
// -----

// pad C3: mirrored too far
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 0 of size 4 cannot be mirrored for 4 and 0 elements}}
  %0 = graph.pad %x {low = [4], high = [0], mode = "reflect"} : tensor<4xf32> -> tensor<8xf32>
  func.return
}
// -----

// pad C3: nothing to repeat
func.func @f(%x: tensor<0xf32>) {
  // expected-error@+1 {{axis 0 has size 0, expected an element to repeat}}
  %0 = graph.pad %x {low = [1], high = [0], mode = "edge"} : tensor<0xf32> -> tensor<1xf32>
  func.return
}
// -----

// pad: cut off more than there is
func.func @f(%x: tensor<4xf32>) {
  // expected-error@+1 {{axis 0 of size 4 padded by -3 and -2 has size -1}}
  %0 = graph.pad %x {low = [-3], high = [-2]} : tensor<4xf32> -> tensor<0xf32>
  func.return
}
// -----

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
// -----

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

// if C1
func.func @f(%c: tensor<1xi1>) {
  // expected-error@+1 {{condition has type tensor<1xi1>, expected tensor<i1>}}
  "graph.if"(%c) ({
    graph.yield
  }, {
    graph.yield
  }) : (tensor<1xi1>) -> ()
  func.return
}
// -----

// if C2: the end of a region
func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{then region has 1 blocks, expected one that ends with graph.yield}}
  "graph.if"(%c) ({
    "test.termop"() : () -> ()
  }, {
    graph.yield
  }) : (tensor<i1>) -> ()
  func.return
}
// -----

// if C2: arguments of a region
func.func @f(%c: tensor<i1>) {
  // expected-error@+1 {{else region has 1 arguments, expected none}}
  "graph.if"(%c) ({
    graph.yield
  }, {
  ^bb0(%x: tensor<f32>):
    graph.yield
  }) : (tensor<i1>) -> ()
  func.return
}
// -----

// if C3: how many values
func.func @f(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{values of the else region are 0, expected 1}}
  %0 = graph.if %c then {
    graph.yield %x : tensor<2xf32>
  } else {
    graph.yield
  } -> tensor<2xf32>
  func.return
}
// -----

// if C3: types of values
func.func @f(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error@+1 {{number 0 of values of the else region has type tensor<3xf32>, expected tensor<2xf32>}}
  %0 = graph.if %c then {
    graph.yield %x : tensor<2xf32>
  } else {
    graph.yield %y : tensor<3xf32>
  } -> tensor<2xf32>
  func.return
}
// -----

// while C1
func.func @f(%x: tensor<2xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{arguments of the body region are 0, expected 1}}
  %0 = graph.while %x while {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %c : tensor<i1>
  } do {
    graph.yield %x : tensor<2xf32>
  } : tensor<2xf32>
  func.return
}
// -----

// while C2
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{number 0 of values of the condition region has type tensor<2xf32>, expected tensor<i1>}}
  %0 = graph.while %x while {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %a : tensor<2xf32>
  } do {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %a : tensor<2xf32>
  } : tensor<2xf32>
  func.return
}
// -----

// while C3
func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{number 0 of values of the body region has type tensor<3xf32>, expected tensor<2xf32>}}
  %0 = graph.while %x while {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %y : tensor<3xf32>
  } : tensor<2xf32>
  func.return
}
// -----

// call C1
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{'@g' is no function of this module}}
  %0 = graph.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}
// -----

// call C2: arguments
func.func private @g(tensor<2x?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>>
func.func @f(%x: tensor<2xf32>) {
  // expected-error@+1 {{number 0 of arguments of the call to @g has type tensor<2xf32>, expected tensor<2x?xf32, #graph.dims<N>>}}
  %0 = graph.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}
// -----

// call C2: results, with 3 for N
func.func private @g(tensor<?xf32, #graph.dims<N>>) -> tensor<?xf32, #graph.dims<N>>
func.func @f(%x: tensor<3xf32>) {
  // expected-error@+1 {{number 0 of results of the call to @g has type tensor<2xf32>, expected tensor<3xf32>}}
  %0 = graph.call @g(%x) : (tensor<3xf32>) -> tensor<2xf32>
  func.return
}
