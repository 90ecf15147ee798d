"""Convolutions that follow each other: padding that the first one stores, small images, groups, dilation, strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import aicc


@dataclass(frozen=True)
class Conv:
    """One convolution: filters, kernel, pads (lows, then highs), stride, dilation, groups."""

    filters: int
    kernel: tuple[int, ...]
    pads: tuple[int, ...]
    stride: int = 1
    dilation: int = 1
    groups: int = 1


def _reference(x: np.ndarray, w: np.ndarray, conv: Conv) -> np.ndarray:
    """The sum over taps of products of shifted images, each group by itself, in double precision."""
    rank = len(conv.kernel)
    widths = [(0, 0), (0, 0), *((conv.pads[a], conv.pads[a + rank]) for a in range(rank))]
    padded = np.pad(x.astype(np.float64), widths)
    sizes = [(padded.shape[2 + a] - conv.dilation * (conv.kernel[a] - 1) - 1) // conv.stride + 1 for a in range(rank)]
    result = np.zeros((x.shape[0], conv.filters, *sizes))
    per, inputs = conv.filters // conv.groups, x.shape[1] // conv.groups
    for tap in np.ndindex(*conv.kernel):
        window = tuple(
            slice(t * conv.dilation, t * conv.dilation + conv.stride * (size - 1) + 1, conv.stride)
            for t, size in zip(tap, sizes, strict=True)
        )
        for group in range(conv.groups):
            part = padded[(slice(None), slice(group * inputs, (group + 1) * inputs), *window)]
            weights = w[(slice(group * per, (group + 1) * per), slice(None), *tap)].astype(np.float64)
            result[:, group * per : (group + 1) * per] += np.einsum("ni...,oi->no...", part, weights)
    return result


def _model(convs: Sequence[Conv], weights: Sequence[np.ndarray], image: Sequence[int | str]) -> ModelProto:
    """The convolutions one after the other, each but the last with a ReLU."""
    nodes, name = [], "x"
    for number, conv in enumerate(convs):
        rank = len(conv.kernel)
        attributes = {
            "pads": conv.pads,
            "strides": [conv.stride] * rank,
            "dilations": [conv.dilation] * rank,
            "group": conv.groups,
        }
        nodes.append(helper.make_node("Conv", [name, f"w{number}"], [f"c{number}"], **attributes))
        name = f"c{number}"
        if number < len(convs) - 1:
            nodes.append(helper.make_node("Relu", [name], [f"r{number}"]))
            name = f"r{number}"
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(image))
    y = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(weight, f"w{number}") for number, weight in enumerate(weights)]
    return helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], stored), opset_imports=[helper.make_opsetid("", 18)]
    )


POINT = (1, 1)
CASES: dict[str, tuple[list[Conv], list[int | str], list[dict[str, int]]]] = {
    "depthwise of a small image": (
        [Conv(19, POINT, (0,) * 4), Conv(19, (3, 3), (1,) * 4, groups=19), Conv(5, POINT, (0,) * 4)],
        [1, 7, 7, 7],
        [{}],
    ),
    "strides, uneven pads, symbolic batch": (
        [Conv(24, POINT, (0,) * 4), Conv(24, (5, 5), (2, 1, 1, 2), stride=2, groups=24), Conv(8, (3, 3), (1,) * 4)],
        ["N", 3, 17, 13],
        [{"N": 1}, {"N": 3}],
    ),
    "symbolic image": (
        [Conv(16, POINT, (0,) * 4), Conv(40, (3, 3), (1,) * 4), Conv(9, (3, 3), (1,) * 4)],
        [1, 4, "H", "W"],
        [{"H": h, "W": w} for h, w in ((1, 1), (5, 17), (16, 9))],
    ),
    "dilation and groups": (
        [Conv(12, POINT, (0,) * 4), Conv(20, (3, 3), (2,) * 4, dilation=2, groups=2), Conv(6, (3, 3), (0, 1, 2, 0))],
        [2, 6, 11, 9],
        [{}],
    ),
    "one dimension": ([Conv(8, (1,), (0, 0)), Conv(13, (3,), (1, 1)), Conv(7, (3,), (2, 0))], [1, 5, 31], [{}]),
    "one pixel": ([Conv(33, POINT, (0,) * 4), Conv(17, (3, 3), (1,) * 4)], [1, 3, 1, 1], [{}]),
}


@pytest.mark.parametrize("name", CASES)
def test_convolutions(name: str):
    convs, image, sizes = CASES[name]
    rng = np.random.default_rng(3)
    weights: list[np.ndarray] = []
    channels = image[1]
    assert isinstance(channels, int)
    for conv in convs:
        weights.append(rng.standard_normal((conv.filters, channels // conv.groups, *conv.kernel)).astype(np.float32))
        channels = conv.filters
    model = aicc.compile(_model(convs, weights, image), threads=1, winograd=False)
    for size in sizes:
        x = rng.standard_normal([size[dim] if isinstance(dim, str) else dim for dim in image]).astype(np.float32)
        expected: np.ndarray = x
        for number, (conv, weight) in enumerate(zip(convs, weights, strict=True)):
            expected = _reference(np.maximum(expected, 0) if number else expected, weight, conv)
        # A second run: a margin that the first one left would hide one that is not filled.
        for _ in range(2):
            [found] = model.run({"x": x}).values()
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
        [other] = model.with_threads(2).run({"x": x}).values()
        assert np.array_equal(found, other)
