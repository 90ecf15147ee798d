"""
`loops-fuse`: neighbouring loops over the same indices become one.

Before: for %i { a(%i) }                After: for %i {
        for %j { b(%j) }                         a(%i)
                                                 b(%i)
                                               }

The loops need the same bounds and step. Dependence analysis guards the step: iteration `i` of the second loop may need
what iterations up to `i` of the first one do, but not what a later one does. The loop stays parallel if both were, and
no iteration needs what another one does. Values that the loops carry are carried side by side. What stands between the
loops moves in front of them, or stays behind them where it needs the first loop's results.

A buffer between the two that each iteration writes and reads at its own place becomes smaller or disappears with
`loops-simplify`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import is_side_effect_free
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import provably_equal
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.functions import kernels
from aicc.dialects.loops.memory import AllocOp
from aicc.transforms.loops_dependence import Dependence
from aicc.transforms.loops_forwarding import forward_values
from aicc.transforms.loops_index import bound_expressions
from aicc.transforms.loops_nest import StepError, find_loops, kernels_with
from aicc.transforms.loops_sizes import size_of_expression

STEP = "fuse"


def fuse_loops(first: ForOp, second: ForOp) -> ForOp:
    """
    Fuses two loops of one block, `first` standing before `second`, and returns the new loop; the old ones are gone.

    Raises:
        StepError: if the loops differ in their indices, or the order of what they do would change what is computed.
    """
    plan = plan_fusion(first, second, Dependence())
    for op in plan.before:
        op.detach()
        plan.block.insert_op_before(op, first)
    new = ForOp(
        first.lower_map.data,
        first.lower_operands,
        first.upper_map.data,
        first.upper_operands,
        first.step_value,
        None,
        [*first.inits, *second.inits],
        first.kind.data if plan.parallel or not first.is_parallel else "sequential",
        first.label.data,
        {name: value for name, value in first.attributes.items() if name != "threads" or plan.threads},
    )
    new.location = first.location
    count = len(first.inits)
    yielded: list[SSAValue] = []
    for old, arguments in ((first, new.iter_args[:count]), (second, new.iter_args[count:])):
        new.induction.name_hint = new.induction.name_hint or old.induction.name_hint
        old.induction.replace_all_uses_with(new.induction)
        for before, after in zip(old.iter_args, arguments, strict=True):
            before.replace_all_uses_with(after)
        yielded += old.yielded
        for op in list(old.block.ops):
            if op is not old.block.last_op:
                op.detach()
                new.block.add_op(op)
    new.block.add_op(YieldOp(*yielded))
    plan.block.insert_op_before(new, first)
    for old, results in ((first, new.results[:count]), (second, new.results[count:])):
        for before, after in zip(old.results, results, strict=True):
            before.replace_all_uses_with(after)
        old.detach()
        old.erase()
    if not any(isinstance(op, ForOp) for op in new.block.ops):
        # While accesses have single elements: a masked load does not get what a masked store has on its way.
        forward_values(new.block)
    return new


def fuse_nests(first: ForOp, second: ForOp, depth: int) -> ForOp:
    """
    Fuses two loops, and then `depth - 1` times the one loop that stands directly in each.

    Raises:
        StepError: if a step may not be done, or a loop holds none or several loops. Outer levels stay fused then.
    """
    inner = [_only_loop(loop) for loop in (first, second)] if depth > 1 else []
    new = fuse_loops(first, second)
    if inner:
        fuse_nests(inner[0], inner[1], depth - 1)
    return new


def _only_loop(loop: ForOp) -> ForOp:
    inner = [op for op in loop.block.ops if isinstance(op, ForOp)]
    if len(inner) != 1:
        raise StepError(STEP, loop, f"holds {len(inner)} loops, expected one to go on with")
    return inner[0]


@dataclass(frozen=True)
class FusionPlan:
    """What a legal fusion does."""

    block: Block
    before: Sequence[Operation]
    """The ops between the loops that move in front of the first one."""

    parallel: bool
    """The iterations of the new loop are independent."""

    threads: bool
    """The new loop runs on threads."""


def plan_fusion(first: ForOp, second: ForOp, dependence: Dependence) -> FusionPlan:
    """
    Checks that two loops may be fused.

    Raises:
        StepError: with the reason, if they may not.
    """
    block = first.parent
    if block is None or second.parent is not block or first is second or not first.is_before_in_block(second):
        raise StepError(STEP, second, f"does not stand after loop '{first.label.data}' in one block")
    check_same_indices(first, second)
    between = _between(first, second)
    after = _users_of(first, between)
    if _uses_any(second, [*first.results, *(result for op in after for result in op.results)]):
        raise StepError(STEP, second, f"needs results of loop '{first.label.data}'")
    before = [op for op in between if op not in set(after)]
    _check_moves(first, second, before, after, dependence)
    reason, independent = dependence.fusion(first, second)
    if reason is not None:
        raise StepError(STEP, second, reason)
    parallel = independent and first.is_parallel and second.is_parallel
    return FusionPlan(block, before, parallel, parallel and first.threads is not None and second.threads is not None)


def check_same_indices(first: ForOp, second: ForOp) -> None:
    """
    Checks that two loops run over the same indices.

    Raises:
        StepError: if that is not certain.
    """
    same = first.step_value == second.step_value
    for upper in (False, True):
        mine, theirs = bound_expressions(first, upper), bound_expressions(second, upper)
        if same and mine != theirs:
            sizes = [[size_of_expression(*bound) for bound in bounds] for bounds in (mine, theirs)]
            same = len(mine) == len(theirs) and all(
                a is not None and b is not None and provably_equal(a, b) for a, b in zip(*sizes, strict=True)
            )
    if not same:
        raise StepError(STEP, second, f"does not run over the same indices as loop '{first.label.data}'")


def _between(first: ForOp, second: ForOp) -> list[Operation]:
    found: list[Operation] = []
    op = first.next_op
    while op is not None and op is not second:
        found.append(op)
        op = op.next_op
    return found


def _users_of(first: ForOp, ops: Sequence[Operation]) -> list[Operation]:
    """Those of `ops` that need results of `first`, directly or through others of them."""
    values: list[SSAValue] = list(first.results)
    users: list[Operation] = []
    for op in ops:
        if _uses_any(op, values):
            users.append(op)
            values += op.results
    return users


def _uses_any(op: Operation, values: Sequence[SSAValue]) -> bool:
    wanted = set(values)
    return bool(wanted) and any(operand in wanted for inner in op.walk() for operand in inner.operands)


def _check_moves(
    first: ForOp, second: ForOp, before: Sequence[Operation], after: Sequence[Operation], dependence: Dependence
) -> None:
    """Checks that `before` may move in front of `first`, and `after` behind `second`."""
    for op in before:
        movable = is_side_effect_free(op) or isinstance(op, AllocOp) or dependence.may_swap([op], [first, *after])
        if not movable:
            raise StepError(STEP, second, f"'{op.name}' stands between it and loop '{first.label.data}'")
    for op in after:
        if not dependence.may_swap([op], [second]):
            raise StepError(STEP, second, f"'{op.name}' stands between it and loop '{first.label.data}'")


def fuse_siblings(block: Block, depth: int = 1) -> int:
    """
    Fuses each parallel loop of the block into the one before it where that is legal and the result stays parallel.

    Goes `depth` levels into loops that were fused. Returns the number of fusions.
    """
    count = 0
    loops = [op for op in block.ops if isinstance(op, ForOp)]
    current: ForOp | None = None
    fused: list[ForOp] = []
    for loop in loops:
        new: ForOp | None = None
        if current is not None and _worth_fusing(current, loop):
            new = fuse_loops(current, loop)
            count += 1
            if fused and fused[-1] is current:
                fused.pop()
            fused.append(new)
        current = new or loop
    if depth > 1:
        count += sum(fuse_siblings(loop.block, depth - 1) for loop in fused)
    return count


def _worth_fusing(first: ForOp, second: ForOp) -> bool:
    if not first.is_parallel or not second.is_parallel:
        return False
    try:
        return plan_fusion(first, second, Dependence()).parallel
    except StepError:
        return False


@dataclass(frozen=True)
class LoopsFusePass(ModulePass):
    """Fuses the loops with two labels; without labels, all neighbouring parallel loops of kernels where legal."""

    name = "loops-fuse"

    first: str = ""
    """Label of the loop that comes first."""

    second: str = ""
    """Label of the loop that is fused into it."""

    depth: int = 1
    """Levels of loops to fuse, from the labelled ones inwards; at least 1."""

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise PassFailedException(f"{self.name}: depth must be at least 1, got {self.depth}")
        if bool(self.first) != bool(self.second):
            raise PassFailedException(f"{self.name}: first and second go together; give both or none")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if not self.first:
            for kernel in kernels(op):
                fuse_siblings(kernel.body.block, self.depth)
            return
        for kernel in kernels_with(op, self.first, self.name):
            first, second = find_loops(kernel, self.first), find_loops(kernel, self.second)
            if len(first) != 1 or len(second) != 1:
                raise PassFailedException(
                    f"{self.name}: @{kernel.sym_name.data} has {len(first)} loops labelled '{self.first}' and "
                    f"{len(second)} labelled '{self.second}', expected one of each"
                )
            fuse_nests(first[0], second[0], self.depth)
