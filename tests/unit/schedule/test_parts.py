"""Reductions computed in parts: numpy's values, and the same bits on any number of threads."""

import numpy as np
import pytest

import aicc

REDUCTIONS = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
}


def compiled(op: str, shape: tuple[int, ...], axes: tuple[int, ...], element: str, threads: int) -> aicc.Model:
    source = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    kept = "".join(f"{size}x" for axis, size in enumerate(shape) if axis not in axes)
    text = f"""
        func.func @main(%x: {source}) -> tensor<{kept}{element}> {{
          %m = graph.{op} %x {{axes = {list(axes)}}} : {source} -> tensor<{kept}{element}>
          func.return %m : tensor<{kept}{element}>
        }}
        """
    return aicc.compile(text, threads=threads, cache=False)


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((1 << 21,), (0,)),
        ((3, 1021, 1024), (1, 2)),
        ((512, 2, 2048), (0, 2)),
        ((2, 999, 1001), (1, 2)),
    ],
)
def test_floats(op: str, shape: tuple[int, ...], axes: tuple[int, ...]):
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    if op == "reduce_prod":
        x = np.exp(x / np.sqrt(x.size)).astype(np.float32)
    one, two = (compiled(op, shape, axes, "f32", threads)(x)[0] for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one, REDUCTIONS[op](x.astype(np.float64), axis=axes), rtol=1e-5, atol=2e-3)


def test_nan_and_integers():
    shape = (1 << 20,)
    x = np.ones(shape, np.float32)
    x[700_001] = np.nan
    assert np.isnan(compiled("reduce_max", shape, (0,), "f32", 2)(x)[0])
    n = np.random.default_rng(0).integers(-(1 << 31), 1 << 31, shape).astype(np.int32)
    assert compiled("reduce_sum", shape, (0,), "i32", 2)(n)[0] == n.sum(dtype=np.int32)
    assert compiled("reduce_min", shape, (0,), "i32", 2)(n)[0] == n.min()
