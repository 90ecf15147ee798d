"""Operators that pick elements by what they are, so that the size of the result is data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, ModOp, MulOp, SubOp
from aicc.dialects.graph.comparison import NeOp
from aicc.dialects.graph.dims import Dim, SymExpr, dim_prod, dims_of, shape_text
from aicc.dialects.graph.find import FindOp
from aicc.dialects.graph.indexing import GatherOp, ScatterNdOp
from aicc.dialects.graph.movement import ConcatOp, ReshapeOp, SliceOp
from aicc.dialects.graph.non_max_suppression import NonMaxSuppressionOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.dialects.graph.scan import CumsumOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.numbers import Number, Numbers
from aicc.frontends.onnx.values import constant_value


def found(ctx: NodeContext, flags: SSAValue, what: str) -> SSAValue:
    """The places of the true elements of a tensor of i1 and rank 1; their number is a symbol."""
    (most,) = dims_of(flags.type)
    positions, count = ctx.emit_all(FindOp(flags))
    return ctx.emit(SliceOp(positions, [0], [ctx.defined_size(count, what, most)]))


def flat(ctx: NodeContext, x: SSAValue) -> SSAValue:
    """The elements in a row."""
    dims = dims_of(x.type)
    return x if len(dims) == 1 else ctx.emit(ReshapeOp(x, [dim_prod(dims)]))


def _nonzero(ctx: NodeContext) -> Result:
    """One row per axis: of each element that is not 0, its index there. A scalar has no axes, and so no rows."""
    content, dims = ctx.value(0).content, ctx.dims(0)
    if content is not None and content.dtype != object:
        places = np.array(np.nonzero(np.atleast_1d(content)), np.int64)
        return constant_value(places if dims else places[:0], ctx.node.output[0])
    x = ctx.ssa(0)
    if ctx.element(0) != i1:
        x = ctx.emit(NeOp(x, ctx.scalar(0, ctx.element(0))))
    places = found(ctx, flat(ctx, x), "count")
    (count,) = dims_of(places.type)
    if not dims:
        return ctx.emit(ReshapeOp(ctx.constant(np.zeros(0, np.int64)), [0, count]))
    places = ctx.emit(ReshapeOp(places, [1, count]))
    if len(dims) == 1:
        return places
    strides: list[Dim] = [dim_prod(dims[axis + 1 :]) for axis in range(len(dims))]
    return ctx.emit(ModOp(ctx.emit(DivOp(places, _column(ctx, strides))), _column(ctx, dims)))


def _column(ctx: NodeContext, sizes: list[Dim] | tuple[Dim, ...]) -> SSAValue:
    return ctx.emit(ReshapeOp(ctx.emit(SizesOp(sizes)), [len(sizes), 1]))


def _compress(ctx: NodeContext) -> SSAValue:
    """The slices along an axis (the elements, without one) at which a condition holds, which may be shorter."""
    if ctx.element(1) != i1 or ctx.rank(1) != 1:
        ctx.fail(f"condition (input 1) has type {ctx.type(1)}, expected bool and rank 1")
    has_axis = ctx.has_attr("axis")
    axis = ctx.axis(ctx.attr_int("axis"), ctx.rank(0)) if has_axis else 0
    x = ctx.ssa(0) if has_axis else flat(ctx, ctx.ssa(0))
    return ctx.emit(GatherOp(x, found(ctx, ctx.ssa(1), "count"), axis))


def _non_max_suppression(ctx: NodeContext) -> SSAValue:
    """Per batch and class, in order: one row (batch, class, box) for each box that is taken."""
    f, numbers = Formula(ctx), Numbers(ctx)
    dims = ctx.dims(1)
    if len(dims) != 3:
        ctx.fail(f"scores (input 1) have shape {shape_text(dims)}, expected rank 3")
    batches, classes, boxes = dims
    limit: Number = 0
    if ctx.has(2):
        ctx.expect_one(2, "max_output_boxes_per_class")
        limit = numbers.clamp(numbers.of(2, "max_output_boxes_per_class")[0], 0, boxes)
    most = numbers.size(limit, "boxes_per_class", boxes)
    overlap = _threshold(ctx, 3, "iou_threshold") if ctx.has(3) else ctx.scalar(0.0, ctx.element(0))
    least = _threshold(ctx, 4, "score_threshold") if ctx.has(4) else None
    if ctx.has(3) and (content := ctx.value(3).content) is not None and not 0 <= content.reshape(())[()] <= 1:
        ctx.fail(f"iou_threshold is {content.reshape(())[()]}, expected 0 to 1")
    center = ctx.attr_int("center_point_box", 0)
    if center not in (0, 1):
        ctx.fail(f"center_point_box is {center}, expected 0 or 1")
    corners = ctx.ssa(0)
    if len(dims_of(corners.type)) == 3 and isinstance(four := dims_of(corners.type)[2], SymExpr):
        ctx.check_sizes(four, 4, "boxes (input 0) have a last axis of another size than 4")
        corners = f.reshape(corners, (*dims_of(corners.type)[:2], 4))
    op = NonMaxSuppressionOp(corners, ctx.ssa(1), overlap, least, most, center=bool(center))
    places, counts = ctx.emit_all(op)
    rows = dim_prod([batches, classes])
    ends = ctx.emit(CumsumOp(f.reshape(counts, (rows,)), 0))
    firsts = f(SubOp, ends, f.reshape(counts, (rows,)))
    total = ctx.emit(ReduceSumOp(counts, (0, 1)))
    count = ctx.defined_size(total, "count", dim_prod([rows, most]))
    # The row of each result is the number of rows that end before it.
    nothing = f.expand(ctx.scalar(0, i64), (count + 1,))
    marks = ctx.emit(
        ScatterNdOp(nothing, f.reshape(ends, (rows, 1)), f.expand(ctx.scalar(1, i64), (rows,)), reduction="add")
    )
    row = ctx.emit(SliceOp(ctx.emit(CumsumOp(marks, 0)), [0], [count]))
    column = f(SubOp, f.places(count, 0, 1), ctx.emit(GatherOp(firsts, row, 0)))
    place = f(AddOp, f(MulOp, row, f.size(most)), column)
    box = ctx.emit(GatherOp(f.reshape(places, (dim_prod([rows, most]),)), place, 0))
    columns = [f(DivOp, row, f.size(classes)), f(ModOp, row, f.size(classes)), box]
    return ctx.emit(ConcatOp([f.reshape(x, (count, 1)) for x in columns], 1))


def _threshold(ctx: NodeContext, position: int, what: str) -> SSAValue:
    ctx.expect_one(position, what)
    return Formula(ctx).reshape(ctx.ssa(position), ())


HANDLERS: Mapping[str, Handler] = {
    "Compress": _compress,
    "NonMaxSuppression": _non_max_suppression,
    "NonZero": _nonzero,
}
