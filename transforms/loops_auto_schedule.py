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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.passes import ModulePass

from aicc.dialects.loops import ForOp
from aicc.dialects.loops.functions import kernels
from aicc.transforms.auto_schedule_callers import constant_buffers
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.auto_schedule_elementwise import lane_order, schedule_elementwise
from aicc.transforms.auto_schedule_lanes import lane_cycles, schedule_lanes
from aicc.transforms.auto_schedule_reduce import candidates, reduce_cycles, schedule_reductions
from aicc.transforms.loops_facts import Nest, analyse_nest
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_vectorize import Axis, plan_vectors
from aicc.transforms.schedule_writer import ATTRIBUTE, SUFFIX, ScheduleWriter
from aicc.transforms.target_facts import TargetFacts, facts_of


def top_loops(func: FuncOp) -> list[ForOp]:
    """The outermost loops of a function, in order."""
    return [op for op in func.body.block.ops if isinstance(op, ForOp)]


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
        lane = next((loop for loop in lane_order(kernel, nest) if can_vectorize(loop.op)), None)
        if lane is not None:
            schedule_elementwise(kernel, nest, lane)
        return
    choices: list[tuple[float, int, Callable[[], None]]] = []
    for loop in nest.parallel:
        if can_vectorize(loop.op):
            step = partial(schedule_lanes, kernel, nest, loop)
            choices.append((lane_cycles(kernel, nest, loop), -len(choices), step))
    for loop in candidates(nest):
        if can_vectorize(loop.op):
            step = partial(schedule_reductions, kernel, nest, loop)
            choices.append((reduce_cycles(kernel, nest, loop), -len(choices), step))
    if choices:
        min(choices)[2]()


def auto_schedule(
    kernel: FuncOp, facts: TargetFacts, constants: frozenset[int] = frozenset()
) -> NamedSequenceOp | None:
    """The schedule of a kernel; `None` if it is best run as it is."""
    writer = ScheduleWriter(kernel.sym_name.data)
    state = Kernel(kernel, facts, writer, constants)
    for top in top_loops(kernel):
        if (nest := analyse_nest(top)) is not None:
            schedule_nest(state, nest)
    return None if writer.is_empty else writer.finish()


@dataclass(frozen=True)
class LoopsAutoSchedulePass(ModulePass):
    """Writes a schedule for each kernel that has none."""

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
            if name + SUFFIX in have:
                continue
            sequence = auto_schedule(kernel, facts, constants.get(name, frozenset()))
            if sequence is not None:
                block.insert_op_after(sequence, kernel)
                made = True
        if made:
            op.attributes[ATTRIBUTE] = UnitAttr()
