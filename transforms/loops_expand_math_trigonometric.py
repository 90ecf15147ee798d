"""
Sine, cosine, tangent and arc tangent, for f32.

Coefficients and units as for the exponentials. Sine, cosine and tangent reduce `x` by multiples of pi/2 in three steps
of fused multiply-add (Cody and Waite), which is good for |x| <= 71476; where a lane is larger, all lanes are left to
the mathematical library.

| function | error below | method |
|---|---|---|
| sin, cos | 1.5 | polynomials in r^2, \\|r\\| <= pi/4 |
| tan | 3.5 | sin r / cos r or its inverse |
| atan | 1.6 | x + x^3 P(x^2) up to 1, pi/2 - atan(1/x) beyond |
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from aicc.transforms.loops_expand_math_builder import MathBuilder

LARGEST_REDUCED = 71476.0

_MAGIC = 12582912.0
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = (1.570796251296997, 7.549789415861596e-08, 5.390302953474238e-15)
"""pi/2 in three parts of 24 bits."""

_SIN = (-0.16666653752326965, 0.008332107216119766, -0.00019508073455654085)
"""(sin(r) - r) / r^3 in r^2."""

_COS = (0.04166664555668831, -0.0013887297827750444, 2.443008816044312e-05)
"""(cos(r) - 1 + r^2 / 2) / r^4 in r^2."""

_ATAN = (
    *(-0.33333298563957214, 0.1999853104352951, -0.14264054596424103, 0.10951210558414459),
    *(-0.08400631695985794, 0.05790991708636284, -0.031130870804190636, 0.010889633558690548),
    -0.0017880859086290002,
)
"""(atan(x) - x) / x^3 in x^2, up to 1."""


def _quadrant(b: MathBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """`sin r`, `cos r` and bits that end in the quadrant `n mod 4` of `x = n pi/2 + r`."""
    shifted = b.madd(x, b.const(_TWO_OVER_PI), b.const(_MAGIC))
    n = b.sub(shifted, b.const(_MAGIC))
    r = x
    for part in _HALF_PI:
        r = b.fma(n, b.const(-part), r)
    square = b.mul(r, r)
    sine = b.madd(b.mul(b.polynomial(square, _SIN), square), r, r)
    tail = b.madd(b.mul(b.polynomial(square, _COS), square), square, b.mul(square, b.const(-0.5)))
    return sine, b.add(tail, b.const(1.0)), b.bits(shifted)


def _is_odd(b: MathBuilder, bits: SSAValue) -> SSAValue:
    return b.compare_ints("ne", b.both(bits, b.int(1)), b.int(0))


def _negate_by_bit_one(b: MathBuilder, value: SSAValue, bits: SSAValue) -> SSAValue:
    """`value` with its sign changed where bit 1 is set."""
    sign = b.shift_left(b.both(bits, b.int(2)), 30)
    return b.from_bits(b.xor(b.bits(value), sign))


def sin(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The sine, up to `LARGEST_REDUCED`."""
    sine, cosine, bits = _quadrant(b, x)
    return b.keep_zero(x, _negate_by_bit_one(b, b.select(_is_odd(b, bits), cosine, sine), bits))


def cos(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The cosine, up to `LARGEST_REDUCED`."""
    sine, cosine, bits = _quadrant(b, x)
    size = b.select(_is_odd(b, bits), sine, cosine)
    return _negate_by_bit_one(b, size, b.add_ints(bits, b.int(1)))


def tan(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The tangent, up to `LARGEST_REDUCED`."""
    sine, cosine, bits = _quadrant(b, x)
    odd = _is_odd(b, bits)
    return b.keep_zero(x, b.div(b.select(odd, cosine, sine), b.select(odd, b.neg(sine), cosine)))


def atan(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The arc tangent."""
    size, one = b.abs(x), b.const(1.0)
    large = b.compare("ogt", size, one)
    z = b.select(large, b.div(one, size), size)
    square = b.mul(z, z)
    angle = b.madd(b.mul(b.polynomial(square, _ATAN), square), z, z)
    rest = b.add(b.sub(b.const(_HALF_PI[0]), angle), b.const(_HALF_PI[1]))
    return b.copysign(b.select(large, rest, angle), x)


REDUCED: dict[str, Callable[[MathBuilder, SSAValue], SSAValue]] = {"math.cos": cos, "math.sin": sin, "math.tan": tan}
"""Op name -> expansion for arguments up to `LARGEST_REDUCED`."""
