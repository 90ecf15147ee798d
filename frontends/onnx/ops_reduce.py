"""Reductions along axes, positions of extremes, and running totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph import arg_reductions, arithmetic, functions, log_sum_exp, reductions, scan
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, LtOp
from aicc.dialects.graph.movement import ReshapeOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result


def _axes(ctx: NodeContext) -> tuple[int, ...] | None:
    """Axes counted from the front, sorted: an attribute in older versions, an input in newer ones; None if absent."""
    rank = ctx.rank(0)
    if ctx.has(1):
        return tuple(sorted(ctx.axes(ctx.numbers(1, "axes"), rank)))
    return tuple(sorted(ctx.axes(ctx.attr_ints("axes"), rank))) if ctx.has_attr("axes") else None


def _reduction(op: Callable[..., Operation], single: Callable[[NodeContext], Result]) -> Handler:
    """`single` is what remains over no axes at all: the part of the operator that is done to each element."""

    def handle(ctx: NodeContext) -> Result:
        axes = _axes(ctx)
        if not axes:
            if ctx.attr_int("noop_with_empty_axes", 0):
                return single(ctx)
            axes = tuple(range(ctx.rank(0)))
        if not axes:  # A tensor of rank 0.
            return single(ctx)
        return ctx.emit(op(ctx.ssa(0), axes, keepdims=bool(ctx.attr_int("keepdims", 1))))

    return handle


def _same(ctx: NodeContext) -> Result:
    return ctx.value(0)


def _abs(ctx: NodeContext) -> Result:
    return ctx.emit(functions.AbsOp(ctx.ssa(0)))


def _log(ctx: NodeContext) -> Result:
    return ctx.emit(functions.LogOp(ctx.ssa(0)))


def _square(ctx: NodeContext) -> Result:
    return ctx.emit(arithmetic.MulOp(ctx.ssa(0), ctx.ssa(0)))


def _position(op: Callable[..., Operation]) -> Handler:
    def handle(ctx: NodeContext) -> SSAValue:
        axis = ctx.axis(ctx.attr_int("axis", 0), ctx.rank(0))
        keepdims, last = bool(ctx.attr_int("keepdims", 1)), bool(ctx.attr_int("select_last_index", 0))
        return ctx.emit(op(ctx.ssa(0), axis, keepdims=keepdims, select_last=last))

    return handle


def _cumsum(ctx: NodeContext) -> SSAValue:
    """An axis that is computed at run time chooses between the results for all of them."""
    exclusive, reverse = bool(ctx.attr_int("exclusive", 0)), bool(ctx.attr_int("reverse", 0))

    def along(axis: int) -> SSAValue:
        return ctx.emit(scan.CumsumOp(ctx.ssa(0), axis, exclusive=exclusive, reverse=reverse))

    rank = ctx.rank(0)
    if ctx.value(1).content is not None or rank < 2:
        (axis,) = ctx.numbers(1, "axis")
        return along(ctx.axis(axis, rank))
    given = ctx.ssa(1) if not ctx.rank(1) else ctx.emit(ReshapeOp(ctx.ssa(1), ()))
    negative = ctx.emit(LtOp(given, ctx.scalar(0, ctx.element(1))))
    given = ctx.emit(WhereOp(negative, ctx.emit(arithmetic.AddOp(given, ctx.scalar(rank, ctx.element(1)))), given))
    result = along(0)
    for axis in range(1, rank):
        chosen = ctx.emit(EqOp(given, ctx.scalar(axis, ctx.element(1))))
        result = ctx.emit(WhereOp(chosen, along(axis), result))
    return result


HANDLERS: Mapping[str, Handler] = {
    "ArgMax": _position(arg_reductions.ArgMaxOp),
    "ArgMin": _position(arg_reductions.ArgMinOp),
    "CumSum": _cumsum,
    "ReduceL1": _reduction(reductions.ReduceL1Op, _abs),
    "ReduceL2": _reduction(reductions.ReduceL2Op, _abs),
    "ReduceLogSum": _reduction(reductions.ReduceLogSumOp, _log),
    "ReduceLogSumExp": _reduction(log_sum_exp.ReduceLogSumExpOp, _same),
    "ReduceMax": _reduction(reductions.ReduceMaxOp, _same),
    "ReduceMean": _reduction(reductions.ReduceMeanOp, _same),
    "ReduceMin": _reduction(reductions.ReduceMinOp, _same),
    "ReduceProd": _reduction(reductions.ReduceProdOp, _same),
    "ReduceSum": _reduction(reductions.ReduceSumOp, _same),
    "ReduceSumSquare": _reduction(reductions.ReduceSumSquareOp, _square),
}
