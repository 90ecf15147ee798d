"""
Rules of `graph-quantised-products` for dequantised tensors of which elements are only selected or moved.

Before: %a = dequantized %q, %s, %z          After: %p = graph.max_pool %q
        %r = graph.max_pool %a                      %r = dequantized %p, %s, %z

A model with its pooling between quantised convolutions reads bytes this way, and the next product finds integers. The
scale must be one positive constant, so that the order of the numbers is that of the integers. What is quantised again
with the scale and zero point that it came with is the integers as they were: for |n| < 256 and u = 2^-24 the quotient
`(n * s) / s` is within `512 * u` of n, which rounds to it.

A quantisation after an integer product multiplies by the inverse of its scale, and adds no zero point of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.activations import ReluOp
from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import dim_prod, dims_of
from aicc.dialects.graph.dtypes import is_integer
from aicc.dialects.graph.functions import RoundOp
from aicc.dialects.graph.integer_products import IntegerProductOp
from aicc.dialects.graph.interfaces import FusionKind, GraphOp, OpBuilder, element_type_of
from aicc.dialects.graph.quantization import dequantize
from aicc.transforms.graph_dequantised import find_dequantized, known_array
from aicc.transforms.graph_rule_helpers import with_operands

_MOST_VALUES = 32
"""Values that are looked at to find a product: more than there are between one and its quantisation."""

_LARGEST_SCALE = 2.0**20
"""Of a product whose scale is divided by another one, which `_LARGEST` bounds: the quotient is finite."""

_LARGEST = 2.0**100
"""Scales from the inverse of this on up to it: no product of one with a byte is subnormal or infinite."""


def select_integers(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """An op that selects elements of a dequantised tensor selects integers, and its result is dequantised."""
    if not isinstance(op, GraphOp) or len(op.operands) != 1 or len(op.results) != 1 or not op.selects_elements():
        return None
    found = find_dequantized(op.operands[0])
    if found is None or found.varying() or _scale(found.scale) is None:
        return None
    zero = None if found.zero is None else known_array(found.zero)
    if found.zero is not None and (zero is None or zero.ndim):
        return None
    selected = with_operands(op, [found.integers])
    return [dequantize(b.add, b.add(selected), found.scale, found.zero)]


def same_integers(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """What was dequantised and is quantised with the same scale and zero point is the integers themselves."""
    if not isinstance(op, CastOp) or element_type_of(op.x) != f32:
        return None
    rounded, zero = op.x.owner, None
    if isinstance(rounded, AddOp):
        # The zero point is on the right: `round_to` makes it so.
        zero, rounded = known_array(rounded.rhs), rounded.lhs.owner
        if zero is None:
            return None
    if not isinstance(rounded, RoundOp) or not isinstance(quotient := rounded.x.owner, DivOp):
        return None
    found = find_dequantized(quotient.lhs)
    if found is None or element_type_of(found.integers) != element_type_of(op.result):
        return None
    own = None if found.zero is None else known_array(found.zero)
    if found.zero is not None and own is None:
        return None
    scale, other = _scale(found.scale), _scale(quotient.rhs)
    if scale is None or scale != other or _number(zero) is None or _number(zero) != _number(own):
        return None
    return [found.integers]


def multiply_by_inverse(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """
    The quotient by the constant scale of a quantisation becomes a product, if an integer product is in the dividend.

    Where the product is only scaled and biased, its scales and the bias are multiplied instead, before the model runs.
    Either way the quotient changes by `4 * u` of the sum of the two at most, without their signs.
    """
    if not isinstance(op, DivOp) or element_type_of(op.result) != f32 or (scale := _scale(op.rhs)) is None:
        return None
    if not all(isinstance(use.operation, RoundOp) for use in op.result.uses) or not _has_product(op.lhs):
        return None
    inverse = b.add(ConstantOp.from_array(np.array(1 / np.float32(scale), np.float32)))
    return [_scaled(op, op.lhs, inverse) or b.add(MulOp(op.lhs, inverse))]


def _scaled(before: Operation, value: SSAValue, factor: SSAValue) -> SSAValue | None:
    """`value` times a positive factor that is multiplied into its scale and bias; `None` if it has none of its own."""
    op = value.owner
    if not isinstance(op, ReluOp | AddOp | MulOp) or not value.has_one_use():
        return None
    b = OpBuilder(InsertPoint.before(before), op)
    if isinstance(op, ReluOp):
        inner = _scaled(before, op.x, factor)
        return None if inner is None else b.add(ReluOp(inner))
    whole = dims_of(value.type)
    if dims_of(op.lhs.type) != whole or dim_prod(dims_of(op.rhs.type)) == dim_prod(whole):
        return None
    if isinstance(op, AddOp):
        inner = _scaled(before, op.lhs, factor)
        return None if inner is None else b.add(AddOp(inner, b.add(MulOp(op.rhs, factor))))
    product, most = op.lhs.owner, _largest(op.rhs)
    if not isinstance(product, CastOp) or not isinstance(product.x.owner, IntegerProductOp):
        return None
    if most is None or most > _LARGEST_SCALE:
        return None
    return b.add(MulOp(op.lhs, b.add(MulOp(op.rhs, factor))))


def _largest(value: SSAValue) -> float | None:
    """The largest of the products of constants that `value` is, without signs; `None` if it is something else."""
    if (array := known_array(value)) is not None:
        return float(np.abs(array).max(initial=0))
    if not isinstance(op := value.owner, MulOp):
        return None
    parts = [_largest(operand) for operand in op.operands]
    return None if None in parts else float(np.prod(np.array(parts, np.float64)))


def no_zero_point(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """A zero point that is 0 is not added to what becomes an integer, which has no sign of zero."""
    if not isinstance(op, CastOp) or not is_integer(element_type_of(op.result)):
        return None
    if not isinstance(total := op.x.owner, AddOp) or dims_of(total.lhs.type) != dims_of(op.x.type):
        return None
    if not isinstance(total.lhs.owner, RoundOp) or _number(known_array(total.rhs), missing=None) != 0:
        return None
    return [b.add(CastOp(total.lhs, element_type_of(op.result), saturate=op.saturate is not None))]


def _has_product(value: SSAValue) -> bool:
    """Whether an integer product is among what an f32 tensor is computed from, element by element."""
    pending, seen = [value], set[SSAValue]()
    while pending and len(seen) < _MOST_VALUES:
        op = pending.pop().owner
        if isinstance(op, CastOp) and isinstance(op.x.owner, IntegerProductOp):
            return True
        if not isinstance(op, GraphOp) or op.fusion_kind != FusionKind.ELEMENTWISE:
            continue
        for operand in op.operands:
            if operand not in seen and element_type_of(operand) == f32:
                seen.add(operand)
                pending.append(operand)
    return False


def _scale(value: SSAValue) -> float | None:
    """The one scale that a constant says, if it keeps the order of integers and loses none of them."""
    number = _number(known_array(value), missing=None)
    return number if number is not None and 1 / _LARGEST <= number <= _LARGEST else None


def _number(array: np.ndarray[Any, Any] | None, missing: float | None = 0.0) -> float | None:
    """The one number of an array without axes; `None` for arrays with some."""
    if array is None:
        return missing
    return float(array) if array.ndim == 0 else None
