"""Unique against lists of Python numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.unit.operators.helper import check, one_node

NAN = float("nan")


def key(value: object) -> tuple[bool, float]:
    """NaN is equal to NaN, and larger than all numbers."""
    number = float(value)  # type: ignore[arg-type]
    return (True, 0.0) if number != number else (False, number)


def expected(x: np.ndarray, axis: int | None, ordered: bool) -> list[np.ndarray]:
    rows = [np.asarray(row) for row in (x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0))]
    keys = [tuple(key(value) for value in row.reshape(-1)) for row in rows]
    first: dict[tuple[tuple[bool, float], ...], int] = {}
    for place, name in enumerate(keys):
        first.setdefault(name, place)
    names = sorted(first) if ordered else list(first)
    places = [first[name] for name in names]
    numbers = ([names.index(name) for name in keys], [keys.count(name) for name in names])
    y = x.reshape(-1)[places] if axis is None else np.take(x, places, axis)
    return [y, *(np.array(part, np.int64).reshape(-1) for part in (places, *numbers))]


def check_one(x: np.ndarray, axis: int | None = None, levels: tuple[int, ...] = (0, 2)) -> None:
    for ordered in (1, 0):
        given = {} if axis is None else {"axis": axis}
        wanted = expected(x, axis, bool(ordered))
        for symbolic in (False, True):
            proto, feeds = one_node("Unique", [x], outputs=4, sorted=ordered, symbolic=symbolic, **given)
            check(proto, feeds, wanted, levels=levels)


@pytest.mark.parametrize(
    "dtype",
    [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.bool_, np.int8, np.int64, np.uint8, np.uint64],
    ids=lambda dtype: np.dtype(dtype).name,
)
def test_elements(dtype: type):
    x = np.random.default_rng(1).integers(0, 9, (4, 7)).astype(dtype)
    if np.dtype(dtype).kind in "iu":
        x[0, :2], x[3, 5:] = np.iinfo(dtype).min, np.iinfo(dtype).max
    check_one(x, levels=(2,))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_slices(axis: int):
    x = np.random.default_rng(2).integers(0, 2, (6, 3, 2)).astype(np.float32)
    check_one(x, axis)


def test_rows_that_differ_at_the_end_or_the_start():
    x = np.array([[2, 1, 1], [1, 1, 2], [2, 1, 0], [1, 1, 2], [1, 2, 0]], np.int32)
    check_one(x, 0)


def test_signed_zeros_and_nan():
    x = np.array([0.0, NAN, -0.0, 1.0, NAN, -np.inf, 0.0, np.inf], np.float32)
    check_one(x)
    check_one(np.stack([x, x[::-1]], 1), 0)


def test_few_and_none():
    check_one(np.array(5.0, np.float32))
    check_one(np.array([3, 3, 3]))
    check_one(np.zeros((0,), np.float32))
    check_one(np.zeros((2, 0), np.float32))
    check_one(np.zeros((3, 0), np.float32), 0)
    check_one(np.zeros((0, 3), np.float32), 0)


def test_only_the_elements():
    x = np.array([2, 1, 1, 3], np.int64)
    check(*one_node("Unique", [x]), [np.array([1, 2, 3])])
