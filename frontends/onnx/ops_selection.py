"""Operators that pick elements by what they are, so that the size of the result is data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import DivOp, ModOp
from aicc.dialects.graph.comparison import NeOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of
from aicc.dialects.graph.find import FindOp
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import ReshapeOp, SliceOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
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


HANDLERS: Mapping[str, Handler] = {
    "Compress": _compress,
    "NonZero": _nonzero,
}
