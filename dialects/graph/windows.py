"""
Sliding windows: the one place that says how many there are, where they lie, and what `auto_pad` means.

Along one axis of `size` elements, window `o` covers the positions `o*stride + k*dilation - low` for `0 <= k < kernel`;
those outside `[0, size)` are padding, of which there are `low` elements before and `high` after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ceildiv, dim_max, dim_min, floordiv, provably_at_least
from aicc.dialects.graph.interfaces import Check


@dataclass(frozen=True)
class WindowAxis:
    """The windows along one axis."""

    size: Dim
    kernel: Dim
    stride: int = 1
    low: Dim = 0
    high: Dim = 0
    dilation: int = 1
    ceil_mode: bool = False
    """Whether a last window may reach beyond the padding at the end, if it starts before it."""

    @property
    def span(self) -> Dim:
        """Elements from the first tap of a window to its last."""
        return (self.kernel - 1) * self.dilation + 1

    @property
    def _slack(self) -> Dim:
        """How far the first window can move before it leaves the padded axis."""
        return self.size + self.low + self.high - self.span

    def count(self) -> Dim:
        """
        The number of windows: `floor((size + low + high - span) / stride) + 1`.

        With `ceil_mode` the division is rounded up, but windows that start in the padding at the end (at or beyond
        `size + low`) do not exist.
        """
        if not self.ceil_mode:
            return floordiv(self._slack, self.stride) + 1
        return dim_min(ceildiv(self._slack, self.stride) + 1, ceildiv(self.size + self.low, self.stride))

    def reaches_elements(self) -> bool:
        """Whether every window is certain to hold an element, and not padding alone."""
        if self.dilation != 1 or not provably_at_least(self.size, 1):
            return False
        # Rounded up, the last window starts within the axis or the padding before it.
        pads = (self.low,) if self.ceil_mode else (self.low, self.high)
        return all(provably_at_least(self.kernel - 1 - pad, 0) for pad in pads)

    def without_outer_taps(self) -> WindowAxis:
        """
        As many windows without the first and last taps that lie in the padding of every one; at least one tap is left.

        What is absurd in a kernel as large as its padding costs nothing then.
        """
        size, kernel, low, count = self.size, self.kernel, self.low, self.count()
        if not (isinstance(size, int) and isinstance(kernel, int) and isinstance(low, int) and isinstance(count, int)):
            return self
        first = max(-((low - (count - 1) * self.stride) // -self.dilation), 0)  # The first one inside the last window.
        last = min((size - 1 + low) // self.dilation, kernel - 1)  # And the last one inside the first.
        if count < 1 or (first == 0 and last == kernel - 1):
            return self
        if last < first:
            first = last = 0
        low -= first * self.dilation
        end = (count - 1) * self.stride + (last - first) * self.dilation + 1
        return replace(self, kernel=last - first + 1, low=low, high=end - size - low, ceil_mode=False)

    def check(self, axis: int) -> Check | None:
        """That at least the place for no window at all is there; None if that is certain."""
        count = self.count()
        if provably_at_least(count, 0):
            return None
        text = (
            f"a window of {self.span} does not fit axis {axis} of size {self.size} padded by {self.low} and {self.high}"
        )
        return Check(dim_max(count, 0), count, text)


def same_pads(size: Dim, kernel: Dim, stride: int, dilation: int, *, upper: bool) -> tuple[Dim, Dim]:
    """
    The padding for which there are `ceil(size / stride)` windows, none of them without need.

    The odd element goes to the end if `upper` (`SAME_UPPER`), else to the start (`SAME_LOWER`).
    """
    span = (kernel - 1) * dilation + 1
    total = dim_max((ceildiv(size, stride) - 1) * stride + span - size, 0)
    small = floordiv(total, 2)
    return (small, total - small) if upper else (total - small, small)


def window_axes(
    sizes: Sequence[Dim],
    kernel: Sequence[Dim],
    strides: Sequence[int],
    pads: Sequence[Dim],
    dilations: Sequence[int],
    ceil_mode: bool = False,
) -> tuple[WindowAxis, ...]:
    """
    The windows along all axes; `pads` holds the padding before each axis, then that after each.

    Raises:
        VerifyException: if a list has the wrong length, or a number in it is out of range.
    """
    rank = len(sizes)
    for name, values, length in (
        ("kernel", kernel, rank),
        ("strides", strides, rank),
        ("pads", pads, 2 * rank),
        ("dilations", dilations, rank),
    ):
        if len(values) != length:
            raise VerifyException(f"{name} has {len(values)} entries, expected {length} for {rank} axes of space")
        least = 0 if name == "pads" else 1
        for i, value in enumerate(values):
            if isinstance(value, int) and value < least:
                raise VerifyException(f"{name}[{i}] is {value}, expected at least {least}")
    axes: list[WindowAxis] = []
    for i, size in enumerate(sizes):
        axis = WindowAxis(size, kernel[i], strides[i], pads[i], pads[rank + i], dilations[i], ceil_mode)
        count = axis.count()
        if isinstance(count, int) and count < 0:
            raise VerifyException(
                f"a window of {axis.span} does not fit an axis of size {size} padded by {axis.low} and {axis.high}"
            )
        axes.append(axis)
    return tuple(axes)


def windows_of(x: np.ndarray, axes: Sequence[WindowAxis], fill: float) -> np.ndarray:
    """
    The taps of all windows, `[batch, channel, window.., tap..]`, of `x: [batch, channel, space..]`.

    The sizes in `axes` must be integers. Taps in the padding (and beyond it) have the value `fill`.
    """
    counts, lows, needs, kernel = list[int](), list[int](), list[int](), list[int]()
    for axis in axes:
        count, low, taps, span = axis.count(), axis.low, axis.kernel, axis.span
        assert isinstance(count, int) and isinstance(low, int) and isinstance(taps, int) and isinstance(span, int)
        counts.append(count)
        lows.append(low)
        kernel.append(taps)
        needs.append(max((count - 1) * axis.stride + span, 0))
    if 0 in counts:
        return np.empty((*x.shape[:2], *counts, *kernel), x.dtype)
    # What the windows reach: padding before and after, or less than the whole axis.
    pads = [(0, 0), (0, 0)]
    for low, need, size in zip(lows, needs, x.shape[2:], strict=True):
        pads.append((low, max(need - low - size, 0)))
    padded = np.pad(x, pads, constant_values=x.dtype.type(fill)) if any(map(any, pads)) else x
    outer = [stride * axis.stride for stride, axis in zip(padded.strides[2:], axes, strict=True)]
    inner = [stride * axis.dilation for stride, axis in zip(padded.strides[2:], axes, strict=True)]
    shape = (*x.shape[:2], *counts, *kernel)
    return as_strided(padded, shape, (*padded.strides[:2], *outer, *inner), writeable=False)
