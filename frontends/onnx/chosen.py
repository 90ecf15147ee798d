"""What an operator does along an axis that data tells: every axis has a branch, of which one runs."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.comparison import EqOp
from aicc.dialects.graph.control import IfOp, YieldOp
from aicc.frontends.onnx.context import NodeContext
from aicc.frontends.onnx.numbers import Numbers


def along_axis(
    ctx: NodeContext, position: int, rank: int, build: Callable[[int], SSAValue], *, what: str = "axis"
) -> SSAValue:
    """
    What `build` makes for the axis that input `position` names, one of the first `rank`.

    A negative axis counts from the end of all axes of input 0.
    """
    whole = ctx.rank(0)
    numbers = Numbers(ctx)
    given = numbers.of(position, what)
    if len(given) != 1:
        ctx.fail(f"{what} (input {position}) has {len(given)} elements, expected 1")
    axis = given[0]
    if isinstance(axis, int):
        axis = ctx.axis(axis, whole)
        if axis >= rank:
            ctx.fail(f"{what} is {axis}, expected at most {rank - 1}")
        return build(axis)
    if rank < 1:
        ctx.fail(f"the input has rank {whole}, which has no axis to choose")
    place = numbers.tensor(numbers.from_end(axis, whole))
    ctx.defined_size(place, what, rank - 1)  # Checked where it is defined.
    return _chosen(ctx, place, list(range(rank)), build)


def _chosen(ctx: NodeContext, place: SSAValue, axes: list[int], build: Callable[[int], SSAValue]) -> SSAValue:
    """`build` of the one of `axes` that `place` is."""
    if len(axes) == 1:
        return build(axes[0])
    ways = _region(ctx, lambda: build(axes[0])), _region(ctx, lambda: _chosen(ctx, place, axes[1:], build))
    first = ctx.emit(EqOp(place, ctx.scalar(axes[0], i64)))
    return ctx.emit(IfOp.joined(first, *ways, lambda: ctx.scope.fresh_symbol(f"{ctx.name}_size")))


def _region(ctx: NodeContext, build: Callable[[], SSAValue]) -> Region:
    """The ops that `build` adds, in a region that yields its result."""
    outer, ctx.block = ctx.block, Block()
    try:
        result = build()
        ctx.block.add_op(YieldOp([result]))
        return Region(ctx.block)
    finally:
        ctx.block = outer
