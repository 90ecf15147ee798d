"""
Quick access to the operands of ops with several variadic ones.

xDSL finds an operand's place by unpacking and adding up the segment sizes on every access, in about 10 us; scheduling
asks for the indices of loads and the bounds of loops so often that this was a tenth of its time.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar

from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import BaseAttrAccessor, OptionalAttrAccessor, SingleAttrAccessor, VarIRConstruct

OpT = TypeVar("OpT", bound=type[IRDLOperation])

_SIZES = "operandSegmentSizes"


@lru_cache(maxsize=4096)
def _starts(sizes: bytes) -> tuple[int, ...]:
    """Where each segment starts, then where the last one ends."""
    return tuple(accumulate(struct.unpack(f"<{len(sizes) // 4}i", sizes), initial=0))


def _accessor(accessor: BaseAttrAccessor) -> property:
    place = accessor.idx

    def operand(op: Any) -> SSAValue:
        values: tuple[SSAValue, ...] = op._operands
        return values[_starts(op.properties[_SIZES].data.data)[place]]

    def optional(op: Any) -> SSAValue | None:
        values: tuple[SSAValue, ...] = op._operands
        starts = _starts(op.properties[_SIZES].data.data)
        return values[starts[place]] if starts[place + 1] > starts[place] else None

    def variadic(op: Any) -> Sequence[SSAValue]:
        values: tuple[SSAValue, ...] = op._operands
        starts = _starts(op.properties[_SIZES].data.data)
        return values[starts[place] : starts[place + 1]]

    if isinstance(accessor, SingleAttrAccessor):
        return property(operand)
    return property(optional if isinstance(accessor, OptionalAttrAccessor) else variadic)


def quick_operands(op_class: OpT) -> OpT:
    """Gives an op with `AttrSizedOperandSegments(as_property=True)` quick access to its operands by name."""
    for name, accessor in list(vars(op_class).items()):
        if isinstance(accessor, BaseAttrAccessor) and accessor.construct == VarIRConstruct.OPERAND:
            setattr(op_class, name, _accessor(accessor))
    return op_class
