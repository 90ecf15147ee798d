"""
`loops-prefetch`: while an iteration of a loop runs, what the next one reads of an input is fetched into a cache.

Before: for "j" %j = 0 to 64 parallel {           After: for "j" ... {
          for "i" %i = 0 to 32 parallel {                  for "i" ... {
            ... load %x[%j * 64 + ., %i * 16 + .]            prefetch %x[(%j + 1) * 64 + 2 * %i + ., 16 * .] ...
                                                             ... load %x[...]

All lines of the part are fetched, in the order of memory, as many in each iteration of the loop within: processors drop
what is asked for faster than memory gives it. Prefetchers of the machine's own find no pattern in parts of many short
rows, or follow fewer rows than there are. After the last iteration
comes the first in the next one of the loop around; what comes after the last of all is fetched for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ForOp, LoadOp, PrefetchOp
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.prefetch import NEAREST
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import element_bytes
from aicc.transforms.loops_index import IndexBounds, fold_index_ops
from aicc.transforms.loops_nest import StepError, kernels_with, labelled, loop_contains
from aicc.transforms.loops_pack import kernel_buffers
from aicc.transforms.loops_parts import part_of

STEP = "prefetch"
MOST_LINES = 64
"""Lines that one iteration fetches, at most."""


def prefetch_input(
    kernel: FuncOp, around: Sequence[ForOp], within: ForOp, argument: int, line_bytes: int, locality: int
) -> None:
    """
    Fetches, in each iteration of `within`, its share of what the next iteration of the loop around it, one of `around`,
    reads of buffer `argument` of the kernel.

    Raises:
        StepError: if no such loop is around it, the number of iterations in between is not known, the input is not read
            there, or a part of it that has no known size, or so much that one iteration would fetch too many lines.
    """
    buffers = kernel_buffers(kernel)
    if argument >= len(buffers):
        raise StepError(STEP, within, f"there is no buffer {argument}: the kernel has {len(buffers)}")
    outer = next((loop for loop in around if loop is not within and loop_contains(loop, within)), None)
    if outer is None:
        raise StepError(STEP, within, "is in none of the loops whose next iteration is to be fetched")
    fold_index_ops([outer])
    loads = [op for op in outer.walk() if isinstance(op, LoadOp) and root_of(op.memref) is buffers[argument]]
    if not loads:
        raise StepError(STEP, outer, f"does not read buffer {argument}")
    memref, terms, extents = _box(outer, loads, argument)
    operands: list[SSAValue] = []
    number, iterations = _iteration(outer, within, operands)
    elements = max(1, line_bytes // element_bytes(memref_of(memref).element_type))
    # Rows begin where a line does, or else in the middle of one.
    lines = [*extents[:-1], -(-extents[-1] // elements)]
    share = -(-prod(lines) // iterations)
    if share > MOST_LINES:
        raise StepError(STEP, within, f"would fetch {share} lines in an iteration, at most {MOST_LINES}")
    first = within.block.first_op
    assert first is not None
    following = _next(outer, operands)
    start = [_start(one, following, operands) for one in terms]
    for position in range(share):
        place = _place(number, share, position, lines)
        place[-1] = place[-1] * elements
        exprs = tuple(begin + offset for begin, offset in zip(start, place, strict=True))
        access = AffineMap(len(operands), 0, exprs)
        op = PrefetchOp(memref, access, operands, locality)
        op.location = within.location
        within.block.insert_op_before(op, first)


Terms = Sequence[tuple[SSAValue, int] | int]
"""A sum of values times numbers, and numbers."""


def _box(outer: ForOp, loads: Sequence[LoadOp], argument: int) -> tuple[SSAValue, list[Terms], list[int]]:
    """The memref that all loads read; where what an iteration of `outer` reads of it starts, and how much it is."""
    bounds = IndexBounds()
    parts = [part_of(STEP, outer, load, bounds) for load in loads]
    memref = loads[0].memref
    starts: list[Terms] = []
    extents: list[int] = []
    for dim in range(len(parts[0].extents)):
        terms = [[term for term in part.start[dim] if not isinstance(term, int)] for part in parts]
        if any(load.memref is not memref for load in loads) or any(set(other) != set(terms[0]) for other in terms):
            raise StepError(STEP, outer, f"reads several parts of buffer {argument}")
        firsts = [sum(term for term in part.start[dim] if isinstance(term, int)) for part in parts]
        lowest = min(firsts)
        starts.append([*terms[0], lowest])
        extents.append(max(first + part.extents[dim] for first, part in zip(firsts, parts, strict=True)) - lowest)
    return memref, starts, extents


def _dim(value: SSAValue, operands: list[SSAValue]) -> AffineExpr:
    if value not in operands:
        operands.append(value)
    return AffineDimExpr(operands.index(value))


def _iteration(outer: ForOp, within: ForOp, operands: list[SSAValue]) -> tuple[AffineExpr, int]:
    """Which iteration of `within` it is in one of `outer`, and how many there are."""
    number: AffineExpr = AffineConstantExpr(0)
    total = 1
    loop: ForOp = within
    while loop is not outer:
        trips, lower = loop.trip_count, loop.constant_bound(upper=False)
        if trips is None or lower is None:
            raise StepError(STEP, loop, "has no known number of iterations")
        index = _dim(loop.induction, operands)
        if (lower, loop.step_value) != (0, 1):
            index = (index - lower) // loop.step_value
        number = number + index * total
        total *= trips
        parent = _loop_around(loop)
        assert parent is not None
        loop = parent
    return number, total


def _loop_around(loop: ForOp) -> ForOp | None:
    parent = loop.parent_op()
    while parent is not None and not isinstance(parent, ForOp):
        parent = parent.parent_op()
    return parent


def _next(outer: ForOp, operands: list[SSAValue]) -> dict[SSAValue, AffineExpr]:
    """
    Where the inductions of `outer` and the loop around it stand in the next iteration: after the last one of `outer`,
    the first one in the next iteration around.
    """
    index, step = _dim(outer.induction, operands), outer.step_value
    trips, lower, around = outer.trip_count, outer.constant_bound(upper=False), _loop_around(outer)
    if trips is None or lower is None or around is None:
        return {outer.induction: index + step}
    done = index + 1 if (lower, step) == (0, 1) else (index - lower) // step + 1
    return {
        outer.induction: done % trips * step + lower,
        around.induction: _dim(around.induction, operands) + done // trips * around.step_value,
    }


def _start(terms: Terms, following: dict[SSAValue, AffineExpr], operands: list[SSAValue]) -> AffineExpr:
    """Where the part of the next iteration starts, in one dimension."""
    result: AffineExpr = AffineConstantExpr(0)
    for term in terms:
        if isinstance(term, int):
            result = result + term
        else:
            value, factor = term
            result = result + (following.get(value) or _dim(value, operands)) * factor
    return result


def _place(number: AffineExpr, share: int, position: int, sizes: Sequence[int]) -> list[AffineExpr]:
    """The place of line `number * share + position` in a box of lines."""
    found: list[AffineExpr] = []
    for size in reversed(sizes[1:]):
        # Wholes and remainders of the sum, without dividing where the lines of a share do not cross a border.
        if share % size == 0:
            found.append(AffineConstantExpr(position % size))
            share, position = share // size, position // size
        elif size % share == 0:
            found.append((number % (size // share)) * share + position)
            number, share, position = number // (size // share), 1, 0
        else:
            line = number * share + position
            found.append(line % size)
            number, share, position = line // size, 1, 0
    found.append(number * share + position)
    return found[::-1]


@dataclass(frozen=True)
class LoopsPrefetchPass(ModulePass):
    """Fetches what the next iteration of a loop reads of an input."""

    name = "loops-prefetch"

    around: str
    """Label of the loops whose next iteration is fetched for."""

    within: str
    """Label of the loops inside, each iteration of which fetches its share."""

    argument: int
    """The buffer: position among the kernel's buffers, without its symbols."""

    line: int = 64
    """Bytes of a cache line."""

    locality: int = 2
    """How near it is wanted, as `loops.prefetch` says."""

    def __post_init__(self) -> None:
        if self.argument < 0:
            raise PassFailedException(f"{self.name}: argument must be at least 0, got {self.argument}")
        if self.line < 1:
            raise PassFailedException(f"{self.name}: line must be at least 1, got {self.line}")
        if not 0 <= self.locality <= NEAREST:
            raise PassFailedException(f"{self.name}: locality must be 0 to {NEAREST}, got {self.locality}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.within, self.name):
            around = labelled(kernel, self.around, self.name)
            for loop in labelled(kernel, self.within, self.name):
                prefetch_input(kernel, around, loop, self.argument, self.line, self.locality)
