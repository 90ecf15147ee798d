"""f16 and bf16: computed in f32, rounded once per operator at O0 and per stored value at O2, accurate sums."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx.helper import make_node

import aicc
from tests.unit.operators.helper import model

RNG = np.random.default_rng(4)
HALVES = [np.float16, ml_dtypes.bfloat16]
EPSILON = {np.float16: 2.0**-11, ml_dtypes.bfloat16: 2.0**-8}


def halves(dtype, *shape):
    return RNG.standard_normal(shape).astype(dtype)


def results(proto, feeds, level):
    (found,) = aicc.compile(proto, opt_level=level, threads=1).run(feeds).values()
    return found


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("constant", [False, True])
def test_products_are_rounded_once(dtype, constant):
    x, w = halves(dtype, 37, 70), halves(dtype, 70, 41)
    inputs = {"x": (dtype, ["N", 70])} | ({} if constant else {"w": (dtype, w.shape)})
    proto = model([make_node("MatMul", ["x", "w"], ["y"])], inputs, ["y"], 22, {"w": w} if constant else {})
    exact = x.astype(np.float64) @ w.astype(np.float64)
    size = np.abs(x.astype(np.float64)) @ np.abs(w.astype(np.float64))
    for level in (0, 2):
        found = results(proto, {"x": x} | ({} if constant else {"w": w}), level)
        assert found.dtype == dtype
        # Half a unit of the result, and f32 sums of 70 terms.
        assert (np.abs(found.astype(np.float64) - exact) <= EPSILON[dtype] * np.abs(exact) + 70 * 2.0**-24 * size).all()


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize(("kernel", "size"), [(3, 20), (1, 9)])
def test_convolutions(dtype, kernel, size):
    x, w, b = halves(dtype, 1, 16, size, size), halves(dtype, 24, 16, kernel, kernel), halves(dtype, 24)
    pads = [kernel // 2] * 4
    proto = model(
        [make_node("Conv", ["x", "w", "b"], ["y"], pads=pads)], {"x": (dtype, x.shape)}, ["y"], 22, {"w": w, "b": b}
    )
    padded = np.pad(x.astype(np.float64), [(0, 0), (0, 0), (pads[0],) * 2, (pads[0],) * 2])
    exact = np.zeros((1, 24, size, size)) + b.astype(np.float64)[:, None, None]
    total = np.abs(exact)
    for i, j in np.ndindex(kernel, kernel):
        part, taps = padded[:, :, i : i + size, j : j + size], w[:, :, i, j].astype(np.float64)
        exact += np.einsum("nchw,oc->nohw", part, taps)
        total += np.einsum("nchw,oc->nohw", np.abs(part), np.abs(taps))
    for level in (0, 2):
        found = results(proto, {"x": x}, level).astype(np.float64)
        assert (np.abs(found - exact) <= EPSILON[dtype] * np.abs(exact) + 1e-5 * total).all()


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: np.dtype(dtype).name)
def test_sums_of_many_terms(dtype):
    x = np.full((1, 5000), 1.0, dtype)
    proto = model([make_node("ReduceSum", ["x"], ["y"], keepdims=0)], {"x": (dtype, x.shape)}, ["y"], 13)
    for level in (0, 2):
        assert float(results(proto, {"x": x}, level)) == float(dtype(5000))


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: np.dtype(dtype).name)
def test_elementwise_chains_round_after_each_operator(dtype):
    """What the model spells out element by element gives the same bits at every level."""
    x, y = halves(dtype, 77), halves(dtype, 77)
    nodes = [make_node("Mul", ["x", "y"], ["a"]), make_node("Add", ["a", "x"], ["b"]), make_node("Relu", ["b"], ["z"])]
    proto = model(nodes, {"x": (dtype, x.shape), "y": (dtype, y.shape)}, ["z"], 22)
    wide = x.astype(np.float32)
    product = (wide * y.astype(np.float32)).astype(dtype).astype(np.float32)
    expected = np.maximum((product + wide).astype(dtype), dtype(0))
    for level in (0, 2):
        np.testing.assert_array_equal(results(proto, {"x": x, "y": y}, level), expected)


@pytest.mark.parametrize("dtype", HALVES, ids=lambda dtype: np.dtype(dtype).name)
def test_a_part_of_a_constant_of_symbolic_size(dtype):
    """Its conversion needs the size, so it cannot be done once and for all."""
    x, w = halves(dtype, 40, 9), halves(dtype, 64, 20)
    nodes = [
        make_node("Shape", ["x"], ["n"], start=1, end=2),
        make_node("Slice", ["w", "zero", "n"], ["v"]),
        make_node("MatMul", ["x", "v"], ["y"]),
    ]
    proto = model(nodes, {"x": (dtype, [40, "K"])}, ["y"], 17, {"w": w, "zero": np.int64([0])})
    exact = x.astype(np.float64) @ w[:9].astype(np.float64)
    for level in (0, 2):
        np.testing.assert_allclose(results(proto, {"x": x}, level).astype(np.float64), exact, rtol=0.01, atol=0.05)
