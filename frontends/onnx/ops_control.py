"""Control flow: `If`, taken at once where its condition is a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.control import IfOp, YieldOp
from aicc.dialects.graph.movement import ReshapeOp
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
    then_region, else_region = regions
    return ctx.emit_all(IfOp(_scalar(ctx, 0), then_region, else_region))


def _scalar(ctx: NodeContext, position: int) -> SSAValue:
    """An input of one element as a tensor of rank 0."""
    return ctx.emit(ReshapeOp(ctx.ssa(position), ())) if ctx.rank(position) else ctx.ssa(position)


HANDLERS: Mapping[str, Handler] = {"If": _if}
"""Control-flow operators by name."""
