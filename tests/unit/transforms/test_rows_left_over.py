"""Products of an unknown number of rows: every number that is left over of tiles, one alone with the last full tile."""

import numpy as np
import pytest
from onnx.helper import make_node

import aicc
from tests.unit.frontends.onnx.helper import model

ROWS = range(24)


@pytest.mark.parametrize("columns", [64, 100, 128])
@pytest.mark.parametrize("constant", [True, False])
def test_floats(columns: int, constant: bool) -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((31, columns), dtype=np.float32)
    given = {"x": (np.float32, ["N", 31])} | ({} if constant else {"w": (np.float32, w.shape)})
    proto = model([make_node("MatMul", ["x", "w"], ["y"])], given, ["y"], 17, {"w": w} if constant else {})
    compiled = aicc.compile(proto, threads=1)
    for rows in ROWS:
        x = rng.standard_normal((rows, 31), dtype=np.float32)
        (found,) = compiled(*([x] if constant else [x, w]))
        np.testing.assert_allclose(found, x.astype(np.float64) @ w.astype(np.float64), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", [64, 100, 384])
def test_bytes(columns: int) -> None:
    rng = np.random.default_rng(0)
    w = rng.integers(-128, 128, (96, columns)).astype(np.int8)
    node = make_node("MatMulInteger", ["x", "w"], ["y"])
    compiled = aicc.compile(model([node], {"x": (np.uint8, ["N", 96])}, ["y"], 17, {"w": w}), threads=1)
    for rows in ROWS:
        x = rng.integers(0, 256, (rows, 96)).astype(np.uint8)
        np.testing.assert_array_equal(compiled(x)[0], x.astype(np.int32) @ w.astype(np.int32))
