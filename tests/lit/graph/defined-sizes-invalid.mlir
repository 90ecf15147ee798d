// RUN: aicc-opt %s --verify-diagnostics --split-input-file

// define_size C1
func.func @f(%n: tensor<1xi64>) {
  // expected-error@+1 {{value has type tensor<1xi64>, expected tensor<i64>}}
  graph.define_size "rows" is %n : tensor<1xi64>
  func.return
}

// -----

// define_size C2
func.func @f(%n: tensor<i64>) {
  // expected-error@+1 {{symbol is empty, expected a name}}
  graph.define_size "" is %n : tensor<i64>
  func.return
}

// -----

// define_size C2
func.func @f(%n: tensor<i64>) {
  // expected-error@+1 {{most has 2 sizes, expected one}}
  graph.define_size "rows" is %n most #graph.shape<1, 2> : tensor<i64>
  func.return
}

// -----

// define_size C2
func.func @f(%n: tensor<i64>) {
  // expected-error@+1 {{most is rows+1, which names 'rows' itself}}
  graph.define_size "rows" is %n most #graph.shape<rows+1> : tensor<i64>
  func.return
}

// -----

// check_sizes C1
func.func @f() {
  // expected-error@+1 {{it has 1 and 2 sizes, expected one on each side}}
  graph.check_sizes #graph.shape<4> is #graph.shape<N, 4> text "unlike"
  func.return
}

// -----

// check_sizes C1
func.func @f() {
  // expected-error@+1 {{sizes N and N+1 are never equal}}
  graph.check_sizes #graph.shape<N> is #graph.shape<N+1> text "unlike"
  func.return
}
