"""
`loops-privatize`: scratch for what an iteration writes to a result of the kernel and reads again.

Before: loops.for "i" %i {                          After: loops.for "i" %i {
          for %j { store %e, %out[%i, %j] }                  %t = loops.alloc : memref<4096xf32>
          for %j { %v = load %out[%i, %j]                    for %j { store %e, %t[%j] }
                   store f(%v), %out[%i, %j] }               for %j { %v = load %t[%j]
                                                                      store f(%v), %out[%i, %j] }

What is only written may go past the caches (`loops-bypass-caches`): a result larger than they are is then neither read
from memory nor written there twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops.access import LoadOp, StoreOp, access_of
from aicc.dialects.loops.attrs import memref_of
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.functions import outputs_of
from aicc.dialects.loops.memory import AllocOp, ViewOp
from aicc.transforms.loops_buffers import shrink_buffers
from aicc.transforms.loops_merge_buffers import is_own_element, reads_there
from aicc.transforms.loops_nest import StepError, kernels_with, labelled
from aicc.transforms.loops_pack import kernel_buffers

STEP = "privatize"


def privatize(kernel: FuncOp, loop: ForOp, argument: int) -> None:
    """
    Redirects all accesses to a result but the last store to an allocation at the top of `kernel`, to be shrunk.

    Raises:
        StepError: the buffer is no result, is used otherwise than in rows of `loop`, or is not read again.
    """
    buffers = kernel_buffers(kernel)
    if argument >= len(buffers):
        raise StepError(STEP, kernel, f"there is no buffer {argument}: the kernel has {len(buffers)}")
    buffer = buffers[argument]
    if buffer not in outputs_of(kernel):
        raise StepError(STEP, kernel, f"buffer {argument} is no result")
    while isinstance(view := _only_user(buffer), ViewOp):
        buffer = view.result
    accesses = _accesses(buffer, loop)
    final = _final_store(accesses, loop)
    if final is None or not _rows_apart(accesses, final, loop):
        raise StepError(
            STEP, loop, f"its iterations do not each write elements of buffer {argument} of their own at last"
        )
    others = [op for op in accesses if op is not final]
    if not any(isinstance(op, LoadOp) for op in others) or not any(isinstance(op, StoreOp) for op in others):
        raise StepError(STEP, loop, f"nothing that it writes to buffer {argument} is read again")
    scratch = AllocOp(memref_of(buffer))
    scratch.location = loop.location
    first = kernel.body.block.first_op
    assert first is not None
    kernel.body.block.insert_op_before(scratch, first)
    for op in others:
        op.operands[0 if isinstance(op, LoadOp) else 1] = scratch.result


def _only_user(buffer: SSAValue) -> Operation | None:
    users = {use.operation for use in buffer.uses}
    return users.pop() if len(users) == 1 else None


def _accesses(buffer: SSAValue, loop: ForOp) -> list[LoadOp | StoreOp]:
    """All accesses to the buffer, in order; none if it is used in any other way or elsewhere."""
    inside: list[LoadOp | StoreOp] = []
    for op in loop.walk():
        if not isinstance(op, LoadOp | StoreOp) or op.memref is not buffer:
            continue
        if (op.fill if isinstance(op, LoadOp) else op.inside) is None:
            inside.append(op)
    return inside if len(inside) == len(list(buffer.uses)) else []


def _final_store(accesses: Sequence[LoadOp | StoreOp], loop: ForOp) -> StoreOp | None:
    """The store of the last nest in the loop, which reads nothing of the buffer but the element it then writes."""
    if not accesses or not isinstance(final := accesses[-1], StoreOp):
        return None
    holder = _holder(final, loop)
    if holder is final or not is_own_element(final, loop):
        return None
    there = [op for op in accesses if op is not final and _holder(op, loop) is holder]
    return final if all(isinstance(op, LoadOp) and reads_there(op, final) for op in there) else None


def _holder(op: Operation, loop: ForOp) -> Operation:
    holder = op
    while holder.parent is not loop.block:
        parent = holder.parent_op()
        assert parent is not None
        holder = parent
    return holder


def _rows_apart(accesses: Sequence[LoadOp | StoreOp], final: StoreOp, loop: ForOp) -> bool:
    """Whether iterations of the loop and of those around it touch elements that no other one touches."""
    around: Operation | None = loop
    while isinstance(around, ForOp):
        induction = around.induction
        dim = next((i for i, at in enumerate(_plain_indices(final)) if at is induction), None)
        if dim is None or any(_plain_indices(op)[dim] is not induction for op in accesses):
            return False
        around = around.parent_op()
    return True


def _plain_indices(op: LoadOp | StoreOp) -> list[SSAValue | None]:
    """For each dimension the value that is its index, `None` where that is anything else."""
    affine_map, operands, lanes = access_of(op)
    count = affine_map.num_dims - len(lanes)
    return [
        operands[expr.position] if isinstance(expr, AffineDimExpr) and expr.position < count else None
        for expr in affine_map.results
    ]


@dataclass(frozen=True)
class LoopsPrivatizePass(ModulePass):
    """Gives iterations of a loop scratch of their own for what they write to a result and read again."""

    name = "loops-privatize"

    label: str
    """Label of the loop."""

    argument: int
    """The result: position among the kernel's buffers, without its symbols."""

    def __post_init__(self) -> None:
        if self.argument < 0:
            raise PassFailedException(f"{self.name}: argument must be at least 0, got {self.argument}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                privatize(kernel, loop, self.argument)
            shrink_buffers(kernel)
