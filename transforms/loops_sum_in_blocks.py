"""
`loops-sum-in-blocks`: long floating-point sums become sums of partial sums.

Before: %s = for %k = 0 to 1152 iter_args(%acc = %z) { ... addf %acc, %x }

After, `length=256`: %s = for "k.o" %b = 0 to 5 iter_args(%total = %z) {
                       %p = for "k.i" %k = 0 to 231 iter_args(%acc = 0.0) { ... addf %acc, %x }
                       addf %total, %p }

The bound on the rounding error of n terms added one after the other grows with n; with blocks of b terms it grows with
b + n/b (Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, section 4.2). Where a sum runs through
nested loops, the outermost loop whose terms fit in a block starts from zero instead. So does a block of a reduction
that waits in memory for the next one. Blocks are of one size as nearly as can be. Sums up to the length stay as they
are, and so do those whose number of terms is not known; loops that carry anything but sums are left alone. A kernel may
ask for shorter blocks (`aicc.sum_length`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import BroadcastOp, ForOp, LoadOp
from aicc.dialects.loops.access import lanes_of, scalar_of
from aicc.dialects.loops.attrs import ReduceKind
from aicc.dialects.loops.functions import kernels, sum_length
from aicc.transforms.kernel_unit import KernelUnit
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_reduction import identity_of, reductions_of
from aicc.transforms.loops_tile import tile_loops

LENGTH = 256
"""Terms per block, at most: longer blocks cost exactness, shorter ones time (128: 2 % of ResNet-50; 256: none)."""


def sum_in_blocks(kernel: FuncOp, length: int = LENGTH) -> int:
    """Splits the long sums of a kernel, which may ask for shorter blocks; how many loops were changed."""
    count, length = 0, sum_length(kernel, length)
    pending: list[Operation] = [kernel]
    while pending:
        for region in pending.pop().regions:
            for block in region.blocks:
                for op in list(block.ops):
                    if isinstance(op, ForOp) and _is_sum(op):
                        count += _split(op, length, _goes_on(op))
                    elif op.regions:
                        pending.append(op)
    return count


def _is_sum(loop: ForOp) -> bool:
    """Whether the loop carries floating-point sums and nothing else."""
    if not loop.inits or not all(isinstance(scalar_of(value.type), AnyFloat) for value in loop.inits):
        return False
    found = reductions_of(loop)
    return found is not None and all(reduction.kind is ReduceKind.ADD for reduction in found)


def _goes_on(loop: ForOp) -> bool:
    """Whether the sums may go on from others that wait in memory."""
    return any(isinstance(value.owner, arith.SelectOp | LoadOp) for value in loop.inits)


def _split(loop: ForOp, length: int, goes_on: bool) -> int:
    per_step = _terms(list(loop.block.ops))
    trips = loop.trip_count
    if per_step is None or trips is None:
        return 0
    terms = trips * per_step
    if terms <= length:
        if goes_on and 2 * terms > length:
            _start_from_zero(loop)
            return 1
        return 0
    if 2 * per_step > length:
        return sum(_split(op, length, True) for op in list(loop.block.ops) if isinstance(op, ForOp) and _is_sum(op))
    blocks = -(-terms // length)
    try:
        made = tile_loops([loop], [-(-trips // blocks)], ["mask"])
    except StepError:
        return 0
    _start_from_zero(made.inners[0][0])
    return 1


def _terms(ops: Sequence[Operation]) -> int | None:
    """How many terms the ops add to the sum they belong to, at most; `None` if that is not known."""
    total = 0
    for op in ops:
        if isinstance(op, ForOp) and op.inits:
            inner = _terms(list(op.block.ops))
            if inner is None or op.trip_count is None:
                return None
            total += op.trip_count * inner
        elif isinstance(op, arith.AddfOp) and FastMathFlag.REASSOC in op.fastmath.data:
            total += 1
    return total


def _start_from_zero(loop: ForOp) -> None:
    """Makes the sums of a loop start from zero, and adds what they started from afterwards."""
    block = loop.parent
    assert block is not None
    starts = list(loop.inits)
    first = len(loop.operands) - len(starts)
    flags = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
    place = loop
    for position, (start, result) in enumerate(zip(starts, loop.results, strict=True)):
        total = arith.AddfOp(start, result, flags)
        total.location = loop.location
        result.replace_uses_with_if(total.result, lambda use, total=total: use.operation is not total)
        block.insert_op_after(total, place)
        place = total
        loop.operands[first + position] = _zero(start.type, loop)


def _zero(type: Attribute, loop: ForOp) -> SSAValue:
    zero = arith.ConstantOp(identity_of(ReduceKind.ADD, type))
    ops: list[Operation] = [zero]
    if lanes := lanes_of(type):
        ops.append(BroadcastOp(zero.result, lanes))
    assert loop.parent is not None
    loop.parent.insert_ops_before(ops, loop)
    return ops[-1].results[0]


@dataclass(frozen=True)
class LoopsSumInBlocksPass(ModulePass):
    """Splits long floating-point sums in kernels into sums of partial sums, which are more exact."""

    name = "loops-sum-in-blocks"

    length: int = LENGTH
    """Terms per block; at least 1."""

    def __post_init__(self) -> None:
        if self.length < 1:
            raise PassFailedException(f"{self.name}: length must be at least 1, got {self.length}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels(op):
            sum_in_blocks(kernel, self.length)

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """The pass on one kernel."""
        sum_in_blocks(unit.kernel, self.length)
