"""TopK."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.top_k import TopKOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result


def _top_k(ctx: NodeContext) -> Sequence[Result]:
    """
    The number is an attribute up to opset 9; the order that is not asked for (`sorted` of 0) is the sorted one.

    The standard says nothing of NaN; here it is larger than all numbers.
    """
    axis = ctx.axis(ctx.attr_int("axis", -1), ctx.rank(0))
    count: Dim
    if ctx.version < 10:
        count = ctx.attr_int("k")
    else:
        count = ctx.size(1, "K")
    return ctx.emit_all(TopKOp(ctx.ssa(0), count, axis, smallest=not ctx.attr_int("largest", 1)))


HANDLERS: Mapping[str, Handler] = {"TopK": _top_k}
