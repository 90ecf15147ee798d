"""Reductions along axes, positions of extremes, and running totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph import arg_reductions, arithmetic, functions, log_sum_exp, reductions, scan
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.frontends.onnx.chosen import along_axis
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.run_time_axes import RunTimeAxes


def _axes(ctx: NodeContext) -> tuple[int, ...] | None:
    """Axes counted from the front, sorted: an attribute in older versions, an input in newer ones; None if absent."""
    rank = ctx.rank(0)
    if ctx.has(1):
        return tuple(sorted(ctx.axes(ctx.numbers(1, "axes"), rank)))
    return tuple(sorted(ctx.axes(ctx.attr_ints("axes"), rank))) if ctx.has_attr("axes") else None


@dataclass(frozen=True)
class _Steps:
    """
    A reduction as `after(reduce(before(x)))`, where `op` reduces along one axis after the other.

    Along no axes at all, `single` remains: what is done to each element.
    """

    op: type[reductions.ReductionOp] | type[log_sum_exp.ReduceLogSumExpOp]
    single: Callable[[NodeContext], Result]
    before: Callable[[SSAValue], Operation] | None = None
    after: type[Operation] | None = None

    def along(self, ctx: NodeContext, axes: RunTimeAxes, *, keepdims: bool) -> SSAValue:
        """Along axes that only run time knows; f16 and bf16 are rounded once."""
        f, element = Formula(ctx), ctx.element(0)
        x = f.cast(ctx.ssa(0), accumulator_type(element))
        if self.before is not None:
            x = ctx.emit(self.before(x))
        x = axes.reduced(x, partial(self.op, keepdims=True), keepdims=keepdims)
        return f.cast(x if self.after is None else f(self.after, x), element)


def _reduction(op: Callable[..., Operation], steps: _Steps) -> Handler:
    def handle(ctx: NodeContext) -> Result:
        single = steps.single
        if ctx.has(1) and not ctx.is_known(1):
            keepdims = bool(ctx.attr_int("keepdims", 1))
            return steps.along(ctx, RunTimeAxes(ctx, 1, ctx.rank(0)), keepdims=keepdims)
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


def _squared(x: SSAValue) -> Operation:
    return arithmetic.MulOp(x, x)


def _plain(op: type[reductions.ReductionOp] | type[log_sum_exp.ReduceLogSumExpOp]) -> Handler:
    """A reduction of the elements as they are."""
    return _reduction(op, _Steps(op, _same))


def _position(op: Callable[..., Operation]) -> Handler:
    def handle(ctx: NodeContext) -> SSAValue:
        axis = ctx.axis(ctx.attr_int("axis", 0), ctx.rank(0))
        keepdims, last = bool(ctx.attr_int("keepdims", 1)), bool(ctx.attr_int("select_last_index", 0))
        return ctx.emit(op(ctx.ssa(0), axis, keepdims=keepdims, select_last=last))

    return handle


def _cumsum(ctx: NodeContext) -> SSAValue:
    return _running(ctx, scan.CumsumOp)


def _cumprod(ctx: NodeContext) -> SSAValue:
    return _running(ctx, scan.CumprodOp)


def _running(ctx: NodeContext, op: type[scan.CumsumOp | scan.CumprodOp]) -> SSAValue:
    exclusive, reverse = bool(ctx.attr_int("exclusive", 0)), bool(ctx.attr_int("reverse", 0))

    def along(axis: int) -> SSAValue:
        return ctx.emit(op(ctx.ssa(0), axis, exclusive=exclusive, reverse=reverse))

    return along_axis(ctx, 1, ctx.rank(0), along)


HANDLERS: Mapping[str, Handler] = {
    "ArgMax": _position(arg_reductions.ArgMaxOp),
    "ArgMin": _position(arg_reductions.ArgMinOp),
    "CumProd": _cumprod,
    "CumSum": _cumsum,
    "ReduceL1": _reduction(reductions.ReduceL1Op, _Steps(reductions.ReduceSumOp, _abs, before=functions.AbsOp)),
    "ReduceL2": _reduction(
        reductions.ReduceL2Op, _Steps(reductions.ReduceSumOp, _abs, before=_squared, after=functions.SqrtOp)
    ),
    "ReduceLogSum": _reduction(reductions.ReduceLogSumOp, _Steps(reductions.ReduceSumOp, _log, after=functions.LogOp)),
    "ReduceLogSumExp": _plain(log_sum_exp.ReduceLogSumExpOp),
    "ReduceMax": _plain(reductions.ReduceMaxOp),
    "ReduceMean": _plain(reductions.ReduceMeanOp),
    "ReduceMin": _plain(reductions.ReduceMinOp),
    "ReduceProd": _plain(reductions.ReduceProdOp),
    "ReduceSum": _plain(reductions.ReduceSumOp),
    "ReduceSumSquare": _reduction(
        reductions.ReduceSumSquareOp, _Steps(reductions.ReduceSumOp, _square, before=_squared)
    ),
}
