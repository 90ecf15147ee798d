"""Operators of `com.microsoft` that fuse several standard ones, as exporters and optimisers write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from aicc.dialects.graph.activations import GeluOp, HardSigmoidOp, LeakyReluOp, ReluOp, SigmoidOp, SiluOp
from aicc.dialects.graph.arithmetic import AddOp, MulOp
from aicc.dialects.graph.choice import ClipOp
from aicc.dialects.graph.comparison import EqOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import dim_prod, dims_of
from aicc.dialects.graph.functions import TanhOp
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import SplitOp
from aicc.dialects.graph.normalization import GroupNormOp, LayerNormOp, RmsNormOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.frontends.onnx.context import Handler, NodeContext, Output, Result, Unavailable
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.ops_nn import HANDLERS as NN
from aicc.frontends.onnx.ops_nn import matmul, window

_TRAINING = Unavailable("is for training, which is not supported")

EPSILON = 1e-12
"""The default of the fused normalisations."""


def _activated(ctx: NodeContext, x: SSAValue, name: str, parameters: Sequence[float]) -> SSAValue:
    """The activation that an attribute names, with its parameters in order."""
    f, (first, second) = Formula(ctx), (*parameters, 0.0, 0.0)[:2]
    match name:
        case "":
            return x
        case "Relu":
            return f(ReluOp, x)
        case "Sigmoid":
            return f(SigmoidOp, x)
        case "Tanh":
            return f(TanhOp, x)
        case "LeakyRelu":
            return ctx.emit(LeakyReluOp(x, first))
        case "HardSigmoid":
            return ctx.emit(HardSigmoidOp(x, first, second))
        case "Clip":
            return f(ClipOp, x, first, second)
        case _:
            ctx.fail(f"activation '{name}' is not supported")


def _only(result: Result | Sequence[Output]) -> SSAValue:
    assert isinstance(result, SSAValue)
    return result


def _fused_conv(ctx: NodeContext) -> SSAValue:
    """`activation(conv(x, w, b) + z)`."""
    result = _only(NN["Conv"](ctx))
    if ctx.has(3):
        result = Formula(ctx)(AddOp, result, ctx.ssa(3))
    return _activated(ctx, result, ctx.attr_str("activation", ""), ctx.attr_floats("activation_params", ()))


def _channels_last_conv(ctx: NodeContext) -> SSAValue:
    """A convolution whose input, weight and result have the channels last."""
    f, rank = Formula(ctx), ctx.rank(0)
    if rank < 3:
        ctx.fail(f"the input has rank {rank}, expected at least 3")
    first, last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
    x, weight = f.transpose(ctx.ssa(0), first), f.transpose(ctx.ssa(1), first)
    strides, pads, dilations = window(ctx, dims_of(weight.type)[2:], dims_of(x.type)[2:])
    group = ctx.attr_int("group", 1)
    result = f.transpose(ctx.emit(ConvOp(x, weight, ctx.optional(2), strides, pads, dilations, group)), last)
    if ctx.has(3):
        result = f(AddOp, result, ctx.ssa(3))
    return _activated(ctx, result, ctx.attr_str("activation", ""), ctx.attr_floats("activation_params", ()))


def _activation_parameters(ctx: NodeContext) -> list[float]:
    return [ctx.attr_float(f"activation_{name}", 0.0) for name in ("alpha", "beta")]


def _fused_gemm(ctx: NodeContext) -> SSAValue:
    """`activation(alpha * A' B' + beta * C)`."""
    return _activated(ctx, _only(NN["Gemm"](ctx)), ctx.attr_str("activation", ""), _activation_parameters(ctx))


def _fused_matmul(ctx: NodeContext) -> SSAValue:
    """
    `activation(alpha * A' B')`, with the last two axes swapped where asked for (not of vectors); before that,
    an operand may have its first axis moved behind the others but the last.
    """
    f, operands = Formula(ctx), list[SSAValue]()
    for position, side in enumerate("AB"):
        x, rank = ctx.ssa(position), ctx.rank(position)
        if rank > 2 and ctx.attr_int(f"transBatch{side}", 0):
            x = f.transpose(x, (*range(1, rank - 1), 0, rank - 1))
        if rank > 1 and ctx.attr_int(f"trans{side}", 0):
            x = f.transpose(x, (*range(rank - 2), rank - 1, rank - 2))
        operands.append(x)
    result, alpha = matmul(ctx, operands[0], operands[1]), ctx.attr_float("alpha", 1.0)
    if alpha != 1:
        result = f(MulOp, result, alpha)
    return _activated(ctx, result, ctx.attr_str("activation", ""), _activation_parameters(ctx))


def _with_bias(ctx: NodeContext) -> SSAValue:
    """Input 0 plus input 1, if that is given."""
    return Formula(ctx)(AddOp, ctx.ssa(0), ctx.ssa(1)) if ctx.has(1) else ctx.ssa(0)


def _gelu(ctx: NodeContext) -> SSAValue:
    return ctx.emit(GeluOp(_with_bias(ctx)))


def _fast_gelu(ctx: NodeContext) -> SSAValue:
    return ctx.emit(GeluOp(_with_bias(ctx), approximate="tanh"))


def _quick_gelu(ctx: NodeContext) -> SSAValue:
    """`x * sigmoid(alpha * x)`."""
    f, x = Formula(ctx), ctx.ssa(0)
    return f(MulOp, x, f(SigmoidOp, f(MulOp, x, ctx.attr_float("alpha", 1.702))))


def _bias_split_gelu(ctx: NodeContext) -> SSAValue:
    """`left * gelu(right)` of the halves of `x + bias`."""
    ctx.expect_rank(0, least=1)
    size = ctx.dims(0)[-1]
    if not isinstance(size, int) or size % 2:
        ctx.fail(f"the last axis has size {size}, expected an even constant")
    left, right = ctx.emit_all(SplitOp(_with_bias(ctx), ctx.rank(0) - 1, [size // 2] * 2))
    return Formula(ctx)(MulOp, left, ctx.emit(GeluOp(right)))


def _bias_softmax(ctx: NodeContext) -> SSAValue:
    """The softmax of `data + bias` over all axes from `axis` on."""
    f, dims = Formula(ctx), ctx.dims(0)
    axis = ctx.axis(ctx.attr_int("axis", 1), len(dims))
    x = _with_bias(ctx)
    if axis == len(dims) - 1:
        return ctx.emit(SoftmaxOp(x, axis))
    flat = f.reshape(x, (dim_prod(dims[:axis]), dim_prod(dims[axis:])))
    return f.reshape(ctx.emit(SoftmaxOp(flat, 1)), dims)


def _bias_add(ctx: NodeContext) -> SSAValue:
    """`x + bias + skip`."""
    return Formula(ctx)(AddOp, _with_bias(ctx), ctx.ssa(2))


def _summed(ctx: NodeContext, bias: int) -> SSAValue:
    """Input, skip and bias added up."""
    f = Formula(ctx)
    total = f(AddOp, ctx.ssa(0), ctx.ssa(1))
    return f(AddOp, total, ctx.ssa(bias)) if ctx.has(bias) else total


def _skip_layer_norm(ctx: NodeContext) -> list[Output]:
    total = _summed(ctx, 4)
    axis, epsilon = ctx.rank(0) - 1, ctx.attr_float("epsilon", EPSILON)
    return [ctx.emit(LayerNormOp(total, ctx.ssa(2), ctx.optional(3), axis, epsilon)), _TRAINING, _TRAINING, total]


def _skip_rms_norm(ctx: NodeContext) -> list[Output]:
    total = _summed(ctx, 3)
    axis, epsilon = ctx.rank(0) - 1, ctx.attr_float("epsilon", EPSILON)
    return [ctx.emit(RmsNormOp(total, ctx.ssa(2), axis, epsilon)), _TRAINING, _TRAINING, total]


def _rms_norm(ctx: NodeContext) -> list[Output]:
    """RMS normalisation under the name that onnxruntime's optimiser gives it, in the standard domain."""
    axis = ctx.axis(ctx.attr_int("axis", -1), ctx.rank(0))
    return [ctx.emit(RmsNormOp(ctx.ssa(0), ctx.ssa(1), axis, ctx.attr_float("epsilon", 1e-5))), _TRAINING]


def _embed_layer_norm(ctx: NodeContext) -> list[Output]:
    """
    The normalised sum of rows of up to three tables: by word, by position (given, or the place in the row) and by
    segment. The mask's count is the number of ones in each row.
    """
    ctx.expect_rank(0, 2)
    f, (batch, length) = Formula(ctx), ctx.dims(0)
    total = ctx.emit(GatherOp(ctx.ssa(2), ctx.ssa(0), 0))
    places = ctx.ssa(8) if ctx.has(8) else f.places(length, 0, 1)
    total = f(AddOp, total, ctx.emit(GatherOp(ctx.ssa(3), places, 0)))
    if ctx.has(1) and ctx.has(4):
        total = f(AddOp, total, ctx.emit(GatherOp(ctx.ssa(4), ctx.ssa(1), 0)))
    result = ctx.emit(LayerNormOp(total, ctx.ssa(5), ctx.ssa(6), 2, ctx.attr_float("epsilon", EPSILON)))
    if ctx.has(7):
        counts = ctx.emit(ReduceSumOp(f.cast(f(EqOp, ctx.ssa(7), 1), i32), (1,)))
    else:
        counts = f.expand(ctx.scalar(0, i32), (batch,))
    return [result, counts, total]


def _group_norm(ctx: NodeContext) -> SSAValue:
    """Group normalisation with the channels last (unless `channels_last` is 0), and SiLU where `activation` is 1."""
    f, rank, dims = Formula(ctx), ctx.rank(0), ctx.dims(0)
    last = bool(ctx.attr_int("channels_last", 1))
    x = f.transpose(ctx.ssa(0), (0, rank - 1, *range(1, rank - 1))) if last else ctx.ssa(0)
    groups, channels = ctx.attr_int("groups"), dims[-1 if last else 1]
    if groups < 1 or (isinstance(channels, int) and channels % groups):
        ctx.fail(f"groups is {groups}, expected a divisor of the {channels} channels")
    scale, bias = (f.cast(ctx.ssa(i), element_type_of(x)) for i in (1, 2))
    x = ctx.emit(GroupNormOp(x, scale, bias, groups, ctx.attr_float("epsilon", 1e-5)))
    if ctx.attr_int("activation"):
        x = f(SiluOp, x)
    return f.transpose(x, (0, *range(2, rank), 1)) if last else x


HANDLERS: Mapping[str, Handler] = {
    "BiasAdd": _bias_add,
    "BiasGelu": _gelu,
    "BiasSoftmax": _bias_softmax,
    "BiasSplitGelu": _bias_split_gelu,
    "EmbedLayerNormalization": _embed_layer_norm,
    "FastGelu": _fast_gelu,
    "FusedConv": _fused_conv,
    "FusedGemm": _fused_gemm,
    "FusedMatMul": _fused_matmul,
    "FusedMatMulActivation": _fused_matmul,
    "Gelu": _gelu,
    "GroupNorm": _group_norm,
    "NhwcConv": _channels_last_conv,
    "NhwcFusedConv": _channels_last_conv,
    "QuickGelu": _quick_gelu,
    "SkipLayerNormalization": _skip_layer_norm,
    "SkipSimplifiedLayerNormalization": _skip_rms_norm,
    "TransposeMatMul": _fused_matmul,
}
"""In the domain `com.microsoft`."""

STANDARD: Mapping[str, Handler] = {"SimplifiedLayerNormalization": _rms_norm}
"""In the standard domain, though not of the standard."""
