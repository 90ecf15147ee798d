"""What the strategies of the automatic scheduler share: lanes, packing of an input, threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr

from aicc.dialects.loops import ForOp, LoadOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.functions import num_outputs
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import Access, Loop, Nest, element_bytes
from aicc.transforms.loops_pack import Packing, kernel_buffers, view_of
from aicc.transforms.loops_reduction import reductions_of
from aicc.transforms.schedule_writer import ScheduleWriter
from aicc.transforms.target_facts import TargetFacts


@dataclass
class Kernel:
    """A kernel being scheduled."""

    func: FuncOp
    facts: TargetFacts
    writer: ScheduleWriter
    constants: frozenset[int] = frozenset()
    """Buffers, by position, that are constants in every call."""

    spread: bool = False
    """A loop around what is being scheduled runs on threads."""

    packed: set[int] = field(default_factory=set[int])
    """Buffers that the schedule has packed."""

    apart: set[str] = field(default_factory=set[str])
    """Nests, by their outermost loop, that are better not fused with others."""

    def buffer_position(self, memref: SSAValue) -> int | None:
        """The position of an input, or of what a view looks at, among the kernel's buffers; `None` for any other."""
        memref = root_of(memref)
        buffers = kernel_buffers(self.func)
        inputs = buffers[: len(buffers) - num_outputs(self.func)]
        return next((position for position, buffer in enumerate(inputs) if buffer is memref), None)

    def is_constant(self, memref: SSAValue) -> bool:
        """Whether the buffer is a constant in every call."""
        position = self.buffer_position(memref)
        return position is not None and position in self.constants


def vector_width(nest: Nest, facts: TargetFacts, lane: Loop | None = None) -> int:
    """
    Lanes of one register, by the widest values that the nest computes with.

    Of what is the same for all lanes along `lane`, as the number of a row that is copied, there are no vectors.
    """
    widths = [access.bytes for access in nest.accesses if lane is None or access.is_store or access.depends(lane)]
    for loop in nest.reductions:
        widths += [element_bytes(value.type) for value in loop.op.inits if not isinstance(value.type, IndexType)]
    # Halves are computed in single precision.
    widest = max(widths, default=4)
    return facts.lanes(8 * (4 if widest == 2 and _has_halves(nest) else widest))


def _has_halves(nest: Nest) -> bool:
    return any(str(getattr(access.op.memref.type, "element_type", "")) in ("f16", "bf16") for access in nest.accesses)


def lane_dimension(access: Access, lane: Loop) -> int | None:
    """The one dimension of the memref whose index is the loop's variable itself; `None` if there is no such."""
    at = [position for position, spans in enumerate(access.spans) if lane in spans]
    operands = list(access.op.indices)
    if len(at) != 1 or lane.op.induction not in operands:
        return None
    expr = access.op.map.data.results[at[0]]
    return at[0] if expr == AffineDimExpr(operands.index(lane.op.induction)) else None


def can_pack(kernel: Kernel, access: Access, lane: Loop) -> bool:
    """Whether an access along lanes could be made contiguous by packing the input that it reads."""
    position = kernel.buffer_position(access.memref)
    if access.is_store or position is None or position in kernel.packed or lane_dimension(access, lane) is None:
        return False
    for use in access.memref.uses:
        op = use.operation
        if not isinstance(op, LoadOp) or op.fill is not None or lanes_of(op.result.type) or op is not access.op:
            return False
    argument = root_of(access.memref)
    if argument is access.memref:
        return True
    return isinstance(argument, BlockArgument) and access.memref.owner is view_of(argument)


def packing_for(access: Access, lane: Loop, lanes: int, reductions: Sequence[Loop]) -> Packing:
    """
    The layout in which a tile of lanes is contiguous, tiles of successive steps of the innermost reduction follow each
    other, and all that one tile of results needs lies together.
    """
    split = lane_dimension(access, lane)
    assert split is not None
    rank = {loop: position for position, loop in enumerate(reductions)}

    steps = {
        dim: max(rank[loop] for loop in loops)
        for dim, loops in enumerate(access.spans)
        if dim != split and loops and all(loop in rank for loop in loops)
    }
    inner = sorted(steps, key=steps.__getitem__)
    # Where a kernel reads a single tap, the layout is that of kernels which read all: they share the packed weights.
    single = [dim for dim, size in enumerate(access.dims) if dim != split and not access.spans[dim] and size != 1]
    for dim in single if inner else ():
        inner.insert(next((at for at, other in enumerate(inner) if other > dim), len(inner) - 1), dim)
    order = (*(dim for dim in range(len(access.dims)) if dim != split and dim not in inner), split, *inner)
    tiles = tuple(lanes if dim == split else 0 for dim in range(len(access.dims)))
    return Packing(tiles, order)


def is_free_reduction(loop: ForOp) -> bool:
    """Whether all that the loop carries may be accumulated in any order."""
    return reductions_of(loop) is not None
