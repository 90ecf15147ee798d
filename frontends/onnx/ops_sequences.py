"""Operators on sequences of unlike lengths in one tensor, and on their caches."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, ModOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import LtOp
from aicc.dialects.graph.indexing import GatherNdOp, ScatterElementsOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula


def _reverse_sequence(ctx: NodeContext) -> SSAValue:
    """`y[b, t] = x[b, length[b] - 1 - t]` for `t < length[b]`, else `x[b, t]`; axes 0 and 1 are time and batch."""
    f, dims = Formula(ctx), ctx.dims(0)
    batch_axis, time_axis = ctx.attr_int("batch_axis", 1), ctx.attr_int("time_axis", 0)
    if {batch_axis, time_axis} != {0, 1} or len(dims) < 2:
        ctx.fail(f"batch_axis is {batch_axis} and time_axis {time_axis}, expected 0 and 1 in some order, and rank 2")
    order = (batch_axis, time_axis, *range(2, len(dims)))
    batch, time = dims[batch_axis], dims[time_axis]
    lengths = f.reshape(f.cast(ctx.ssa(1), i64), (batch, 1))
    here = f.places(time, 1, 2)
    source = f(WhereOp, f(LtOp, here, lengths), f(SubOp, f(SubOp, lengths, 1), here), here)
    picked = ctx.emit(GatherNdOp(f.transpose(ctx.ssa(0), order), f.reshape(source, (batch, time, 1)), batch_dims=1))
    return f.transpose(picked, order)  # The swap of two axes is its own inverse.


def _tensor_scatter(ctx: NodeContext) -> SSAValue:
    """`cache[b, .., start[b] + s, ..] = update[b, .., s, ..]` along `axis`, circular: modulo its size."""
    f, dims, update = Formula(ctx), ctx.dims(0), ctx.dims(1)
    rank = len(dims)
    ctx.expect_rank(1, rank)
    ctx.expect_rank(2, 1)
    axis = ctx.axis(ctx.attr_int("axis", -2), rank)
    mode = ctx.attr_str("mode", "linear")
    if mode not in ("linear", "circular") or axis == 0:
        ctx.fail(f"mode is '{mode}' and axis {axis}, expected linear or circular, and not axis 0")
    index = f.places(update[axis], axis, rank)
    if ctx.has(2):
        index = f(AddOp, index, f.reshape(ctx.ssa(2), (dims[0], *[1] * (rank - 1))))
    if mode == "circular":
        index = f(ModOp, index, f.size(dims[axis]))
    return ctx.emit(ScatterElementsOp(ctx.ssa(0), f.expand(index, update), ctx.ssa(1), axis))


HANDLERS: Mapping[str, Handler] = {"ReverseSequence": _reverse_sequence, "TensorScatter": _tensor_scatter}
