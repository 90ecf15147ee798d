"""`Unique`: equal elements, or equal slices along an axis, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.arithmetic import AndOp, MaxOp, OrOp, SubOp
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.comparison import EqOp, GeOp, IsNanOp, NeOp
from aicc.dialects.graph.control import WhileOp, YieldOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of
from aicc.dialects.graph.dtypes import is_float
from aicc.dialects.graph.functions import NotOp
from aicc.dialects.graph.indexing import GatherOp, ScatterNdOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.dialects.graph.scan import CumsumOp
from aicc.dialects.graph.top_k import TopKOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.ops_selection import flat, found


def _unique(ctx: NodeContext) -> Sequence[SSAValue]:
    """
    Rows in order; each that is unlike the one before begins a group. NaN is equal to NaN, and larger than all numbers.

    Outputs: one of each group, its first place, the group of each row, and the number of rows in each group.
    """
    f = Formula(ctx)
    has_axis = ctx.has_attr("axis")
    axis = ctx.axis(ctx.attr_int("axis"), ctx.rank(0)) if has_axis else 0
    x = ctx.ssa(0) if has_axis else flat(ctx, ctx.ssa(0))
    order_of_axes = [axis, *(i for i in range(len(dims_of(x.type))) if i != axis)]
    count, *others = dims_of(f.transpose(x, order_of_axes).type)
    width = dim_prod(others)
    rows = f.reshape(f.transpose(x, order_of_axes), (count, width))
    order = _sorted(f, rows, count, width)
    begins = _begins(f, rows, order, count)
    group = f(SubOp, ctx.emit(CumsumOp(f.cast(begins, i64), 0)), 1)
    starts = found(ctx, begins, "count")
    (groups,) = dims_of(starts.type)
    first = ctx.emit(GatherOp(order, starts, 0))
    inverse = _written(f, count, order, group)
    ones = f.expand(ctx.scalar(1, i64), (count,))
    counts = _written(f, groups, group, ones, add=True)
    if not ctx.attr_int("sorted", 1):
        _, by_place = ctx.emit_all(TopKOp(first, groups, 0, smallest=True))
        first, counts = (ctx.emit(GatherOp(value, by_place, 0)) for value in (first, counts))
        renamed = _written(f, groups, by_place, f.places(groups, 0, 1))
        inverse = ctx.emit(GatherOp(renamed, inverse, 0))
    return [ctx.emit(GatherOp(x, first, axis)), first, inverse, counts]


def _written(f: Formula, size: Dim, places: SSAValue, values: SSAValue, *, add: bool = False) -> SSAValue:
    """A list of this size with the values at these places, else 0."""
    (count,) = dims_of(places.type)
    nothing = f.expand(f.ctx.scalar(0, i64), (size,))
    indices = f.reshape(places, (count, 1))
    return f.ctx.emit(ScatterNdOp(nothing, indices, values, reduction="add" if add else "none"))


def _sorted(f: Formula, rows: SSAValue, count: Dim, width: Dim) -> SSAValue:
    """The places of the rows in lexicographic order: they are sorted by one column after the other, the last first."""
    ctx = f.ctx

    def by_column(order: SSAValue, column: SSAValue) -> SSAValue:
        keys = ctx.emit(GatherOp(ctx.emit(GatherOp(rows, column, 1)), order, 0))
        _, moved = ctx.emit_all(TopKOp(keys, count, 0, smallest=True))
        return ctx.emit(GatherOp(order, moved, 0))

    start = f.places(count, 0, 1)
    if width == 0:
        return start
    if width == 1:
        return by_column(start, ctx.scalar(0, i64))
    state = [f(SubOp, f.size(width), 1), start]
    types = [value.type for value in state]
    before, body = Block(arg_types=types), Block(arg_types=types)
    with ctx.into(before):
        ctx.emit_all(YieldOp([f(GeOp, before.args[0], 0)]))
    with ctx.into(body):
        column, order = body.args
        ctx.emit_all(YieldOp([f(SubOp, column, 1), by_column(order, column)]))
    return ctx.emit_all(WhileOp(state, Region(before), Region(body)))[1]


def _begins(f: Formula, rows: SSAValue, order: SSAValue, count: Dim) -> SSAValue:
    """Whether a row, in order, is unlike the one before."""
    ctx, here = f.ctx, f.places(count, 0, 1)
    before = f(MaxOp, f(SubOp, here, 1), 0)
    a = ctx.emit(GatherOp(rows, order, 0))
    b = ctx.emit(GatherOp(rows, ctx.emit(GatherOp(order, before, 0)), 0))
    differs = f(NeOp, a, b)
    if is_float(element_type_of(a)):
        both = f(AndOp, ctx.emit(IsNanOp(a)), ctx.emit(IsNanOp(b)))
        differs = f(AndOp, differs, f(NotOp, both))
    # A sum, as rows without elements are all equal.
    differing = ctx.emit(ReduceSumOp(ctx.emit(CastOp(differs, i64)), (1,)))
    return f(OrOp, f(EqOp, here, 0), f.cast(differing, i1))


HANDLERS: Mapping[str, Handler] = {"Unique": _unique}
