"""Axes of tensors: the one place where negative ones are counted from the end, and where they are checked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import rank_of


def normalized_axis(axis: int, type: Attribute) -> int:
    """`axis` of a tensor type, counted from the front; out of bounds it stays so, for the verifier to find."""
    return axis + rank_of(type) if axis < 0 else axis


def normalized_axes(axes: Sequence[int], type: Attribute) -> tuple[int, ...]:
    """All `axes` counted from the front, in ascending order."""
    return tuple(sorted(normalized_axis(axis, type) for axis in axes))


def check_axis(axis: int, rank: int, what: str = "axis") -> None:
    """Raises VerifyException unless `0 <= axis < rank`."""
    if not 0 <= axis < rank:
        expected = f"expected 0 to {rank - 1} for rank {rank}" if rank else "but the operand has rank 0"
        raise VerifyException(f"{what} is {axis}, {expected}")


def check_axes(axes: Sequence[int], rank: int) -> None:
    """Raises VerifyException unless `axes` are ascending, each once, and in bounds."""
    for axis in axes:
        check_axis(axis, rank, "one of the axes")
    if any(a >= b for a, b in pairwise(axes)):
        raise VerifyException(f"axes are {list(axes)}, expected them ascending and each only once")
