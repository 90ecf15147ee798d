"""
Control flow: `If`, taken at once where its condition is a constant, and `Loop`.

A loop becomes a `while` over the iteration number, the condition, the carried values, and one tensor per scan output
that the body writes a slice of in each iteration. For the latter, the number of iterations must be a size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp
from aicc.dialects.graph.comparison import LtOp
from aicc.dialects.graph.control import IfOp, WhileOp, YieldOp
from aicc.dialects.graph.dims import Dim, tensor_type
from aicc.dialects.graph.indexing import ScatterNdOp
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp
from aicc.frontends.onnx.context import Handler, NodeContext, Output, Result, Unavailable
from aicc.frontends.onnx.shape_arithmetic import sizes_in
from aicc.frontends.onnx.values import Value

if TYPE_CHECKING:
    from onnx import GraphProto


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


def _loop(ctx: NodeContext) -> list[Output]:
    graph = ctx.attr_graph("body")
    carried = [ctx.ssa(i) for i in range(2, len(ctx.inputs))]
    if len(graph.input) != 2 + len(carried) or len(graph.output) < 1 + len(carried):
        ctx.fail(f"its body has {len(graph.input)} inputs and {len(graph.output)} outputs for {len(carried)} values")
    body = Block(arg_types=[tensor_type([], i64), tensor_type([], i1), *(value.type for value in carried)])
    condition, results = _import_body(ctx, graph, body)
    always = _is_true(condition) or condition.ssa is body.args[1]
    starts = not ctx.has(1) or _is_true(ctx.value(1))
    count = _count(ctx) if always and starts else None

    iteration = body.args[0]
    state = [ctx.scalar(0, i64), _scalar(ctx, 1) if ctx.has(1) else ctx.scalar(True, i1), *carried]
    last = [
        _append(ctx, body, AddOp(iteration, ctx.scalar(1, i64))),
        ctx.scope.materialise(condition),
        *(ctx.scope.materialise(value) for value in results[: len(carried)]),
    ]
    scans = results[len(carried) :] if count is not None else []
    for value in scans:
        state.append(_empty_scan(ctx, value, count if count is not None else 0))
        scan = body.insert_arg(state[-1].type, len(body.args))
        index = _append(ctx, body, ReshapeOp(iteration, (1, 1)))
        part = _append(ctx, body, ReshapeOp(ctx.scope.materialise(value), (1, *value.dims)))
        last.append(_append(ctx, body, ScatterNdOp(scan, index, part)))
    body.add_op(YieldOp(last))
    loop = WhileOp(state, Region(_condition(ctx, body)), Region(body))
    finals = ctx.emit_all(loop)[2:]
    missing = len(results) - len(carried) - len(scans)
    reason = "has a slice per iteration, but the number of iterations is computed at run time"
    return [*finals, *[Unavailable(reason)] * missing]


def _import_body(ctx: NodeContext, graph: GraphProto, body: Block) -> tuple[Value, list[Value]]:
    """Puts the nodes of the body into its block; the condition to go on, and everything else it gives."""
    arguments = [
        Value(argument.type, formal.name, argument)  # pyright: ignore[reportArgumentType]
        for argument, formal in zip(body.args, graph.input, strict=True)
    ]
    condition, *results = ctx.scope.import_subgraph(graph, body, arguments)
    if condition.dims == (1,):
        value = _append(ctx, body, ReshapeOp(ctx.scope.materialise(condition), ()))
        condition = Value(tensor_type([], i1), condition.name, value, condition.content)
    return condition, results


def _condition(ctx: NodeContext, body: Block) -> Block:
    """The condition region: whether the body asked to go on and the iterations are not all done."""
    block = Block(arg_types=[argument.type for argument in body.args])
    iteration, go_on = block.args[:2]
    if ctx.has(0):
        more = _append(ctx, block, LtOp(iteration, _scalar(ctx, 0)))
        go_on = _append(ctx, block, AndOp(go_on, more))
    block.add_op(YieldOp([go_on]))
    return block


def _append(ctx: NodeContext, block: Block, op: Operation) -> SSAValue:
    """Adds an op to a block inside the loop; its result."""
    op.location = ctx.location
    block.add_op(op)
    return op.results[0]


def _is_true(value: Value) -> bool:
    return value.content is not None and value.content.dtype != object and bool(value.content.all())


def _count(ctx: NodeContext) -> Dim | None:
    """The number of iterations, if it is a size."""
    content = ctx.value(0).content if ctx.has(0) else None
    if content is None:
        return None
    (count,) = sizes_in(content)
    return max(count, 0) if isinstance(count, int) else count


def _empty_scan(ctx: NodeContext, value: Value, count: Dim) -> SSAValue:
    """A tensor of zeros for the slices of a scan output."""
    shape = (count, *value.dims)
    return ctx.emit(ExpandOp(ctx.scalar(0, value.type.element_type), shape))


HANDLERS: Mapping[str, Handler] = {"If": _if, "Loop": _loop}
"""Control-flow operators by name."""
