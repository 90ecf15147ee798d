"""How far arrays are from what they should be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Difference:
    """The largest difference between two arrays of one shape."""

    error: float
    """As a share of the largest finite value expected; infinite where one is NaN or infinite and the other is not."""
    place: tuple[int, ...]
    """Index of the element that is furthest off."""
    found: float
    expected: float

    def __str__(self) -> str:
        return f"at {list(self.place)} {self.found:.6g}, expected {self.expected:.6g}"


NONE = Difference(0.0, (), 0.0, 0.0)


def difference(found: np.ndarray, expected: np.ndarray, *, steps: float = 0.0) -> Difference:
    """
    Compares `found` with `expected`, of any dtypes; equal infinities, and NaN in both, are no difference.

    Differences up to `steps` count as none: those of rounding to integers, where a sum a little off falls to the other
    side. Arrays of other shapes are infinitely different.
    """
    if found.shape != expected.shape:
        return Difference(np.inf, (), np.nan, np.nan)
    if found.size == 0:
        return NONE
    a, b = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        off = np.where(same, 0.0, np.where(finite, np.abs(a - b), np.inf))
    off[off <= steps] = 0.0
    place = np.unravel_index(int(np.argmax(off)), off.shape)
    worst = float(off[place])
    if worst == 0.0:
        return NONE
    scale = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
    share = worst / scale if scale else np.inf
    return Difference(share, tuple(map(int, place)), float(a[place]), float(b[place]))


def same_values(found: np.ndarray, expected: np.ndarray, bound: float) -> bool:
    """Whether the arrays hold the same values up to `bound`, in whatever shape and order, as layouts change them."""
    if found.size != expected.size:
        return False
    if found.shape == expected.shape and difference(found, expected).error <= bound:
        return True
    return difference(np.sort(found, axis=None), np.sort(expected, axis=None)).error <= bound
