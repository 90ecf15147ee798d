"""Reductions over any axes on one thread; against numpy."""

from itertools import combinations

import numpy as np
import pytest

import aicc

SHAPE = (3, 5, 35, 67)
AXES = [axes for count in range(1, 5) for axes in combinations(range(4), count)]


@pytest.mark.parametrize("axes", AXES)
def test_mean(axes: tuple[int, ...]):
    source = f"tensor<{'x'.join(map(str, SHAPE))}xf32>"
    kept = [size for axis, size in enumerate(SHAPE) if axis not in axes]
    target = f"tensor<{''.join(f'{size}x' for size in kept)}f32>"
    model = aicc.compile(
        f"""
        func.func @main(%x: {source}) -> {target} {{
          %m = graph.reduce_mean %x {{axes = {list(axes)}}} : {source} -> {target}
          func.return %m : {target}
        }}
        """,
        threads=1,
        cache=False,
    )
    x = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
    (result,) = model.run({"input0": x}).values()
    np.testing.assert_allclose(result, x.astype(np.float64).mean(axes), rtol=1e-4, atol=1e-5)
