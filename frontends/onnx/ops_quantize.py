"""Quantisation, and products of quantised integers: the operators of the standard."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp
from aicc.dialects.graph.dims import Dim, ceildiv
from aicc.dialects.graph.dtypes import accumulator_type, element_type, is_integer, is_narrow, is_narrow_float
from aicc.dialects.graph.integer_products import ConvIntegerOp, MatmulIntegerOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp, SliceOp
from aicc.dialects.graph.quantization import cast, dequantize, dynamic_quantize, quantize, round_to
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.ops_nn import window

_UNSIGNED = element_type(np.dtype(np.uint8))


def along_axis(ctx: NodeContext, position: int) -> SSAValue:
    """
    A scale or zero point of input 0, so that it broadcasts: one for the whole tensor, one per index of `axis`, or with
    `block_size` one per so many neighbours along it.
    """
    dims, whole = ctx.dims(position), ctx.dims(0)
    rank = len(whole)
    block = ctx.attr_int("block_size", 0)
    if not dims:
        return ctx.ssa(position)
    if block:
        return _repeated(ctx, position, ctx.axis(ctx.attr_int("axis", 1), rank), block)
    if len(dims) != 1:
        ctx.fail(f"input {position} has rank {len(dims)}, expected 0 or 1")
    if dims == (1,):
        return ctx.emit(ReshapeOp(ctx.ssa(position), ()))
    axis = ctx.axis(ctx.attr_int("axis", 1), rank)
    return ctx.emit(ReshapeOp(ctx.ssa(position), (*dims, *[1] * (rank - 1 - axis))))


def _repeated(ctx: NodeContext, position: int, axis: int, block: int) -> SSAValue:
    """One value per block along `axis`, for each index of the blocks; the last one may be shorter."""
    dims, whole = ctx.dims(position), ctx.dims(0)
    if block < 0 or len(dims) != len(whole):
        ctx.fail(f"block_size is {block} and input {position} has rank {len(dims)}, expected {len(whole)}")
    blocks = dims[axis]
    if isinstance(whole[axis], int) and blocks != ceildiv(whole[axis], block):
        ctx.fail(f"input {position} has {blocks} blocks, expected {ceildiv(whole[axis], block)}")
    before, after = dims[:axis], dims[axis + 1 :]
    value = ctx.emit(ReshapeOp(ctx.ssa(position), (*before, blocks, 1, *after)))
    value = ctx.emit(ExpandOp(value, (*before, blocks, block, *after)))
    value = ctx.emit(ReshapeOp(value, (*before, blocks * block, *after)))
    if blocks * block == whole[axis]:
        return value
    ends = (*before, whole[axis], *after)
    return ctx.emit(SliceOp.from_bounds(value, [0] * len(ends), ends, [1] * len(ends)))


def _is_quantized(element: Attribute) -> bool:
    return is_integer(element) or is_narrow(element)


def _quantize(ctx: NodeContext) -> SSAValue:
    target = ctx.element(2) if ctx.has(2) else _UNSIGNED
    if ctx.attr_int("output_dtype", 0):
        target = ctx.attr_element("output_dtype")
    if not _is_quantized(target):
        ctx.fail(f"element type {target} of the result is not supported, expected integers or floats of 8 bits")
    zero = along_axis(ctx, 2) if ctx.has(2) and not is_narrow_float(target) else None
    precise = ctx.attr_element("precision") if ctx.attr_int("precision", 0) else None
    return quantize(ctx.emit, ctx.ssa(0), along_axis(ctx, 1), zero, target, precise)


def _dequantize(ctx: NodeContext) -> SSAValue:
    if not _is_quantized(ctx.element(0)):
        ctx.fail(f"element type {ctx.element(0)} is not supported, expected integers or floats of 8 bits")
    scale = along_axis(ctx, 1)
    element = ctx.attr_element("output_dtype") if ctx.attr_int("output_dtype", 0) else ctx.element(1)
    result = dequantize(ctx.emit, ctx.ssa(0), scale, along_axis(ctx, 2) if ctx.has(2) else None)
    return cast(ctx.emit, result, element)


def quantized_by_range(ctx: NodeContext, position: int) -> tuple[SSAValue, SSAValue, SSAValue]:
    """An input quantised while the model runs, its scale and zero point; in f64 it serves as a reference."""
    if (element := ctx.element(position)) not in (f32, f64):
        ctx.fail(f"element type {element} of input {position} is not supported, expected f32")
    return dynamic_quantize(ctx.emit, ctx.ssa(position))


def _dynamic_quantize(ctx: NodeContext) -> list[SSAValue]:
    return list(quantized_by_range(ctx, 0))


def reshaped(ctx: NodeContext, position: int, shape: tuple[Dim, ...]) -> SSAValue | None:
    """A scale or zero point of a product; one of rank 1 takes `shape`, and one of a single element none."""
    if not ctx.has(position):
        return None
    value = ctx.ssa(position)
    if ctx.rank(position) != 1:
        return value
    return ctx.emit(ReshapeOp(value, () if ctx.dims(position) == (1,) else shape))


def required(ctx: NodeContext, position: int, shape: tuple[Dim, ...]) -> SSAValue:
    """`reshaped` of an input that must be there."""
    found = reshaped(ctx, position, shape)
    if found is None:
        ctx.fail(f"input {position} is missing")
    return found


def _product(ctx: NodeContext, a: int, b: int, a_zero: int, b_zero: int) -> SSAValue:
    """
    The integer product of two inputs, less zero points at other positions.

    Zero points of rank 1 are per row of the left operand, per column of the right one.
    """
    for position in (a, b):
        ctx.expect_rank(position, least=2)
    rows, columns = ctx.dims(a)[-2], ctx.dims(b)[-1]
    zeros = reshaped(ctx, a_zero, (rows, 1)), reshaped(ctx, b_zero, (columns,))
    return ctx.emit(MatmulIntegerOp(ctx.ssa(a), ctx.ssa(b), *zeros))


def _matmul_integer(ctx: NodeContext) -> SSAValue:
    return _product(ctx, 0, 1, 2, 3)


def scaled(ctx: NodeContext, total: SSAValue, *factors: SSAValue) -> SSAValue:
    """An integer product as the float that it stands for."""
    factor = factors[0]
    for other in factors[1:]:
        factor = ctx.emit(MulOp(factor, other))
    element = element_type_of(factor)
    return ctx.emit(MulOp(cast(ctx.emit, total, element), factor))


def requantized(
    ctx: NodeContext, total: SSAValue, factors: tuple[SSAValue, SSAValue], scale: SSAValue, zero: SSAValue | None
) -> SSAValue:
    """
    An integer product in a quantised type: `saturate(round(total * (factors / scale)) + zero)`, computed in f32, or in
    f64 where the scale is of it.
    """
    wide = accumulator_type(element_type_of(scale))
    a, b, c = (cast(ctx.emit, factor, wide) for factor in (*factors, scale))
    factor = ctx.emit(DivOp(ctx.emit(MulOp(a, b)), c))
    target = _UNSIGNED if zero is None else element_type_of(zero)
    return round_to(ctx.emit, ctx.emit(MulOp(cast(ctx.emit, total, wide), factor)), zero, target)


def _qlinear_matmul(ctx: NodeContext) -> SSAValue:
    """Inputs: a, its scale and zero point, b and its, the result's."""
    total = _product(ctx, 0, 3, 2, 5)
    rows, columns = ctx.dims(0)[-2], ctx.dims(3)[-1]
    factors = required(ctx, 1, (rows, 1)), required(ctx, 4, (columns,))
    return requantized(ctx, total, factors, required(ctx, 6, (rows, 1)), reshaped(ctx, 7, (rows, 1)))


def _convolution(ctx: NodeContext, weight: int, x_zero: int, weight_zero: int) -> SSAValue:
    """The integer convolution of input 0; padding counts as the zero point."""
    ctx.expect_rank(weight, least=3)
    dims = ctx.dims(weight)
    strides, pads, dilations = window(ctx, dims[2:])
    zeros = reshaped(ctx, x_zero, ()), reshaped(ctx, weight_zero, (dims[0], *[1] * (len(dims) - 1)))
    groups = ctx.attr_int("group", 1)
    return ctx.emit(ConvIntegerOp(ctx.ssa(0), ctx.ssa(weight), *zeros, strides, pads, dilations, groups))


def _conv_integer(ctx: NodeContext) -> SSAValue:
    return _convolution(ctx, 1, 2, 3)


def _qlinear_conv(ctx: NodeContext) -> SSAValue:
    """Inputs: x, its scale and zero point, the weight and its, the result's, an i32 bias of scale `x * weight`."""
    total = _convolution(ctx, 3, 2, 5)
    channels = (ctx.dims(3)[0], *[1] * (ctx.rank(3) - 2))
    if ctx.has(8):
        total = ctx.emit(AddOp(total, ctx.emit(ReshapeOp(ctx.ssa(8), channels))))
    factors = required(ctx, 1, ()), required(ctx, 4, channels)
    return requantized(ctx, total, factors, required(ctx, 6, ()), reshaped(ctx, 7, ()))


HANDLERS: Mapping[str, Handler] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": _dequantize,
    "DynamicQuantizeLinear": _dynamic_quantize,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize,
}
"""Operators on quantised tensors by name."""
