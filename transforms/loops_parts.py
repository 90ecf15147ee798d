"""The part of a buffer that the body of a loop reads."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from aicc.dialects.loops import ForOp, LoadOp
from aicc.dialects.loops.access import access_of
from aicc.dialects.tensor_ops.affine import LinearForm, from_linear, linear_form
from aicc.transforms.loops_index import IndexBounds
from aicc.transforms.loops_nest import StepError, loop_contains


@dataclass(frozen=True)
class Part:
    """An access within the loop: where the part starts, and the place of the element in it, per dimension."""

    load: LoadOp
    start: tuple[tuple[tuple[SSAValue, int] | int, ...], ...]
    """The terms that do not change within one iteration, to compare parts by."""

    local: tuple[AffineExpr, ...]
    """Over the operands of the load, for its first lane."""

    extents: tuple[int, ...]
    """Elements of the part, those of all lanes."""


def part_of(step: str, at: ForOp, load: LoadOp, bounds: IndexBounds) -> Part:
    """
    The part that `load` reads in an iteration of `at`.

    Raises:
        StepError: of `step`, if an index is not linear in the loops, or has no known limit.
    """
    start: list[tuple[tuple[SSAValue, int] | int, ...]] = []
    local: list[AffineExpr] = []
    extents: list[int] = []
    access, operands, lanes = access_of(load)
    simplifier = bounds.simplifier(operands)
    for expr in access.results:
        form = linear_form(expr)
        inner: dict[AffineExpr, int] = {}
        outer: list[tuple[SSAValue, int] | int] = [form.constant]
        across = 0
        for atom, factor in form.terms.items():
            if not isinstance(atom, AffineDimExpr):
                raise StepError(step, at, "reads the input at an index that is not linear in the loops")
            if atom.position >= len(operands):
                across += factor * (lanes[atom.position - len(operands)] - 1)
            elif varies_in(at, operands[atom.position]):
                inner[atom] = factor
            else:
                outer.append((operands[atom.position], factor))
        part = from_linear(LinearForm(inner, 0))
        low, high = simplifier.bounds(part)
        if low is None or low < 0 or high is None or across < 0:
            raise StepError(step, at, "reads a part of the input whose size has no known limit")
        start.append(tuple(outer))
        local.append(part)
        extents.append(high + across + 1)
    return Part(load, tuple(start), tuple(local), tuple(extents))


def varies_in(at: ForOp, value: SSAValue) -> bool:
    """Whether an index changes within one iteration of `at`."""
    owner = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    if owner is at:
        return False
    if isinstance(owner, ForOp):
        return loop_contains(at, owner)
    return owner is not None and loop_contains(at, owner)
