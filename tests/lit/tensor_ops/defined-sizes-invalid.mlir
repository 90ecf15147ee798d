// RUN: aicc-opt %s --verify-diagnostics --split-input-file

// define_size C1
func.func @f(%n: i64) {
  // expected-error@+1 {{value has type i64, expected index}}
  tensor_ops.define_size "rows" is %n : i64
  func.return
}

// -----

// check_sizes C1
func.func @f() {
  // expected-error@+1 {{sizes 4 and 5 are never equal}}
  tensor_ops.check_sizes #graph.shape<4> is #graph.shape<5> text "unlike"
  func.return
}

// -----

// view C2: only where sizes were given new values may there be another number of elements
func.func @f(%x: tensor<?xf32, #graph.dims<N+1>>) {
  // expected-error@+1 {{shape [N] has not as many elements as [N+1]}}
  %a = tensor_ops.view %x : tensor<?xf32, #graph.dims<N+1>> to tensor<?xf32, #graph.dims<N>>
  func.return
}
