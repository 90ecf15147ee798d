"""Which floats are never NaN: what saves a comparison and a choice for each maximum of a reduction."""

from __future__ import annotations

from math import isnan

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr
from xdsl.ir import Block, SSAValue

from aicc.dialects.loops.attrs import ReduceKind
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.vectors import BroadcastOp, ReduceOp

_NUMBERS = (ReduceKind.MINNUMF, ReduceKind.MAXNUMF)


def never_nan(value: SSAValue, assumed: frozenset[SSAValue] = frozenset()) -> bool:
    """
    Whether no lane of a float is ever NaN: constants, and what minima and maxima of numbers make of them.

    What a loop carries is no NaN if it does not start as one and, taken for none, is carried on as none (`assumed`).
    """
    if value in assumed:
        return True
    match owner := value.owner:
        case Block():
            loop = owner.parent_op()
            if not isinstance(loop, ForOp) or value is loop.induction:
                return False
            return _carried(loop, loop.iter_args.index(value), assumed)
        case ForOp():
            return _carried(owner, owner.results.index(value), assumed)
        case arith.ConstantOp():
            return _is_number(owner)
        case BroadcastOp():
            return never_nan(owner.value, assumed)
        case ReduceOp():
            return owner.kind.data in _NUMBERS and never_nan(owner.value, assumed)
        case arith.MaxnumfOp() | arith.MinnumfOp():
            return any(never_nan(operand, assumed) for operand in owner.operands)
        case _:
            return False


def _carried(loop: ForOp, position: int, assumed: frozenset[SSAValue]) -> bool:
    last = loop.block.last_op
    assert last is not None
    inside = assumed | {loop.iter_args[position]}
    return never_nan(loop.inits[position], assumed) and never_nan(last.operands[position], inside)


def _is_number(op: arith.ConstantOp) -> bool:
    match op.value:
        case FloatAttr() as number:
            return not isnan(number.value.data)
        case DenseIntOrFPElementsAttr() as array:
            return not any(number != number for number in array.iter_values())
        case _:
            return False
