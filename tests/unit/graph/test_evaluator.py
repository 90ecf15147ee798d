"""The evaluator: control flow, calls, symbols, and errors that name the op."""

import numpy as np
import pytest

from aicc.dialects.graph.evaluator import EvaluationError, evaluate_function
from aicc.lowering.parse import parse_module

F = "tensor<?xf32, #graph.dims<N>>"


def evaluate(text: str, *inputs: np.ndarray) -> list[np.ndarray]:
    """The results of the first function of `text`."""
    module = parse_module(text)
    module.verify()
    return evaluate_function(module.body.block.first_op, inputs, module)


IF = f"""
func.func @main(%c: tensor<i1>, %x: {F}) -> {F} {{
  %one = graph.constant dense<1.0> : tensor<f32>
  %r = graph.if %c then {{
    %a = graph.add %x, %one : {F}, tensor<f32> -> {F}
    graph.yield %a : {F}
  }} else {{
    graph.yield %x : {F}
  }} -> {F}
  func.return %r : {F}
}}
"""


@pytest.mark.parametrize("condition", [False, True])
def test_if_runs_one_region(condition):
    x = np.float32([1, 2])
    np.testing.assert_array_equal(evaluate(IF, np.array(condition), x)[0], x + condition)


WHILE = """
func.func @main(%n: tensor<i64>) -> (tensor<i64>, tensor<i64>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %i, %p = graph.while %zero, %one while {
  ^bb0(%i: tensor<i64>, %p: tensor<i64>):
    %c = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %p: tensor<i64>):
    %j = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %q = graph.add %p, %p : tensor<i64>, tensor<i64> -> tensor<i64>
    graph.yield %j, %q : tensor<i64>, tensor<i64>
  } : tensor<i64>, tensor<i64>
  func.return %i, %p : tensor<i64>, tensor<i64>
}
"""


@pytest.mark.parametrize("count", [0, 1, 5])
def test_while_carries_its_state(count):
    assert [int(x) for x in evaluate(WHILE, np.array(count))] == [count, 2**count]


CALLS = """
func.func @main(%x: tensor<?x2xf32, #graph.dims<N>>, %y: tensor<4xf32>)
    -> (tensor<?xf32, #graph.dims<2*N>>, tensor<4xf32>) {
  %a = graph.reshape %x {shape = [2*N]} : tensor<?x2xf32, #graph.dims<N>> -> tensor<?xf32, #graph.dims<2*N>>
  %b = graph.call @double(%a) : (tensor<?xf32, #graph.dims<2*N>>) -> tensor<?xf32, #graph.dims<2*N>>
  %c = graph.call @double(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b, %c : tensor<?xf32, #graph.dims<2*N>>, tensor<4xf32>
}
func.func private @double(%x: tensor<?xf32, #graph.dims<M>>) -> tensor<?xf32, #graph.dims<M>> {
  %r = graph.add %x, %x : tensor<?xf32, #graph.dims<M>>, tensor<?xf32, #graph.dims<M>> -> tensor<?xf32, #graph.dims<M>>
  func.return %r : tensor<?xf32, #graph.dims<M>>
}
"""


def test_each_call_has_symbols_of_its_own():
    x, y = np.float32([[1, 2], [3, 4], [5, 6]]), np.float32([1, 2, 3, 4])
    a, b = evaluate(CALLS, x, y)
    np.testing.assert_array_equal(a, 2 * x.reshape(-1))
    np.testing.assert_array_equal(b, 2 * y)


def test_endless_recursion_is_an_error():
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %r = graph.call @main(%x) : (tensor<f32>) -> tensor<f32>
      func.return %r : tensor<f32>
    }
    """
    with pytest.raises(EvaluationError, match="nested more than 100 deep"):
        evaluate(text, np.float32(0))


SAME = f"""
func.func @main(%x: {F}, %y: {F}) -> {F} {{
  %r = graph.add %x, %y : {F}, {F} -> {F}
  func.return %r : {F}
}}
"""


def test_sizes_of_one_symbol_must_agree():
    with pytest.raises(EvaluationError, match=r"input 1 of @main has size 3 on axis 0, expected N, which is 2"):
        evaluate(SAME, np.zeros(2, np.float32), np.zeros(3, np.float32))
    with pytest.raises(EvaluationError, match=r"got 1 inputs, expected 2"):
        evaluate(SAME, np.zeros(2, np.float32))


def test_an_op_without_meaning_is_named():
    text = 'func.func @main() { "test.op"() : () -> () func.return }'
    with pytest.raises(EvaluationError, match=r"test\.op has no executable meaning"):
        evaluate(text)


def test_a_declared_size_that_is_wrong_names_the_op():
    text = f"""
    func.func @main(%x: {F}) -> tensor<3xf32> {{
      %r = graph.neg %x : {F} -> tensor<3xf32>
      func.return %r : tensor<3xf32>
    }}
    """
    assert evaluate(text, np.zeros(3, np.float32))[0].shape == (3,)
    with pytest.raises(EvaluationError, match=r"graph\.neg: result size 3 of axis 0 is not N"):
        evaluate(text, np.zeros(2, np.float32))


def test_a_long_chain_needs_no_deep_stack():
    lines = [f"%v{i + 1} = graph.neg %v{i} : tensor<2xf32> -> tensor<2xf32>" for i in range(2000)]
    text = "func.func @main(%v0: tensor<2xf32>) -> tensor<2xf32> {\n" + "\n".join(lines)
    text += "\nfunc.return %v2000 : tensor<2xf32>\n}"
    x = np.float32([1, -2])
    np.testing.assert_array_equal(evaluate(text, x)[0], x)
