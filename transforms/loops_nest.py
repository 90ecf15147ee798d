"""Questions about loop nests that all loop transformations ask, and the error they answer with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ApplyOp, ForOp, YieldOp
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.functions import kernels
from aicc.transforms.diagnostics import LocatedPassError
from aicc.transforms.loops_index import bound_expressions, combine, set_bounds


class StepError(LocatedPassError):
    """A loop transformation that may not be done: which one, on which loop, and why."""

    def __init__(self, step: str, loop: Operation, reason: str):
        match loop:
            case ForOp():
                what = f"loop '{loop.label.data}'"
            case FuncOp():
                what = f"kernel @{loop.sym_name.data}"
            case _:
                what = loop.name
        super().__init__(f"{step}: {what}: {reason}", loop.location)
        self.step = step
        self.reason = reason


def inner_loop(loop: ForOp) -> ForOp | None:
    """The loop that is all there is in the body of `loop`, carrying on its values unchanged; `None` if none is."""
    block = loop.block
    inner, last = block.first_op, block.last_op
    if not isinstance(inner, ForOp) or not isinstance(last, YieldOp) or inner.next_op is not last:
        return None
    if tuple(inner.inits) != loop.iter_args or tuple(last.arguments) != tuple(inner.results):
        return None
    return inner


def perfect_nest(loop: ForOp) -> list[ForOp]:
    """`loop` and the loops perfectly nested in it, outermost first."""
    nest = [loop]
    while (inner := inner_loop(nest[-1])) is not None:
        nest.append(inner)
    return nest


def check_perfect(step: str, loops: Sequence[ForOp]) -> None:
    """
    Checks that each loop is perfectly nested in the one before it.

    Raises:
        StepError: if one is not.
    """
    for outer, inner in pairwise(loops):
        if inner_loop(outer) is not inner:
            raise StepError(step, inner, f"is not perfectly nested in loop '{outer.label.data}'")


def check_rectangular(step: str, loops: Sequence[ForOp]) -> None:
    """
    Checks that no loop's bounds depend on another loop of the list.

    Raises:
        StepError: if they do.
    """
    for position, loop in enumerate(loops):
        outside: dict[SSAValue, ForOp] = {outer.induction: outer for outer in loops[:position]}
        for operand in (*loop.lower_operands, *loop.upper_operands):
            if operand in outside:
                raise StepError(step, loop, f"its bounds depend on loop '{outside[operand].label.data}'")
            if isinstance(operand.owner, Operation) and any(loop_contains(outer, operand.owner) for outer in loops):
                raise StepError(step, loop, "its bounds are computed inside the nest")


def loop_contains(loop: ForOp, op: Operation) -> bool:
    """Whether `op` is in the body of `loop`."""
    parent = op.parent_op()
    while parent is not None and parent is not loop:
        parent = parent.parent_op()
    return parent is loop


def find_loops(root: Operation, label: str) -> list[ForOp]:
    """The loops with `label` in `root`, itself included, in program order."""
    found: list[ForOp] = []
    pending = [root]
    while pending:
        op = pending.pop()
        if type(op) is ForOp and op.label.data == label:
            found.append(op)
        # Only ops with regions can hold loops; those are few.
        inside = [inner for region in op.regions for block in region.blocks for inner in block.ops if inner.regions]
        pending += reversed(inside)
    return found


def labelled(root: Operation, label: str, step: str) -> list[ForOp]:
    """
    The loops with `label` in `root`.

    Raises:
        PassFailedException: if there are none; the message lists the labels there are.
    """
    if found := find_loops(root, label):
        return found
    have = dict.fromkeys(op.label.data for op in root.walk() if isinstance(op, ForOp))
    listed = ", ".join(f"'{name}'" for name in have) or "no loops"
    raise PassFailedException(f"{step}: no loop is labelled '{label}'; there are {listed}")


def kernels_with(module: ModuleOp, label: str, step: str) -> Iterator[FuncOp]:
    """
    The kernels of the module that have a loop with `label`.

    Raises:
        PassFailedException: if none has.
    """
    found = [kernel for kernel in kernels(module) if find_loops(kernel, label)]
    if not found:
        labelled(module, label, step)
    yield from found


def nest_by_labels(step: str, top: ForOp, labels: Sequence[str]) -> list[ForOp]:
    """
    The loops with these labels among those perfectly nested in `top`.

    Raises:
        StepError: if one is missing.
    """
    by_label = {loop.label.data: loop for loop in perfect_nest(top)}
    for label in labels:
        if label not in by_label:
            raise StepError(step, top, f"no loop '{label}' is perfectly nested in it")
    return [by_label[label] for label in labels]


def normalize_loop(step: str, loop: ForOp) -> None:
    """
    Makes the loop start at 0 with step 1; the old index becomes a `loops.apply` in the body.

    Raises:
        StepError: if the loop starts at the maximum of several bounds.
    """
    lowers = bound_expressions(loop, upper=False)
    if lowers == [(AffineConstantExpr(0), ())] and loop.step_value == 1:
        return
    if len(lowers) != 1:
        raise StepError(step, loop, f"starts at the maximum of {len(lowers)} bounds, expected one")
    (lower, *uppers), operands = combine([*lowers, *bound_expressions(loop, upper=True)])
    size = loop.step_value
    ends = tuple((upper + lower * -1 + (size - 1)) // size for upper in uppers)
    set_bounds(loop, (AffineMap.constant_map(0), ()), canonical_access(AffineMap(len(operands), 0, ends), operands))
    loop.step = IntegerAttr.from_index_int_value(1)
    old = AffineDimExpr(len(operands)) * size + lower
    apply = ApplyOp(AffineMap(len(operands) + 1, 0, (old,)), (*operands, loop.induction))
    loop.induction.replace_uses_with_if(apply.result, lambda use: use.operation is not apply)
    first = loop.block.first_op
    assert first is not None
    loop.block.insert_op_before(apply, first)


def insert_early(op: Operation, operand: SSAValue | None, loop: ForOp) -> None:
    """Inserts `op` as early as its operand allows, so that the nest around `loop` stays perfect."""
    if operand is not None and isinstance(operand.owner, Operation):
        block = operand.owner.parent
        assert block is not None
        block.insert_op_after(op, operand.owner)
        return
    root: Operation = loop
    while (parent := root.parent_op()) is not None and not isinstance(parent, FuncOp):
        root = parent
    block = root.parent
    assert block is not None
    first = block.first_op
    assert first is not None
    block.insert_op_before(op, first)
