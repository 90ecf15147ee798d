"""What the simplification rules ask of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dtypes import is_float
from aicc.dialects.graph.interfaces import TypedOp, element_type_of


def dense_value(value: SSAValue) -> np.ndarray[Any, Any] | None:
    """The elements of a constant that is spelt out; None for buffers and all else."""
    owner = value.owner
    if isinstance(owner, ConstantOp) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        return owner.array()
    return None


def is_splat_of(value: SSAValue, number: float) -> bool:
    """
    Whether all elements of a constant (one at least) are `number`; the sign of a zero counts.
    """
    array = dense_value(value)
    if array is None or array.size == 0 or not bool((array == number).all()):
        return False
    if number != 0 or not is_float(element_type_of(value)):
        return True
    return bool((np.signbit(array.astype(np.float64)) == np.signbit(number)).all())


def splat_number(value: SSAValue) -> float | None:
    """The number that all elements of a constant are; None if there is none."""
    array = dense_value(value)
    if array is None or array.size == 0:
        return None
    first = array.reshape(-1)[0]
    return float(first) if bool((array == first).all()) else None


def with_operands(op: TypedOp, operands: Sequence[SSAValue]) -> TypedOp:
    """A copy of `op` that reads `operands`, with the types that follow; not yet inserted."""
    copy = op.clone()
    for i, operand in enumerate(operands):
        copy.operands[i] = operand
    copy.set_inferred_types()
    return copy


def sole_user(value: SSAValue) -> Operation | None:
    """The op that alone uses `value`, however often."""
    user: Operation | None = None
    for use in value.uses:
        # Stops at the second one, as there may be very many.
        if user is not None and use.operation is not user:
            return None
        user = use.operation
    return user
