"""
Axes that only run time knows: which of the axes are among them is data, and so are the sizes of the result.

The number of axes is known from the shape of the input that lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, LtOp
from aicc.dialects.graph.dims import MAX_RANK, Dim, dim_max, dims_of, shape_text
from aicc.dialects.graph.dtypes import is_integer
from aicc.dialects.graph.functions import NotOp
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import ConcatOp, ReshapeOp, SliceOp
from aicc.dialects.graph.reductions import ReduceMaxOp, ReduceSumOp
from aicc.dialects.graph.scan import CumsumOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.onnx.context import NodeContext
from aicc.frontends.onnx.formulas import Formula


class RunTimeAxes:
    """The axes in an input of `ctx`, of a tensor of this rank."""

    def __init__(self, ctx: NodeContext, position: int, rank: int):
        self.f, self.rank = Formula(ctx), rank
        dims = ctx.dims(position)
        (count,) = dims if len(dims) == 1 else (1,)
        if len(dims) > 1 or not isinstance(count, int) or not is_integer(ctx.element(position)):
            ctx.fail(f"axes (input {position}) have shape {shape_text(dims)}, expected a list of known length")
        ctx.expect_most(count, MAX_RANK, position, "axes")
        self.count = count
        f = self.f
        given = f.reshape(f.cast(ctx.ssa(position), i64), (1, self.count))
        given = f(WhereOp, f(LtOp, given, 0), f(AddOp, given, rank), given)
        found = f.cast(f(EqOp, f.places(rank, 0, 2), given), i64)
        self.marks = ctx.emit(ReduceMaxOp(found, (1,)))
        """1 for each axis that is among them, else 0."""

    def mark(self, axis: int) -> SSAValue:
        """1 if `axis` is among them, else 0; of rank 0."""
        return _entry(self.f, self.marks, axis)

    def _others_before(self) -> SSAValue:
        """For each axis, how many before it are not among them."""
        f = self.f
        return f.ctx.emit(CumsumOp(f(SubOp, 1, self.marks), 0, exclusive=True))

    def without(self, dims: Sequence[Dim]) -> tuple[Dim, ...]:
        """The sizes of the axes that are not among them, in order."""
        f, count = self.f, self.rank - self.count
        if count < 0:
            f.ctx.fail(f"there are {self.count} axes, expected at most {self.rank}")
        is_here = f(EqOp, self._others_before(), f.places(count, 0, 2))
        kept = f(AndOp, is_here, f(NotOp, f.cast(self.marks, i1)))
        sizes = f(MulOp, f.cast(kept, i64), f.ctx.emit(SizesOp(dims)))
        return self._defined(f.ctx.emit(ReduceSumOp(sizes, (1,))), count, largest(dims))

    def inserted(self, dims: Sequence[Dim]) -> tuple[Dim, ...]:
        """`dims` with sizes of 1 put in at the axes, which count those of the result."""
        f = self.f
        if not dims:
            return (1,) * self.rank
        picked = f.ctx.emit(GatherOp(f.ctx.emit(SizesOp(dims)), self._others_before(), 0))
        return self._defined(f(WhereOp, f.cast(self.marks, i1), 1, picked), self.rank, largest(dims))

    def _defined(self, sizes: SSAValue, count: int, most: Dim) -> tuple[Dim, ...]:
        return tuple(self.f.ctx.defined_size(_entry(self.f, sizes, i), "size", most) for i in range(count))

    def reduced(self, x: SSAValue, op: Callable[[SSAValue, Sequence[int]], Operation], *, keepdims: bool) -> SSAValue:
        """
        `x` reduced along the axes by `op`, which must give the same along one axis after the other.

        For each axis, the reduced tensor is put before the tensor: the result is either the first or the rest.
        """
        f = self.f
        for axis in range(self.rank):
            dims, mark = dims_of(x.type), self.mark(axis)
            both = f.ctx.emit(ConcatOp([f.ctx.emit(op(x, (axis,))), x], axis))
            size = f(WhereOp, f.cast(mark, i1), 1, f.size(dims[axis]))
            index = f.places(f.ctx.defined_size(size, "size", dim_max(1, dims[axis])), 0, 1)
            x = f.ctx.emit(GatherOp(both, f(AddOp, index, f(SubOp, 1, mark)), axis))
        return x if keepdims else f.reshape(x, self.without(dims_of(x.type)))


def largest(dims: Sequence[Dim]) -> Dim:
    """The largest of sizes, at least 1."""
    return reduce(dim_max, dims, 1)


def _entry(f: Formula, values: SSAValue, position: int) -> SSAValue:
    return f.ctx.emit(ReshapeOp(f.ctx.emit(SliceOp(values, [position], [1])), ()))
