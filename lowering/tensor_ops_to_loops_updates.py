"""
Kernels that update one of their arguments: the buffer of the result holds the argument's data when they are called.

Such a kernel has no argument for what it updates. The caller copies that into the buffer first, unless it is there
already, as where a loop carries the tensor from one iteration to the next; a scatter into a row then costs a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from aicc.dialects.loops.functions import is_kernel
from aicc.dialects.tensor_ops.indirect import ScatterOp
from aicc.dialects.tensor_ops.ops import CallOp, ViewOp


def updated_arguments(function: FuncOp) -> dict[int, int]:
    """
    For each result of a kernel at the tensor_ops level that is an argument with elements replaced: its position, and
    the position of the argument, which nothing else in the kernel reads.
    """
    found: dict[int, int] = {}
    last = function.body.block.last_op
    if not is_kernel(function) or last is None:
        return found
    for position, result in enumerate(last.operands):
        owner = result.owner
        base = owner.base if isinstance(owner, ScatterOp) else None
        if isinstance(base, BlockArgument) and base.block is function.body.block and base.has_one_use():
            found[position] = base.index
    return found


def updated_in_place(
    last: Operation, arguments: Sequence[SSAValue], updates: Mapping[str, Mapping[int, int]]
) -> dict[SSAValue, SSAValue]:
    """
    The results of calls in the body of a loop that may be written where the loop keeps the tensor they update: the
    result is the next value of the tensor, which nothing else in the body reads. Result -> the argument of the body.
    """
    found: dict[SSAValue, SSAValue] = {}
    for value, argument in zip(last.operands, arguments, strict=True):
        made = _through_views(value)
        call = made.owner
        if not isinstance(call, CallOp) or call.parent is not last.parent or made.type != argument.type:
            continue
        position = next(position for position, result in enumerate(call.res) if result is made)
        updated = updates.get(call.callee.string_value(), {}).get(position)
        if updated is None or not argument.has_one_use() or call.arguments[updated] is not argument:
            continue
        found[made] = argument
    return found


def _through_views(value: SSAValue) -> SSAValue:
    while isinstance(view := value.owner, ViewOp):
        value = view.input
    return value
