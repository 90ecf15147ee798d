"""
`loops-join-rests`: what does not fill a vector is added to the vector of the full tiles, which is summed up once.

Before: %v = for "k.o" ... iter_args(%a = %zeros) -> (vector<16xf32>) { ... }
        %t = reduce "add" %v
        %c = addf %z, %t
        %s = for "k.t" ... iter_args(%b = %c) -> (f32) {
          %p = addf %zeros, %rest
          %u = reduce "add" %p
          %d = addf %b, %u
          yield %d }
After:  %w = for "k.t" ... iter_args(%b = %v) -> (vector<16xf32>) {
          %p = addf %b, %rest
          yield %p }
        %t = reduce "add" %w
        %s = addf %z, %t

To sum up the lanes of a vector takes longer than to add a few vectors, and waits for what was before: rows that are not
much longer than a vector, as those of a softmax of some hundred elements, take a tenth less time.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.loops import BroadcastOp, ForOp, ReduceOp, YieldOp
from aicc.dialects.loops.functions import kernels
from aicc.dialects.loops.lanewise import lanewise_class
from aicc.transforms.kernel_unit import KernelUnit


@dataclass(frozen=True)
class _Rest:
    """What a loop over a rest carries at one position, and what it goes on from."""

    total: ReduceOp
    """The lanes of full tiles combined."""

    start: Operation
    """That with what came before; where the loop begins."""

    partial: Operation
    """The lanes of the rest, combined with the value that changes nothing."""

    neutral: int
    """The operand of `partial` that is this value."""


def join_rests(kernel: FuncOp) -> int:
    """Lets loops over rests of reductions carry vectors; how many."""
    count = 0
    for loop in [op for op in kernel.walk() if isinstance(op, ForOp) and op.inits]:
        found = [_rest_of(loop, position) for position in range(len(loop.inits))]
        rests = [rest for rest in found if rest is not None]
        if len(rests) == len(found):
            _join(loop, rests)
            count += 1
    return count


def _only_use(value: SSAValue) -> Operation | None:
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _rest_of(loop: ForOp, position: int) -> _Rest | None:
    """How the value at a position goes on; `None` if it is not the rest of a reduction of vectors."""
    start, step = loop.inits[position].owner, loop.yielded[position].owner
    if not isinstance(start, Operation) or not isinstance(step, Operation) or type(start) is not type(step):
        return None
    if start.parent is not loop.parent or step.parent is not loop.block or len(step.operands) != 2:
        return None
    total, rest = _reduced(start), _reduced(step)
    carried = loop.iter_args[position]
    if total is None or rest is None or total.kind != rest.kind or total.axes != rest.axes:
        return None
    if step.operands[0] is not carried or start.operands[1] is not total.result or rest.parent is not loop.block:
        return None
    if _only_use(carried) is not step or _only_use(step.results[0]) is not loop.block.last_op:
        return None
    if _only_use(start.results[0]) is not loop or _only_use(total.value) is not total:
        return None
    full, partial = total.value, rest.value.owner
    if not isinstance(full, OpResult) or not isinstance(full.op, ForOp) or full.op.parent is not loop.parent:
        return None
    if not isinstance(partial, Operation) or _only_use(rest.value) is not rest or full.type != rest.value.type:
        return None
    if partial.parent is not loop.block or type(partial) not in (type(step), lanewise_class(type(step))):
        return None
    started = full.op.inits[full.index].owner
    neutral = next((i for i, operand in enumerate(partial.operands) if _same_splat(operand.owner, started)), None)
    return None if neutral is None else _Rest(total, start, partial, neutral)


def _reduced(combine: Operation) -> ReduceOp | None:
    """The reduction of lanes that is an op's second operand, and nothing else."""
    owner = combine.operands[1].owner if len(combine.operands) == 2 else None
    return owner if isinstance(owner, ReduceOp) and _only_use(owner.result) is combine else None


def _same_splat(one: object, other: object) -> bool:
    """Whether both are broadcasts of the same constant."""
    if not isinstance(one, BroadcastOp) or not isinstance(other, BroadcastOp):
        return False
    mine, theirs = one.operands[0].owner, other.operands[0].owner
    if not isinstance(mine, Operation) or not isinstance(theirs, Operation) or mine.operands or theirs.operands:
        return mine is theirs
    return mine.name == theirs.name and mine.properties == theirs.properties


def _join(loop: ForOp, rests: list[_Rest]) -> None:
    block = loop.parent
    assert block is not None
    new = loop.carrying([rest.total.value for rest in rests])
    loop.induction.replace_all_uses_with(new.induction)
    combines = [value.owner for value in loop.yielded]
    last = loop.block.last_op
    assert last is not None
    last.detach()
    last.erase()
    for op in list(loop.block.ops):
        op.detach()
        new.block.add_op(op)
    for rest, carried, combine in zip(rests, new.iter_args, combines, strict=True):
        rest.partial.operands[rest.neutral] = carried
        assert isinstance(combine, Operation)
        reduce = combine.operands[1].owner
        assert isinstance(reduce, Operation)
        for op in (combine, reduce):
            op.detach()
            op.erase()
    new.block.add_op(YieldOp(*(rest.partial.results[0] for rest in rests)))
    block.insert_op_before(new, loop)
    for rest, result, old in zip(rests, new.results, loop.results, strict=True):
        for op in (rest.total, rest.start):
            op.detach()
            block.insert_op_before(op, loop)
        rest.total.operands[0] = result
        old.replace_all_uses_with(rest.start.results[0])
    loop.detach()
    loop.erase()


@dataclass(frozen=True)
class LoopsJoinRestsPass(ModulePass):
    """Adds what does not fill a vector to the vector of full tiles, in the reductions of all kernels."""

    name = "loops-join-rests"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels(op):
            join_rests(kernel)

    def apply_to_unit(self, unit: KernelUnit) -> None:
        """The pass on one kernel."""
        join_rests(unit.kernel)
