"""
Conversions between the narrow types and the others, in numpy and as scalar expressions.

A scalar of a narrow type is a byte (i8). Its value is an f32 for floats and an i8 for integers of 4 and 2 bits; bits of
the byte above the type's own are ignored. Floats follow Micikevicius et al. 2022 (arXiv:2209.05433) and, with `FNUZ`,
Noune et al. 2022 (arXiv:2206.02915); f4E2M1FN and f8E8M0FNU the OCP Microscaling Formats 1.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import ml_dtypes
import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    f32,
    f64,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.dtypes import bit_width, is_narrow_float, is_unsigned, numpy_dtype
from aicc.dialects.graph.scalars import ScalarBuilder

Array = np.ndarray[Any, Any]
RoundMode = Literal["up", "down", "nearest"]
"""Of conversions to f8E8M0FNU, whose values are powers of two."""

ROUND_MODES: tuple[RoundMode, ...] = ("up", "down", "nearest")

POWERS = Float8E8M0FNUType()


@dataclass(frozen=True)
class _Format:
    """A float of a sign, an exponent and a mantissa. Codes are what is left without the sign."""

    mantissa: int
    """Bits."""
    sign: int
    """Position of the sign, so the number of bits of a code."""
    bias: int
    largest: int
    """The code of the largest number."""
    nan: int | None
    """The code of NaN; None if there is none, and 0 becomes it."""
    infinity: int | None = None
    unsigned_zero: bool = False
    """Whether the byte that would be -0 is the one NaN."""

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)


_FORMATS: dict[Attribute, _Format] = {
    Float8E4M3FNType(): _Format(3, 7, 7, largest=0x7E, nan=0x7F),
    Float8E4M3FNUZType(): _Format(3, 7, 8, largest=0x7F, nan=0x80, unsigned_zero=True),
    Float8E5M2Type(): _Format(2, 7, 15, largest=0x7B, nan=0x7E, infinity=0x7C),
    Float8E5M2FNUZType(): _Format(2, 7, 16, largest=0x7F, nan=0x80, unsigned_zero=True),
    Float4E2M1FNType(): _Format(1, 3, 1, largest=0x7, nan=None),
}


def wide_type(narrow: Attribute) -> Attribute:
    """The type that holds the values of a narrow type: f32 or i8."""
    return f32 if is_narrow_float(narrow) else i8


def widen_array(x: Array) -> Array:
    """The values of an array of a narrow type, as f32 or int8."""
    return x.astype(np.int8 if np.dtype(x.dtype).name.lstrip("u").startswith("int") else np.float32)


def round_mode_named(name: str) -> RoundMode | None:
    """The mode of this name, if there is one."""
    return next((mode for mode in ROUND_MODES if mode == name), None)


def narrow_floats(x: Array, target: Attribute, *, saturate: bool, round_mode: RoundMode) -> Array:
    """Floats (f32 or f64) in float type `target`, as `graph.cast` has it."""
    dtype = numpy_dtype(target)
    if target == POWERS:
        return _powers(x, saturate, round_mode)
    format = _FORMATS[target]
    if saturate or format.nan is None:
        limit = float(np.array(format.largest, np.uint8).view(dtype))
        x = np.clip(x, -limit, limit)
    if format.nan is None:
        x = np.where(np.isnan(x), np.copysign(np.zeros_like(x), x), x)
    # Rounded here, as the conversion from f64 rounds twice.
    _, exponent = np.frexp(x)
    unit = np.ldexp(1.0, np.maximum(exponent - 1, 1 - format.bias) - format.mantissa)
    return (np.rint(x.astype(np.float64) / unit) * unit).astype(dtype)


def narrow_integers(x: Array, target: Attribute) -> Array:
    """The low bits of integers as type `target`."""
    bits = bit_width(target)
    low = x.astype(np.int64) & ((1 << bits) - 1)
    return (low if is_unsigned(target) else low - ((low >> (bits - 1)) << bits)).astype(numpy_dtype(target))


def _powers(x: Array, saturate: bool, round_mode: RoundMode) -> Array:
    fraction, exponent = np.frexp(np.asarray(x, np.float64))
    higher = {"up": fraction > 0.5, "nearest": fraction >= 0.75, "down": False}[round_mode]
    code = np.where(x == 0, -1, np.where(np.isinf(x), 255, exponent - 1 + 127 + higher))
    invalid = np.isnan(x) | (x < 0)
    code = np.clip(code, 0, 254) if saturate else np.where(code < 0, 255, np.minimum(code, 255))
    return np.where(invalid, 255, code).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)


def widen_scalar(b: ScalarBuilder, x: SSAValue, narrow: Attribute) -> SSAValue:
    """The value of a byte of type `narrow`."""
    if not is_narrow_float(narrow):
        return _sign_extended(b, x, narrow)
    code = b.insert(arith.ExtUIOp(x, i32))
    if narrow == POWERS:
        # 2**-127 is no normal f32.
        bits = b.select(b.cmp("eq", code, b.const(0, i32)), b.const(1 << 22, i32), _shifted(b, code, 23))
        value = _bits(b, bits, f32)
        return b.select(b.cmp("eq", code, b.const(255, i32)), b.const(float("nan"), f32), value)
    format = _FORMATS[narrow]
    size = b.and_(code, b.const((1 << format.sign) - 1, i32))
    # With the exponent of the f32 rather too small; multiplying makes subnormal numbers right as well.
    scale = b.const(2.0 ** (127 - format.bias), f32)
    value = b.mul(_bits(b, _shifted(b, size, 23 - format.mantissa), f32), scale)
    nan = b.const(float("nan"), f32)
    if format.infinity is not None:
        infinite = b.cmp("eq", size, b.const(format.infinity, i32))
        value = b.select(infinite, b.const(float("inf"), f32), value)
        value = b.select(b.cmp("gt", size, b.const(format.infinity, i32)), nan, value)
    elif format.nan is not None:
        value = b.select(b.cmp("eq", code if format.unsigned_zero else size, b.const(format.nan, i32)), nan, value)
    sign = b.and_(_shifted(b, code, 31 - format.sign), b.const(-(1 << 31), i32))
    return _bits(b, b.or_(_bits(b, value, i32), sign), f32)


def narrow_scalar(
    b: ScalarBuilder, x: SSAValue, target: Attribute, *, saturate: bool, round_mode: RoundMode
) -> SSAValue:
    """An f32 or f64 as a byte of float type `target`; an integer's low bits as one of integer type `target`."""
    if not is_narrow_float(target):
        # As `ml_dtypes` has them, the bits above the type's own are 0.
        return _low_bits(b, b.resize_integer(x, i8, unsigned=False), target)
    if target == POWERS:
        return _power(b, b.extend_float(x, f64), saturate, round_mode)
    format = _FORMATS[target]
    word, mantissa, bias = (i32, 23, 127) if x.type == f32 else (i64, 52, 1023)
    width = bit_width(word)
    bits = _bits(b, x, word)
    size = b.and_(bits, b.const((1 << (width - 1)) - 1, word))
    # Half of the last bit that is kept, or a little less, so that halves go to the even neighbour.
    drop = mantissa - format.mantissa
    last = b.and_(b.shift_right_by(size, drop, unsigned=True), b.const(1, word))
    rounded = b.add(b.add(size, b.const((1 << (drop - 1)) - 1, word)), last)
    code = b.sub(b.shift_right_by(rounded, drop, unsigned=True), b.const((bias - format.bias) << format.mantissa, word))
    # Below the normal numbers, a sum with a power of two whose last bit is theirs rounds alike.
    power = b.const(2.0 ** (1 - format.bias - format.mantissa + mantissa), x.type)
    summed = b.sub(_bits(b, b.add(_bits(b, size, x.type), power), word), _bits(b, power, word))
    normal = b.cmp("ge", size, _bits(b, b.const(format.smallest_normal, x.type), word))
    code = b.select(normal, code, summed)
    largest = b.const(format.largest, word)
    beyond = format.largest
    if not saturate:
        beyond = next(c for c in (format.infinity, format.nan, format.largest) if c is not None)
    sign = b.and_(b.shift_right_by(bits, width - 1 - format.sign, unsigned=True), b.const(1 << format.sign, word))
    is_nan = b.is_nan(x)
    if format.unsigned_zero:
        code, past = b.min(code, largest), b.cmp("gt", code, largest)
        code = b.select(b.cmp("eq", code, b.const(0, word)), code, b.or_(code, sign))
        invalid = is_nan if saturate else b.or_(is_nan, past)
        code = b.select(invalid, b.const(format.nan or 0, word), code)
    else:
        code = b.select(b.cmp("gt", code, largest), b.const(beyond, word), code)
        code = b.select(is_nan, b.const(format.nan or 0, word), code)
        code = b.or_(code, sign)
    return b.resize_integer(code, i8, unsigned=True)


def _power(b: ScalarBuilder, x: SSAValue, saturate: bool, round_mode: RoundMode) -> SSAValue:
    """The byte of the f8E8M0FNU that an f64 is rounded to."""
    bits = _bits(b, x, i64)
    code = b.sub(b.shift_right_by(bits, 52, unsigned=True), b.const(1023 - 127, i64))
    fraction = b.and_(bits, b.const((1 << 52) - 1, i64))
    if round_mode != "down":
        bound = 1 if round_mode == "up" else 1 << 51
        code = b.add(code, b.resize_integer(b.cmp("ge", fraction, b.const(bound, i64)), i64, unsigned=True))
    if saturate:
        code = b.min(b.max(code, b.const(0, i64)), b.const(254, i64))
    else:
        code = b.select(b.cmp("lt", code, b.const(0, i64)), b.const(255, i64), b.min(code, b.const(255, i64)))
    invalid = b.or_(b.is_nan(x), b.cmp("lt", x, b.const(0.0, f64)))
    if saturate:
        code = b.select(b.cmp("eq", x, b.const(0.0, f64)), b.const(0, i64), code)
    else:
        invalid = b.or_(invalid, b.cmp("eq", x, b.const(0.0, f64)))
    return b.resize_integer(b.select(invalid, b.const(255, i64), code), i8, unsigned=True)


def _sign_extended(b: ScalarBuilder, x: SSAValue, narrow: Attribute) -> SSAValue:
    """The low bits of an i8 as a number."""
    if is_unsigned(narrow):
        return _low_bits(b, x, narrow)
    spare = 8 - bit_width(narrow)
    return b.shift_right_by(b.insert(arith.ShLIOp(x, b.const(spare, i8))), spare, unsigned=False)


def _low_bits(b: ScalarBuilder, x: SSAValue, narrow: Attribute) -> SSAValue:
    return b.and_(x, b.const((1 << bit_width(narrow)) - 1, i8))


def _shifted(b: ScalarBuilder, x: SSAValue, amount: int) -> SSAValue:
    return b.insert(arith.ShLIOp(x, b.const_like(amount, x)))


def _bits(b: ScalarBuilder, x: SSAValue, type: Attribute) -> SSAValue:
    return b.insert(arith.BitcastOp(x, type))
