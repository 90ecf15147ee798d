"""
What each `arith` and `math` op computes on numpy arrays, element by element.

Integers are two's complement of their exact width and wrap; `i1` is `bool`, with true = 1 (unsigned) or -1 (signed).
f16 and bf16 are computed through f32 and rounded once. What LLVM leaves undefined has a value here, so that nothing
crashes: division by zero gives 0, a shift by the width or more gives 0 (or the sign).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.ir import Operation

Array = np.ndarray[Any, np.dtype[Any]]
Unary = Callable[[Array], Any]
Binary = Callable[[Array, Array], Any]
Function = Callable[..., Any]

_NARROW = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


def unsigned(x: Array) -> Array:
    """The same bits as an unsigned integer; bool as it is."""
    return x if x.dtype.kind == "b" else x.view(np.dtype(f"uint{8 * x.dtype.itemsize}"))


def _signed(x: Array) -> Array:
    """i1 as 0 and -1; other integers as they are."""
    return -x.astype(np.int8) if x.dtype.kind == "b" else x


def _through_f32(fn: Function) -> Function:
    def apply(*args: Array) -> Array:
        dtype = args[0].dtype
        if dtype in _NARROW:
            return np.asarray(fn(*(a.astype(np.float32) for a in args))).astype(dtype)
        return np.asarray(fn(*args)).astype(dtype, copy=False)

    return apply


def _on_bits(fn: Function) -> Function:
    """Unsigned arithmetic on signed storage."""

    def apply(*args: Array) -> Array:
        return np.asarray(fn(*map(unsigned, args))).astype(unsigned(args[0]).dtype, copy=False).view(args[0].dtype)

    return apply


def _integer(fn: Function, on_bool: Function) -> Function:
    def apply(*args: Array) -> Array:
        if args[0].dtype.kind == "b":
            return np.asarray(on_bool(*args)).astype(np.bool_)
        return np.asarray(fn(*args)).astype(args[0].dtype, copy=False)

    return apply


def _divide_truncating(x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    exact = quotient * y == x
    return np.where(y == 0, 0, quotient + (~exact & ((x < 0) != (y < 0)))).astype(x.dtype)


def _divide_ceiling(x: Array, y: Array) -> Array:
    quotient = np.floor_divide(x, y)
    return np.where(y == 0, 0, quotient + (quotient * y != x)).astype(x.dtype)


def _shift_right_signed(x: Array, y: Array) -> Array:
    width = 8 * x.dtype.itemsize
    return np.right_shift(x, np.minimum(unsigned(y), width - 1).astype(x.dtype))


def _shift(fn: Binary) -> Binary:
    def apply(x: Array, y: Array) -> Array:
        width = 8 * x.dtype.itemsize
        return np.where(y >= width, 0, fn(x, np.minimum(y, width - 1))).astype(x.dtype)

    return apply


_erf: Any = np.frompyfunc(math.erf, 1, 1)


def _round_half_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.copysign(whole + np.copysign(np.abs(x - whole) >= 0.5, x), x)


def _integer_power(x: Array, y: Array) -> Array:
    """Wraps; a negative exponent gives the truncated reciprocal."""
    result = np.ones(np.broadcast_shapes(x.shape, y.shape), x.dtype)
    base, exponent = x.copy(), np.maximum(y, 0)
    for _ in range(8 * x.dtype.itemsize - 1):
        if not exponent.any():
            break
        result = np.where(exponent & 1, result * base, result)
        base, exponent = base * base, exponent >> 1
    odd = np.where(y & 1, -1, 1)
    return np.where(y >= 0, result, np.where(x == 1, 1, np.where(x == -1, odd, 0))).astype(x.dtype)


def _leading_zeros(x: Array) -> Array:
    width = 8 * x.dtype.itemsize
    bits = unsigned(x).copy()
    count = np.full(x.shape, width, x.dtype)
    for position in range(width):
        count = np.where((bits >> bits.dtype.type(position)) & bits.dtype.type(1), width - 1 - position, count)
    return count.astype(x.dtype)


def _trailing_zeros(x: Array) -> Array:
    width = 8 * x.dtype.itemsize
    lowest = np.bitwise_count(unsigned((x & -x) - 1))
    return np.where(x == 0, width, lowest).astype(x.dtype)


def _fma(x: Array, y: Array, z: Array) -> Array:
    """Exact product for f32 and narrower; for f64 by Dekker's product and Knuth's sum, which keep what is cut off."""
    if x.dtype != np.float64:
        wide = np.float64
        return (x.astype(wide) * y.astype(wide) + z.astype(wide)).astype(x.dtype)
    (x_part, x_exponent), (y_part, y_exponent) = np.frexp(x), np.frexp(y)
    exponent = x_exponent + y_exponent
    high, low = _exact_product(x_part, y_part)
    scaled = np.ldexp(z, -exponent)
    total = high + scaled
    moved = total - high
    rest = (high - (total - moved)) + (scaled - moved)
    fused = np.ldexp(total + (rest + low), exponent)
    usable = np.isfinite(x) & np.isfinite(y) & np.isfinite(scaled)
    return np.where(usable, fused, x * y + z)


def _exact_product(x: Array, y: Array) -> tuple[Array, Array]:
    """`(p, e)` with `p + e == x * y` exactly; for f64 of magnitude near 1."""

    def split(value: Array) -> tuple[Array, Array]:
        big = value * 134217729.0  # 2^27 + 1
        upper: Array = big - (big - value)
        return upper, value - upper

    product: Array = x * y
    (x_high, x_low), (y_high, y_low) = split(x), split(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


_FLOAT_BINARY: dict[type[Operation], Binary] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
    math_dialect.Atan2Op: np.arctan2,
    math_dialect.CopySignOp: np.copysign,
    math_dialect.PowFOp: np.power,
}

_FLOAT_UNARY: dict[type[Operation], Unary] = {
    arith.NegfOp: np.negative,
    math_dialect.AbsFOp: np.abs,
    math_dialect.AcosOp: np.arccos,
    math_dialect.AcoshOp: np.arccosh,
    math_dialect.AsinOp: np.arcsin,
    math_dialect.AsinhOp: np.arcsinh,
    math_dialect.AtanOp: np.arctan,
    math_dialect.AtanhOp: np.arctanh,
    math_dialect.CbrtOp: np.cbrt,
    math_dialect.CeilOp: np.ceil,
    math_dialect.CosOp: np.cos,
    math_dialect.CoshOp: np.cosh,
    math_dialect.ErfOp: lambda x: _erf(x.astype(np.float64)),
    math_dialect.ExpOp: np.exp,
    math_dialect.Exp2Op: np.exp2,
    math_dialect.ExpM1Op: np.expm1,
    math_dialect.FloorOp: np.floor,
    math_dialect.LogOp: np.log,
    math_dialect.Log10Op: np.log10,
    math_dialect.Log1pOp: np.log1p,
    math_dialect.Log2Op: np.log2,
    math_dialect.RoundEvenOp: np.rint,
    math_dialect.RoundOp: _round_half_away,
    math_dialect.RsqrtOp: lambda x: 1 / np.sqrt(x),
    math_dialect.SinOp: np.sin,
    math_dialect.SinhOp: np.sinh,
    math_dialect.SqrtOp: np.sqrt,
    math_dialect.TanOp: np.tan,
    math_dialect.TanhOp: np.tanh,
    math_dialect.TruncOp: np.trunc,
}

_INTEGER_BINARY: dict[type[Operation], tuple[Binary, Binary]] = {
    arith.AddiOp: (np.add, np.logical_xor),
    arith.SubiOp: (np.subtract, np.logical_xor),
    arith.MuliOp: (np.multiply, np.logical_and),
    arith.AndIOp: (np.bitwise_and, np.logical_and),
    arith.OrIOp: (np.bitwise_or, np.logical_or),
    arith.XOrIOp: (np.bitwise_xor, np.logical_xor),
    arith.DivSIOp: (_divide_truncating, np.logical_and),
    arith.FloorDivSIOp: (np.floor_divide, np.logical_and),
    arith.CeilDivSIOp: (_divide_ceiling, np.logical_and),
    arith.RemSIOp: (np.fmod, lambda x, y: np.zeros_like(x)),
    arith.MaxSIOp: (np.maximum, np.logical_and),
    arith.MinSIOp: (np.minimum, np.logical_or),
    arith.ShRSIOp: (_shift_right_signed, lambda x, y: x),
    math_dialect.IPowIOp: (_integer_power, lambda x, y: x | ~y),
}
"""On integers, and on i1, whose true is -1."""

_UNSIGNED_BINARY: dict[type[Operation], tuple[Binary, Binary]] = {
    arith.DivUIOp: (np.floor_divide, np.logical_and),
    arith.CeilDivUIOp: (_divide_ceiling, np.logical_and),
    arith.RemUIOp: (np.remainder, lambda x, y: np.zeros_like(x)),
    arith.MaxUIOp: (np.maximum, np.logical_or),
    arith.MinUIOp: (np.minimum, np.logical_and),
    arith.ShLIOp: (_shift(np.left_shift), lambda x, y: x & ~y),
    arith.ShRUIOp: (_shift(np.right_shift), lambda x, y: x & ~y),
}
"""On the unsigned view of integers, and on i1, whose true is 1."""

_INTEGER_UNARY: dict[type[Operation], tuple[Unary, Unary]] = {
    math_dialect.AbsIOp: (np.abs, lambda x: x),
    math_dialect.CountLeadingZerosOp: (_leading_zeros, np.logical_not),
    math_dialect.CountTrailingZerosOp: (_trailing_zeros, np.logical_not),
    math_dialect.CtPopOp: (lambda x: np.bitwise_count(unsigned(x)), lambda x: x),
}


def _float_power_of_integer(x: Array, y: Array) -> Array:
    return _through_f32(np.power)(x, y.astype(x.dtype))


# By name, since an op may be of a subclass that stands in the place of xDSL's class.
FUNCTIONS: dict[str, Function] = {
    **{op.name: _through_f32(fn) for op, fn in _FLOAT_BINARY.items()},
    **{op.name: _through_f32(fn) for op, fn in _FLOAT_UNARY.items()},
    **{op.name: _integer(fn, on_bool) for op, (fn, on_bool) in _INTEGER_BINARY.items()},
    **{op.name: _integer(fn, on_bool) for op, (fn, on_bool) in _INTEGER_UNARY.items()},
    **{op.name: _on_bits(_integer(fn, on_bool)) for op, (fn, on_bool) in _UNSIGNED_BINARY.items()},
    math_dialect.FmaOp.name: _through_f32(_fma),
    math_dialect.FPowIOp.name: _float_power_of_integer,
    arith.SelectOp.name: np.where,
}
"""Ops whose result has the type of their (first) operand, or of their second for `select`."""


INTEGER_COMPARISONS: tuple[Binary, ...] = (
    np.equal,
    np.not_equal,
    lambda x, y: np.less(_signed(x), _signed(y)),
    lambda x, y: np.less_equal(_signed(x), _signed(y)),
    lambda x, y: np.greater(_signed(x), _signed(y)),
    lambda x, y: np.greater_equal(_signed(x), _signed(y)),
    lambda x, y: np.less(unsigned(x), unsigned(y)),
    lambda x, y: np.less_equal(unsigned(x), unsigned(y)),
    lambda x, y: np.greater(unsigned(x), unsigned(y)),
    lambda x, y: np.greater_equal(unsigned(x), unsigned(y)),
)
"""By predicate number of `arith.cmpi`."""


def _unordered(x: Array, y: Array) -> Array:
    return np.isnan(x) | np.isnan(y)


FLOAT_COMPARISONS: tuple[Binary, ...] = (
    lambda x, y: np.zeros(np.broadcast_shapes(x.shape, y.shape), np.bool_),
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    lambda x, y: np.less(x, y) | np.greater(x, y),
    lambda x, y: ~_unordered(x, y),
    lambda x, y: np.equal(x, y) | _unordered(x, y),
    lambda x, y: ~np.less_equal(x, y),
    lambda x, y: ~np.less(x, y),
    lambda x, y: ~np.greater_equal(x, y),
    lambda x, y: ~np.greater(x, y),
    np.not_equal,
    _unordered,
    lambda x, y: np.ones(np.broadcast_shapes(x.shape, y.shape), np.bool_),
)
"""By predicate number of `arith.cmpf`."""


def float_to_integer(x: Array, dtype: np.dtype[Any]) -> Array:
    """Truncates towards zero; the nearest value of the range where out of it, 0 for NaN."""
    whole = np.trunc(x.astype(np.float32) if x.dtype in _NARROW else x)
    limits = np.iinfo(dtype)
    # One more than the largest value is a power of two, so exact in every float type; that value itself is not.
    below, above = whole < float(limits.min), whole >= 2.0 * float(limits.max // 2 + 1)
    inside = np.where(below | above | np.isnan(whole), whole.dtype.type(0), whole).astype(dtype)
    return np.where(above, dtype.type(limits.max), np.where(below, dtype.type(limits.min), inside))


def integer_to_float(x: Array, dtype: np.dtype[Any]) -> Array:
    """Rounds once to f32 or f64, through f32 for narrower types."""
    return x.astype(np.float32).astype(dtype) if dtype in _NARROW else x.astype(dtype)


_CASTS: dict[type[Operation], Callable[[Array, np.dtype[Any]], Array]] = {
    arith.ExtFOp: lambda x, dtype: x.astype(dtype),
    arith.TruncFOp: lambda x, dtype: x.astype(dtype),
    arith.ExtSIOp: lambda x, dtype: _signed(x).astype(dtype),
    arith.ExtUIOp: lambda x, dtype: unsigned(x).astype(dtype),
    arith.TruncIOp: lambda x, dtype: (x & 1).astype(np.bool_) if dtype == np.bool_ else x.astype(dtype),
    arith.SIToFPOp: lambda x, dtype: integer_to_float(_signed(x), dtype),
    arith.UIToFPOp: lambda x, dtype: integer_to_float(unsigned(x), dtype),
    arith.FPToSIOp: float_to_integer,
    arith.FPToUIOp: lambda x, dtype: (
        float_to_integer(x, np.dtype(f"u{dtype.name}")).view(dtype) if dtype.kind == "i" else float_to_integer(x, dtype)
    ),
    arith.IndexCastOp: lambda x, dtype: (x & 1).astype(np.bool_) if dtype == np.bool_ else _signed(x).astype(dtype),
    arith.BitcastOp: lambda x, dtype: np.ascontiguousarray(x).view(dtype).reshape(x.shape),
}

CASTS = {op.name: fn for op, fn in _CASTS.items()}
"""Ops whose result has another type than their operand: (array, dtype of the result) -> array."""
