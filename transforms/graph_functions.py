"""What passes at the graph level share: which functions they work on, and in which order they see blocks."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation

from aicc.transforms.diagnostics import fail

KERNEL_ATTRIBUTE = "aicc.kernel"


def functions(module: ModuleOp) -> list[FuncOp]:
    """
    The functions with a body, in order.

    Raises:
        LocatedPassError: for one of several blocks.
    """
    found = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.body.blocks]
    for op in found:
        if len(op.body.blocks) > 1:
            blocks = len(op.body.blocks)
            fail(op, f"@{op.sym_name.data} has {blocks} blocks, expected 1 with graph.if and graph.while for branches")
    return found


def main_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions with a body that are not kernels."""
    return [function for function in functions(module) if KERNEL_ATTRIBUTE not in function.attributes]


def blocks_in(root: Operation) -> Iterator[Block]:
    """All blocks in the regions of `root`, outer ones first; ops may be replaced in a block once it was handed out."""
    pending = [block for region in reversed(root.regions) for block in reversed(region.blocks)]
    while pending:
        block = pending.pop()
        yield block
        inner = [b for op in block.ops for region in op.regions for b in region.blocks]
        pending += reversed(inner)


def return_op(function: FuncOp) -> ReturnOp:
    """What a function of one block returns."""
    last = function.body.block.last_op
    assert isinstance(last, ReturnOp)
    return last
