"""Dequantised tensors at the graph level: which integers, scale and zero point a tensor of floats stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import MulOp, SubOp
from aicc.dialects.graph.buffers import constant_array
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import bit_width, is_integer
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ReshapeOp


def known_array(value: SSAValue) -> np.ndarray[Any, Any] | None:
    """The elements of a constant, which may have been converted and given other axes; `None` for all else."""
    pending: list[CastOp | ReshapeOp] = []
    while isinstance(owner := value.owner, CastOp | ReshapeOp):
        pending.append(owner)
        value = owner.x
    if not isinstance(owner, ConstantOp):
        return None
    array = constant_array(owner)
    for op in reversed(pending):
        (array,) = op.evaluate([array], {})
    return array


@dataclass(frozen=True)
class Dequantized:
    """What a tensor of floats stands for: `(integers - zero) * scale`."""

    integers: SSAValue
    scale: SSAValue
    zero: SSAValue | None
    """As the model has it: in the type of the integers, or a constant in i32."""

    def varying(self) -> set[int]:
        """The axes of the tensor along which scale or zero point vary."""
        rank = len(dims_of(self.integers.type))
        found: set[int] = set()
        for value in (self.scale, self.zero):
            dims = () if value is None else dims_of(value.type)
            found |= {rank - len(dims) + axis for axis, size in enumerate(dims) if size != 1}
        return found


def find_dequantized(value: SSAValue) -> Dequantized | None:
    """The integers that `value` stands for; `None` if it is something else."""
    product = value.owner
    if not isinstance(product, MulOp) or element_type_of(value) != f32:
        return None
    for floats, scale in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
        cast = floats.owner
        if not isinstance(cast, CastOp) or dims_of(floats.type) != dims_of(value.type):
            continue
        wide, zero = cast.x, None
        if isinstance(difference := wide.owner, SubOp) and element_type_of(wide) == i32:
            wide, zero = difference.lhs, difference.rhs
            if isinstance(zero.owner, CastOp):
                zero = zero.owner.x
            elif known_array(zero) is None:
                continue
        integers = wide.owner.x if isinstance(wide.owner, CastOp) else wide
        if not _is_byte(integers) or dims_of(integers.type) != dims_of(value.type):
            continue
        if zero is None or known_array(zero) is not None or element_type_of(zero) == element_type_of(integers):
            return Dequantized(integers, scale, zero)
    return None


def _is_byte(value: SSAValue) -> bool:
    element = element_type_of(value)
    return is_integer(element) and bit_width(element) == 8
