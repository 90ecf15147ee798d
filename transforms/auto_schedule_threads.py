"""
Which loops the automatic scheduler shares out among threads, and in chunks of which size.

Loops are taken from outside in, counted as one sequence, until there are iterations enough for all threads whatever
symbolic sizes turn out to be: a batch of one image is shared out by its rows. A chunk is work enough to be worth what
starting threads costs; where the amount of work is known and not two chunks, the loop stays on one thread. With
symbolic sizes the same is decided when the program runs, by the number of iterations, or by how much all of them do
where sizes decide how much one does: of loops around several nests as
well, in which these are shared out one by one where there are few iterations around them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import Dim, SymExpr, dim_prod, dim_sum
from aicc.dialects.loops import ForOp
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.loops_facts import Loop, loop_facts
from aicc.transforms.loops_sizes import trip_count_dim

CHUNK_REGIONS = 2
"""Work of a chunk, at least, in times what starting and ending a region costs."""

SHARED_ROWS = 8
"""To read what rows of a product share takes as long as to compute so many rows with it."""

AROUND_CHUNKS = 8
"""Chunks of work in one iteration of a loop from which on the nests in it may be shared out by themselves."""

AROUND_SHARES = 2
"""Iterations per thread of a loop around several nests from which on it is shared out, and not the nests in it."""

SHARES = 16
"""Iterations per core from which on they are shared out evenly enough."""


@dataclass(frozen=True)
class Shared:
    """A loop whose iterations could be shared out."""

    handle: SSAValue | str
    """Of the loop, or of several of which one is meant; or its label."""

    trips: int
    """Iterations, or a guess."""

    certain: int
    """Iterations that it has in any case, symbols taken to be at least 1."""


def certain_trips(loop: Loop, trips: int) -> int:
    """`trips`, where the loop's extent is a number; else 1."""
    return trips if isinstance(loop.extent, int) else 1


def enough_around(kernel: Kernel, loops: Sequence[Shared], cycles: float, known: bool) -> bool:
    """
    Whether loops around several nests, of `cycles` in all, have iterations enough for all threads in any case.

    If not, they are shared out where they turn out to have, and else the nests in them, one by one. That must be worth
    it: the nests need work enough for all threads, if it is `known` how much they have.
    """
    each = cycles / prod(loop.trips for loop in loops)
    little = known and each < AROUND_CHUNKS * CHUNK_REGIONS * kernel.facts.region_cycles
    return little or prod(loop.certain for loop in loops) >= AROUND_SHARES * kernel.facts.cores


def worth_threads(kernel: Kernel, cycles: float) -> bool:
    """Whether work of so many cycles is shared out."""
    return cycles >= 2 * CHUNK_REGIONS * kernel.facts.region_cycles


@dataclass(frozen=True)
class Work:
    """How many iterations innermost loops run, in the place with most of them."""

    size: Dim
    """As a size."""

    trips: int
    """As reckoned."""

    loops: int
    """How many of the loops there have symbolic extents."""


def work_in(top: ForOp, fixed: Collection[ForOp] = (), rows: ForOp | None = None) -> Work:
    """
    How much the loops in `top`, itself included, do.

    Sizes do not decide how often `fixed` ones run. Iterations of `rows` share what they read, however few there are.
    """
    inside = [work_in(op, fixed, rows) for op in top.block.ops if isinstance(op, ForOp)]
    most = max(inside, key=lambda work: work.trips, default=Work(1, 1, 0))
    reckoned = loop_facts(top).trips
    size = None if top in fixed else trip_count_dim(top)
    is_open = isinstance(size, SymExpr)
    here = dim_sum([size, SHARED_ROWS if top is rows else 0]) if is_open else reckoned
    return Work(dim_prod([most.size, here]), most.trips * reckoned, most.loops + is_open)


def spread(
    kernel: Kernel,
    loops: Sequence[Shared],
    cycles: float,
    top: ForOp,
    number: int = 0,
    least: int = 0,
    fixed: Collection[ForOp] = (),
    rows: ForOp | None = None,
    within: bool = False,
) -> None:
    """
    Shares out perfectly nested loops, outermost first, of `cycles` in all, if it is worth it.

    `top` is the loop that the schedule is for, with all that is in it; of loops in it that are `fixed`, no more
    iterations run than are reckoned with, whatever sizes there are; those of `rows` share what they read. `number` says
    which of the loops of each handle are meant, `least` how many iterations per thread there must be.
    """
    if kernel.spread or not loops or not cycles:
        # Tiles that the guessed sizes do not fill are reckoned to take no time.
        return
    chunk = float(CHUNK_REGIONS * kernel.facts.region_cycles)
    first = next((position for position, loop in enumerate(loops) if loop.trips > 1), len(loops))
    chosen: list[Shared] = []
    each = cycles
    for loop in loops[first:]:
        chosen.append(loop)
        each /= max(loop.trips, 1)
        if prod(loop.certain for loop in chosen) >= SHARES * kernel.facts.cores or each <= chunk / 2:
            break
    while chosen and chosen[-1].trips == 1:
        chosen.pop()
    trips = prod(loop.trips for loop in chosen)
    if trips < 2:
        return
    work = work_in(top, fixed, rows)
    open_loops = sum(loop.trips != loop.certain for loop in chosen)
    worth = None
    if work.loops > open_loops:
        worth = work.size, max(1, round(chunk * work.trips / cycles))
    known = worth is None and all(loop.trips == loop.certain for loop in loops)
    grain = max(1, round(chunk / each))
    if known and trips < 2 * grain and cycles < 2 * chunk:
        return
    # The number of iterations alone decides then, and must not keep work of more than one chunk on one thread.
    grain = min(grain, max(1, trips // 2)) if known else grain
    writer = kernel.writer
    handles = [writer.loop(loop.handle) if isinstance(loop.handle, str) else loop.handle for loop in chosen]
    writer.parallelize([writer.select(handle, [number]) for handle in handles], grain, least, worth, within=within)
