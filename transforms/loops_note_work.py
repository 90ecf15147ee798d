"""
`loops-note-work`: each kernel notes what it has to compute and how, for a profile to tell.

Before: func.func private @k(...) attributes {aicc.kernel} { plain nests }      transform.named_sequence @k_schedule ...
After:  the same, with aicc.flops = "2*N*K", aicc.schedule = "tile d0 x d1 by 6 x 16; vectorize d0.i, d1.i"

Operations are those on floats in the nests as they stand, so this pass runs before schedules are carried out: a
multiply-add counts as two, a loop runs as often as its bounds say, a guarded part always. What a nest's bounds do not
tell is left out. A kernel without a schedule gets none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, DenseArrayBase, IntegerType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from aicc.dialects.graph.dims import Dim, dim_sum
from aicc.dialects.loops import ForOp
from aicc.dialects.loops.functions import kernels
from aicc.dialects.packed import DotOp
from aicc.dialects.schedule.ops import LoopOp
from aicc.transforms.kernel_unit import Callers, KernelUnit
from aicc.transforms.loops_sizes import trip_count_dim
from aicc.transforms.schedule_writer import SUFFIX

FLOPS = "aicc.flops"
SCHEDULE = "aicc.schedule"

_FREE = (arith.ConstantOp, arith.CmpfOp, arith.SelectOp)


def float_operations(func: FuncOp) -> Dim:
    """Operations on floats that a kernel of plain nests runs."""
    parts: list[Dim] = []
    pending: list[tuple[Block, Dim]] = [(block, 1) for block in func.body.blocks]
    while pending:
        block, times = pending.pop()
        own = 0
        for op in block.ops:
            if isinstance(op, ForOp):
                trips = trip_count_dim(op)
                pending.append((op.block, times * (1 if trips is None else trips)))
                continue
            own += _operations(op)
            pending += [(inner, times) for region in op.regions for inner in region.blocks]
        parts.append(times * own)
    return dim_sum(parts)


def _operations(op: Operation) -> int:
    dialect = op.name.partition(".")[0]
    if dialect not in ("arith", "math", "packed") or isinstance(op, _FREE) or not op.results:
        return 0
    if not isinstance(op.results[0].type, AnyFloat):
        return 0
    if isinstance(op, DotOp):
        return 2 * op.part_count - 1
    return 2 if isinstance(op, math.FmaOp) else 1


def schedule_text(sequence: NamedSequenceOp) -> str:
    """A schedule in one line: what is done to which loops, with the numbers that it is done with."""
    steps: list[str] = []
    for op in sequence.body.block.ops:
        dialect, _, name = op.name.partition(".")
        if dialect != "schedule" or isinstance(op, LoopOp):
            continue
        loops = [operand.name_hint or "loop" for operand in op.operands]
        numbers = [
            " x ".join(map(str, cast("DenseArrayBase[IntegerType]", value).get_values()))
            for key, value in op.properties.items()
            if isinstance(value, DenseArrayBase) and not key.endswith("egmentSizes")
        ]
        steps.append(" ".join([name.replace("_", " "), ", ".join(loops), *(f"by {number}" for number in numbers)]))
    return "; ".join(steps)


@dataclass(frozen=True)
class LoopsNoteWorkPass(ModulePass):
    """Makes each kernel note what it has to compute and how."""

    name = "loops-note-work"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sequences = {
            other.sym_name.data.removesuffix(SUFFIX): other
            for other in op.body.block.ops
            if isinstance(other, NamedSequenceOp)
        }
        for kernel in kernels(op):
            kernel.attributes[FLOPS] = StringAttr(str(float_operations(kernel)))
            if (sequence := sequences.get(kernel.sym_name.data)) is not None:
                kernel.attributes[SCHEDULE] = StringAttr(schedule_text(sequence))

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """Notes the work of one kernel."""
        unit.demands.notes[FLOPS] = str(float_operations(unit.kernel))
        if unit.sequence is not None:
            unit.demands.notes[SCHEDULE] = schedule_text(unit.sequence)

    def apply_to_callers(self, callers: Callers) -> None:
        """Puts the notes on the kernels' declarations."""
        for kernel, demands in callers.demands():
            for name, text in demands.notes.items():
                kernel.attributes[name] = StringAttr(text)
