"""Softmax, norms and reductions along short rows of open and known lengths, several rows at once; against numpy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import aicc

Array = np.ndarray
LENGTHS = (0, 1, 2, 5, 15, 16, 17, 33, 72, 130)


def _softmax(x: Array) -> Array:
    wide = x.astype(np.float64)
    if not x.shape[-1]:
        return wide
    powers = np.exp(wide - wide.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _log_softmax(x: Array) -> Array:
    wide = x.astype(np.float64)
    if not x.shape[-1]:
        return wide
    moved = wide - wide.max(-1, keepdims=True)
    return moved - np.log(np.exp(moved).sum(-1, keepdims=True))


def _reduced(function: Callable[..., Array], **options: float) -> Callable[[Array], Array]:
    return lambda x: function(x.astype(np.float64), -1, keepdims=True, **options)


OPS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "softmax": ("graph.softmax %x {axis = 3}", _softmax),
    "log_softmax": ("graph.log_softmax %x {axis = 3}", _log_softmax),
    "sum": ("graph.reduce_sum %x {axes = [3], keepdims}", _reduced(np.sum)),
    "max": ("graph.reduce_max %x {axes = [3], keepdims}", _reduced(np.max, initial=-np.inf)),
    "square": ("graph.reduce_sum_square %x {axes = [3], keepdims}", lambda x: _reduced(np.sum)(np.square(x))),
}


@cache
def _model(name: str, batch: int | str, rows: int | str, length: int | str, threads: int) -> aicc.Model:
    op, _ = OPS[name]
    last = length if "softmax" in name else 1
    source, target = (_type(batch, rows, size) for size in (length, last))
    return aicc.compile(
        f"""
        func.func @main(%x: {source}) -> {target} {{
          %r = {op} : {source} -> {target}
          func.return %r : {target}
        }}
        """,
        threads=threads,
        cache=False,
    )


def _type(*sizes: int | str) -> str:
    dims = (sizes[0], 3, *sizes[1:])
    names = [size for size in dims if isinstance(size, str)]
    text = "x".join("?" if isinstance(size, str) else str(size) for size in dims)
    encoding = f", #graph.dims<{', '.join(names)}>" if names else ""
    return f"tensor<{text}xf32{encoding}>"


def _run(model: aicc.Model, x: Array) -> Array:
    return next(iter(model.run({"input0": x}).values()))


def _check(name: str, x: Array, *models: aicc.Model) -> None:
    with np.errstate(invalid="ignore"):
        expected = OPS[name][1](x)
    first, *others = (_run(model, x) for model in models)
    np.testing.assert_allclose(first, expected, rtol=2e-5, atol=2e-6)
    for other in others:
        np.testing.assert_array_equal(first, other)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("rows", [1, 2, 7])
def test_open_lengths(name: str, rows: int):
    """Any number of rows of any length; threads change no bit."""
    models = [_model(name, "N", "M", "S", threads) for threads in (1, 2)]
    for length in LENGTHS:
        x = 3 * np.random.default_rng(length).standard_normal((2, 3, rows, length), np.float32)
        _check(name, x, *models)


@pytest.mark.parametrize("name", ["softmax", "sum"])
@pytest.mark.parametrize("length", [2, 5, 16, 23, 72])
def test_known_lengths(name: str, length: int):
    x = np.random.default_rng(length).standard_normal((2, 3, 7, length), np.float32)
    _check(name, x, _model(name, 2, 7, length, 1))


@pytest.mark.parametrize("length", [5, 16, 40])
def test_special_numbers_stay_in_their_row(length: int):
    x = np.random.default_rng(0).standard_normal((2, 3, 7, length), np.float32)
    x[0, 0, 1, length // 2] = np.nan
    x[0, 1, 2] = -np.inf
    x[1, 2, 3, 0] = np.inf
    x[1, 2, 4, 1:] = -np.inf
    x[1, 2, 5] = 1e38
    for name in ("softmax", "max"):
        _check(name, x, _model(name, "N", "M", "S", 1))
