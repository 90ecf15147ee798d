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


@pytest.mark.parametrize("channels", [8, 32, 100, 256])
def test_means_of_images_channels_last(channels: int):
    """Any number of images; threads change no bit."""
    source = f"tensor<?x9x7x{channels}xf32, #graph.dims<N>>"
    target = f"tensor<?x{channels}xf32, #graph.dims<N>>"
    text = f"""
        func.func @main(%x: {source}) -> {target} {{
          %m = graph.reduce_mean %x {{axes = [1, 2]}} : {source} -> {target}
          func.return %m : {target}
        }}
        """
    models = [aicc.compile(text, threads=threads, cache=False) for threads in (1, 2)]
    for images in (1, 2, 3, 7):
        x = np.random.default_rng(images).standard_normal((images, 9, 7, channels), np.float32)
        first, second = (next(iter(model.run({"input0": x}).values())) for model in models)
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, x.astype(np.float64).mean((1, 2)), rtol=1e-4, atol=1e-5)
