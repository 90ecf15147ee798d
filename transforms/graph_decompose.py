"""
`graph-decompose`: ops that say how they are made of simpler ones are replaced by those.

Before: %r = graph.layer_norm %x scale(%s) {axis = 1, epsilon = 1.0e-05} ...
After:  %m = graph.reduce_mean %x {axes = [1], keepdims} ...
        %d = graph.sub %x, %m ...

Runs until no op decomposes any more; each op is looked at once, so time is linear in the size of the result. What an op
decomposes to is written beside the op (`GraphOp.decompose`); ops that say nothing stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.interfaces import GraphOp, OpBuilder
from aicc.transforms.diagnostics import fail
from aicc.transforms.graph_functions import blocks_in, functions


@dataclass(frozen=True)
class GraphDecomposePass(ModulePass):
    """Replaces ops by the simpler ones that they say they are made of."""

    name = "graph-decompose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Decomposes the ops of one function."""
        for block in blocks_in(func):
            decompose_block(block)


def decompose_block(block: Block) -> None:
    """Decomposes the ops of `block`, those in its ops' regions not included."""
    op = block.first_op
    while op is not None:
        following = op.next_op
        if isinstance(op, GraphOp):
            before = op.prev_op
            if decompose_op(op):
                # The new ops stand where the old one was, and may decompose in turn.
                following = block.first_op if before is None else before.next_op
        op = following


def decompose_op(op: GraphOp) -> bool:
    """Replaces `op` if it decomposes; whether it did."""
    try:
        values = op.decompose(OpBuilder.before(op))
    except VerifyException as error:
        fail(op, f"'{op.name}' op cannot be decomposed: {error}")
    if values is None:
        return False
    for result, value in zip(op.results, values, strict=True):
        if value.name_hint is None:
            value.name_hint = result.name_hint
        result.replace_all_uses_with(value)
    op.detach()
    op.erase()
    return True
