"""Pooling operators against loops over windows in plain numpy."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

import aicc
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import model, run_module

RNG = np.random.default_rng(5)


def windows(shape, kernel, strides, pads, dilations, ceil_mode):
    """For each output position over space, the positions of the taps inside."""
    counts = []
    for size, k, s, low, high, d in zip(
        shape, kernel, strides, pads[: len(kernel)], pads[len(kernel) :], dilations, strict=True
    ):
        slack = size + low + high - ((k - 1) * d + 1)
        count = (-(-slack // s) if ceil_mode else slack // s) + 1
        counts.append(count - (ceil_mode and (count - 1) * s >= size + low))
    for place in itertools.product(*map(range, counts)):
        taps = []
        for tap in itertools.product(*map(range, kernel)):
            at = tuple(
                o * s + k * d - low
                for o, s, k, d, low in zip(place, strides, tap, dilations, pads[: len(kernel)], strict=True)
            )
            if all(0 <= a < size for a, size in zip(at, shape, strict=True)):
                taps.append(at)
        yield place, taps, tuple(counts)


def pooled(x, reduce, dtype, kernel, strides, pads, dilations, ceil_mode):
    """`reduce(plane, taps)` of every window."""
    result = None
    for place, taps, counts in windows(x.shape[2:], kernel, strides, pads, dilations, ceil_mode):
        if result is None:
            result = np.zeros((*x.shape[:2], *counts), dtype)
        for n, c in np.ndindex(*x.shape[:2]):
            result[(n, c, *place)] = reduce(x, (n, c), taps)
    return result


def run(node, arrays, opset=22, outputs=("y",), shapes=None):
    """In numpy and compiled at both levels, which must agree."""
    inputs = {f"x{i}": (array.dtype, (shapes or {}).get(i, array.shape)) for i, array in enumerate(arrays)}
    made = model([node], inputs, list(outputs), opset)
    feeds = dict(zip(inputs, arrays, strict=True))
    meant = run_module(import_onnx(made), feeds)
    for opt_level in (0, 2):
        found = aicc.compile(made, opt_level=opt_level, cache=False).run(feeds)
        for a, b in zip(found.values(), meant, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol=1e-5, atol=1e-6)
    return meant


WINDOWS = [
    {"kernel": (2, 3), "strides": (1, 2), "pads": (0, 1, 1, 0), "dilations": (1, 1), "ceil_mode": False},
    {"kernel": (3, 2), "strides": (2, 2), "pads": (1, 1, 0, 1), "dilations": (2, 1), "ceil_mode": True},
    {"kernel": (6, 7), "strides": (6, 7), "pads": (0, 0, 0, 0), "dilations": (1, 1), "ceil_mode": False},
    {"kernel": (2,), "strides": (3,), "pads": (0, 1), "dilations": (1,), "ceil_mode": True},
    {"kernel": (2, 1, 2), "strides": (1, 1, 2), "pads": (1, 0, 0, 0, 0, 1), "dilations": (1, 1, 1), "ceil_mode": False},
]


def node_of(op, inputs, outputs, window, **attributes):
    named = {name: window[name] for name in ("strides", "pads", "dilations")}
    given = dict(kernel_shape=window["kernel"], ceil_mode=int(window["ceil_mode"]), **named, **attributes)
    return helper.make_node(op, inputs, outputs, "n", **given)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16], ids=lambda t: t.__name__)
def test_lp_pool(window, p, dtype):
    x = RNG.normal(size=(2, 2, 6, 7, 5)[: 2 + len(window["kernel"])]).astype(dtype)
    node = node_of("LpPool", ["x0"], ["y"], window, p=p)
    (found,) = run(node, [x])

    def norm(x, plane, taps):
        return sum(abs(float(x[(*plane, *tap)])) ** p for tap in taps) ** (1 / p)

    expected = pooled(x, norm, np.float64, **window)
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-3, "bfloat16": 1e-2}[np.dtype(dtype).name]
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance, atol=tolerance / 10)


def test_lp_pool_of_a_symbolic_size_and_of_everything():
    x = RNG.normal(size=(1, 3, 5, 4)).astype(np.float32)
    node = helper.make_node("LpPool", ["x0"], ["y"], "n", kernel_shape=[2, 2], auto_pad="SAME_UPPER")
    (found,) = run(node, [x], shapes={0: ("N", 3, "H", "W")})
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (0, 1), (0, 1))) ** 2
    expected = np.sqrt(padded[..., :-1, :-1] + padded[..., 1:, :-1] + padded[..., :-1, 1:] + padded[..., 1:, 1:])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    (found,) = run(helper.make_node("GlobalLpPool", ["x0"], ["y"], "n", p=3), [x], shapes={0: ("N", 3, "H", "W")})
    expected = (np.abs(x.astype(np.float64)) ** 3).sum(axis=(2, 3), keepdims=True) ** (1 / 3)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(ModelError, match="p is 0, expected a positive number"):
        import_onnx(model([helper.make_node("GlobalLpPool", ["x"], ["y"], p=0)], {"x": (np.float32, (1, 1, 2))}, ["y"]))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("column_major", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint8], ids=lambda t: t.__name__)
def test_places_of_maxima(window, column_major, dtype):
    """Few different values, so that there are ties: the first in the order of the window's taps wins."""
    shape = (2, 2, 6, 7, 5)[: 2 + len(window["kernel"])]
    x = RNG.integers(0, 4, shape).astype(dtype)
    if dtype is not np.uint8:
        x = -x
    if dtype is np.float32:
        x.flat[[3, 17]] = np.nan
        x.flat[[5, 9]] = -np.inf
    node = node_of("MaxPool", ["x0"], ["y", "i"], window, storage_order=column_major)
    values, places = run(node, [x], outputs=("y", "i"), shapes={0: ("N", *shape[1:-1], "W")})
    space = shape[2:]

    def place(x, plane, taps):
        best = next((t for t in taps if np.isnan(x[(*plane, *t)])), None) or max(taps, key=lambda t: x[(*plane, *t)])
        strides = [int(np.prod(space[:i] if column_major else space[i + 1 :])) for i in range(len(space))]
        within = sum(a * s for a, s in zip(best, strides, strict=True))
        return (plane[0] * shape[1] + plane[1]) * int(np.prod(space)) + within

    if all(taps for _, taps, _ in windows(space, **window)):
        np.testing.assert_array_equal(places, pooled(x, place, np.int64, **window))
        if not column_major:
            np.testing.assert_array_equal(values, x.reshape(-1)[places])


def test_max_unpool_puts_maxima_back():
    x = RNG.permutation(48).reshape(1, 2, 4, 6).astype(np.float32)
    pool = helper.make_node("MaxPool", ["x"], ["p", "i"], kernel_shape=[2, 2], strides=[2, 2])
    unpool = helper.make_node("MaxUnpool", ["p", "i"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    made = model([pool, unpool], {"x": (np.float32, ("N", 2, 4, 6))}, ["y"], 22)
    (found,) = aicc.compile(made, cache=False)(x)
    expected = np.zeros_like(x)
    for n, c, h, w in np.ndindex(1, 2, 2, 3):
        block = x[n, c, 2 * h : 2 * h + 2, 2 * w : 2 * w + 2]
        a, b = np.unravel_index(block.argmax(), (2, 2))
        expected[n, c, 2 * h + a, 2 * w + b] = block.max()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("known", [True, False])
def test_max_unpool_to_a_larger_shape(known):
    x, places = np.array([[[[5, 6], [7, 8]]]], np.float32), np.array([[[[5, 7], [13, 15]]]])
    shape = np.array([1, 1, 5, 6])
    node = helper.make_node("MaxUnpool", ["x", "i", "s"], ["y"], kernel_shape=[2, 2], strides=[2, 2])
    inputs = {"x": (np.float32, x.shape), "i": (np.int64, x.shape)}
    feeds = {"x": x, "i": places}
    if known:
        made = model([node], inputs, ["y"], 22, {"s": shape})
    else:
        made, feeds["s"] = model([node], inputs | {"s": (np.int64, (4,))}, ["y"], 22), shape
    expected = np.zeros((1, 1, 5, 6), np.float32)
    expected[0, 0, [1, 1, 3, 3], [1, 3, 1, 3]] = x.reshape(-1)
    np.testing.assert_array_equal(aicc.compile(made, cache=False).run(feeds)["y"], expected)


@pytest.mark.parametrize("level", [0, 2])
def test_windows_as_large_as_their_padding(level: int):
    """What they take is the time that their elements need, not that of the padding."""
    half, x = 1 << 39, np.random.default_rng(5).standard_normal((1, 2, 8)).astype(np.float32)
    window = {"kernel_shape": [2 * half], "pads": [half, half]}
    nodes = [
        helper.make_node("MaxPool", ["x"], ["a", "i"], **window),
        helper.make_node("AveragePool", ["x"], ["b"], count_include_pad=0, **window),
        helper.make_node("AveragePool", ["x"], ["c"], count_include_pad=1, **window),
    ]
    compiled = aicc.compile(model(nodes, {"x": (np.float32, x.shape)}, list("aibc")), opt_level=level, cache=False)
    largest, places, mean, share = compiled.run({"x": x}).values()
    # Window o is from element o - half to o + half - 1, among which are all that there are.
    np.testing.assert_array_equal(largest, np.repeat(x.max(2, keepdims=True), 9, 2))
    np.testing.assert_array_equal(places, np.repeat(x.argmax(2)[..., None] + [[0], [8]], 9, 2))
    np.testing.assert_allclose(mean, np.repeat(x.mean(2, keepdims=True), 9, 2), rtol=1e-5)
    np.testing.assert_allclose(share, np.repeat(x.sum(2, keepdims=True) / (2 * half), 9, 2), rtol=1e-5)
