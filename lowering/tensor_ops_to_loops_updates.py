"""
Kernels that update one of their arguments: the buffer of the result holds the argument's data when they are called.

Such a kernel has no argument for what it updates. The caller copies that into the buffer first, unless it is there
already, as where a loop carries the tensor from one iteration to the next; a scatter into a row then costs a row.

A kernel that appends to an argument, whose elements are the first ones of the result, is one of these if each call of
it makes the next value of a tensor that a loop carries out of the one before: the loop's buffer then grows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.loops.functions import is_kernel
from aicc.dialects.tensor_ops.indirect import ScatterOp
from aicc.dialects.tensor_ops.ops import CallOp, ConcatOp, ViewOp


def updated_arguments(function: FuncOp, calls: Sequence[CallOp]) -> dict[int, int]:
    """
    For each result of a kernel at the tensor_ops level that is an argument with elements replaced: its position, and
    the position of the argument, which nothing else in the kernel reads. So, too, with elements behind it, if there are
    `calls` of the kernel and all append so to what a loop carries.
    """
    found: dict[int, int] = {}
    last = function.body.block.last_op
    if not is_kernel(function) or last is None:
        return found
    for position, result in enumerate(last.operands):
        owner = result.owner
        base = owner.base if isinstance(owner, ScatterOp) else _prefix(owner)
        if not isinstance(base, BlockArgument) or base.block is not function.body.block or not base.has_one_use():
            continue
        grows = [grown_argument(call, position, base.index) is not None for call in calls]
        if isinstance(owner, ScatterOp) or (grows and all(grows)):
            found[position] = base.index
    return found


def _prefix(op: Operation | Block) -> SSAValue | None:
    """The first operand of a concat where it is the first part of the result's memory."""
    if not isinstance(op, ConcatOp) or any(dim != 1 for dim in dims_of(op.result.type)[: op.position]):
        return None
    return op.inputs[0]


def grown_argument(call: CallOp, result: int, argument: int) -> BlockArgument | None:
    """
    The carried tensor of a loop that a call appends to, if it does: the operand `argument` of the call, whose next
    value is the result `result`.
    """
    base = call.arguments[argument]
    if not isinstance(base, BlockArgument) or (block := base.block) is not call.parent:
        return None
    if not isinstance(loop := block.parent_op(), scf.WhileOp):
        return None
    last, condition = block.last_op, loop.before_region.block.last_op
    # Such loops pass their state through the first region unchanged.
    if not isinstance(condition, scf.ConditionOp) or list(condition.args) != list(loop.before_region.block.args):
        return None
    if block is not loop.after_region.block or last is None:
        return None
    return base if _through_views(last.operands[base.index]) is call.res[result] else None


def updated_in_place(
    last: Operation, arguments: Sequence[BlockArgument], updates: Mapping[str, Mapping[int, int]]
) -> dict[SSAValue, BlockArgument]:
    """
    The results of calls in the body of a loop that may be written where the loop keeps the tensor they update: the
    result is the next value of the tensor, which nothing else in the body reads where elements are replaced. Result ->
    the argument of the body.
    """
    found: dict[SSAValue, BlockArgument] = {}
    for value, argument in zip(last.operands, arguments, strict=True):
        made = _through_views(value)
        call = made.owner
        if not isinstance(call, CallOp) or call.parent is not last.parent:
            continue
        position = next(position for position, result in enumerate(call.res) if result is made)
        updated = updates.get(call.callee.string_value(), {}).get(position)
        if updated is None or call.arguments[updated] is not argument:
            continue
        # What is appended leaves what is there as it is: others may read that.
        grown = made.type != argument.type and grown_argument(call, position, updated) is not None
        if not grown and (made.type != argument.type or not argument.has_one_use()):
            continue
        found[made] = argument
    return found


def _through_views(value: SSAValue) -> SSAValue:
    while isinstance(view := value.owner, ViewOp):
        value = view.input
    return value
