"""Quantisation, and products of quantised integers."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, SubOp
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.dtypes import element_type, is_integer
from aicc.dialects.graph.functions import RoundOp
from aicc.dialects.graph.integer_products import ConvIntegerOp, MatmulIntegerOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ReshapeOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.loading import NUMPY_DTYPES
from aicc.frontends.onnx.ops_nn import window


def _cast(ctx: NodeContext, value: SSAValue, element: Attribute) -> SSAValue:
    return value if element_type_of(value) == element else ctx.emit(CastOp(value, element))


def _along_axis(ctx: NodeContext, position: int) -> SSAValue:
    """A scale or zero point, one for the whole tensor or one per index of `axis`, so that it broadcasts."""
    dims, rank = ctx.dims(position), ctx.rank(0)
    if ctx.attr_int("block_size", 0):
        ctx.fail("scales per block (attribute 'block_size') are not supported")
    if not dims:
        return ctx.ssa(position)
    if len(dims) != 1:
        ctx.fail(f"input {position} has rank {len(dims)}, expected 0 or 1")
    if dims == (1,):
        return ctx.emit(ReshapeOp(ctx.ssa(position), ()))
    axis = ctx.axis(ctx.attr_int("axis", 1), rank)
    return ctx.emit(ReshapeOp(ctx.ssa(position), (*dims, *[1] * (rank - 1 - axis))))


def _quantize(ctx: NodeContext) -> SSAValue:
    """`saturate(round(x / scale) + zero)`, rounded half to even; sums in f32, which hold them exactly."""
    number = ctx.attr_int("output_dtype", 0)
    target = ctx.element(2) if ctx.has(2) else element_type(NUMPY_DTYPES[2])
    if number:
        target = ctx.attr_element("output_dtype")
    if not is_integer(target):
        ctx.fail(f"element type {target} of the result is not supported, expected integers")
    scale = _along_axis(ctx, 1)
    precise = ctx.attr_element("precision") if ctx.attr_int("precision", 0) else ctx.element(1)
    quotient = ctx.emit(DivOp(_cast(ctx, ctx.ssa(0), precise), _cast(ctx, scale, precise)))
    rounded = _cast(ctx, ctx.emit(RoundOp(quotient)), f32)
    if ctx.has(2):
        rounded = ctx.emit(AddOp(rounded, _cast(ctx, _along_axis(ctx, 2), f32)))
    return ctx.emit(CastOp(rounded, target))


def _dequantize(ctx: NodeContext) -> SSAValue:
    """`(x - zero) * scale`."""
    if not is_integer(ctx.element(0)):
        ctx.fail(f"element type {ctx.element(0)} is not supported, expected integers")
    scale = _along_axis(ctx, 1)
    element = ctx.attr_element("output_dtype") if ctx.attr_int("output_dtype", 0) else ctx.element(1)
    x = _cast(ctx, ctx.ssa(0), i32)
    if ctx.has(2):
        x = ctx.emit(SubOp(x, _cast(ctx, _along_axis(ctx, 2), i32)))
    return _cast(ctx, ctx.emit(MulOp(_cast(ctx, x, element_type_of(scale)), scale)), element)


def _zero_point(ctx: NodeContext, position: int, shape: tuple[Dim, ...]) -> SSAValue | None:
    """The zero point of an integer product; one of rank 1 takes `shape`, and one of a single element none."""
    if not ctx.has(position):
        return None
    zero = ctx.ssa(position)
    if ctx.rank(position) != 1:
        return zero
    return ctx.emit(ReshapeOp(zero, () if ctx.dims(position) == (1,) else shape))


def _matmul_integer(ctx: NodeContext) -> SSAValue:
    """Zero points of rank 1 are per row of the left operand, per column of the right one."""
    if min(ctx.rank(0), ctx.rank(1)) < 2:
        ctx.fail("an operand has rank below 2")
    rows, columns = ctx.dims(0)[-2], ctx.dims(1)[-1]
    zeros = _zero_point(ctx, 2, (rows, 1)), _zero_point(ctx, 3, (columns,))
    return ctx.emit(MatmulIntegerOp(ctx.ssa(0), ctx.ssa(1), *zeros))


def _conv_integer(ctx: NodeContext) -> SSAValue:
    """Padding counts as the zero point."""
    strides, pads, dilations = window(ctx, ctx.dims(1)[2:])
    zeros = _zero_point(ctx, 2, ()), _zero_point(ctx, 3, (ctx.dims(1)[0], *[1] * (ctx.rank(1) - 1)))
    return ctx.emit(ConvIntegerOp(ctx.ssa(0), ctx.ssa(1), *zeros, strides, pads, dilations, ctx.attr_int("group", 1)))


HANDLERS: Mapping[str, Handler] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": _dequantize,
    "MatMulInteger": _matmul_integer,
    "QuantizeLinear": _quantize,
}
"""Operators on quantised tensors by name."""
