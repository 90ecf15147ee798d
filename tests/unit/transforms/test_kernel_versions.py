"""Kernels with versions are right for all sizes, whichever of them runs: convolutions of images, transposes."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import aicc
from aicc.runtime.model import Model

Array = np.ndarray[Any, np.dtype[Any]]

SIZES = (0, 1, 2, 3, 4, 6, 7, 13)
"""Rows and columns: those that versions are for, those next to them, and none."""

CHANNELS = (1, 64, 32)


def convolved(x: Array, w: Array) -> Array:
    """The convolution of stride 1 with as many results as pixels, in f64."""
    pad = w.shape[2] // 2
    rows, columns = x.shape[2:]
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    result = np.zeros((x.shape[0], w.shape[0], rows, columns))
    for i, j in product(range(w.shape[2]), range(w.shape[3])):
        result += np.einsum("nchw,oc->nohw", padded[:, :, i : i + rows, j : j + columns], w[:, :, i, j].astype(float))
    return result


def weights() -> tuple[Array, Array]:
    """Of a convolution with windows of 5x5 and one of 3x3."""
    rng = np.random.default_rng(0)
    one, many, out = CHANNELS
    first, second = rng.standard_normal((many, one, 5, 5)), rng.standard_normal((out, many, 3, 3))
    return first.astype(np.float32), second.astype(np.float32)


def compiled(first: Array, second: Array) -> Model:
    """Two convolutions of an image of unknown size, and a Relu between them."""
    nodes = [
        helper.make_node("Conv", ["x", "first"], ["a"], pads=[2] * 4),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "second"], ["y"], pads=[1] * 4),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, "h", "w"])]
        for name, channels in (("x", CHANNELS[0]), ("y", CHANNELS[-1]))
    )
    arrays = [numpy_helper.from_array(array, name) for name, array in (("first", first), ("second", second))]
    graph = helper.make_graph(nodes, "g", inputs, outputs, arrays)
    proto: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return aicc.compile(proto, threads=1)


@pytest.fixture(scope="module")
def model() -> Model:
    return compiled(*weights())


@pytest.mark.parametrize("batch", [1, 3])
def test_all_small_sizes(model: Model, batch: int) -> None:
    first, second = weights()
    rng = np.random.default_rng(1)
    for rows, columns in product(SIZES, SIZES):
        x = rng.standard_normal((batch, CHANNELS[0], rows, columns)).astype(np.float32)
        expected = convolved(np.maximum(convolved(x, first), 0), second)
        result = model.run({"x": x})["y"]
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-3 * np.abs(expected).max(initial=1.0) / 10)


def test_weights_of_versions_in_a_part_of_the_cache() -> None:
    """More than may be kept twice for nothing, of an image whose size is half of what the caller gives."""
    rng = np.random.default_rng(3)
    w = rng.standard_normal((128, 64, 3, 3)).astype(np.float32)
    nodes = [
        helper.make_node("MaxPool", ["x"], ["half"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["half", "w"], ["y"], pads=[1] * 4),
    ]
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, *sizes])]
        for name, channels, sizes in (("x", 64, ("h", "w")), ("y", 128, ("a", "b")))
    )
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(w, "w")])
    proto: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model = aicc.compile(proto, threads=1)
    for rows, columns in product(SIZES, SIZES):
        x = rng.standard_normal((2, 64, 2 * rows + rows % 2, 2 * columns)).astype(np.float32)
        half = x[:, :, : 2 * rows].reshape(2, 64, rows, 2, columns, 2).max(axis=(3, 5), initial=-np.inf)
        expected = convolved(half, w)
        result = model.run({"x": x})["y"]
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-4 * np.abs(expected).max(initial=1.0))


def test_infinite_weights_reach_the_padding() -> None:
    first, second = weights()
    first[3, 0, 0, 2] = np.inf
    # Above the only row there are zeros; times infinity they are no numbers, and so is all that is made of them.
    result = compiled(first, second).run({"x": np.ones((1, 1, 1, 5), np.float32)})["y"]
    assert np.isnan(result).all()


@pytest.mark.parametrize(
    ("taps", "dilation", "before", "after"), [(2, 5, 5, 0), (3, 4, 4, 4), (5, 2, 4, 4), (3, 3, 0, 6)]
)
def test_dilated(taps: int, dilation: int, before: int, after: int) -> None:
    rng = np.random.default_rng(2)
    w = rng.standard_normal((8, 4, taps)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[before, after], dilations=[dilation])
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels, "t"])]
        for name, channels in (("x", 4), ("y", 8))
    )
    graph = helper.make_graph([node], "g", inputs, outputs, [numpy_helper.from_array(w, "w")])
    proto: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model = aicc.compile(proto, threads=1)
    for length in range(14):
        x = rng.standard_normal((2, 4, length)).astype(np.float32)
        padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (before, after)))
        starts = [dilation * tap for tap in range(taps)]
        expected = sum(np.einsum("nct,oc->not", padded[:, :, s : s + length], w[:, :, k]) for k, s in enumerate(starts))
        np.testing.assert_allclose(model.run({"x": x})["y"], expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 3])
def test_other_orders_of_axes(batch: int) -> None:
    """Where an axis has one element, transposes copy and a residual is read along the other axis."""
    weight = np.random.default_rng(0).standard_normal((24, 24)).astype(np.float32)
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["t", "w"], ["p"]),
        helper.make_node("Add", ["p", "t"], ["s"]),
        helper.make_node("Relu", ["s"], ["r"]),
        helper.make_node("Transpose", ["r"], ["y"], perm=[0, 2, 1]),
    ]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 24, "t"]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:], [numpy_helper.from_array(weight, "w")])
    proto: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model = aicc.compile(proto, threads=1)
    for steps in SIZES:
        x = np.random.default_rng(steps).standard_normal((batch, 24, steps)).astype(np.float32)
        rows = x.transpose(0, 2, 1).astype(np.float64)
        expected = np.maximum(rows @ weight + rows, 0).transpose(0, 2, 1)
        np.testing.assert_allclose(model.run({"x": x})["y"], expected, rtol=1e-4, atol=1e-4)
