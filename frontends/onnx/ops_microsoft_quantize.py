"""
Operators on quantised tensors of the domain `com.microsoft`, as onnxruntime's quantiser and optimiser write them.

Those on tensors that stay quantised (`QLinear*`) are what they stand for on floats between a dequantisation and a
quantisation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.activations import LeakyReluOp, SigmoidOp
from aicc.dialects.graph.arithmetic import AddOp, AndOp, MulOp, ShiftRightOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.integer_products import MatmulIntegerOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, ReshapeOp, SliceOp, TransposeOp
from aicc.dialects.graph.pooling import AvgPoolOp, GlobalAvgPoolOp, MaxPoolOp
from aicc.dialects.graph.quantization import cast, dequantize, quantize
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.frontends.onnx import ops_quantize
from aicc.frontends.onnx.context import Handler, NodeContext, Output
from aicc.frontends.onnx.ops_microsoft_attention import merged_attention
from aicc.frontends.onnx.ops_nn import window
from aicc.frontends.onnx.ops_quantize import quantized_by_range, requantized, required, reshaped, scaled


def _read(ctx: NodeContext, position: int) -> SSAValue:
    """A quantised input, followed by its scale and zero point, as floats."""
    return dequantize(ctx.emit, ctx.ssa(position), required(ctx, position + 1, ()), reshaped(ctx, position + 2, ()))


def _written(ctx: NodeContext, value: SSAValue, position: int) -> SSAValue:
    """Floats quantised by the scale at an input and the zero point after it."""
    zero = reshaped(ctx, position + 1, ())
    target = element_type_of(zero) if zero is not None else ctx.element(0)
    return quantize(ctx.emit, value, required(ctx, position, ()), zero, target)


def _binary(op: type[AddOp | MulOp]) -> Handler:
    def handle(ctx: NodeContext) -> SSAValue:
        return _written(ctx, ctx.emit(op(_read(ctx, 0), _read(ctx, 3))), 6)

    return handle


def _unary(build: Callable[[NodeContext, SSAValue], Operation]) -> Handler:
    def handle(ctx: NodeContext) -> SSAValue:
        return _written(ctx, ctx.emit(build(ctx, _read(ctx, 0))), 3)

    return handle


def _softmax(ctx: NodeContext, x: SSAValue) -> Operation:
    dims = dims_of(x.type)
    axis = ctx.axis(ctx.attr_int("axis", -1), len(dims))
    if ctx.attr_int("opset", 13) < 13 and axis != len(dims) - 1:
        ctx.fail(f"softmax over axes {axis} to {len(dims) - 1} together is not supported")
    return SoftmaxOp(x, axis)


def _concat(ctx: NodeContext) -> SSAValue:
    """Inputs: the result's scale and zero point, then each part with its own."""
    parts = [_read(ctx, position) for position in range(2, len(ctx.inputs), 3)]
    joined = ctx.emit(ConcatOp(parts, ctx.axis(ctx.attr_int("axis"), ctx.rank(2))))
    zero = required(ctx, 1, ())
    return quantize(ctx.emit, joined, required(ctx, 0, ()), zero, element_type_of(zero))


def _moved(ctx: NodeContext, value: SSAValue, last: bool) -> SSAValue:
    """An image with the channels moved to the last axis, or from it to the second."""
    axes = list(range(len(dims_of(value.type))))
    order = [0, *axes[2:], 1] if last else [0, axes[-1], *axes[1:-1]]
    return ctx.emit(TransposeOp(value, order))


def _pool(ctx: NodeContext, x: SSAValue, last: bool, build: Callable[[SSAValue], Operation]) -> SSAValue:
    """A pooling op on an image whose channels may be its last axis."""
    ctx.expect_rank(0, least=3)
    if not last:
        return ctx.emit(build(x))
    return _moved(ctx, ctx.emit(build(_moved(ctx, x, False))), True)


def _space(ctx: NodeContext, last: bool) -> Sequence[Dim]:
    return ctx.dims(0)[1:-1] if last else ctx.dims(0)[2:]


def _average_pool(ctx: NodeContext) -> SSAValue:
    last, kernel = bool(ctx.attr_int("channels_last", 0)), ctx.attr_ints("kernel_shape")
    strides, pads, dilations = window(ctx, kernel, _space(ctx, last))
    ceil_mode, include = bool(ctx.attr_int("ceil_mode", 0)), bool(ctx.attr_int("count_include_pad", 0))
    pooled = _pool(
        ctx, _read(ctx, 0), last, lambda x: AvgPoolOp(x, kernel, strides, pads, dilations, ceil_mode, include)
    )
    return _written(ctx, pooled, 3)


def _global_average_pool(ctx: NodeContext) -> SSAValue:
    last = bool(ctx.attr_int("channels_last", 0))
    return _written(ctx, _pool(ctx, _read(ctx, 0), last, GlobalAvgPoolOp), 3)


def _max_pool_channels_last(ctx: NodeContext) -> SSAValue:
    kernel = ctx.attr_ints("kernel_shape")
    strides, pads, dilations = window(ctx, kernel, _space(ctx, True))
    ceil_mode = bool(ctx.attr_int("ceil_mode", 0))
    return _pool(ctx, ctx.ssa(0), True, lambda x: MaxPoolOp(x, kernel, strides, pads, dilations, ceil_mode))


def _with_bias(ctx: NodeContext, value: SSAValue, position: int) -> SSAValue:
    return ctx.emit(AddOp(value, ctx.ssa(position))) if ctx.has(position) else value


def _matmul_integer_to_float(ctx: NodeContext) -> SSAValue:
    """Inputs: a, b, their scales, their zero points, a bias."""
    for position in (0, 1):
        ctx.expect_rank(position, least=2)
    columns = (ctx.dims(1)[-1],)
    zeros = reshaped(ctx, 4, (ctx.dims(0)[-2], 1)), reshaped(ctx, 5, columns)
    total = ctx.emit(MatmulIntegerOp(ctx.ssa(0), ctx.ssa(1), *zeros))
    scales = required(ctx, 2, (ctx.dims(0)[-2], 1)), required(ctx, 3, columns)
    return _with_bias(ctx, scaled(ctx, total, *scales), 6)


def _dynamic_quantize_matmul(ctx: NodeContext) -> SSAValue:
    """Inputs: a in floats, b, its scale and zero point, a bias."""
    ctx.expect_rank(1, least=2)
    columns = (ctx.dims(1)[-1],)
    a, scale, zero = quantized_by_range(ctx, 0)
    total = ctx.emit(MatmulIntegerOp(a, ctx.ssa(1), zero, reshaped(ctx, 3, columns)))
    return _with_bias(ctx, scaled(ctx, total, scale, required(ctx, 2, columns)), 4)


def _attention(ctx: NodeContext) -> list[Output]:
    """Inputs: x, merged weights, a bias in floats, the scales of x and weights, a mask, their zero points, the past."""
    ctx.expect_rank(0, 3)
    ctx.expect_rank(1, 2)
    columns = (ctx.dims(1)[-1],)
    total = ctx.emit(MatmulIntegerOp(ctx.ssa(0), ctx.ssa(1), reshaped(ctx, 6, ()), reshaped(ctx, 7, columns)))
    x = _with_bias(ctx, scaled(ctx, total, required(ctx, 3, ()), required(ctx, 4, columns)), 2)
    return merged_attention(ctx, x, 5, 8, None)


def _where(ctx: NodeContext) -> SSAValue:
    """Inputs: the condition, x, its scale and zero point, y and its, the result's."""
    chosen = ctx.emit(WhereOp(ctx.ssa(0), _read(ctx, 1), _read(ctx, 4)))
    zero = required(ctx, 8, ())
    return quantize(ctx.emit, chosen, required(ctx, 7, ()), zero, element_type_of(zero))


def _gemm(ctx: NodeContext) -> SSAValue:
    """Inputs: a, its scale and zero point, b and its, an i32 bias of scale `alpha * a * b`, the result's."""
    for position in (0, 3):
        ctx.expect_rank(position, 2)
    a, b = ctx.ssa(0), ctx.ssa(3)
    if ctx.attr_int("transA", 0):
        a = ctx.emit(TransposeOp(a, (1, 0)))
    if ctx.attr_int("transB", 0):
        b = ctx.emit(TransposeOp(b, (1, 0)))
    columns = (dims_of(b.type)[-1],)
    total = ctx.emit(MatmulIntegerOp(a, b, reshaped(ctx, 2, ()), reshaped(ctx, 5, columns)))
    total = _with_bias(ctx, total, 6)
    factors = required(ctx, 1, ()), required(ctx, 4, columns)
    if (alpha := ctx.attr_float("alpha", 1.0)) != 1.0:
        factors = ctx.emit(MulOp(factors[0], ctx.scalar(alpha, ctx.element(1)))), factors[1]
    if not ctx.has(7):
        return scaled(ctx, total, *factors)
    return requantized(ctx, total, factors, required(ctx, 7, ()), reshaped(ctx, 8, ()))


def _matmul_n_bits(ctx: NodeContext) -> SSAValue:
    """
    `a @ b^T` in floats, of a weight `[N, blocks, bytes]` with 4 or 8 bits per number, low ones first, and one scale per
    block of `K`; numbers are less a zero point per block, by default half of their range.
    """
    depth, columns = ctx.attr_int("K"), ctx.attr_int("N")
    bits, block = ctx.attr_int("bits", 4), ctx.attr_int("block_size")
    if bits not in (4, 8) or block < 16:
        ctx.fail(f"bits are {bits} and block_size is {block}, expected 4 or 8 and at least 16")
    if ctx.has(4):
        ctx.fail("an order of groups (input 4) is not supported")
    blocks = -(-depth // block)
    weight = _unpacked(ctx, ctx.emit(ReshapeOp(ctx.ssa(1), (columns, blocks, block * bits // 8))), bits)
    element = ctx.element(2)
    scale = ctx.emit(ReshapeOp(ctx.ssa(2), (columns, blocks, 1)))
    if ctx.has(3) and ctx.element(3) != element:
        packed = -(-blocks * bits // 8)
        zero = _unpacked(ctx, ctx.emit(ReshapeOp(ctx.ssa(3), (columns, packed))), bits)
        zero = ctx.emit(SliceOp.from_bounds(zero, [0, 0], [columns, blocks], [1, 1]))
        zero = cast(ctx.emit, ctx.emit(ReshapeOp(zero, (columns, blocks, 1))), element)
    elif ctx.has(3):
        zero = ctx.emit(ReshapeOp(ctx.ssa(3), (columns, blocks, 1)))
    else:
        zero = ctx.scalar(float(1 << (bits - 1)), element)
    floats = ctx.emit(MulOp(ctx.emit(SubOp(cast(ctx.emit, weight, element), zero)), scale))
    floats = ctx.emit(ReshapeOp(floats, (columns, blocks * block)))
    if blocks * block != depth:
        floats = ctx.emit(SliceOp.from_bounds(floats, [0, 0], [columns, depth], [1, 1]))
    product = ctx.emit(MatmulOp(ctx.ssa(0), cast(ctx.emit, floats, ctx.element(0)), transpose_b=True))
    return _with_bias(ctx, product, 5)


def _unpacked(ctx: NodeContext, value: SSAValue, bits: int) -> SSAValue:
    """Bytes as the numbers of `bits` bits that they hold, along the last axis."""
    if bits == 8:
        return value
    *outer, count = dims_of(value.type)
    element = element_type_of(value)
    low = ctx.emit(AndOp(value, ctx.scalar(15, element)))
    high = ctx.emit(ShiftRightOp(value, ctx.scalar(4, element)))
    parts = [ctx.emit(ReshapeOp(part, (*outer, count, 1))) for part in (low, high)]
    return ctx.emit(ReshapeOp(ctx.emit(ConcatOp(parts, len(outer) + 1)), (*outer, 2 * count)))


HANDLERS: Mapping[str, Handler] = {
    **{name: ops_quantize.HANDLERS[name] for name in ("DequantizeLinear", "QuantizeLinear")},
    "DynamicQuantizeMatMul": _dynamic_quantize_matmul,
    "MatMulIntegerToFloat": _matmul_integer_to_float,
    "MatMulNBits": _matmul_n_bits,
    "NhwcMaxPool": _max_pool_channels_last,
    "QAttention": _attention,
    "QGemm": _gemm,
    "QLinearAdd": _binary(AddOp),
    "QLinearAveragePool": _average_pool,
    "QLinearConcat": _concat,
    "QLinearGlobalAveragePool": _global_average_pool,
    "QLinearLeakyRelu": _unary(lambda ctx, x: LeakyReluOp(x, ctx.attr_float("alpha", 0.01))),
    "QLinearMul": _binary(MulOp),
    "QLinearSigmoid": _unary(lambda ctx, x: SigmoidOp(x)),
    "QLinearSoftmax": _unary(_softmax),
    "QLinearWhere": _where,
}
"""Operators by name."""
