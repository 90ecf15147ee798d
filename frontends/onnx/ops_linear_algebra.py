"""Determinants."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.arg_reductions import ArgMaxOp
from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, GtOp, LtOp
from aicc.dialects.graph.control import WhileOp, YieldOp
from aicc.dialects.graph.dims import dim_prod, provably_different, shape_text
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.functions import AbsOp, NegOp
from aicc.dialects.graph.indexing import GatherElementsOp, GatherOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula


def _det(ctx: NodeContext) -> SSAValue:
    """Gaussian elimination with the largest element of each column as pivot, all matrices of a batch at once."""
    *outer, rows, columns = ctx.dims(0) if ctx.rank(0) >= 2 else (0, 0, 1)
    if provably_different(rows, columns):
        ctx.fail(f"the input has shape {shape_text(ctx.dims(0))}, expected square matrices")
    f, element = Formula(ctx), ctx.element(0)
    batch = dim_prod(outer)
    matrices = f.reshape(f.cast(ctx.ssa(0), accumulator_type(element)), (batch, rows, columns))
    ones = f.expand(ctx.scalar(1, accumulator_type(element)), (batch, 1, 1))
    state = [ctx.scalar(0, i64), matrices, ones]
    types = [value.type for value in state]

    def region(build: Callable[[Block], list[SSAValue]]) -> Region:
        outer_block, ctx.block = ctx.block, Block(arg_types=types)
        try:
            results = build(ctx.block)
            ctx.block.add_op(YieldOp(results))
            return Region(ctx.block)
        finally:
            ctx.block = outer_block

    def step(block: Block) -> list[SSAValue]:
        number, matrix, product = block.args
        row = f.places(rows, 0, 2)
        place = f.reshape(row, (1, rows, 1))
        column = ctx.emit(GatherOp(matrix, f.reshape(number, (1,)), 2))
        # Rows that are done are not chosen.
        size = f(WhereOp, f(LtOp, place, number), -1.0, f(AbsOp, column))
        pivot = ctx.emit(ArgMaxOp(size, 1, keepdims=True))
        chosen = ctx.emit(GatherElementsOp(matrix, f.expand(pivot, (batch, 1, columns)), 1))
        replaced = ctx.emit(GatherOp(matrix, f.reshape(number, (1,)), 1))
        swapped = f(WhereOp, f(EqOp, place, pivot), replaced, matrix)
        swapped = f(WhereOp, f(EqOp, place, number), chosen, swapped)
        corner = ctx.emit(GatherOp(chosen, f.reshape(number, (1,)), 2))
        turned = f(WhereOp, f(EqOp, pivot, number), corner, f(NegOp, corner))
        below = ctx.emit(GatherOp(swapped, f.reshape(number, (1,)), 2))
        # A pivot of 0 has zeros below it.
        divisor = f(WhereOp, f(EqOp, corner, 0), 1.0, corner)
        factor = f(WhereOp, f(GtOp, place, number), f(DivOp, below, divisor), 0.0)
        eliminated = f(SubOp, swapped, f(MulOp, factor, chosen))
        return [f(AddOp, number, 1), eliminated, f(MulOp, product, turned)]

    more = region(lambda block: [f(LtOp, block.args[0], f.size(rows))])
    loop = WhileOp(state, more, region(step))
    product = ctx.emit_all(loop)[2]
    return f.cast(f.reshape(product, outer), element)


HANDLERS: Mapping[str, Handler] = {"Det": _det}
