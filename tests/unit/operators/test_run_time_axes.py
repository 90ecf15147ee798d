"""Operators whose axes or other parameters are data: the rank is known, what the numbers say is not."""

from __future__ import annotations

import numpy as np
import pytest

import aicc
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import run
from tests.unit.operators.helper import check, one_node

X = (np.random.default_rng(2).standard_normal((2, 3, 4)) + 2).astype(np.float32)


def log_sum_exp(x, axis, keepdims):
    return np.log(np.exp(x).sum(axis, keepdims=keepdims))


REDUCTIONS = {
    "ReduceL1": lambda x, axis, keepdims: np.abs(x).sum(axis, keepdims=keepdims),
    "ReduceL2": lambda x, axis, keepdims: np.sqrt((x * x).sum(axis, keepdims=keepdims)),
    "ReduceLogSum": lambda x, axis, keepdims: np.log(np.abs(x.sum(axis, keepdims=keepdims))),
    "ReduceLogSumExp": log_sum_exp,
    "ReduceMax": lambda x, axis, keepdims: x.max(axis, keepdims=keepdims),
    "ReduceMean": lambda x, axis, keepdims: x.mean(axis, keepdims=keepdims),
    "ReduceMin": lambda x, axis, keepdims: x.min(axis, keepdims=keepdims),
    "ReduceProd": lambda x, axis, keepdims: x.prod(axis, keepdims=keepdims),
    "ReduceSum": lambda x, axis, keepdims: x.sum(axis, keepdims=keepdims),
    "ReduceSumSquare": lambda x, axis, keepdims: (x * x).sum(axis, keepdims=keepdims),
}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("axes", [[0], [-1, 1], [2, 0, 1]], ids=str)
def test_reductions(op, axes):
    for keepdims in (False, True):
        proto, feeds = one_node(op, [X, np.int64(axes)], opset=18, keepdims=int(keepdims))
        (found,) = run(proto, feeds)
        np.testing.assert_allclose(found, REDUCTIONS[op](X, tuple(axes), keepdims), rtol=1e-5)


@pytest.mark.parametrize("keepdims", [0, 1])
def test_one_program_for_all_axes(keepdims):
    proto, _ = one_node("ReduceMean", [X, np.int64([0, 1])], opset=18, keepdims=keepdims, symbolic=[0])
    program = aicc.compile(proto, threads=1)
    for shape in ((2, 3, 4), (5, 1, 2)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        for axes in ([0, 1], [2, 0], [-1, -2]):
            (found,) = program.run({"x0": x, "x1": np.int64(axes)}).values()
            expected = x.mean(tuple(axes), keepdims=bool(keepdims))
            assert found.shape == expected.shape
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_reduction_of_nothing():
    x = np.zeros((2, 0, 4), np.float32)
    check(*one_node("ReduceSum", [x, np.int64([1])], opset=13), [np.zeros((2, 1, 4), np.float32)], levels=[2])


def test_no_axes_are_known():
    none = np.zeros(0, np.int64)
    check(*one_node("ReduceSum", [X, none], opset=13), [X.sum(keepdims=True)], rtol=1e-5, levels=[])
    check(*one_node("ReduceSum", [X, none], opset=13, noop_with_empty_axes=1), [X], levels=[])
    check(*one_node("Unsqueeze", [X, none], opset=13), [X], levels=[])


def test_squeeze_and_unsqueeze():
    x = X.reshape(2, 1, 3, 1, 4)
    for axes in ([1, 3], [-2, 1]):
        check(*one_node("Squeeze", [x, np.int64(axes)], opset=13), [X], levels=[2])
    for axes, shape in (([1, 3], x.shape), ([-1, 0], (1, 2, 3, 4, 1)), ([4, 3], (2, 3, 4, 1, 1))):
        check(*one_node("Unsqueeze", [X, np.int64(axes)], opset=13), [X.reshape(shape)], levels=[2])
    proto, feeds = one_node("Squeeze", [x, np.int64([0, 1])], opset=13)
    with pytest.raises(aicc.InputError, match="reshape"):
        aicc.compile(proto, opt_level=0).run(feeds)


def test_axes_in_an_unknown_number():
    proto, _ = one_node("ReduceSum", [X, np.int64([0])], opset=13, symbolic=True)
    with pytest.raises(ModelError, match=r"axes \(input 1\) have shape \[s1\], expected a list of known length"):
        import_onnx(proto)


@pytest.mark.parametrize("upper", [0, 1])
def test_triangles(upper):
    proto, _ = one_node("Trilu", [X, np.int64(0)], upper=upper)
    program = aicc.compile(proto, threads=1)
    for k in (-4, -1, 0, 2, 7):
        expected = np.triu(X, k) if upper else np.tril(X, k)
        np.testing.assert_array_equal(program.run({"x0": X, "x1": np.array(k)})["y0"], expected)


def test_one_hot():
    indices, values = np.array([[0, 2], [-1, 7]], np.int32), np.float32([0.5, 3])
    for depth, axis in ((np.int64(4), -1), (np.int64([4]), 0), (np.float32(4), 1)):
        places = np.where(indices < 0, indices + 4, indices)
        expected = np.where(np.arange(4) == places[..., None], values[1], values[0])
        expected = np.moveaxis(expected, -1, axis)
        for constant in ([1], []):
            check(*one_node("OneHot", [indices, depth, values], constant=constant, axis=axis), [expected], levels=[2])


@pytest.mark.parametrize(("low", "high"), [([0, 0, 1], [2, 3, 0]), ([5, 0, 9], [0, 7, 4]), ([-1, 0, 3], [1, -2, 2])])
def test_wrap(low, high):
    expected = X
    for axis, (before, after) in enumerate(zip(low, high, strict=True)):
        expected = expected.take(np.arange(-before, expected.shape[axis] + after) % expected.shape[axis], axis)
    pads = np.int64([*low, *high])
    check(*one_node("Pad", [X, pads], constant=[1], mode="wrap"), [expected], levels=[2])
    if min(pads) >= 0:
        check(*one_node("Pad", [X, pads], mode="wrap"), [expected], levels=[2])
