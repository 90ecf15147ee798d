"""`If`, taken at once where its condition is a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.control import IfOp, YieldOp
from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.functions import NotOp
from aicc.frontends.onnx.context import Handler, Incomplete, NodeContext, Result
from aicc.frontends.onnx.ops_loop import scalar_input
from aicc.frontends.onnx.values import AnyValue, TensorList, Value, computed_value, kind_text, tensors_of


def _if(ctx: NodeContext) -> Sequence[Result]:
    """Sizes in which the branches differ are symbols of the op."""
    branches = ctx.attr_graph("then_branch"), ctx.attr_graph("else_branch")
    for name, graph in zip(_BRANCHES, branches, strict=True):
        if len(graph.output) < len(ctx.node.output):
            ctx.fail(
                f"the number of outputs of its {name} branch is {len(graph.output)}, expected {len(ctx.node.output)}"
            )
    condition = ctx.value(0)
    if condition.content is not None and condition.content.dtype != object:
        if condition.content.size != 1:
            ctx.fail(f"the condition has {condition.content.size} elements, expected 1")
        taken = branches[0] if condition.content.any() else branches[1]
        return ctx.scope.import_subgraph(taken, ctx.block)
    regions: list[Region] = []
    given: list[Sequence[AnyValue]] = []
    for graph in branches:
        block = Block()
        # The other branch is looked at as well: all that is not supported is told at once.
        with suppress(Incomplete), ctx.into(block):
            given.append(ctx.scope.import_subgraph(graph, block))
            ctx.emit_all(YieldOp([ctx.materialise(part) for value in given[-1] for part in tensors_of(value)]))
            regions.append(Region(block))
    if len(regions) != len(branches):
        raise Incomplete
    kinds = [[kind_text(value) for value in values] for values in given]
    if kinds[0] != kinds[1]:
        ctx.fail(f"its branches give {', '.join(kinds[0])} and {', '.join(kinds[1])}, expected the same of both")
    if (kept := _kept_branch(ctx, regions)) is not None:
        return _regrouped(given[0], _only_branch(ctx, regions, kept))
    then_region, else_region = regions
    choice = IfOp.joined(scalar_input(ctx, 0), then_region, else_region, lambda: ctx.fresh_symbol("size"))
    return _regrouped(given[0], ctx.emit_all(choice))


def _regrouped(like: Sequence[AnyValue], tensors: Sequence[SSAValue]) -> list[Result]:
    """The tensors as the sequences that those of `like` make."""
    rest = iter(tensors)
    results: list[Result] = []
    for value in like:
        parts = [next(rest) for _ in tensors_of(value)]
        if isinstance(value, Value):
            results += parts
        elif isinstance(value, TensorList):
            results.append(TensorList(tuple(map(computed_value, parts))))
        else:
            results.append(value)
    return results


def _yielded(region: Region) -> Sequence[SSAValue]:
    last = region.block.last_op
    assert last is not None
    return last.operands


def _kept_branch(ctx: NodeContext, regions: Sequence[Region]) -> int | None:
    """
    The branch that is to be taken if the two give tensors of unlike ranks, which no op can do: the one whose ranks the
    model declares for the results, else the first. None if the ranks are the same.
    """
    ranks = [[len(dims_of(value.type)) for value in _yielded(region)] for region in regions]
    if ranks[0] == ranks[1] or len(ranks[0]) != len(ranks[1]):
        return None
    declared = [ctx.scope.declared_rank(name) for name in ctx.node.output]
    fits = [all(want in (None, rank) for want, rank in zip(declared, found, strict=False)) for found in ranks]
    return 1 if fits[1] and not fits[0] else 0


def _only_branch(ctx: NodeContext, regions: Sequence[Region], kept: int) -> Sequence[SSAValue]:
    """The ops of one branch; a run in which the condition asks for the other ends."""
    condition = scalar_input(ctx, 0)
    asked = ctx.emit(CastOp(condition if kept == 0 else ctx.emit(NotOp(condition)), i64))
    ranks = [[len(dims_of(value.type)) for value in _yielded(region)] for region in regions]
    text = (
        f"node '{ctx.name}' gives tensors of ranks {ranks[kept]} in its {_BRANCHES[kept]} branch and {ranks[1 - kept]} "
        f"in the other, which is not supported and taken here"
    )
    ctx.check_sizes(ctx.defined_size(asked, "condition", 1), 1, text)
    block = regions[kept].block
    results = list(_yielded(regions[kept]))
    for op in list(block.ops):
        op.detach()
        if isinstance(op, YieldOp):
            op.erase()
        else:
            ctx.block.add_op(op)
    ctx.scope.discard(regions[1 - kept].block)
    return results


_BRANCHES = ("then", "else")

HANDLERS: Mapping[str, Handler] = {"If": _if}
"""Branches by name."""
