"""Gathers and scatters: elements at indices that are data. Negative indices count from the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.indexing import GatherElementsOp, GatherNdOp, GatherOp, ScatterElementsOp, ScatterNdOp
from aicc.dialects.graph.movement import ReshapeOp, SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext


def _gather(ctx: NodeContext) -> SSAValue:
    """One constant index is a slice."""
    dims = ctx.dims(0)
    axis = ctx.axis(ctx.attr_int("axis", 0), len(dims))
    content, size = ctx.value(1).content, dims[axis]
    if content is not None and content.dtype != object and content.size == 1:
        if content.dtype.kind not in "iu":
            ctx.fail(f"indices (input 1) have elements of {content.dtype}, expected integers")
        index = int(content.reshape(()))
        if isinstance(size, int) and not -size <= index < size:
            ctx.fail(f"index {index} is out of range for size {size} of axis {axis}")
        starts: list[Dim] = [0] * len(dims)
        starts[axis] = index if index >= 0 else size + index
        picked = ctx.emit(SliceOp(ctx.ssa(0), starts, [*dims[:axis], 1, *dims[axis + 1 :]], [1] * len(dims)))
        return _shaped(ctx, picked, [*dims[:axis], *content.shape, *dims[axis + 1 :]])
    return ctx.emit(GatherOp(ctx.ssa(0), ctx.ssa(1), axis))


def _shaped(ctx: NodeContext, x: SSAValue, shape: Sequence[Dim]) -> SSAValue:
    return ctx.emit(ReshapeOp(x, shape))


def _gather_elements(ctx: NodeContext) -> SSAValue:
    axis = ctx.axis(ctx.attr_int("axis", 0), ctx.rank(0))
    return ctx.emit(GatherElementsOp(ctx.ssa(0), ctx.ssa(1), axis))


def _gather_nd(ctx: NodeContext) -> SSAValue:
    return ctx.emit(GatherNdOp(ctx.ssa(0), ctx.ssa(1), batch_dims=ctx.attr_int("batch_dims", 0)))


def _scatter_elements(ctx: NodeContext) -> SSAValue:
    axis = ctx.axis(ctx.attr_int("axis", 0), ctx.rank(0))
    return ctx.emit(ScatterElementsOp(ctx.ssa(0), ctx.ssa(1), ctx.ssa(2), axis, reduction=_reduction(ctx)))


def _scatter_nd(ctx: NodeContext) -> SSAValue:
    return ctx.emit(ScatterNdOp(ctx.ssa(0), ctx.ssa(1), ctx.ssa(2), reduction=_reduction(ctx)))


def _reduction(ctx: NodeContext) -> str:
    reduction = ctx.attr_str("reduction", "none")
    if reduction not in ("none", "add", "mul", "min", "max"):
        ctx.fail(f"reduction is '{reduction}', expected none, add, mul, min or max")
    return reduction


HANDLERS: Mapping[str, Handler] = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
}
