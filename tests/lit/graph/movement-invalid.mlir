// RUN: aicc-opt %s --split-input-file --verify-diagnostics

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
