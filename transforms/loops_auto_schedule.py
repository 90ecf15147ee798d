"""
`loops-auto-schedule`: writes a schedule for each kernel that has none.

Before: func.func private @k(...) attributes {aicc.kernel} { plain nests }
After:  the same, and transform.named_sequence @k_schedule(%kernel: !transform.any_op) { one op per step }

Each nest of parallel loops around reductions gets the strategy that moves data in the fewest cycles: lanes along a
parallel loop (`auto_schedule_lanes`), lanes along a reduction (`auto_schedule_reduce`), or the simpler form for nests
without reductions (`auto_schedule_elementwise`). What was chosen, and why, is in attributes of the steps. A nest of any
other form (indirect access along the lanes, control flow) is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, VectorType
from xdsl.dialects.func import FuncOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.passes import ModulePass

from aicc.dialects.loops import ForOp, LoadOp, StoreOp
from aicc.dialects.loops.functions import kernels
from aicc.transforms.auto_schedule_blocks import fuse_blocks
from aicc.transforms.auto_schedule_bypass import bypass_last_cache, fetch_next_rows, rows_in_scratch
from aicc.transforms.auto_schedule_callers import constant_buffers
from aicc.transforms.auto_schedule_common import Kernel, vector_width
from aicc.transforms.auto_schedule_elementwise import (
    collapsible,
    lane_order,
    merge_loops,
    schedule_elementwise,
    transposed_block,
)
from aicc.transforms.auto_schedule_fuse import fuse_rows, top_loops
from aicc.transforms.auto_schedule_lanes import lane_cycles, schedule_lanes
from aicc.transforms.auto_schedule_parts import in_parts
from aicc.transforms.auto_schedule_pixels import merge_pixels
from aicc.transforms.auto_schedule_reduce import best_reductions, reduce_cycles, schedule_reductions, shared_rows
from aicc.transforms.auto_schedule_rows import Rows, rows_of, schedule_rows
from aicc.transforms.auto_schedule_stream import schedule_stream, streamed
from aicc.transforms.auto_schedule_threads import AROUND_SHARES, Shared, certain_trips, enough_around, spread
from aicc.transforms.kernel_clock import kernel_time
from aicc.transforms.kernel_unit import KernelUnit
from aicc.transforms.loops_facts import Loop, Nest, analyse_nest, loop_facts
from aicc.transforms.loops_index import fold_index_ops
from aicc.transforms.loops_nest import StepError, perfect_nest
from aicc.transforms.loops_split import split_loop
from aicc.transforms.loops_vector_plan import Axis, plan_vectors
from aicc.transforms.schedule_writer import ATTRIBUTE, SUFFIX, ScheduleWriter
from aicc.transforms.target_facts import TargetFacts, facts_of

CYCLES_PER_OP = 0.25
"""Reckoned cycles of an op in vector code."""

CYCLES_PER_MOVE = 2.0
"""Reckoned cycles of a load or a store that is made once, per vector: it need not be in the nearest cache."""

SYMBOLIC_LANES = 1.5
"""What lanes along a loop of symbolic extent cost more: with the guess wrong, most of them may be idle."""

SYMBOLIC_BATCH = 4.0
"""The same where results lie apart along the loop: it is a batch then, often of one."""


SHORT_ROW = 2
"""Registers that a row of an image fills, at most, for rows to be taken together: one alone leaves much of a block."""


def can_vectorize(loop: ForOp) -> bool:
    """Whether all ops in the loop have a vector form along it."""
    try:
        plan_vectors([Axis(loop, 16, False)])
    except StepError:
        return False
    return True


def schedule_nest(kernel: Kernel, nest: Nest) -> None:
    """Writes the schedule of one nest, by the cheapest strategy that its ops allow."""
    if not nest.chains:
        nest = _lengthen_rows(kernel, nest)
        lane = _lane(kernel, nest)
        if lane is not None and (block := transposed_block(kernel, nest, lane)) is not None:
            # What is read becomes one long row, of which more blocks follow each other in memory.
            count = nest.parallel.index(block.loop) + 1
            nest = _merge(kernel, nest, lambda nest: nest.parallel[:count])
            lane = _lane(kernel, nest)
        if lane is not None:
            schedule_elementwise(kernel, nest, lane)
        return
    nest = _shared_out(kernel, merge_rows(kernel, split_groups(kernel, nest)))
    for loop in nest.parallel:
        if (matrix := streamed(kernel, nest, loop)) is not None and can_vectorize(loop.op):
            schedule_stream(kernel, nest, loop, matrix)
            return
    lanes: list[tuple[float, int, float, Loop]] = []
    for position, loop in enumerate(nest.parallel):
        if not loop.limit and can_vectorize(loop.op):
            own, cycles = lane_cycles(kernel, nest, loop)
            factor = 1.0
            if not isinstance(loop.extent, int):
                apart = any(access.moves[loop].stride != 1 for access in nest.stores)
                factor = SYMBOLIC_BATCH if apart else SYMBOLIC_LANES
            lanes.append((own * factor, -position, cycles * factor, loop))
    choices: list[tuple[float, int, Callable[[], None]]] = []
    if lanes:
        *_, cycles, loop = min(lanes)
        choices.append((cycles, 0, partial(_schedule_pixels, kernel, nest, loop)))
    reductions = best_reductions(nest, lambda loop: can_vectorize(loop.op), kernel.facts)
    if reductions is not None:
        step = partial(_schedule_sums, kernel, nest, reductions)
        choices.append((reduce_cycles(kernel, nest, reductions), -1, step))
    if choices:
        min(choices)[2]()


def _shared_out(kernel: Kernel, nest: Nest) -> Nest:
    """The nest, or that of the parts that its reduction is computed in."""
    reductions = best_reductions(nest, lambda loop: can_vectorize(loop.op), kernel.facts)
    if reductions is None:
        return nest
    return in_parts(kernel, nest, reduce_cycles(kernel, nest, reductions)) or nest


def _lane(kernel: Kernel, nest: Nest) -> Loop | None:
    """The loop along the lanes of a nest without reductions."""
    return next((loop for loop in lane_order(kernel, nest) if can_vectorize(loop.op)), None)


def _schedule_sums(kernel: Kernel, nest: Nest, reductions: Sequence[Loop]) -> None:
    """Strategy "reduce", for several rows at once where that is worth it."""
    rows = None if shared_rows(kernel, nest, reductions) else rows_of(kernel, nest.top, can_vectorize)
    if rows is None:
        schedule_reductions(kernel, nest, reductions)
    else:
        _schedule_rows(kernel, rows)


def _schedule_rows(kernel: Kernel, rows: Rows) -> None:
    """Strategy "rows", and what is left over of the rows one by one."""
    if schedule_rows(kernel, rows):
        around, kernel.spread = kernel.spread, True
        for sweep in rows.sweeps:
            schedule_nest(kernel, sweep)
        kernel.spread = around


def _schedule_pixels(kernel: Kernel, nest: Nest, lane: Loop) -> None:
    """Strategy "lanes", with rows of pixels merged where that fills register tiles better."""
    schedule_lanes(kernel, *merge_pixels(kernel, nest, lane))


def split_groups(kernel: Kernel, nest: Nest) -> Nest:
    """
    Splits the parallel loops that some access follows by quotients: the channels of a grouped convolution become
    groups and channels within a group. Returns the facts of the new nest.
    """
    position = 0
    while position < len(nest.parallel):
        loop = nest.parallel[position]
        periods = {access.moves[loop].period for access in nest.accesses} - {0, 1}
        size = min(periods, default=0)
        if size and isinstance(loop.extent, int) and size < loop.extent and loop.extent % size == 0:
            kernel.writer.split(kernel.writer.loop(loop.label), size, "groups")
            outer, _ = split_loop(loop.op, size)
            found = analyse_nest(outer if position == 0 else nest.parallel[0].op)
            assert found is not None, "splitting keeps the form of a nest"
            nest = found
        position += 1
    return nest


def merge_rows(kernel: Kernel, nest: Nest) -> Nest:
    """
    Collapses neighbouring loops that walk all buffers contiguously together: the pixels of a 1x1 convolution, the rows
    of a batch; sums along lanes over an image. Fewer tiles are cut short then. Returns the facts of the new nest.
    """
    nest = _merge(kernel, nest, lambda nest: nest.parallel)
    for number, chain in enumerate(nest.chains):
        if any(access.moves[chain[-1]].stride == 1 for access in nest.loads):
            nest = _merge(kernel, nest, lambda nest, number=number: nest.chains[number])
    return nest


def _lengthen_rows(kernel: Kernel, nest: Nest) -> Nest:
    """Collapses the innermost loop into the one around it as long as it is short: rows of images of 7x7 or 28x28."""
    most = SHORT_ROW * vector_width(nest, kernel.facts)
    while len(nest.parallel) > 1:
        outer, inner = nest.parallel[-2:]
        known = isinstance(inner.extent, int) and isinstance(outer.extent, int)
        if not known or not 1 < inner.trips <= most or not collapsible(nest, outer, inner):
            break
        nest = _merge(kernel, nest, lambda nest: nest.parallel[-2:])
    return nest


def _merge(kernel: Kernel, nest: Nest, choose: Callable[[Nest], list[Loop]]) -> Nest:
    """Collapses neighbours among the perfectly nested loops that `choose` finds."""
    loops = list(choose(nest))
    for position in reversed(range(len(loops) - 1)):
        outer, inner = loops[position], loops[position + 1]
        if not collapsible(nest, outer, inner):
            continue
        nest = merge_loops(kernel, nest, outer, inner)
        loops = list(choose(nest))
    return nest


def schedule_loops(kernel: Kernel, tops: Sequence[ForOp]) -> None:
    """Writes the schedules of neighbouring loops, and of those inside a loop that is around several nests."""
    for top in tops:
        nest = analyse_nest(top)
        if nest is not None:
            schedule_nest(kernel, nest)
        elif (rows := rows_of(kernel, top, can_vectorize)) is not None:
            _schedule_rows(kernel, rows)
        elif not top.inits:
            around = kernel.spread
            loops = list(takewhile(lambda loop: loop.is_parallel, perfect_nest(top))) or [top]
            if top.is_parallel and not around:
                kernel.spread = spread_around(kernel, loops)
            schedule_loops(kernel, [op for op in loops[-1].block.ops if isinstance(op, ForOp)])
            kernel.spread = around


def spread_around(kernel: Kernel, around: Sequence[ForOp]) -> bool:
    """Shares out perfectly nested loops around nests; False if those are to be shared out one by one too."""
    facts = [loop_facts(loop) for loop in around]
    loops = [Shared(loop.label, loop.trips, certain_trips(loop, loop.trips)) for loop in facts]
    ops, moves = (facts[0].trips * count / kernel.facts.lanes(32) for count in reckoned_ops(around[0]))
    cycles = CYCLES_PER_OP * ops
    inside = [loop_facts(op) for op in around[-1].block.walk() if isinstance(op, ForOp)]
    known = all(isinstance(loop.extent, int) or loop.limit for loop in inside)
    enough = enough_around(kernel, loops, cycles, known)
    spread(kernel, loops, max(cycles, CYCLES_PER_MOVE * moves), around[0], least=0 if enough else AROUND_SHARES)
    return enough


def reckoned_ops(top: ForOp) -> tuple[int, int]:
    """About how many ops one iteration of `top` runs, and how many of them move elements outside of reductions."""
    total, moves = 0, 0
    for op in top.block.ops:
        if isinstance(op, ForOp):
            trips, (inner, moved) = loop_facts(op).trips, reckoned_ops(op)
            total += trips * inner
            moves += trips * moved
        else:
            total += 1
            moves += isinstance(op, LoadOp | StoreOp) and not top.inits
    return total, moves


def auto_schedule(func: FuncOp, facts: TargetFacts, constants: frozenset[int] = frozenset()) -> NamedSequenceOp | None:
    """The schedule of a kernel; `None` if it is best run as it is."""
    fold_index_ops([func])
    writer = ScheduleWriter(func.sym_name.data)
    # Steps that later ones build on are tried on a copy.
    kernel = Kernel(func.clone(), facts, writer, constants)
    fuse_blocks(kernel)
    fuse_rows(kernel)
    rows_in_scratch(kernel)
    schedule_loops(kernel, top_loops(kernel.func))
    if writer.is_empty:
        return None
    bypass_last_cache(kernel)
    fetch_next_rows(kernel)
    return writer.finish()


def is_plain(func: FuncOp) -> bool:
    """Whether no step has changed the kernel's nests yet: no vectors, and no loop labelled as a part of another."""
    for op in func.walk():
        if isinstance(op, ForOp) and "." in op.label.data:
            return False
        if any(isinstance(result.type, VectorType) for result in op.results):
            return False
    return True


@dataclass(frozen=True)
class LoopsAutoSchedulePass(ModulePass):
    """Writes a schedule for each kernel that has none and whose nests no step has changed."""

    name = "loops-auto-schedule"

    target: str = "host"
    """Machine to schedule for: `host`, `generic`, or a name that the back end knows."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        facts = facts_of(self.target)
        constants = constant_buffers(op)
        have = {other.sym_name.data for other in op.body.block.ops if isinstance(other, NamedSequenceOp)}
        block = op.body.block
        made = False
        for kernel in list(kernels(op)):
            name = kernel.sym_name.data
            if name + SUFFIX in have or not is_plain(kernel):
                continue
            with kernel_time("schedule", name):
                sequence = auto_schedule(kernel, facts, constants.get(name, frozenset()))
            if sequence is not None:
                block.insert_op_after(sequence, kernel)
                made = True
        if made:
            op.attributes[ATTRIBUTE] = UnitAttr()

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """Writes the schedule of one kernel."""
        if unit.sequence is None and is_plain(unit.kernel):
            with kernel_time("schedule", unit.name):
                unit.sequence = auto_schedule(unit.kernel, facts_of(self.target), unit.constants)
