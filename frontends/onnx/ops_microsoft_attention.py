"""Attention and rotary embedding of `com.microsoft`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, MulOp, SubOp
from aicc.dialects.graph.attention import AttentionOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, GeOp, LtOp
from aicc.dialects.graph.dims import Dim, dims_of, floordiv, shape_text
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, SliceOp, SplitOp
from aicc.frontends.onnx.context import Handler, NodeContext, Output, Unavailable
from aicc.frontends.onnx.formulas import Formula

_SCORES = Unavailable("(the scores) is not supported")


def per_head(f: Formula, x: SSAValue, count: int) -> SSAValue:
    """`[batch, length, count * size]` as `[batch, count, length, size]`."""
    dims = dims_of(x.type)
    if count < 1:
        f.ctx.fail(f"the number of heads is {count}, expected at least 1")
    if len(dims) != 3 or (isinstance(dims[2], int) and dims[2] % count):
        f.ctx.fail(f"queries, keys or values have shape {shape_text(dims)}, expected 3 axes and {count} heads")
    batch, length, width = dims
    return f.transpose(f.reshape(x, (batch, length, count, floordiv(width, count))), (0, 2, 1, 3))


def per_place(f: Formula, x: SSAValue) -> SSAValue:
    """`[batch, heads, length, size]` as `[batch, length, heads * size]`."""
    batch, heads, length, size = dims_of(x.type)
    return f.reshape(f.transpose(x, (0, 2, 1, 3)), (batch, length, heads * size))


def part_of(f: Formula, x: SSAValue, axis: int, start: Dim, size: Dim) -> SSAValue:
    """`size` indices of one axis from `start` on."""
    sizes = list(dims_of(x.type))
    starts: list[Dim] = [0] * len(sizes)
    starts[axis], sizes[axis] = start, size
    return f.ctx.emit(SliceOp(x, starts, sizes, [1] * len(sizes)))


def _taken(f: Formula, x: SSAValue, axis: int, index: int) -> SSAValue:
    """One index of an axis, which is dropped."""
    dims = dims_of(x.type)
    return f.reshape(part_of(f, x, axis, index, 1), (*dims[:axis], *dims[axis + 1 :]))


def _padding_mask(ctx: NodeContext, position: int, past: Dim, length: Dim, total: Dim) -> SSAValue:
    """
    Which keys are attended to, as i1 that broadcasts to `[batch, heads, length, total]`. The input is: 1 for keys
    that count, `[batch, total]` or `[batch, length, total]`, or `[batch, 1, most, most]` of which a part is used;
    the number of keys `[batch]`; or the ends of the keys and then their starts `[2 * batch]`.
    """
    f, dims, (batch, *_) = Formula(ctx), ctx.dims(position), ctx.dims(0)
    mask = ctx.ssa(position)
    if len(dims) == 1:
        keys = f.places(total, 1, 2, element_type_of(mask))
        if dims[0] == batch:
            return f.reshape(f(LtOp, keys, f.reshape(mask, (batch, 1))), (batch, 1, 1, total))
        if dims[0] != batch * 2:
            ctx.fail(f"the mask has shape {shape_text(dims)}, expected [{batch}] or [{batch * 2}] if it has one axis")
        ends, starts = (f.reshape(part_of(f, mask, 0, i * batch, batch), (batch, 1)) for i in (0, 1))
        return f.reshape(f(AndOp, f(LtOp, keys, ends), f(GeOp, keys, starts)), (batch, 1, 1, total))
    if len(dims) == 4:
        mask = part_of(f, part_of(f, mask, 2, past, length), 3, 0, total)
        shape: tuple[Dim, ...] = dims_of(mask.type)
    elif len(dims) in (2, 3):
        shape = (batch, 1, 1, total) if len(dims) == 2 else (batch, 1, length, total)
    else:
        ctx.fail(f"the mask has shape {shape_text(dims)}, expected 1 to 4 axes")
    kept = f(EqOp, mask, 0)
    return f(EqOp, f.reshape(kept, shape), False)


def _attended(
    ctx: NodeContext, query: SSAValue, key: SSAValue, value: SSAValue, past: Dim, mask: int, bias: int | None
) -> SSAValue:
    """
    The attention of heads. Keys that the mask leaves out are not excluded: their scores get `mask_filter_value` added.
    `mask` and `bias` are the positions of these inputs.
    """
    f, element = Formula(ctx), element_type_of(query)
    length, total = dims_of(query.type)[2], dims_of(key.type)[2]
    added = None if bias is None else ctx.optional(bias)
    if ctx.has(mask):
        kept = _padding_mask(ctx, mask, past, length, total)
        filtered = ctx.scalar(ctx.attr_float("mask_filter_value", -10000.0), element)
        filtered = f(WhereOp, kept, ctx.scalar(0.0, element), filtered)
        added = filtered if added is None else f(AddOp, added, filtered)
    scale = ctx.attr_float("scale", 0.0) or None  # 0 stands for the default.
    causal = bool(ctx.attr_int("unidirectional", 0))
    return ctx.emit(AttentionOp(query, key, value, added, scale, causal, None, past))


def _with_past(f: Formula, past: SSAValue | None, present: SSAValue) -> SSAValue:
    return present if past is None else f.ctx.emit(ConcatOp([past, present], 2))


def _attention(ctx: NodeContext) -> list[Output]:
    """Queries, keys and values are one product of the input with merged weights."""
    if ctx.has(6):
        ctx.fail("a length of the past (input 6) is not supported")
    ctx.expect_rank(0, 3)
    ctx.expect_rank(1, 2)
    x = ctx.emit(MatmulOp(ctx.ssa(0), ctx.ssa(1)))
    if ctx.has(2):
        x = Formula(ctx)(AddOp, x, ctx.ssa(2))
    return merged_attention(ctx, x, 3, 4, 5)


def merged_attention(ctx: NodeContext, x: SSAValue, mask: int, past: int, bias: int | None) -> list[Output]:
    """
    The attention of `x`, `[batch, length, queries + keys + values]`; the keys and values come after those of the past.
    `mask`, `past` and `bias` are the positions of these inputs.
    """
    f, count = Formula(ctx), ctx.attr_int("num_heads")
    if ctx.attr_int("do_rotary", 0) or ctx.attr_int("past_present_share_buffer", 0):
        ctx.fail("rotary embedding and shared buffers of past and present are not supported")
    ctx.expect_rank(past, 5)
    width = dims_of(x.type)[-1]
    if not isinstance(width, int):
        ctx.fail(f"the weights have {width} columns, expected a constant")
    sizes = ctx.attr_ints("qkv_hidden_sizes", ()) or (width // 3,) * 3
    if sum(sizes) != width or len(sizes) != 3:
        ctx.fail(f"the weights have {width} columns for queries, keys and values of sizes {list(sizes)}")
    query, key, value = (per_head(f, part, count) for part in ctx.emit_all(SplitOp(x, 2, sizes)))
    length: Dim = 0
    if ctx.has(past):
        length = ctx.dims(past)[3]
        key = _with_past(f, _taken(f, ctx.ssa(past), 0, 0), key)
        value = _with_past(f, _taken(f, ctx.ssa(past), 0, 1), value)
    result = per_place(f, _attended(ctx, query, key, value, length, mask, bias))
    if not ctx.wants(1):
        return [result]
    parts = [f.reshape(x, (1, *dims_of(x.type))) for x in (key, value)]
    return [result, ctx.emit(ConcatOp(parts, 0))]


def _biased(f: Formula, parts: Sequence[SSAValue | None], bias: SSAValue | None) -> list[SSAValue | None]:
    """Each part of shape `[batch, length, width]` with its slice of the bias."""
    result: list[SSAValue | None] = []
    start: Dim = 0
    for part in parts:
        if part is not None and bias is not None:
            width = dims_of(part.type)[2]
            part, start = f(AddOp, part, part_of(f, bias, 0, start, width)), start + width
        result.append(part)
    return result


def _multi_head_attention(ctx: NodeContext) -> list[Output]:
    """Queries, keys and values are inputs: apart, or packed per head in the first or the second of them."""
    f, count = Formula(ctx), ctx.attr_int("num_heads")
    if ctx.has(8) or ctx.has(9):
        ctx.fail("shared buffers of past and present are not supported")
    bias = ctx.optional(3)
    if ctx.rank(0) == 5 or (ctx.has(1) and ctx.rank(1) == 5):
        packed = [ctx.ssa(0)] if ctx.rank(0) == 5 else [ctx.ssa(1)]
        number = 3 if ctx.rank(0) == 5 else 2
        parts: list[SSAValue | None] = [] if number == 3 else [ctx.ssa(0)]
        for i in range(number):
            part = _taken(f, packed[0], 3, i)
            batch, length, heads, size = dims_of(part.type)
            parts.append(f.reshape(part, (batch, length, heads * size)))
    else:
        parts = [ctx.ssa(0), ctx.ssa(1), ctx.ssa(2)]
    if all(part is not None and len(dims_of(part.type)) == 3 for part in parts):
        parts = _biased(f, parts, bias)
    elif bias is not None:  # Keys and values that are per head already have no projection.
        ctx.fail("a bias for keys and values that are given per head is not supported")
    query, key, value = (
        part if len(dims_of(part.type)) == 4 else per_head(f, part, count) for part in parts if part is not None
    )
    past: Dim = ctx.dims(6)[2] if ctx.has(6) else 0
    key, value = _with_past(f, ctx.optional(6), key), _with_past(f, ctx.optional(7), value)
    return [per_place(f, _attended(ctx, query, key, value, past, 4, 5)), key, value, _SCORES]


def rotated(
    f: Formula, x: SSAValue, cosine: SSAValue, sine: SSAValue, places: SSAValue, *, interleaved: bool
) -> SSAValue:
    """
    `x` of shape `[batch, length, heads, size]` with the first of the last axis turned: pairs `(a, b)` become
    `(a cos - b sin, a sin + b cos)` by the row of `cosine` and `sine` at `places`; a pair is neighbours, or elements
    half of the turned part apart. f16 and bf16 are rounded once.
    """
    element: Attribute = element_type_of(x)
    wide = accumulator_type(element)
    batch, length, heads, size = dims_of(x.type)
    pairs = dims_of(cosine.type)[-1]
    if not isinstance(size, int) or not isinstance(pairs, int) or 2 * pairs > size:
        f.ctx.fail(f"heads of size {size} have {pairs} pairs to turn, expected constants that fit")
    rows = dims_of(places.type)
    c, s = (
        f.reshape(f.cast(f.ctx.emit(GatherOp(table, places, 0)), wide), (*rows, 1, pairs)) for table in (cosine, sine)
    )
    turned = f.cast(part_of(f, x, 3, 0, 2 * pairs), wide)
    axis = 4 if interleaved else 3
    turned = f.reshape(turned, (batch, length, heads, *((pairs, 2) if interleaved else (2, pairs))))
    a, b = (_taken(f, turned, axis, i) for i in (0, 1))
    first, second = f(SubOp, f(MulOp, a, c), f(MulOp, b, s)), f(AddOp, f(MulOp, a, s), f(MulOp, b, c))
    shape = (batch, length, heads, *((pairs, 1) if interleaved else (1, pairs)))
    joined = f.ctx.emit(ConcatOp([f.reshape(first, shape), f.reshape(second, shape)], axis))
    joined = f.cast(f.reshape(joined, (batch, length, heads, 2 * pairs)), element)
    if 2 * pairs == size:
        return joined
    return f.ctx.emit(ConcatOp([joined, part_of(f, x, 3, 2 * pairs, size - 2 * pairs)], 3))


def _rotary(ctx: NodeContext) -> SSAValue:
    """Positions are given for each place, or as that of the first one."""
    f, dims = Formula(ctx), ctx.dims(0)
    if ctx.attr_int("is_packed_batching", 0) or ctx.attr_float("scale", 1.0) != 1.0:
        ctx.fail("packed batches and scales other than 1 are not supported")
    for position in (2, 3):
        ctx.expect_rank(position, 2)
    if len(dims) == 4:
        x = f.transpose(ctx.ssa(0), (0, 2, 1, 3))
    elif len(dims) == 3:
        count, pairs = ctx.attr_int("num_heads", 0), ctx.dims(2)[-1]
        if count < 0 or (count == 0 and pairs == 0):
            ctx.fail(f"num_heads is {count} for {pairs} pairs to turn")
        size = floordiv(dims[2], count) if count else pairs * 2
        if size == 0:
            ctx.fail(f"num_heads is {count}, but the last axis has size {dims[2]}")
        x = f.reshape(ctx.ssa(0), (dims[0], dims[1], floordiv(dims[2], size), size))
    else:
        ctx.fail(f"the input has shape {shape_text(dims)}, expected 3 or 4 axes")
    places = ctx.ssa(1)
    if ctx.rank(1) == 1:
        places = f(AddOp, f.places(dims_of(x.type)[1], 1, 2), places)
    x = rotated(f, x, ctx.ssa(2), ctx.ssa(3), places, interleaved=bool(ctx.attr_int("interleaved", 0)))
    return f.transpose(x, (0, 2, 1, 3)) if len(dims) == 4 else f.reshape(x, dims)


HANDLERS: Mapping[str, Handler] = {
    "Attention": _attention,
    "MultiHeadAttention": _multi_head_attention,
    "RotaryEmbedding": _rotary,
}
"""In the domain `com.microsoft`."""
