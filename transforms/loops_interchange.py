"""
`loops-interchange`: reorders perfectly nested loops.

Before: for %i { for %j { body } }      After, `order=1,0`: for %j { for %i { body } }

Values that the loops carry (a reduction over all of them) go through the new nest in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.loops import ForOp, YieldOp
from aicc.transforms.loops_legality import check_reorderable
from aicc.transforms.loops_nest import StepError, check_perfect, kernels_with, labelled, perfect_nest

STEP = "interchange"


def interchange_loops(loops: Sequence[ForOp], order: Sequence[int]) -> list[ForOp]:
    """
    Nests perfectly nested `loops` (outermost first) in the given order and returns the new loops, outermost first.

    `order[k]` is the old position of the loop that comes to position `k`. The old loops are gone.

    Raises:
        StepError: if the nest is not perfect, its iterations may not be reordered, or a loop's bounds depend on one
            that would come inside it.
    """
    if list(order) == list(range(len(loops))):
        return list(loops)
    check_perfect(STEP, loops)
    _check_bounds([loops[position] for position in order])
    first = next(position for position, old in enumerate(order) if position != old)
    check_reorderable(STEP, loops[first:])
    top, innermost = loops[0], loops[-1]
    block = top.parent
    assert block is not None
    new: list[ForOp] = []
    values: Sequence[SSAValue] = tuple(top.inits)
    for position in order:
        loop = _header(loops[position], values)
        new.append(loop)
        values = loop.iter_args
    for old, loop in zip((loops[position] for position in order), new, strict=True):
        old.induction.replace_all_uses_with(loop.induction)
    for old, value in zip(innermost.iter_args, new[-1].iter_args, strict=True):
        old.replace_all_uses_with(value)
    for op in list(innermost.block.ops):
        op.detach()
        new[-1].block.add_op(op)
    for outer, inner in pairwise(new):
        outer.block.add_ops([inner, YieldOp(*inner.results)])
    block.insert_op_before(new[0], top)
    for old, result in zip(top.results, new[0].results, strict=True):
        old.replace_all_uses_with(result)
    top.detach()
    top.erase()
    return new


def _check_bounds(loops: Sequence[ForOp]) -> None:
    """Checks, for the new order, that each loop's bounds depend on loops around it only."""
    for position, loop in enumerate(loops):
        inside: dict[SSAValue, ForOp] = {inner.induction: inner for inner in loops[position + 1 :]}
        for operand in (*loop.lower_operands, *loop.upper_operands):
            if operand in inside:
                raise StepError(STEP, loop, f"its bounds depend on loop '{inside[operand].label.data}'")


def _header(old: ForOp, values: Sequence[SSAValue]) -> ForOp:
    """A loop like `old` that carries `values`, with an empty body."""
    loop = old.carrying(values)
    for before, after in zip(old.block.args, loop.block.args, strict=True):
        after.name_hint = before.name_hint
    return loop


@dataclass(frozen=True)
class LoopsInterchangePass(ModulePass):
    """Reorders the perfectly nested loops that have these labels, in all kernels."""

    name = "loops-interchange"

    label: tuple[str, ...]
    """Labels of consecutive loops of a perfect nest, in their new order, outermost first."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label[0], self.name):
            # The list of tops is complete before a nest changes: nests with these labels don't contain each other.
            tops = [nest for loop in labelled(kernel, self.label[0], self.name) if (nest := self._nest_around(loop))]
            if not tops:
                raise StepError(STEP, kernel, f"{', '.join(self.label)} are not consecutive loops of a perfect nest")
            for nest in tops:
                old = [loop.label.data for loop in nest]
                interchange_loops(nest, [old.index(label) for label in self.label])

    def _nest_around(self, loop: ForOp) -> list[ForOp] | None:
        """The consecutive loops with our labels of which `loop` is one."""
        top = loop
        while isinstance(parent := top.parent_op(), ForOp) and parent.label.data in self.label:
            top = parent
        nest = perfect_nest(top)[: len(self.label)]
        return nest if sorted(found.label.data for found in nest) == sorted(self.label) else None
