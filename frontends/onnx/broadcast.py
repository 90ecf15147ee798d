"""How binary operators and PRelu align their operands: as numpy does since opset 7, by attributes before."""

from __future__ import annotations

from xdsl.ir import SSAValue

from aicc.dialects.graph.movement import ReshapeOp
from aicc.frontends.onnx.context import NodeContext


def second_operand(ctx: NodeContext) -> SSAValue:
    """
    Input 1, so that numpy's broadcasting against input 0 does what the operator's version says.

    Up to opset 6 the two have one shape, or, with the attribute `broadcast`, the axes of the second are those of the
    first from `axis` on (default: the last ones).
    """
    value = ctx.ssa(1)
    if ctx.version >= 7 or not ctx.attr_int("broadcast", 0) or not ctx.has_attr("axis"):
        return value
    rank, dims = ctx.rank(0), ctx.dims(1)
    axis = ctx.axis(ctx.attr_int("axis"), rank, past_end=True)
    behind = rank - axis - len(dims)
    if behind < 0:
        ctx.fail(f"axis is {axis}, but from there on input 0 of rank {rank} has fewer axes than input 1 ({len(dims)})")
    return ctx.emit(ReshapeOp(value, (*dims, *[1] * behind))) if behind else value


def slope(ctx: NodeContext) -> SSAValue:
    """Input 1 of PRelu; up to opset 6 it is one number or a vector with one per channel (axis 1)."""
    rank, dims = ctx.rank(0), ctx.dims(1)
    if ctx.version >= 7 or len(dims) != 1 or dims == (1,) or rank <= 2:
        return ctx.ssa(1)
    return ctx.emit(ReshapeOp(ctx.ssa(1), (*dims, *[1] * (rank - 2))))
