"""
Strategy "rows": several rows at once, where what is done with a row is a few short sweeps along it: softmax, norms.

Each sweep waits for what the one before it sums up, so that a short row takes as long as it takes to get through the
sums, whatever there is to do; the sweeps of several rows at once are as many chains beside each other:

    for %r { max along %j; exp and sum along %j; scale along %j }
 -> for %r.o { vectors of 4 rows x 16 lanes: max; exp and sum; scale }  and the rows left over, one by one

What is left over of a row is one vector, and the sums of the rows are the lanes of one vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import prod

from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import SymExpr, dim_max, dim_min, floordiv
from aicc.dialects.loops import ForOp
from aicc.transforms.auto_schedule_common import Kernel, is_free_reduction, vector_width
from aicc.transforms.auto_schedule_threads import Shared, certain_trips, spread
from aicc.transforms.loops_buffers import erase_unread_buffers
from aicc.transforms.loops_facts import Loop, Nest, analyse_nest, loop_facts
from aicc.transforms.loops_forwarding import forward_values
from aicc.transforms.loops_nest import StepError, perfect_nest
from aicc.transforms.loops_tile import count_nests
from aicc.transforms.loops_vector_plan import Axis, plan_rows

ROWS = 4
"""Rows that are done at once."""

LONGEST = 192
"""
Elements of a row up to which it is short. The sums of longer ones take a small part of the time, and several streams
through one page of memory are read ahead worse than one.
"""

HEAVY = 16.0
"""Reckoned cycles of a function such as exp, for a register."""


@dataclass
class Rows:
    """Rows that are done several at once."""

    around: list[Loop]
    """The loops around, outermost first, that of the rows last."""

    sweeps: list[Nest]
    """The loops along the lanes, in order."""

    @property
    def row(self) -> Loop:
        """The loop over rows."""
        return self.around[-1]


def lane_of(sweep: Nest) -> Loop:
    """The one loop of a sweep."""
    return (sweep.parallel or sweep.chains[0])[0]


def rows_of(kernel: Kernel, top: ForOp, allowed: Callable[[ForOp], bool]) -> Rows | None:
    """The rows that `top` is the outermost loop around; `None` if they are long, or not made of sweeps alone."""
    loops = list(takewhile(lambda loop: loop.is_parallel and not loop.inits, perfect_nest(top)))
    inside = [op for op in loops[-1].block.ops if isinstance(op, ForOp)] if loops else []
    around = [loop_facts(loop) for loop in loops]
    if not inside or around[-1].limit % ROWS or around[-1].trips < ROWS:
        return None
    sweeps = _sweeps(inside, allowed)
    if sweeps is None:
        return None
    # As the step does when it is applied: values of a row that are in memory are none of what its lanes share.
    forward_values(loops[-1].block)
    erase_unread_buffers(loops[-1])
    try:
        lanes = [Axis(lane_of(sweep).op, vector_width(sweep, kernel.facts), False) for sweep in sweeps]
        plan_rows([Axis(loops[-1], ROWS, False)], lanes)
    except StepError:
        return None
    sweeps = _sweeps(inside, allowed)
    return None if sweeps is None else Rows(around, sweeps)


def _sweeps(loops: Sequence[ForOp], allowed: Callable[[ForOp], bool]) -> list[Nest] | None:
    """The facts of sweeps along a row; `None` if a loop is none, or nothing is summed up."""
    nests = [analyse_nest(op) for op in loops]
    found = [nest for nest in nests if nest is not None and _is_short(nest) and allowed(lane_of(nest).op)]
    return found if len(found) == len(nests) and any(nest.chains for nest in found) else None


def _is_short(sweep: Nest) -> bool:
    """Whether the sweep is one short loop that walks memory element by element."""
    if len(sweep.parallel) + len(sweep.reductions) != 1:
        return False
    lane = lane_of(sweep)
    if lane.extent is None or (isinstance(lane.extent, int) and not 1 < lane.extent <= LONGEST):
        return False
    if sweep.chains and not is_free_reduction(lane.op):
        return False
    return all(access.moves[lane].stride in (0, 1) for access in sweep.accesses)


def schedule_rows(kernel: Kernel, rows: Rows) -> bool:
    """Writes the schedule of several rows at once; whether rows are left over, which are still to be scheduled."""
    writer, row = kernel.writer, rows.row
    handle, why = writer.loop(row.label), f"{ROWS} rows at once"
    lengths = [lane_of(sweep).extent for sweep in rows.sweeps]
    length = next((extent for extent in lengths if isinstance(extent, SymExpr)), None)
    rest: SSAValue | None = None
    if length is None or row.extent is None:
        tiled = writer.tile([handle], [ROWS], None, why)
        over, within = (writer.select(handles[0], [0]) for handles in (tiled.outers, tiled.inners))
        nests = count_nests(row.op, ROWS, "peel")
    else:
        short = dim_min(1, floordiv(LONGEST, dim_max(length, 1)))
        some = writer.tile_some(handle, ROWS, row.extent * short, f"{why} if these are short")
        over, within, rest, nests = some.outer, some.inner, some.rest, 2
    lanes = [handle for sweep in rows.sweeps for handle in tile_lanes(kernel, sweep, within)]
    writer.vectorize_rows(within, lanes)
    cycles = sum(
        lane_of(sweep).trips * (sweep.body_ops + HEAVY * sweep.heavy_ops) / vector_width(sweep, kernel.facts)
        for sweep in rows.sweeps
    ) * prod(loop.trips for loop in rows.around)
    outer = [Shared(loop.label, loop.trips, certain_trips(loop, loop.trips)) for loop in rows.around[:-1]]
    full = Shared(over, row.trips // ROWS, max(1, certain_trips(row, row.trips // ROWS)))
    # Only one nest is perfectly nested in the loops around.
    spread(kernel, [*outer, full] if nests == 1 else outer or [full], cycles, rows.around[0].op)
    if rest is not None and not outer:
        spread(kernel, [Shared(rest, row.trips, 1)], cycles, row.op)
    return nests > 1


def tile_lanes(kernel: Kernel, sweep: Nest, root: SSAValue) -> Sequence[SSAValue]:
    """Tiles a sweep in `root` to single registers; the loops that become lanes."""
    writer, lane = kernel.writer, lane_of(sweep)
    width = vector_width(sweep, kernel.facts)
    tiled = writer.tile([writer.loop(lane.label, root)], [width], None, f"{width} lanes")
    over, within = tiled.outers[0], tiled.inners[0]
    if not sweep.chains:
        return [within]
    why = "each lane accumulates over all tiles"
    if isinstance(lane.extent, int):
        return [writer.interchange([over, within], [1, 0], why)[0]]
    if count_nests(lane.op, width, "peel") == 1:
        return [within]
    # A remainder of unknown length is one tile, whose loop depends on the one around it.
    full, _ = writer.interchange([writer.select(over, [0]), writer.select(within, [0])], [1, 0], why)
    return [full, writer.select(within, [1])]
