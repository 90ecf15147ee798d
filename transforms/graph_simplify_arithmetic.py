"""
Rules for arithmetic that are exact for every value of the operands, NaN, infinities and signed zeros included.

`x + 0.0` is not `x` for a negative zero, but `x + -0.0` and `x - 0.0` are. A constant only counts where it does not
broadcast the other operand to another shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, isfinite

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph.activations import ReluOp
from aicc.dialects.graph.arithmetic import AddOp, AndOp, DivOp, MulOp, OrOp, PowOp, SubOp, XorOp
from aicc.dialects.graph.buffers import dense_attr
from aicc.dialects.graph.choice import CastOp, ClipOp, WhereOp
from aicc.dialects.graph.constants import ConstantOp, scalar_of
from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import bit_width, is_bool, is_float, is_integer, is_unsigned, numpy_dtype
from aicc.dialects.graph.functions import AbsOp, BitNotOp, NegOp, NotOp
from aicc.dialects.graph.integer_products import IntegerProductOp
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.movement import ExpandOp
from aicc.transforms.graph_rewrite import Rules
from aicc.transforms.graph_rule_helpers import dense_value, is_splat_of, splat_number

Values = Sequence[SSAValue]


def _same_type(value: SSAValue, op: Operation) -> Values | None:
    """`value`, if it has the type of the result."""
    return [value] if value.type == op.results[0].type else None


def _drop_neutral(op: Operation, lhs: float | None, rhs: float) -> Values | None:
    """The other operand, where one is a constant that changes nothing on its side."""
    if is_splat_of(op.operands[1], rhs):
        return _same_type(op.operands[0], op)
    if lhs is not None and is_splat_of(op.operands[0], lhs):
        return _same_type(op.operands[1], op)
    return None


def add_zero(op: Operation, b: OpBuilder) -> Values | None:
    """`x + -0.0` and `x + 0` of integers."""
    zero = -0.0 if is_float(element_type_of(op.operands[0])) else 0
    return _drop_neutral(op, zero, zero)


def subtract_zero(op: Operation, b: OpBuilder) -> Values | None:
    """`x - 0.0` and `x - 0`."""
    return _drop_neutral(op, None, 0.0)


def multiply_by_one(op: Operation, b: OpBuilder) -> Values | None:
    """`x * 1`."""
    return _drop_neutral(op, 1, 1)


def multiply_by_zero(op: Operation, b: OpBuilder) -> Values | None:
    """`x * 0` of integers is 0."""
    if not is_integer(element_type_of(op.operands[0])) or not any(is_splat_of(x, 0) for x in op.operands):
        return None
    zero = scalar_of(b, 0, element_type_of(op.operands[0]))
    return [b.add(ExpandOp(zero, dims_of(op.results[0].type)))]


def divide_by_one(op: Operation, b: OpBuilder) -> Values | None:
    """`x / 1`."""
    return _drop_neutral(op, None, 1)


def divide_by_power_of_two(op: Operation, b: OpBuilder) -> Values | None:
    """`x / 2^k` is `x * 2^-k`, if that is a normal number: both are the same real number, rounded once."""
    element = element_type_of(op.operands[0])
    number = splat_number(op.operands[1])
    if not is_float(element) or number is None or not isfinite(number) or abs(frexp(number)[0]) != 0.5:
        return None
    array = dense_value(op.operands[1])
    assert array is not None
    dtype = numpy_dtype(element)
    inverse = (1 / array.astype(np.float64)).astype(dtype)
    if not bool((np.abs(inverse.astype(np.float64)) >= _smallest_normal(dtype)).all()):
        return None
    if not bool(np.isfinite(inverse.astype(np.float64)).all()):
        return None
    constant = b.add(ConstantOp(dense_attr(inverse, element)))
    return [b.add(MulOp(op.operands[0], constant))]


def _smallest_normal(dtype: np.dtype[np.generic]) -> float:
    exponents = {"float64": -1022, "float32": -126, "float16": -14, "bfloat16": -126}
    return 2.0 ** exponents[dtype.name]


def small_power(op: Operation, b: OpBuilder) -> Values | None:
    """`x ^ 1` is `x`, and `x ^ 2` is `x * x`, which is the correctly rounded square."""
    if is_splat_of(op.operands[1], 1):
        return _same_type(op.operands[0], op)
    if is_splat_of(op.operands[1], 2) and op.operands[0].type == op.results[0].type:
        return [b.add(MulOp(op.operands[0], op.operands[0]))]
    return None


def and_true(op: Operation, b: OpBuilder) -> Values | None:
    """`x and true`."""
    return _drop_neutral(op, 1, 1) if is_bool(element_type_of(op.operands[0])) else None


def or_zero(op: Operation, b: OpBuilder) -> Values | None:
    """`x | 0` and `x ^ 0`."""
    return _drop_neutral(op, 0, 0)


def undo_twice(op: Operation, b: OpBuilder) -> Values | None:
    """`-(-x)`, `not not x` and `~~x` are `x`."""
    inner = op.operands[0].owner
    return _same_type(inner.operands[0], op) if isinstance(inner, type(op)) else None


def do_once(op: Operation, b: OpBuilder) -> Values | None:
    """`||x||` and `relu(relu(x))` need one."""
    inner = op.operands[0].owner
    return [op.operands[0]] if type(inner) is type(op) else None


def constant_choice(op: Operation, b: OpBuilder) -> Values | None:
    """`where` with one outcome: equal branches, or a constant condition."""
    assert isinstance(op, WhereOp)
    if op.a is op.b:
        return _same_type(op.a, op)
    condition = dense_value(op.condition)
    if condition is None or condition.size == 0:
        return None
    if bool(condition.all()):
        return _same_type(op.a, op)
    return None if bool(condition.any()) else _same_type(op.b, op)


def unbounded_clip(op: Operation, b: OpBuilder) -> Values | None:
    """A clip without bounds."""
    assert isinstance(op, ClipOp)
    return _same_type(op.x, op) if op.min is None and op.max is None else None


def cast_to_same(op: Operation, b: OpBuilder) -> Values | None:
    """A cast to the type that the operand has."""
    return _same_type(op.operands[0], op)


def cast_chain(op: Operation, b: OpBuilder) -> Values | None:
    """`cast(cast(x))` is one cast where the inner one keeps every value."""
    inner = op.operands[0].owner
    if not isinstance(op, CastOp) or not isinstance(inner, CastOp):
        return None
    first, middle, last = (element_type_of(value) for value in (inner.x, inner.result, op.result))
    if not keeps_values(first, middle):
        return None
    # Integers become f16 and bf16 by way of f32, so where they do not fit in it the ways round differently.
    if is_float(last) and bit_width(last) == 16 and not is_float(first) and _significant_bits(first) > 24:
        return None
    return [b.add(CastOp(inner.x, last, saturate=op.saturate is not None))]


_MANTISSA = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
_EXPONENT = {"f64": 11, "f32": 8, "f16": 5, "bf16": 8}


def no_zero_point(op: Operation, b: OpBuilder) -> Values | None:
    """Zero points of 0."""
    assert isinstance(op, IntegerProductOp)
    kept = [zero if zero is None or not is_splat_of(zero, 0) else None for zero in op.zero_points]
    if kept == list(op.zero_points):
        return None
    return [b.add(op.with_zero_points(kept))]


def _significant_bits(element_type: Attribute) -> int:
    return bit_width(element_type) - (0 if is_unsigned(element_type) else 1)


def keeps_values(source: Attribute, target: Attribute) -> bool:
    """Whether every value of element type `source` is one of `target`."""
    if source == target:
        return True
    if is_float(source):
        a, b = str(source), str(target)
        return is_float(target) and _MANTISSA[a] <= _MANTISSA[b] and _EXPONENT[a] <= _EXPONENT[b]
    if is_float(target):
        return _significant_bits(source) <= _MANTISSA[str(target)]
    if is_bool(target) or (is_unsigned(target) and not is_unsigned(source)):
        return False
    return _significant_bits(source) <= _significant_bits(target)


RULES: Rules = {
    AbsOp: [do_once],
    AddOp: [add_zero],
    AndOp: [and_true],
    BitNotOp: [undo_twice],
    CastOp: [cast_to_same, cast_chain],
    ClipOp: [unbounded_clip],
    DivOp: [divide_by_one, divide_by_power_of_two],
    IntegerProductOp: [no_zero_point],
    MulOp: [multiply_by_one, multiply_by_zero],
    NegOp: [undo_twice],
    NotOp: [undo_twice],
    OrOp: [or_zero],
    PowOp: [small_power],
    ReluOp: [do_once],
    SubOp: [subtract_zero],
    WhereOp: [constant_choice],
    XorOp: [or_zero],
}
