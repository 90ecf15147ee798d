"""
Where the elements of a resized axis come from: places in the input, and the weights of the elements around them.

Worked out in f64, at once where sizes and scales are constants, and by ops where they are symbols or data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import f64
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MaxOp, MinOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, LeOp, LtOp
from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.functions import AbsOp, CeilOp, FloorOp
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.frontends.onnx.formulas import FoldedFormula

Numbers: TypeAlias = "SSAValue | np.ndarray"
"""f64, of rank 0 or with one entry per result index."""

NEAREST: Mapping[str, tuple[float, type[Operation]]] = {
    "ceil": (0.0, CeilOp),
    "floor": (0.0, FloorOp),
    "round_prefer_ceil": (0.5, FloorOp),
    "round_prefer_floor": (-0.5, CeilOp),
}
"""What is added to a place, and how the sum is rounded."""

OUTWARD = "outward"
"""The rounding of operator set 10: up where an axis shrinks, down where it grows."""

MOST_KNOWN = 1 << 16
"""Results along an axis up to which their places are constants."""

COORDINATES = (
    "align_corners",
    "asymmetric",
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
)


@dataclass(frozen=True)
class Axis:
    """An axis of `size` elements that gets `count`; `scale` is the ratio asked for, which need not be exact."""

    size: Dim
    count: Dim
    scale: Numbers
    start: Numbers | None = None
    """First and last place of the part that is resized, as shares of the axis (`tf_crop_and_resize`)."""
    end: Numbers | None = None


class Places:
    """The places of one axis."""

    def __init__(self, f: FoldedFormula, axis: Axis, coordinates: str):
        self.f = f
        self.axis = axis
        self.size = self.f.number(axis.size)
        self.last = f.fold(SubOp, self.size, 1.0)
        self.where = self._where(coordinates)

    def _indices(self) -> Numbers:
        count = self.axis.count
        if isinstance(count, int) and count <= MOST_KNOWN:
            return np.arange(count, dtype=np.float64)
        return self.f.places(count, 0, 1, f64)

    def _where(self, coordinates: str) -> Numbers:
        """The place of each result index (`coordinate_transformation_mode`)."""
        fold, axis, index = self.f.fold, self.axis, self._indices()
        if coordinates == "asymmetric":
            return fold(DivOp, index, axis.scale)
        if coordinates == "align_corners":
            # The length of the result is not rounded here where a scale is given.
            length = fold(SubOp, fold(MulOp, self.size, axis.scale), 1.0)
            return self._unless_single(fold(DivOp, fold(MulOp, index, self.last), length), 0.0)
        if coordinates == "tf_crop_and_resize":
            assert axis.start is not None and axis.end is not None
            part = fold(MulOp, fold(SubOp, axis.end, axis.start), self.last)
            first = fold(MulOp, axis.start, self.last)
            length = fold(SubOp, fold(MulOp, self.size, axis.scale), 1.0)
            steps = self._unless_single(fold(DivOp, fold(MulOp, index, part), length), fold(MulOp, part, 0.5))
            return fold(AddOp, first, steps)
        middle = fold(DivOp, fold(AddOp, index, 0.5), axis.scale)
        if coordinates == "tf_half_pixel_for_nn":
            return middle
        place = fold(SubOp, middle, 0.5)
        if coordinates == "pytorch_half_pixel":
            return self._unless_single(place, 0.0)
        if coordinates == "half_pixel_symmetric":
            ratio = fold(DivOp, self.f.number(axis.count), fold(MulOp, self.size, axis.scale))
            offset = fold(MulOp, fold(MulOp, self.size, 0.5), fold(SubOp, np.array(1.0), ratio))
            return fold(AddOp, place, offset)
        return place

    def _unless_single(self, places: Numbers, single: Numbers | float) -> Numbers:
        """`places`, or `single` if there is only one."""
        count = self.axis.count
        if isinstance(count, int):
            return self.f.fold(AddOp, np.zeros(1), single) if count == 1 else places
        return self.f.fold(WhereOp, self.f.fold(LeOp, self.f.number(count), 1.0), single, places)

    def inside(self, places: Numbers) -> Numbers:
        """Places moved to the nearest one on the axis."""
        return self.f.fold(MaxOp, self.f.fold(MinOp, places, self.last), 0.0)

    def is_outside(self, places: Numbers) -> Numbers:
        """Which places are not on the axis."""
        return self.f.fold(LtOp, np.array(0.0), self.f.fold(AbsOp, self.f.fold(SubOp, places, self.inside(places))))

    def nearest(self, rounding: str) -> Numbers:
        """The place of the one element that is taken for each index."""
        if rounding == OUTWARD:
            shrinks = self.f.fold(LtOp, self.axis.scale, 1.0)
            return self.f.fold(WhereOp, shrinks, self.nearest("ceil"), self.nearest("floor"))
        offset, op = NEAREST[rounding]
        return self.inside(self.f.fold(op, self.f.fold(AddOp, self.where, offset)))

    def taps(self, kernel: Kernel, *, exclude_outside: bool) -> tuple[Numbers, Numbers]:
        """The places of the elements around each index, and their weights: `[count, taps]`."""
        fold = self.f.fold
        low = fold(FloorOp, self.where)
        steps = kernel.steps()
        behind = fold(SubOp, self._column(self.where), self._column(low))
        weights = kernel.weights(fold(SubOp, steps, behind))
        places = fold(AddOp, self._column(low), steps)
        if exclude_outside:
            weights = fold(WhereOp, self.is_outside(places), 0.0, weights)
        if exclude_outside or not kernel.plain:
            total = self._column(fold(partial(ReduceSumOp, axes=(1,)), weights))
            weights = fold(DivOp, weights, fold(WhereOp, fold(EqOp, total, 0.0), 1.0, total))
        return self.inside(places), weights

    def _column(self, numbers: Numbers) -> Numbers:
        if isinstance(numbers, np.ndarray):
            return numbers.reshape(-1, 1)
        return self.f.ctx.emit(ReshapeOp(numbers, (self.axis.count, 1)))


class Kernel:
    """
    How much an element at a distance counts: linear, or Keys' cubic kernel with the coefficient `cubic`.

    `stretch` (at most 1) shrinks distances, so that more elements count: the filter against aliasing.
    """

    def __init__(self, f: FoldedFormula, cubic: float | None, stretch: Numbers):
        self.f, self.cubic, self.stretch = f, cubic, stretch
        self.plain = isinstance(stretch, np.ndarray) and float(stretch) == 1
        reach = f.fold(FloorOp, f.fold(DivOp, np.array(-1.0 if cubic is None else -2.0), stretch))
        self._first = f.fold(AddOp, reach, 1.0)
        self.count = f.count(f.fold(SubOp, np.array(2.0), f.fold(MulOp, self._first, 2.0)), "taps")
        """The number of elements that count."""

    def steps(self) -> Numbers:
        """Where the elements that count are, from the one at or before the place."""
        count = self.count
        numbers = np.arange(count, dtype=np.float64) if isinstance(count, int) else self.f.places(count, 0, 1, f64)
        return self.f.fold(AddOp, numbers, self._first)

    def weights(self, distances: Numbers) -> Numbers:
        """The weights of elements at these distances (with sign)."""
        f = self.f
        x = f.fold(AbsOp, f.fold(MulOp, distances, self.stretch))
        if self.cubic is None:
            return f.fold(MaxOp, f.fold(SubOp, np.array(1.0), x), 0.0)
        a = self.cubic
        near = _polynomial(f, x, [a + 2, -(a + 3), 0.0, 1.0])
        far = _polynomial(f, x, [a, -5 * a, 8 * a, -4 * a])
        tail = f.fold(WhereOp, f.fold(LtOp, x, 2.0), far, np.array(0.0))
        return f.fold(WhereOp, f.fold(LeOp, x, 1.0), near, tail)


def _polynomial(f: FoldedFormula, x: Numbers, coefficients: list[float]) -> Numbers:
    """By Horner's rule, the highest power first."""
    result: Numbers = np.array(coefficients[0])
    for coefficient in coefficients[1:]:
        result = f.fold(AddOp, f.fold(MulOp, result, x), coefficient)
    return result
