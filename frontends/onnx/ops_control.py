"""Control flow: `If`, taken at once where its condition is a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Region

from aicc.dialects.graph.control import IfOp, YieldOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result


def _if(ctx: NodeContext) -> Sequence[Result]:
    branches = ctx.attr_graph("then_branch"), ctx.attr_graph("else_branch")
    condition = ctx.value(0)
    if condition.content is not None and condition.content.dtype != object:
        if condition.content.size != 1:
            ctx.fail(f"the condition has {condition.content.size} elements, expected 1")
        taken = branches[0] if condition.content.any() else branches[1]
        return ctx.scope.import_subgraph(taken, ctx.block)
    regions: list[Region] = []
    for graph in branches:
        block = Block()
        results = ctx.scope.import_subgraph(graph, block)
        block.add_op(YieldOp([ctx.scope.materialise(value) for value in results]))
        regions.append(Region(block))
    return ctx.emit_all(IfOp(ctx.ssa(0), *regions))


HANDLERS: Mapping[str, Handler] = {"If": _if}
"""Control-flow operators by name."""
