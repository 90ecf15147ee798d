"""Normalisation and softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import f32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph.arg_reductions import ArgMaxOp
from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, SubOp
from aicc.dialects.graph.choice import CastOp, WhereOp
from aicc.dialects.graph.comparison import EqOp
from aicc.dialects.graph.constants import IotaOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, floordiv, tensor_type
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.functions import ReciprocalOp, SqrtOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp
from aicc.dialects.graph.normalization import BatchNormOp, GroupNormOp, LayerNormOp, LrnOp, RmsNormOp
from aicc.dialects.graph.reductions import ReduceL1Op, ReduceL2Op, ReduceMeanOp
from aicc.dialects.graph.softmax import LogSoftmaxOp, SoftmaxOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula


def _along_axis(op: Callable[[SSAValue, int], Operation]) -> Handler:
    """Up to opset 12, the axes from `axis` on are taken as one (default 1); from 13 on it is that axis (default -1)."""

    def handle(ctx: NodeContext) -> SSAValue:
        dims = ctx.dims(0)
        flattens = ctx.version < 13
        axis = ctx.axis(ctx.attr_int("axis", 1 if flattens else -1), len(dims), past_end=flattens)
        if not flattens or axis == len(dims) - 1:
            return ctx.emit(op(ctx.ssa(0), axis))
        flat = ctx.emit(ReshapeOp(ctx.ssa(0), (dim_prod(dims[:axis]), dim_prod(dims[axis:]))))
        return ctx.emit(ReshapeOp(ctx.emit(op(flat, 1)), dims))

    return handle


def _hardmax(ctx: NodeContext) -> SSAValue:
    """1 at the first largest element, else 0; along the axes of softmax."""
    dims = ctx.dims(0)
    flattens = ctx.version < 13
    axis = ctx.axis(ctx.attr_int("axis", 1 if flattens else -1), len(dims), past_end=flattens)
    x, sizes = ctx.ssa(0), dims
    if flattens:
        sizes, axis = (dim_prod(dims[:axis]), dim_prod(dims[axis:])), 1
        x = ctx.emit(ReshapeOp(x, sizes))
    place = ctx.emit(ArgMaxOp(x, axis, keepdims=True))
    index = ctx.emit(IotaOp(tensor_type([sizes[axis], *[1] * (len(sizes) - 1 - axis)], i64), 0))
    result = ctx.emit(CastOp(ctx.emit(EqOp(place, index)), ctx.element(0)))
    return ctx.emit(ReshapeOp(result, dims)) if flattens else result


def _batch_norm(ctx: NodeContext) -> list[Result]:
    element, training = ctx.element(0), bool(ctx.attr_int("training_mode", 0))
    if not ctx.attr_int("spatial", 1):
        ctx.fail("statistics per element (attribute 'spatial' of 0) are not supported")
    if not training and any(ctx.wants(i) for i in range(1, len(ctx.node.output))) and ctx.version >= 14:
        ctx.fail("running statistics are an output of training mode only")
    scale, bias, mean, variance = (_like(ctx, ctx.ssa(i), element) for i in range(1, 5))
    epsilon = ctx.attr_float("epsilon", 1e-5)
    if not training:
        return [ctx.emit(BatchNormOp(ctx.ssa(0), scale, bias, mean, variance, epsilon=epsilon))]
    # Statistics of the batch; the running ones move towards them.
    f, rank = Formula(ctx), ctx.rank(0)
    axes = [axis for axis in range(rank) if axis != 1]
    x = f.cast(ctx.ssa(0), accumulator_type(element))
    centre = ctx.emit(ReduceMeanOp(x, axes, keepdims=True))
    apart = f(SubOp, x, centre)
    spread = ctx.emit(ReduceMeanOp(f(MulOp, apart, apart), axes))
    centre = f.reshape(centre, dims_of(spread.type))
    here = f.cast(centre, element), f.cast(spread, element)
    result = ctx.emit(BatchNormOp(ctx.ssa(0), scale, bias, *here, epsilon=epsilon))
    momentum, running = ctx.attr_float("momentum", 0.9), list[Result]()
    for position, new in ((3, centre), (4, spread)):
        old, kind = ctx.ssa(position), ctx.element(position)
        wide = accumulator_type(kind)
        moved = f(AddOp, f(MulOp, f.cast(old, wide), momentum), f(MulOp, f.cast(new, wide), 1 - momentum))
        running.append(f.cast(moved, kind))
    return [result, *running]


def _like(ctx: NodeContext, value: SSAValue, element: Attribute) -> SSAValue:
    """A parameter in the element type of the input; they may differ."""
    return value if element_type_of(value) == element else ctx.emit(CastOp(value, element))


def _instance_norm(ctx: NodeContext) -> SSAValue:
    return ctx.emit(GroupNormOp(ctx.ssa(0), ctx.ssa(1), ctx.ssa(2), None, ctx.attr_float("epsilon", 1e-5)))


def _group_norm(ctx: NodeContext) -> SSAValue:
    """Scale and bias are per group up to opset 20, per channel from 21 on."""
    groups, epsilon = ctx.attr_int("num_groups"), ctx.attr_float("epsilon", 1e-5)
    scale, bias = ctx.ssa(1), ctx.ssa(2)
    channels = ctx.dims(0)[1] if ctx.rank(0) > 1 else None
    if groups < 1 or channels is None or (isinstance(channels, int) and channels % groups):
        ctx.fail(f"num_groups is {groups}, expected a divisor of the {channels} channels")
    if ctx.version < 21 and channels != groups:
        scale, bias = (_repeated(ctx, value, groups, floordiv(channels, groups)) for value in (scale, bias))
    return ctx.emit(GroupNormOp(ctx.ssa(0), scale, bias, groups, epsilon))


def _repeated(ctx: NodeContext, value: SSAValue, groups: int, count: Dim) -> SSAValue:
    wide = ctx.emit(ExpandOp(ctx.emit(ReshapeOp(value, (groups, 1))), (groups, count)))
    return ctx.emit(ReshapeOp(wide, (groups * count,)))


def _layer_norm(ctx: NodeContext) -> list[Result]:
    axis = ctx.axis(ctx.attr_int("axis", -1), ctx.rank(0))
    epsilon = ctx.attr_float("epsilon", 1e-5)
    result = ctx.emit(LayerNormOp(ctx.ssa(0), ctx.ssa(1), ctx.optional(2), axis, epsilon))
    if not ctx.wants(1) and not ctx.wants(2):
        return [result]
    # Mean and inverse deviation are for training; they are made apart, and removed if nobody reads them.
    x = ctx.emit(CastOp(ctx.ssa(0), f32)) if ctx.element(0) != f32 else ctx.ssa(0)
    axes = range(axis, ctx.rank(0))
    mean = ctx.emit(ReduceMeanOp(x, axes, keepdims=True))
    centred = ctx.emit(SubOp(x, mean))
    variance = ctx.emit(ReduceMeanOp(ctx.emit(MulOp(centred, centred)), axes, keepdims=True))
    deviation = ctx.emit(SqrtOp(ctx.emit(AddOp(variance, ctx.scalar(epsilon, f32)))))
    return [result, mean, ctx.emit(ReciprocalOp(deviation))]


def _rms_norm(ctx: NodeContext) -> SSAValue:
    axis = ctx.axis(ctx.attr_int("axis", -1), ctx.rank(0))
    scale = _like(ctx, ctx.ssa(1), ctx.element(0))
    return ctx.emit(RmsNormOp(ctx.ssa(0), scale, axis, ctx.attr_float("epsilon", 1e-5)))


def _lrn(ctx: NodeContext) -> SSAValue:
    alpha, beta, bias = ctx.attr_float("alpha", 1e-4), ctx.attr_float("beta", 0.75), ctx.attr_float("bias", 1.0)
    return ctx.emit(LrnOp(ctx.ssa(0), ctx.attr_int("size"), alpha, beta, bias))


def _lp_norm(ctx: NodeContext) -> SSAValue:
    """Divides by the sum of magnitudes (p = 1) or the root of the sum of squares (p = 2) along an axis; 0 / 0 is 0."""
    axis, p = ctx.axis(ctx.attr_int("axis", -1), ctx.rank(0)), ctx.attr_int("p", 2)
    if p not in (1, 2):
        ctx.fail(f"p is {p}, expected 1 or 2")
    norm = ctx.emit((ReduceL1Op if p == 1 else ReduceL2Op)(ctx.ssa(0), (axis,), keepdims=True))
    zero = ctx.scalar(0, ctx.element(0))
    quotient = ctx.emit(DivOp(ctx.ssa(0), norm))
    return ctx.emit(WhereOp(ctx.emit(EqOp(norm, zero)), zero, quotient))


def _mean_variance_norm(ctx: NodeContext) -> SSAValue:
    """`(x - mean) / (sqrt(mean((x - mean)^2)) + 1e-9)`, as the function of the standard says."""
    axes = ctx.axes(ctx.attr_ints("axes", (0, 2, 3)), ctx.rank(0))
    centred = ctx.emit(SubOp(ctx.ssa(0), ctx.emit(ReduceMeanOp(ctx.ssa(0), axes, keepdims=True))))
    variance = ctx.emit(ReduceMeanOp(ctx.emit(MulOp(centred, centred)), axes, keepdims=True))
    deviation = ctx.emit(AddOp(ctx.emit(SqrtOp(variance)), ctx.scalar(1e-9, ctx.element(0))))
    return ctx.emit(DivOp(centred, deviation))


HANDLERS: Mapping[str, Handler] = {
    "BatchNormalization": _batch_norm,
    "GroupNormalization": _group_norm,
    "Hardmax": _hardmax,
    "InstanceNormalization": _instance_norm,
    "LRN": _lrn,
    "LayerNormalization": _layer_norm,
    "LogSoftmax": _along_axis(LogSoftmaxOp),
    "LpNormalization": _lp_norm,
    "MeanVarianceNormalization": _mean_variance_norm,
    "RMSNormalization": _rms_norm,
    "Softmax": _along_axis(SoftmaxOp),
}
