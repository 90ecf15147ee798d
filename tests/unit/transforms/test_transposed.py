"""Transposes whose lines share places in the cache, and those of small images: numpy's elements, on any threads."""

from typing import Any

import numpy as np
import pytest

import aicc
from aicc.tools.driver_api import parse_module

CASES = {
    "rows a power of two of bytes": ((128, 1024), (1, 0)),
    "parts of three blocks": ((48, 2048), (1, 0)),
    "batch": ((3, 64, 1024), (0, 2, 1)),
    "outermost to innermost": ((64, 64, 64), (2, 1, 0)),
    "rows and columns left over": ((40, 1024), (1, 0)),
    "images of 7x7": ((2, 7, 7, 1024), (0, 3, 1, 2)),
    "images of 14x14": ((2, 14, 14, 80), (0, 3, 1, 2)),
    "images of 28x28": ((1, 28, 28, 48), (0, 3, 1, 2)),
    "images of 64x64": ((1, 32, 64, 64), (0, 2, 3, 1)),
    "rows of one pixel": ((5, 9, 1, 32), (0, 3, 1, 2)),
}


@pytest.mark.parametrize(("shape", "order"), CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("f64", np.float64), ("i8", np.int8)])
def test_elements(shape: tuple[int, ...], order: tuple[int, ...], name: str, dtype: type[np.generic]) -> None:
    result = tuple(shape[axis] for axis in order)
    x, r, row = (f"tensor<{'x'.join(map(str, dims))}x{name}>" for dims in (shape, result, result[-1:]))
    text = f"""
func.func @main(%x: {x}, %b: {row}) -> {r} {{
  %t = graph.transpose %x {{permutation = {list(order)}}} : {x} -> {r}
  %s = graph.add %t, %b : {r}, {row} -> {r}
  func.return %s : {r}
}}
"""
    rng = np.random.default_rng(0)
    value: np.ndarray[Any, np.dtype[Any]] = rng.integers(-50, 50, shape).astype(dtype)
    bias: np.ndarray[Any, np.dtype[Any]] = rng.integers(-50, 50, result[-1]).astype(dtype)
    model = aicc.compile(parse_module(text), threads=1)
    for found in (model(value, bias)[0], model.with_threads(2)(value, bias)[0]):
        assert np.array_equal(found, value.transpose(order) + bias)
