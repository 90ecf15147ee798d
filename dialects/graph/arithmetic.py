"""Elementwise ops of two operands: arithmetic, remainders, powers, bits and shifts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.dialects import math
from xdsl.dialects.builtin import f32, f64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from aicc.dialects.graph.dtypes import bit_width
from aicc.dialects.graph.elementwise import Array, BinaryOp, is_float_array, is_float_scalar
from aicc.dialects.graph.interfaces import ElementKind, GraphOp
from aicc.dialects.graph.scalars import ScalarBuilder


@irdl_op_definition
class AddOp(BinaryOp):
    """`result = lhs + rhs`. Integers wrap."""

    name = "graph.add"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.add(*args)

    def compute(self, *operands: Array) -> Array:
        return operands[0] + operands[1]


@irdl_op_definition
class SubOp(BinaryOp):
    """`result = lhs - rhs`. Integers wrap."""

    name = "graph.sub"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.sub(*args)

    def compute(self, *operands: Array) -> Array:
        return operands[0] - operands[1]


@irdl_op_definition
class MulOp(BinaryOp):
    """`result = lhs * rhs`. Integers wrap."""

    name = "graph.mul"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.mul(*args)

    def compute(self, *operands: Array) -> Array:
        return operands[0] * operands[1]


def truncated_quotient(a: Array, b: Array) -> Array:
    """The integer quotient towards zero; 0 where `b` is 0, and INT_MIN for INT_MIN / -1."""
    divisor = np.where(b == 0, np.ones_like(b), b)
    quotient: Array = np.floor_divide(a, divisor)
    inexact = (a - quotient * divisor) != 0
    quotient = quotient + (inexact & ((a < 0) != (divisor < 0))).astype(quotient.dtype)
    result: Array = np.where(b == 0, np.zeros_like(a), quotient)
    return result


@irdl_op_definition
class DivOp(BinaryOp):
    """`result = lhs / rhs`. Integers are truncated towards zero, x / 0 is 0 and INT_MIN / -1 is INT_MIN."""

    name = "graph.div"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.div(*args, unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        return operands[0] / operands[1] if is_float_array(operands[0]) else truncated_quotient(*operands)


@irdl_op_definition
class RemOp(BinaryOp):
    """`result = lhs - rhs * trunc(lhs / rhs)`, exact, with the sign of `lhs` (C's `fmod`). Integers: x rem 0 is 0."""

    name = "graph.rem"
    CONTINUOUS: ClassVar[bool] = False
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return float_remainder(b, *args) if is_float_scalar(args[0]) else b.rem(*args, unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        return np.fmod(*operands)


@irdl_op_definition
class ModOp(BinaryOp):
    """`result = lhs - rhs * floor(lhs / rhs)`, with the sign of `rhs` (Python's `%`). Integers: x mod 0 is 0."""

    name = "graph.mod"
    CONTINUOUS: ClassVar[bool] = False
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x, y = args
        is_float = is_float_scalar(x)
        remainder = float_remainder(b, x, y) if is_float else b.rem(x, y, unsigned=self.unsigned)
        if self.unsigned:
            return remainder
        zero = b.const_like(0, x)
        signs_differ = b.xor(b.cmp("lt", remainder, zero), b.cmp("lt", y, zero))
        moved = b.select(b.and_(b.cmp("ne", remainder, zero), signs_differ), b.add(remainder, y), remainder)
        return b.select(b.cmp("eq", remainder, zero), b.copysign(zero, y), moved) if is_float else moved

    def compute(self, *operands: Array) -> Array:
        return np.mod(*operands)


def float_remainder(b: ScalarBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """
    The exact remainder of `|x|` by `|y|` with the sign of `x`; NaN for an infinite `x` or a `y` of 0.

    Long division in f64 with digits of 52 bits: `r - q*y*2^k` with `q = trunc(r / (y*2^k))` is exact in one fused
    multiply-add, as the result is less than `y*2^k` and a multiple of the last place of `r` or `y*2^k`. Rounding can
    make `q` one too large, which the sign of the result shows.
    """
    original = x.type
    wide_x, wide_y = b.extend_float(x, f64), b.extend_float(y, f64)
    rest, divisor = b.abs(wide_x), b.abs(wide_y)
    # The largest quotient has as many bits as the exponents span.
    largest = 277 if original == f32 else 2098
    infinity = b.const_like(float("inf"), rest)
    for step in range(largest // 52, -1, -1):
        scaled = divisor
        for exponent in _exponents(52 * step):
            scaled = b.mul(scaled, b.const_like(2.0**exponent, divisor))
        quotient = b.trunc(b.div(rest, scaled))
        reduced = b.insert(math.FmaOp(b.neg(quotient), scaled, rest))
        reduced = b.select(b.cmp("lt", reduced, b.const_like(0, reduced)), b.add(reduced, scaled), reduced)
        rest = b.select(b.and_(b.cmp("ge", rest, scaled), b.cmp("lt", scaled, infinity)), reduced, rest)
    finite = b.cmp("lt", b.abs(wide_x), infinity)
    nonzero = b.cmp("gt", divisor, b.const_like(0, divisor))
    defined = b.select(b.and_(finite, nonzero), rest, b.const_like(float("nan"), rest))
    defined = b.select(b.is_nan(wide_y), wide_y, defined)
    return b.truncate_float(b.copysign(defined, wide_x), original)


def _exponents(total: int) -> list[int]:
    """Exponents of powers of two that f64 holds and that add up to `total`."""
    steps = [1000] * (total // 1000)
    return [*steps, total % 1000] if total % 1000 else steps


@irdl_op_definition
class PowOp(BinaryOp):
    """
    `result = lhs ^ rhs`. Floats as in C's `pow`.

    Integers wrap; for a negative exponent the result is `1 / lhs^-rhs` towards zero: 0 unless `lhs` is 1 or -1.
    """

    name = "graph.pow"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        base, exponent = args
        if is_float_scalar(base):
            return b.insert(math.PowFOp(base, exponent))
        zero, one = b.const_like(0, base), b.const_like(1, base)
        # Square and multiply over all bits of the exponent; for a negative one only its parity is looked at below.
        power, square, bits = one, base, exponent
        width = bit_width(base.type)
        for bit in range(width):
            is_set = b.cmp("ne", b.and_(bits, one), zero)
            power = b.select(is_set, b.mul(power, square), power)
            if bit + 1 < width:
                square = b.mul(square, square)
                bits = b.shift_right_by(bits, 1, unsigned=True)
        if self.unsigned:
            return power
        odd = b.cmp("ne", b.and_(exponent, one), zero)
        minus_one = b.const_like(-1, base)
        inverse = b.select(b.cmp("eq", base, minus_one), b.select(odd, minus_one, one), zero)
        inverse = b.select(b.cmp("eq", base, one), one, inverse)
        return b.select(b.cmp("lt", exponent, zero), inverse, power)

    def compute(self, *operands: Array) -> Array:
        base, exponent = np.broadcast_arrays(*operands)
        if is_float_array(base):
            return np.power(base, exponent)
        power = np.power(base, np.where(exponent < 0, 0, exponent).astype(base.dtype))
        minus_one = np.where(exponent & 1, -1, 1).astype(np.int64)
        inverse = np.where(base == 1, 1, np.where(base.astype(np.int64) == -1, minus_one, 0))
        return np.where(exponent < 0, inverse, power.astype(np.int64)).astype(base.dtype) if _signed(base) else power


def _signed(array: Array) -> bool:
    return array.dtype.kind == "i"


@irdl_op_definition
class MinOp(BinaryOp):
    """`result = min(lhs, rhs)`; NaN if either is NaN."""

    name = "graph.min"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.min(*args, unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        return np.minimum(*operands)


@irdl_op_definition
class MaxOp(BinaryOp):
    """`result = max(lhs, rhs)`; NaN if either is NaN."""

    name = "graph.max"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.max(*args, unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        return np.maximum(*operands)


@irdl_op_definition
class Atan2Op(BinaryOp):
    """`result = ` the angle of the point `(rhs, lhs)`, in `[-pi, pi]`, as C's `atan2(lhs, rhs)`."""

    name = "graph.atan2"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.insert(math.Atan2Op(args[0], args[1]))

    def compute(self, *operands: Array) -> Array:
        return np.arctan2(*operands)


@irdl_op_definition
class AndOp(BinaryOp):
    """`result = lhs & rhs`, bit by bit."""

    name = "graph.and"
    ALLOWED: ClassVar[ElementKind] = ElementKind.BITS

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.and_(*args)

    def compute(self, *operands: Array) -> Array:
        return operands[0] & operands[1]


@irdl_op_definition
class OrOp(BinaryOp):
    """`result = lhs | rhs`, bit by bit."""

    name = "graph.or"
    ALLOWED: ClassVar[ElementKind] = ElementKind.BITS

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.or_(*args)

    def compute(self, *operands: Array) -> Array:
        return operands[0] | operands[1]


@irdl_op_definition
class XorOp(BinaryOp):
    """`result = lhs ^ rhs`, bit by bit."""

    name = "graph.xor"
    ALLOWED: ClassVar[ElementKind] = ElementKind.BITS

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.xor(*args)

    def compute(self, *operands: Array) -> Array:
        return operands[0] ^ operands[1]


def _inside(amount: Array, width: int) -> Array:
    return (amount >= 0) & (amount < width)


@irdl_op_definition
class ShiftLeftOp(BinaryOp):
    """`result = lhs << rhs`; 0 where `rhs` is negative or at least the width."""

    name = "graph.shift_left"
    ALLOWED: ClassVar[ElementKind] = ElementKind.INTEGER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.shift_left(*args)

    def compute(self, *operands: Array) -> Array:
        x, amount = operands
        inside = _inside(amount, 8 * x.itemsize)
        return np.where(inside, np.left_shift(x, np.where(inside, amount, 0).astype(x.dtype)), 0)


@irdl_op_definition
class ShiftRightOp(BinaryOp):
    """`result = lhs >> rhs`, with the sign for signed integers; all sign bits where `rhs` is negative or too large."""

    name = "graph.shift_right"
    ALLOWED: ClassVar[ElementKind] = ElementKind.INTEGER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.shift_right(*args, unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        x, amount = operands
        inside = _inside(amount, 8 * x.itemsize)
        shifted = np.right_shift(x, np.where(inside, amount, 0).astype(x.dtype))
        return np.where(inside, shifted, np.where(x < 0, -1, 0).astype(x.dtype))


OPS: list[type[GraphOp]] = [
    AddOp,
    AndOp,
    Atan2Op,
    DivOp,
    MaxOp,
    MinOp,
    ModOp,
    MulOp,
    OrOp,
    PowOp,
    RemOp,
    ShiftLeftOp,
    ShiftRightOp,
    SubOp,
    XorOp,
]
