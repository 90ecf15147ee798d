"""Reading a tensor between its elements: at positions that data tells, weighted by what lies around."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, MaxOp, MinOp, ModOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import GeOp, LtOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of
from aicc.dialects.graph.functions import FloorOp, RoundOp
from aicc.dialects.graph.indexing import GatherElementsOp
from aicc.dialects.graph.movement import SliceOp
from aicc.frontends.onnx.formulas import Formula

Method: TypeAlias = Literal["nearest", "linear", "cubic"]
Border: TypeAlias = Literal["zeros", "border", "reflection"]

CUBIC = -0.75
"""The parameter of Keys' cubic convolution (1981)."""


@dataclass(frozen=True)
class _Tap:
    """One of the elements that a position reads along an axis."""

    index: SSAValue
    """In bounds."""
    weight: SSAValue | None
    """None for 1."""
    inside: SSAValue | None
    """Whether there is such an element; None where there always is."""


@dataclass(frozen=True)
class Sampling:
    """How positions are read; with `corners` reflection is about the outermost elements, else about their edges."""

    method: Method
    border: Border
    corners: bool = False

    def __call__(self, f: Formula, x: SSAValue, positions: Sequence[SSAValue]) -> SSAValue:
        """
        `[batch, channels, points]` of `x: [batch, channels, space..]` and one tensor `[batch, points]` of positions per
        axis of space, in elements; all floats of one type.
        """
        batch, channels, *space = dims_of(x.type)
        points = dims_of(positions[0].type)[1]
        flat = f.reshape(x, (batch, channels, dim_prod(space)))
        taps = [self._taps(f, place, size) for place, size in zip(positions, space, strict=True)]
        terms: list[SSAValue] = []
        for chosen in itertools.product(*taps):
            index = chosen[0].index
            for tap, size in zip(chosen[1:], space[1:], strict=True):
                index = f(AddOp, f(MulOp, index, f.size(size)), tap.index)
            index = f.expand(f.reshape(index, (batch, 1, points)), (batch, channels, points))
            value = f.ctx.emit(GatherElementsOp(flat, index, 2))
            factors = [tap.weight for tap in chosen if tap.weight is not None]
            if factors:
                weight = reduce(lambda a, b: f(MulOp, a, b), factors)
                value = f(MulOp, value, f.reshape(weight, (batch, 1, points)))
            masks = [tap.inside for tap in chosen if tap.inside is not None]
            if masks:
                mask = f.reshape(reduce(lambda a, b: f(AndOp, a, b), masks), (batch, 1, points))
                value = f(WhereOp, mask, value, 0)
            terms.append(value)
        return reduce(lambda a, b: f(AddOp, a, b), terms)

    def _taps(self, f: Formula, place: SSAValue, size: Dim) -> list[_Tap]:
        if self.method == "nearest":
            return [self._tap(f, f.cast(f(RoundOp, place), i64), size, None)]
        floor = f(FloorOp, place)
        first, t = f.cast(floor, i64), f(SubOp, place, floor)
        if self.method == "linear":
            weights = [f(SubOp, 1, t), t]
            return [self._tap(f, f(AddOp, first, k), size, w) for k, w in enumerate(weights)]
        near = [f(AddOp, t, 1), t, f(SubOp, 1, t), f(SubOp, 2, t)]
        weights = [_far(f, near[0]), _close(f, near[1]), _close(f, near[2]), _far(f, near[3])]
        return [self._tap(f, f(AddOp, first, k), size, w) for k, w in enumerate(weights, -1)]

    def _tap(self, f: Formula, index: SSAValue, size: Dim, weight: SSAValue | None) -> _Tap:
        extent = f.size(size)
        last = f(SubOp, extent, 1)
        match self.border:
            case "zeros":
                inside = f(AndOp, f(GeOp, index, 0), f(LtOp, index, extent))
                return _Tap(f(WhereOp, inside, index, 0), weight, inside)
            case "border":
                return _Tap(f(MinOp, f(MaxOp, index, 0), last), weight, None)
            case "reflection":
                # Back and forth: the period is twice the way.
                way = last if self.corners else extent
                period = f(MulOp, way, 2)
                there = f(ModOp, index, period)
                back = f(SubOp, period if self.corners else f(SubOp, period, 1), there)
                return _Tap(f(MinOp, there, back), weight, None)


def _close(f: Formula, t: SSAValue) -> SSAValue:
    """The weight at a distance of at most 1: `(a + 2) t^3 - (a + 3) t^2 + 1`."""
    inner = f(SubOp, f(MulOp, t, CUBIC + 2), CUBIC + 3)
    return f(AddOp, f(MulOp, f(MulOp, inner, t), t), 1)


def _far(f: Formula, t: SSAValue) -> SSAValue:
    """The weight at a distance between 1 and 2: `a t^3 - 5a t^2 + 8a t - 4a`."""
    inner = f(SubOp, f(MulOp, t, CUBIC), 5 * CUBIC)
    return f(SubOp, f(MulOp, f(AddOp, f(MulOp, inner, t), 8 * CUBIC), t), 4 * CUBIC)


def part(f: Formula, x: SSAValue, axis: int, position: int) -> SSAValue:
    """`x[.., position, ..]` along one axis, which goes."""
    dims = list(dims_of(x.type))
    starts: list[Dim] = [0] * len(dims)
    starts[axis] = position
    sizes = [*dims[:axis], 1, *dims[axis + 1 :]]
    taken = x if dims[axis] == 1 else f.ctx.emit(SliceOp(x, starts, sizes, [1] * len(dims)))
    return f.reshape(taken, [*dims[:axis], *dims[axis + 1 :]])
