"""Convolution, matrix products, attention."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, MulOp
from aicc.dialects.graph.attention import AttentionOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import Dim, dims_of, floordiv, shape_text
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.matmul import LinearOp, MatmulOp
from aicc.dialects.graph.movement import ConcatOp, PadOp, ReshapeOp, TransposeOp
from aicc.dialects.graph.windows import same_pads
from aicc.frontends.onnx.context import Handler, NodeContext, Result, UseDefinition


def window(
    ctx: NodeContext, kernel: Sequence[Dim], sizes: Sequence[Dim] | None = None
) -> tuple[tuple[int, ...], tuple[Dim, ...], tuple[int, ...]]:
    """Strides, pads and dilations of a window over the axes of space (of `sizes`), with `auto_pad` worked out."""
    sizes = ctx.dims(0)[2:] if sizes is None else sizes
    rank = len(sizes)
    strides = ctx.attr_ints("strides", (1,) * rank)
    dilations = ctx.attr_ints("dilations", (1,) * rank)
    pads: tuple[Dim, ...] = ctx.attr_ints("pads", (0,) * (2 * rank))
    mode = ctx.attr_str("auto_pad", "NOTSET")
    if mode in ("", "NOTSET"):
        return strides, pads, dilations
    if mode == "VALID":
        return strides, (0,) * (2 * rank), dilations
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        ctx.fail(f"auto_pad is '{mode}', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    if not len(sizes) == len(kernel) == len(strides) == len(dilations) or min(strides, default=1) < 1:
        ctx.fail(f"kernel, strides or dilations do not fit an input of shape {shape_text(ctx.dims(0))}")
    both = [
        same_pads(size, taps, stride, dilation, upper=mode == "SAME_UPPER")
        for size, taps, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True)
    ]
    return strides, (*[low for low, _ in both], *[high for _, high in both]), dilations


def image_rank(ctx: NodeContext) -> int:
    """The rank of the first input, which has axes for batch, channels and space."""
    if (rank := ctx.rank(0)) < 3:
        ctx.fail(f"the input has rank {rank}, expected at least 3")
    return rank


def _conv(ctx: NodeContext) -> SSAValue:
    image_rank(ctx)
    kernel = ctx.dims(1)[2:]
    given = ctx.attr_ints("kernel_shape", ())
    if given and given != kernel:
        ctx.fail(f"kernel_shape is {list(given)}, but the weight has shape {shape_text(ctx.dims(1))}")
    strides, pads, dilations = window(ctx, kernel)
    return ctx.emit(ConvOp(ctx.ssa(0), ctx.ssa(1), ctx.optional(2), strides, pads, dilations, ctx.attr_int("group", 1)))


def _matmul(ctx: NodeContext) -> SSAValue:
    return matmul(ctx, ctx.ssa(0), ctx.ssa(1))


def matmul(ctx: NodeContext, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """Operands of rank 1 are a row on the left, a column on the right, and that axis is not in the result."""
    left, right = dims_of(lhs.type), dims_of(rhs.type)
    if not left or not right:
        ctx.fail("an operand has rank 0, expected at least 1")
    if len(left) > 1 and len(right) > 1:
        return ctx.emit(MatmulOp(lhs, rhs))
    if len(left) == 1:
        lhs = ctx.emit(ReshapeOp(lhs, (1, *left)))
    if len(right) == 1:
        rhs = ctx.emit(ReshapeOp(rhs, (*right, 1)))
    product = ctx.emit(MatmulOp(lhs, rhs))
    dims = list(dims_of(product.type))
    if len(right) == 1:
        del dims[-1]
    if len(left) == 1:
        del dims[-1 if len(right) == 1 else -2]
    return ctx.emit(ReshapeOp(product, dims))


def _gemm(ctx: NodeContext) -> SSAValue:
    """`alpha * A' B' + beta * C`; a layer of a network if both factors are 1."""
    alpha, beta = ctx.attr_float("alpha", 1.0), ctx.attr_float("beta", 1.0)
    transpose_a, transpose_b = bool(ctx.attr_int("transA", 0)), bool(ctx.attr_int("transB", 0))
    for i in (0, 1):
        if ctx.rank(i) != 2:
            ctx.fail(f"input {i} has rank {ctx.rank(i)}, expected 2")
    bias = ctx.optional(2)
    if beta == 0:
        bias = None
    if alpha == 1 and beta in (0, 1):
        a = ctx.emit(TransposeOp(ctx.ssa(0), (1, 0))) if transpose_a else ctx.ssa(0)
        return ctx.emit(LinearOp(a, ctx.ssa(1), bias, transpose_w=transpose_b))
    product = ctx.emit(MatmulOp(ctx.ssa(0), ctx.ssa(1), transpose_a=transpose_a, transpose_b=transpose_b))
    if alpha != 1:
        product = ctx.emit(MulOp(product, _factor(ctx, alpha)))
    if bias is None:
        return product
    if beta != 1:
        bias = ctx.emit(MulOp(bias, _factor(ctx, beta)))
    return ctx.emit(AddOp(product, bias))


def _factor(ctx: NodeContext, value: float) -> SSAValue:
    dtype = numpy_dtype(ctx.element(0))
    if dtype.kind in "iu" and value != int(value):
        ctx.fail(f"alpha or beta is {value}, expected an integer for integer matrices")
    return ctx.constant(np.array(value).astype(dtype))


def _heads(ctx: NodeContext, position: int, count: int | None) -> SSAValue:
    """An operand of attention as `[batch, heads, length, size]`; of rank 3, the last axis holds the heads."""
    x, dims = ctx.ssa(position), ctx.dims(position)
    if len(dims) == 4:
        return x
    if len(dims) != 3 or count is None:
        ctx.fail(f"input {position} has rank {len(dims)}, expected 4, or 3 with q_num_heads and kv_num_heads")
    batch, length, width = dims
    if isinstance(width, int) and width % count:
        ctx.fail(f"the last size {width} of input {position} is no multiple of its {count} heads")
    x = ctx.emit(ReshapeOp(x, (batch, length, count, floordiv(width, count))))
    return ctx.emit(TransposeOp(x, (0, 2, 1, 3)))


def _attention(ctx: NodeContext) -> list[Result]:
    """Grouped queries become an axis of their own, along which keys and values broadcast."""
    windowed = any(ctx.attr_int(name, -1) >= 0 for name in ("left_window_size", "right_window_size"))
    if windowed or ctx.has(6) or ctx.wants(3):  # nonpad_kv_seqlen, qk_matmul_output
        raise UseDefinition
    query = _heads(ctx, 0, ctx.attr_int("q_num_heads") if ctx.has_attr("q_num_heads") else None)
    kv_heads = ctx.attr_int("kv_num_heads") if ctx.has_attr("kv_num_heads") else None
    key, value = _heads(ctx, 1, kv_heads), _heads(ctx, 2, kv_heads)
    past: Dim = 0
    if ctx.has(4) != ctx.has(5):
        ctx.fail("past_key and past_value must be given together")
    if ctx.has(4):
        past = ctx.dims(4)[2]
        key, value = ctx.emit(ConcatOp([ctx.ssa(4), key], 2)), ctx.emit(ConcatOp([ctx.ssa(5), value], 2))
    batch, q_heads, length, size = dims_of(query.type)
    groups, keys = dims_of(key.type)[1:3]
    mask = _mask(ctx, keys) if ctx.has(3) else None
    scale = ctx.attr_float("scale") if ctx.has_attr("scale") else None
    if scale is None and isinstance(size, int):
        scale = 1 / math.sqrt(size)
    softcap = ctx.attr_float("softcap", 0.0) or None
    present = (key, value)
    grouped = q_heads != groups
    if grouped:
        if not isinstance(q_heads, int) or not isinstance(groups, int) or q_heads % groups:
            ctx.fail(f"{q_heads} heads of queries are no multiple of {groups} heads of keys")
        query = ctx.emit(ReshapeOp(query, (batch, groups, q_heads // groups, length, size)))
        key, value = (ctx.emit(ReshapeOp(x, (*dims_of(x.type)[:2], 1, *dims_of(x.type)[2:]))) for x in (key, value))
        if mask is not None and len(shape := dims_of(mask.type)) > 2:
            heads = (groups, q_heads // groups) if shape[-3] == q_heads else (1, 1)
            mask = ctx.emit(ReshapeOp(mask, (*shape[:-3], *heads, *shape[-2:])))
    causal = bool(ctx.attr_int("is_causal", 0))
    result = ctx.emit(AttentionOp(query, key, value, mask, scale, causal, softcap, past))
    depth = dims_of(result.type)[-1]
    if grouped:
        result = ctx.emit(ReshapeOp(result, (batch, q_heads, length, depth)))
    if ctx.rank(0) == 3:
        result = ctx.emit(TransposeOp(result, (0, 2, 1, 3)))
        result = ctx.emit(ReshapeOp(result, (batch, length, q_heads * depth)))
    return [result, *present]


def _mask(ctx: NodeContext, keys: Dim) -> SSAValue:
    """The mask; a last axis that is shorter than the keys is padded with "not attended"."""
    mask, dims = ctx.ssa(3), ctx.dims(3)
    if not dims or dims[-1] == keys or not isinstance(dims[-1], int) or not isinstance(keys, int) or dims[-1] > keys:
        return mask
    boolean = ctx.element(3) == i1
    fill = ctx.scalar(False if boolean else -math.inf, ctx.element(3))
    zeros: list[Dim] = [0] * len(dims)
    return ctx.emit(PadOp(mask, zeros, [*zeros[:-1], keys - dims[-1]], value=fill))


HANDLERS: Mapping[str, Handler] = {
    "Attention": _attention,
    "Conv": _conv,
    "Gemm": _gemm,
    "MatMul": _matmul,
}
