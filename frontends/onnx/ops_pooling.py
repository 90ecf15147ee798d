"""Pooling and its inverse."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.arithmetic import MulOp, PowOp
from aicc.dialects.graph.dims import Dim, dim_prod, provably_different, shape_text
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.functions import AbsOp, SqrtOp
from aicc.dialects.graph.indexing import ScatterElementsOp
from aicc.dialects.graph.movement import PadOp
from aicc.dialects.graph.pooling import ArgMaxPoolOp, AvgPoolOp, GlobalAvgPoolOp, GlobalMaxPoolOp, MaxPoolOp, SumPoolOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.frontends.onnx.context import Handler, NodeContext, Output
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.ops_nn import image_rank, window


def _max_pool(ctx: NodeContext) -> list[Output]:
    image_rank(ctx)
    kernel = ctx.attr_ints("kernel_shape")
    strides, pads, dilations = window(ctx, kernel)
    ceil_mode = bool(ctx.attr_int("ceil_mode", 0))
    results: list[Output] = [ctx.emit(MaxPoolOp(ctx.ssa(0), kernel, strides, pads, dilations, ceil_mode))]
    if ctx.wants(1):
        column_major = bool(ctx.attr_int("storage_order", 0))
        results.append(
            ctx.emit(ArgMaxPoolOp(ctx.ssa(0), kernel, strides, pads, dilations, ceil_mode, column_major=column_major))
        )
    return results


def _average_pool(ctx: NodeContext) -> SSAValue:
    image_rank(ctx)
    kernel = ctx.attr_ints("kernel_shape")
    strides, pads, dilations = window(ctx, kernel)
    ceil_mode, include = bool(ctx.attr_int("ceil_mode", 0)), bool(ctx.attr_int("count_include_pad", 0))
    return ctx.emit(AvgPoolOp(ctx.ssa(0), kernel, strides, pads, dilations, ceil_mode, include))


def _global_average_pool(ctx: NodeContext) -> SSAValue:
    return ctx.emit(GlobalAvgPoolOp(ctx.ssa(0)))


def _global_max_pool(ctx: NodeContext) -> SSAValue:
    return ctx.emit(GlobalMaxPoolOp(ctx.ssa(0)))


def _norm(ctx: NodeContext, total: Callable[[SSAValue], Operation]) -> SSAValue:
    """`total(|x| ** p) ** (1 / p)`, in f32 for narrower floats."""
    f, element = Formula(ctx), ctx.element(0)
    p = ctx.attr_int("p", 2) if ctx.version >= 2 else ctx.attr_float("p", 2.0)
    if p <= 0:
        ctx.fail(f"p is {p}, expected a positive number")
    x = f.cast(ctx.ssa(0), accumulator_type(element))
    if p == 2:
        return f.cast(f(SqrtOp, ctx.emit(total(f(MulOp, x, x)))), element)
    size = f(AbsOp, x)
    if p == 1:
        return f.cast(ctx.emit(total(size)), element)
    return f.cast(f(PowOp, ctx.emit(total(f(PowOp, size, p))), 1 / p), element)


def _lp_pool(ctx: NodeContext) -> SSAValue:
    image_rank(ctx)
    kernel = ctx.attr_ints("kernel_shape")
    strides, pads, dilations = window(ctx, kernel)
    ceil_mode = bool(ctx.attr_int("ceil_mode", 0))
    return _norm(ctx, lambda x: SumPoolOp(x, kernel, strides, pads, dilations, ceil_mode))


def _global_lp_pool(ctx: NodeContext) -> SSAValue:
    space = range(2, image_rank(ctx))
    return _norm(ctx, lambda x: ReduceSumOp(x, space, keepdims=True))


def _max_unpool(ctx: NodeContext) -> SSAValue:
    """
    Elements at the places they came from, zeros elsewhere.

    Places count the elements of the smallest input that pools to this size; `output_shape` adds zeros behind these.
    """
    rank = image_rank(ctx)
    kernel = ctx.attr_ints("kernel_shape")
    space = rank - 2
    strides, pads = ctx.attr_ints("strides", (1,) * space), ctx.attr_ints("pads", (0,) * 2 * space)
    if not len(kernel) == len(strides) == len(pads) // 2 == space:
        ctx.fail(f"kernel_shape, strides or pads do not fit an input of shape {shape_text(ctx.dims(0))}")
    f, dims = Formula(ctx), ctx.dims(0)
    sizes = zip(dims[2:], kernel, strides, pads[:space], pads[space:], strict=True)
    shape: list[Dim] = [*dims[:2], *((size - 1) * s + k - low - high for size, k, s, low, high in sizes)]
    count = dim_prod(dims)
    zeros = f.expand(ctx.scalar(0, ctx.element(0)), [dim_prod(shape)])
    places, values = f.reshape(ctx.ssa(1), [count]), f.reshape(ctx.ssa(0), [count])
    result = f.reshape(ctx.emit(ScatterElementsOp(zeros, places, values, 0)), shape)
    if not ctx.has(2):
        return result
    wanted = ctx.sizes(2, "output_shape")
    if len(wanted) != rank or any(map(provably_different, wanted[:2], dims[:2])):
        ctx.fail(f"output_shape is {shape_text(wanted)}, expected {shape_text(dims[:2])} and {space} more sizes")
    more = [new - old for new, old in zip(wanted[2:], shape[2:], strict=True)]
    if any(isinstance(size, int) and size < 0 for size in more):
        ctx.fail(f"output_shape is {shape_text(wanted)}, expected at least {shape_text(shape)}")
    return ctx.emit(PadOp(result, [0] * rank, [0, 0, *more]))


HANDLERS: Mapping[str, Handler] = {
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global_average_pool,
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": _global_max_pool,
    "LpPool": _lp_pool,
    "MaxPool": _max_pool,
    "MaxUnpool": _max_unpool,
}
