"""Attention of `com.microsoft` whose keys and values several query heads share, with a cache of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, MaxOp, MinOp, SubOp
from aicc.dialects.graph.attention import AttentionOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, GtOp, LeOp, LtOp
from aicc.dialects.graph.dims import Dim, dims_of, floordiv
from aicc.dialects.graph.indexing import GatherNdOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ConcatOp
from aicc.frontends.onnx.context import Handler, NodeContext, Output, Unavailable
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.numbers import Numbers
from aicc.frontends.onnx.ops_microsoft_attention import part_of, per_head, per_place, rotated


def _grouped_attention(ctx: NodeContext) -> list[Output]:
    """
    Of each batch `seqlens_k + 1` keys count: those of the cache, then the new ones. The caches given back have room for
    `total_sequence_length` keys, that of the longest batch, or for as many as those taken.
    """
    f, numbers = Formula(ctx), Numbers(ctx)
    _refuse(ctx)
    heads, groups = ctx.attr_int("num_heads"), ctx.attr_int("kv_num_heads")
    if groups < 1 or heads % groups:
        ctx.fail(f"num_heads is {heads}, expected a multiple of kv_num_heads, which is {groups}")
    query, key, value = _projections(ctx, heads, groups)
    batch, _, length, size = dims_of(query.type)
    ends = f(AddOp, f.cast(f.reshape(ctx.ssa(5), (batch, 1)), i64), 1)
    ctx.expect_one(6, "total_sequence_length")
    longest = numbers.of(6, "total_sequence_length")[0]
    # A prompt is shorter than it seems only by padding behind it.
    prompt = f(EqOp, numbers.tensor(longest), f.size(length))
    starts = f(WhereOp, prompt, 0, f(SubOp, ends, f.size(length)))
    places = f(AddOp, f.places(length, 1, 2), starts)
    if ctx.attr_int("do_rotary", 0):
        query, key = (_turned(ctx, x, places) for x in (query, key))
    room: Dim = ctx.dims(3)[2] if ctx.has(3) else 0
    total = numbers.size(numbers.max(longest, room), "keys", room + length)
    key, value = (_cached(f, ctx.optional(position), new, starts, total) for position, new in ((3, key), (4, value)))
    keys = f.places(total, 2, 3)
    rows = f.reshape(places, (batch, length, 1))
    kept = f(LeOp, keys, rows)
    if (window := ctx.attr_int("local_window_size", -1)) >= 0:
        kept = f(AndOp, kept, f(GtOp, keys, f(SubOp, rows, window)))
    mask = f.reshape(kept, (batch, 1, 1, length, total))
    if ctx.has(10):
        bias = ctx.ssa(10)
        first, across, down, wide = dims_of(bias.type)
        bias = part_of(f, bias, 3, 0, total) if wide != 1 else bias
        if across != 1:
            bias = f.reshape(bias, (first, groups, heads // groups, down, total))
        else:
            bias = f.reshape(bias, (first, 1, 1, down, dims_of(bias.type)[3]))
        mask = f(WhereOp, mask, bias, ctx.scalar(float("-inf"), element_type_of(bias)))
    query = f.reshape(query, (batch, groups, heads // groups, length, size))
    keys, values = (f.reshape(x, (batch, groups, 1, *dims_of(x.type)[2:])) for x in (key, value))
    scale, cap = (ctx.attr_float(name, 0.0) or None for name in ("scale", "softcap"))
    result = ctx.emit(AttentionOp(query, keys, values, mask, scale, False, cap))
    result = f.reshape(result, (batch, heads, length, dims_of(result.type)[4]))
    return [per_place(f, result), key, value, Unavailable("(the scores) is not supported")]


def _refuse(ctx: NodeContext) -> None:
    """What other versions of the operator have."""
    for name, default in (("smooth_softmax", 0), ("qk_output", 0), ("kv_cache_bit_width", 0)):
        if ctx.attr_int(name, default) not in (default, -1):
            ctx.fail(f"{name} is {ctx.attr_int(name)}, which is not supported")
    if any(ctx.has(position) for position in range(11, 16)):
        ctx.fail("sinks of heads and quantised caches are not supported")
    if ctx.has(3) != ctx.has(4):
        ctx.fail("it has a past of keys or of values, expected both or none")
    for position, rank in ((0, 3), (1, 3), (2, 3), (3, 4), (4, 4), (7, 2), (8, 2), (9, 2), (10, 4)):
        ctx.expect_rank(position, rank)


def _projections(ctx: NodeContext, heads: int, groups: int) -> Sequence[SSAValue]:
    """Queries, keys and values as `[batch, heads, length, size]`; they are three inputs, or one after the other."""
    f = Formula(ctx)
    query = ctx.ssa(0)
    if ctx.has(1):
        key, value = ctx.ssa(1), ctx.ssa(2)
    else:
        size = floordiv(dims_of(query.type)[2], heads + 2 * groups)
        value = part_of(f, query, 2, size * (heads + groups), size * groups)
        key = part_of(f, query, 2, size * heads, size * groups)
        query = part_of(f, query, 2, 0, size * heads)
    return [per_head(f, x, count) for x, count in ((query, heads), (key, groups), (value, groups))]


def _turned(ctx: NodeContext, x: SSAValue, places: SSAValue) -> SSAValue:
    """Heads with rotary embedding, at given places or those in the sequence."""
    f = Formula(ctx)
    if ctx.has(9):
        places = f.cast(ctx.ssa(9), i64)
    interleaved = bool(ctx.attr_int("rotary_interleaved", 0))
    turned = rotated(f, f.transpose(x, (0, 2, 1, 3)), ctx.ssa(7), ctx.ssa(8), places, interleaved=interleaved)
    return f.transpose(turned, (0, 2, 1, 3))


def _cached(f: Formula, past: SSAValue | None, new: SSAValue, starts: SSAValue, total: Dim) -> SSAValue:
    """The keys (or values) of the cache before `starts`, then new ones, as `[batch, heads, total, size]`."""
    batch, _, length, _ = dims_of(new.type)
    room: Dim = 0 if past is None else dims_of(past.type)[2]
    both = new if past is None else f.ctx.emit(ConcatOp([past, new], 2))
    here = f.places(total, 1, 2)
    # Behind the last key nothing counts; what is there is the last new one.
    behind = f(MinOp, f(MaxOp, f(SubOp, here, starts), 0), f(SubOp, f.size(length), 1))
    index = f(WhereOp, f(LtOp, here, starts), here, f(AddOp, behind, f.size(room)))
    rows = f.transpose(both, (0, 2, 1, 3))
    picked = f.ctx.emit(GatherNdOp(rows, f.reshape(index, (batch, total, 1)), batch_dims=1))
    return f.transpose(picked, (0, 2, 1, 3))


HANDLERS: Mapping[str, Handler] = {"GroupQueryAttention": _grouped_attention}
"""In the domain `com.microsoft`."""
