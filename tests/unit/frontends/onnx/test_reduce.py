"""Reductions with axes as attribute and as input, positions of extremes, running totals."""

import numpy as np
import pytest
from onnx import helper

import aicc
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import model, run_module, run_op

X = np.array([[[0.5, -2, 1], [3, 4, -1]], [[-6, 0.25, 2], [1, 1, 1]]], np.float32)
FORMULAS = {
    "ReduceL1": lambda x, **k: np.abs(x).sum(**k),
    "ReduceL2": lambda x, **k: np.sqrt((x * x).sum(**k)),
    "ReduceLogSum": lambda x, **k: np.log(x.sum(**k)),
    "ReduceLogSumExp": lambda x, **k: np.log(np.exp(x).sum(**k)),
    "ReduceMax": np.max,
    "ReduceMean": np.mean,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceSum": np.sum,
    "ReduceSumSquare": lambda x, **k: (x * x).sum(**k),
}
# The version from which on axes are an input.
INPUT_SINCE = {op: 13 if op == "ReduceSum" else 18 for op in FORMULAS}


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [(1,), (-1, 0), None])
@pytest.mark.parametrize("op", FORMULAS)
def test_reduction(op, axes, keepdims):
    x = np.abs(X) if op == "ReduceLogSum" else X
    expected = FORMULAS[op](x.astype(np.float64), axis=axes, keepdims=bool(keepdims))
    attribute = {} if axes is None else {"axes": list(axes)}
    as_input = [] if axes is None else [np.array(axes, np.int64)]
    for (result,) in (
        run_op(op, [x], opset=11, keepdims=keepdims, **attribute),
        run_op(op, [x, *as_input], opset=INPUT_SINCE[op], keepdims=keepdims, constant=[1], symbolic=True),
    ):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize(
    "op, expected",
    [("ReduceSum", X), ("ReduceMax", X), ("ReduceL1", np.abs(X)), ("ReduceL2", np.abs(X)), ("ReduceSumSquare", X * X)],
)
def test_no_axes_at_all(op, expected):
    for inputs in ([X], [X, np.zeros(0, np.int64)]):
        (result,) = run_op(op, inputs, opset=18, constant=[1], noop_with_empty_axes=1)
        np.testing.assert_array_equal(result, expected)
    (result,) = run_op(op, [X.reshape(-1)[:1].reshape(())], opset=18)
    np.testing.assert_array_equal(result, expected.reshape(-1)[0])


def test_integers():
    x = np.array([[200, 100], [7, 9]], np.uint8)
    np.testing.assert_array_equal(run_op("ReduceSum", [x], opset=11)[0], np.array([[60]], np.uint8))
    np.testing.assert_array_equal(run_op("ReduceMax", [x], opset=12, keepdims=0)[0], np.uint8(200))


def test_axes_must_be_in_range():
    with pytest.raises(ModelError, match="axis 3 is out of range for rank 3"):
        run_op("ReduceSum", [X], opset=11, axes=[3])


@pytest.mark.parametrize("op, choose", [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
def test_arg_extreme(op, choose):
    (result,) = run_op(op, [X], axis=-1, keepdims=0)
    assert result.dtype == np.int64
    np.testing.assert_array_equal(result, choose(X, -1))
    (result,) = run_op(op, [X])
    np.testing.assert_array_equal(result, choose(X, 0)[None])
    ties = np.float32([[1, 1, 0, 0]])
    (last,) = run_op(op, [ties], axis=1, keepdims=0, select_last_index=1)
    np.testing.assert_array_equal(last, [1 if op == "ArgMax" else 3])


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_cumsum(exclusive, reverse):
    x = X[..., ::-1] if reverse else X
    expected = np.cumsum(x, -1) - (x if exclusive else 0)
    expected = expected[..., ::-1] if reverse else expected
    axis = np.array(-1, np.int32)
    (result,) = run_op("CumSum", [X, axis], constant=[1], exclusive=exclusive, reverse=reverse, symbolic=True)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("op, running", [("CumSum", np.cumsum), ("CumProd", np.cumprod)])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_running_totals_along_an_axis_that_data_tells(op, running, axis):
    node = helper.make_node(op, ["x", "a"], ["y"], "n")
    made = model([node], {"x": (X.dtype, ("N", *X.shape[1:])), "a": (np.int64, ())}, ["y"], 26)
    feeds = {"x": X, "a": np.array(axis)}
    (meant,) = run_module(import_onnx(made), feeds)
    compiled = aicc.compile(made, cache=False)
    np.testing.assert_allclose(meant, running(X, axis), rtol=1e-6)
    np.testing.assert_allclose(compiled.run(feeds)["y"], meant, rtol=1e-6)
    with pytest.raises(aicc.InputError, match="axis of node 'n'"):
        compiled.run(feeds | {"a": np.array(3)})


def test_running_products_of_a_vector():
    x = np.array([2, 3, 4], np.float32)
    (found,) = run_op("CumProd", [x, np.array(-1)], opset=26, exclusive=1, reverse=1)
    np.testing.assert_array_equal(found, [12, 4, 1])
