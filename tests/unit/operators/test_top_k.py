"""TopK: order, ties, NaN and signed zeros, for every element type, along any axis."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx.helper import make_node

import aicc
from aicc.frontends.errors import ModelError
from tests.unit.operators.helper import check, model, one_node

DTYPES = [
    *(np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.bool_),
    *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
]


def expected(x: np.ndarray, k: int, axis: int, largest: bool) -> tuple[np.ndarray, np.ndarray]:
    """By sorting lists of Python numbers: NaN is the largest, the lower index comes first."""
    rows = np.moveaxis(x, axis, -1)
    indices = np.empty((*rows.shape[:-1], k), np.int64)
    for place in np.ndindex(rows.shape[:-1]):
        row = [value.item() if hasattr(value, "item") else float(value) for value in rows[place]]
        keys = [(1, 0) if value != value else (0, value) for value in row]
        order = sorted(range(len(row)), key=lambda i: keys[i])
        if largest:
            order = sorted(range(len(row)), key=lambda i: keys[i], reverse=True)  # stable as well
        indices[place] = order[:k]
    indices = np.moveaxis(indices, -1, axis)
    return np.take_along_axis(x, indices, axis), indices


def sample(dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(7)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        x.reshape(-1)[::4] = info.max
        x.reshape(-1)[1::4] = info.min
        return x
    x = (rng.integers(-9, 9, shape) / 4).astype(dtype)
    if dtype is not np.bool_:
        flat = x.reshape(-1)
        flat[::7], flat[1::9], flat[2::11], flat[3::13], flat[4::17] = np.nan, 0.0, -0.0, np.inf, -np.inf
    return x


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_every_element_type(dtype):
    x = sample(dtype, (3, 33))
    for largest in (True, False):
        proto, feeds = one_node("TopK", [x, np.int64([12])], constant=[1], outputs=2, largest=int(largest))
        check(proto, feeds, expected(x, 12, 1, largest), levels=[2])


@pytest.mark.parametrize(
    ("shape", "axis", "k"), [((9, 4, 3), 0, 9), ((2, 70, 3), 1, 1), ((600,), 0, 600), ((3, 1), 1, 1)]
)
def test_shapes(shape, axis, k):
    x = sample(np.float32, shape)
    for symbolic in (False, True):
        proto, feeds = one_node(
            "TopK", [x, np.int64([k])], constant=[1], outputs=2, axis=axis - len(shape), symbolic=symbolic
        )
        check(proto, feeds, expected(x, k, axis, True))


def test_old_versions_and_nothing_asked_for():
    x = sample(np.float32, (4, 6))
    check(*one_node("TopK", [x], opset=9, outputs=2, k=2, axis=0), expected(x, 2, 0, True), levels=[0])
    proto, feeds = one_node("TopK", [x, np.int64([0])], constant=[1], outputs=2, sorted=0)
    check(proto, feeds, expected(x, 0, 1, True))


def test_more_than_there_is():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(ModelError, match=r"node 'n' \(TopK.*k is 4, expected 0 to the size 3 of axis 1"):
        aicc.compile(one_node("TopK", [x, np.int64([4])], constant=[1], outputs=2)[0])
    proto, feeds = one_node("TopK", [x, np.int64([4])], constant=[1], outputs=2, symbolic=True)
    compiled = aicc.compile(proto, opt_level=0)
    with pytest.raises(ValueError, match="k is 4, expected at most the size s3 of axis 1"):
        compiled.run(feeds)


def test_k_from_a_shape():
    nodes = [make_node("Shape", ["z"], ["k"]), make_node("TopK", ["x", "k"], ["v", "i"], "n")]
    proto = model(nodes, {"x": (np.float32, ["N"]), "z": (np.float32, ["K"])}, ["v", "i"], 24)
    x = sample(np.float32, (50,))
    check(proto, {"x": x, "z": np.zeros(20, np.float32)}, expected(x, 20, 0, True))
