"""
Exponentials, logarithms and what is made of them, for f32.

Coefficients are minimax fits (Lawson's weighted least squares at 200 or more Chebyshev nodes, the coefficients rounded
to f32 one after the other). Errors are in units of the last place of the result, over all f32 inputs; NaN gives NaN;
results below the normal range are rounded like others, not flushed.

| function | error below | method |
|---|---|---|
| exp, exp2 | 1.1 | 2^n * e^r, \\|r\\| <= ln 2 / 2 |
| 1 / (1 + exp(-x)) | 2.2 | the same with `afn`; results below the normal range may be 0 |
| expm1 | 1.6 | 2^n * (e^r - 1) + (2^n - 1) |
| log, log2, log10 | 1.6 | n * ln 2 + log(1 + f), sqrt(1/2) <= 1 + f < sqrt 2 |
| log1p | 2.0 | log(u) + (x - (u - 1)) / u, u = 1 + x |
| tanh | 5.3 | x P(x^2) / Q(x^2) |
| sinh, cosh | 2.5 | e^x / 2 -+ 1 / (2 e^x); sinh below 1 by a polynomial |
| erf | 6.6 | x P(x^2) / Q(x^2) |
| pow | 0.6 | 2^(y log2 x), in f64 |
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import SSAValue

from aicc.transforms.loops_expand_math_builder import MathBuilder

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693145751953125
_LN2_LOW = 1.428606765330187e-06
_MAGIC = 12582912.0
"""1.5 * 2^23: adding it rounds a small float to an integer, which is then in the low bits."""
_MAGIC_BITS = 0x4B400000
_BIAS = 254
"""
An integer `n` is kept as the bits of `_MAGIC + _BIAS + n`: half of them, in the place of an exponent, stand for
`2^floor(n / 2)`, and the other half for the rest of `2^n`. What is above falls out when they are shifted there.
"""

_EXP = (0.4999999403953552, 0.1666652113199234, 0.04166826605796814, 0.008368677459657192, 0.001382073969580233)
"""(e^r - 1 - r) / r^2."""

_EXPM1 = (
    *(0.5, 0.1666666567325592, 0.04166649281978607, 0.008333545178174973),
    *(0.0013932330766692758, 0.00019762612646445632),
)
"""(e^r - 1 - r) / r^2, relative to e^r - 1."""

_LOG = (
    *(0.3333333134651184, -0.2500081956386566, 0.2000124156475067, -0.166234090924263),
    *(0.14201579988002777, -0.13159610331058502, 0.12762217223644257, -0.07636439055204391),
)
"""(log(1 + f) - f + f^2 / 2) / f^3."""

_SINH = (0.1666666716337204, 0.00833331048488617, 0.00019842895562760532, 2.7822131869470468e-06)
"""(sinh(x) - x) / x^3 in x^2, up to 1."""

_TANH = (
    (1.0, 0.13384097814559937, 0.003499103942885995, 2.0661860617110506e-05, 1.3418801181330764e-08),
    (1.0, 0.4671742022037506, 0.02589069865643978, 0.0003291162138339132, 7.804679853506968e-07),
)
"""tanh(x) / x in x^2, up to 9, where the quotient is rounded to 1."""

_ERF = (
    (
        *(1.128379225730896, 0.17373742163181305, 0.050670500844717026),
        *(0.0030917194671928883, 0.00027687675901688635, 2.26806537284574e-06),
    ),
    (
        *(1.0, 0.4873053729534149, 0.10733562707901001),
        *(0.013605617918074131, 0.0010129574220627546, 3.993976497440599e-05),
    ),
)
"""erf(x) / x in x^2, up to 3.9, where the quotient is rounded to 1."""

_LOG2_F64 = (
    *(2.885390081777849, 0.9617966941152195, 0.5770779417741989),
    *(0.4122093163568566, 0.3199029080677782, 0.2829422118074012),
)
"""log2((1 + s) / (1 - s)) / s in s^2, for f64 with a relative error of 2^-45."""

_EXP2_F64 = (
    *(0.9999999999616309, 0.6931471807287594, 0.24022651198721018, 0.05550410352501092),
    *(0.009618027177058813, 0.0013333923189236543, 0.000154693160006544, 1.5201812925163778e-05),
)
"""2^r for f64, |r| <= 1/2, with a relative error of 2^-34."""


def _round_to_integer(b: MathBuilder, x: SSAValue, factor: float = 1.0) -> tuple[SSAValue, SSAValue]:
    """The nearest integer `n` of a small float times `factor`: as a float, and biased (see `_BIAS`)."""
    magic = b.const(_MAGIC + _BIAS)
    shifted = b.add(x, magic) if factor == 1.0 else b.madd(x, b.const(factor), magic)
    return b.sub(shifted, magic), b.bits(shifted)


def _reduce_exp(b: MathBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """`r` and the integer `n` of `x = n ln 2 + r`, biased."""
    whole, biased = _round_to_integer(b, x, _LOG2_E)
    r = b.madd(whole, b.const(-_LN2_HIGH), x)
    return b.madd(whole, b.const(-_LN2_LOW), r), biased


def _power_of_two(b: MathBuilder, n: SSAValue) -> SSAValue:
    """`2^n` for a normal result."""
    return b.from_bits(b.shift_left(b.add_ints(n, b.int(127)), 23))


def _scaled_exp(b: MathBuilder, r: SSAValue, biased: SSAValue) -> SSAValue:
    """
    `e^r * 2^n` for |r| <= ln 2 / 2: in two factors, as 2^n may be out of range where the product is not.

    The first is multiplied with `e^r - 1` and added: 1 costs no rounding and no step of its own. Both come of one
    shift, as shifts are done by units that multiply too: what is left when the exponent of the first is taken from
    that of 2^n.
    """
    doubled = b.shift_left(biased, 22)
    half = b.both(doubled, b.int(-(1 << 23)))
    first, second = b.from_bits(half), b.from_bits(b.sub_ints(b.add_ints(doubled, doubled), half))
    tail = b.madd(b.polynomial(r, _EXP), b.mul(r, r), r)
    return b.mul(b.madd(tail, first, first), second)


def exp(b: MathBuilder, x: SSAValue) -> SSAValue:
    """`e^x`."""
    r, biased = _reduce_exp(b, b.clamp(x, -104.0, 89.0))
    return _scaled_exp(b, r, biased)


def exp_approximate(b: MathBuilder, x: SSAValue, at_most_zero: bool = False) -> SSAValue:
    """
    `e^x` where `afn` allows less: results below 2^-126 may be 0, from 88.4 on they are infinite.

    `n + 127` is rounded into the low bits of a float, from which a shift makes `2^n`: 0 for -127, infinite for 128.
    Of a negation, `e^-y`, everything is computed with the opposite sign, which costs nothing.
    """
    sign, low, high = 1.0, -88.0, 89.0
    if isinstance(x.owner, arith.NegfOp) and not at_most_zero:
        sign, low, high, x = -1.0, -89.0, 88.0, x.owner.operand
    x = b.at_least(x, low) if at_most_zero else b.clamp(x, low, high)
    magic = b.const(_MAGIC + 127.0)
    shifted = b.madd(x, b.const(sign * _LOG2_E), magic)
    whole = b.sub(shifted, magic)
    r = b.madd(whole, b.const(-sign * _LN2_LOW), b.madd(whole, b.const(-sign * _LN2_HIGH), x))
    coefficients = [c * sign**k for k, c in enumerate((1.0, 1.0, *_EXP))]
    return b.mul(b.polynomial(r, coefficients), b.from_bits(b.shift_left(b.bits(shifted), 23)))


def exp2(b: MathBuilder, x: SSAValue) -> SSAValue:
    """`2^x`."""
    x = b.clamp(x, -151.0, 129.0)
    whole, biased = _round_to_integer(b, x)
    r = b.mul(b.sub(x, whole), b.const(0.6931471805599453))
    return _scaled_exp(b, r, biased)


def _expm1_of_reduced(b: MathBuilder, r: SSAValue) -> SSAValue:
    """`e^r - 1` for |r| <= ln 2 / 2."""
    return b.madd(b.polynomial(r, _EXPM1), b.mul(r, r), r)


def expm1(b: MathBuilder, x: SSAValue) -> SSAValue:
    """`e^x - 1`."""
    argument, x = x, b.clamp(x, -18.0, 89.0)
    r, biased = _reduce_exp(b, x)
    n = b.sub_ints(biased, b.int(_MAGIC_BITS + _BIAS))
    small = _expm1_of_reduced(b, r)
    # Half of it, so that 2^n stays in range; for n = 0 the polynomial alone, which is exact for tiny arguments.
    half = _power_of_two(b, b.sub_ints(n, b.int(1)))
    scaled = b.madd(small, half, b.sub(half, b.const(0.5)))
    result = b.select(b.compare_ints("eq", n, b.int(0)), small, b.add(scaled, scaled))
    return b.keep_zero(argument, result)


def _log_parts(b: MathBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """`f`, `log(1 + f) - f` and `n` of `x = 2^n (1 + f)`, for a positive finite `x`."""
    tiny = b.compare("olt", x, b.const(1.1754943508222875e-38))
    scaled = b.select(tiny, b.mul(x, b.const(float(1 << 25))), x)
    bits = b.bits(scaled)
    # Counted from sqrt(1/2), so that 1 + f lies on both sides of 1.
    exponent = b.shift_right(b.sub_ints(bits, b.int(0x3F3504F3)), 23)
    f = b.sub(b.from_bits(b.sub_ints(bits, b.shift_left(exponent, 23))), b.const(1.0))
    offset = b.select(tiny, b.int(-25), b.int(0))
    n = b.to_float(b.add_ints(exponent, offset))
    square = b.mul(f, f)
    # Even and odd powers side by side: half as long to wait for, which is what limits a function of so many steps.
    even, odd = (b.polynomial(square, half) for half in ((-0.5, *_LOG[1::2]), _LOG[::2]))
    return f, b.mul(square, b.madd(odd, f, even)), n


def _log_special(b: MathBuilder, x: SSAValue, result: SSAValue) -> SSAValue:
    """The logarithm of `x` where `result` is right for positive finite numbers only."""
    zero, infinity = b.const(0.0), b.const(float("inf"))
    below = b.select(b.compare("oeq", x, zero), b.const(float("-inf")), b.const(float("nan")))
    result = b.select(b.compare("ogt", x, zero), result, below)
    return b.select(b.compare("oeq", x, infinity), infinity, result)


def log(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The natural logarithm."""
    f, tail, n = _log_parts(b, x)
    result = b.add(f, b.madd(n, b.const(_LN2_LOW), tail))
    return _log_special(b, x, b.madd(n, b.const(_LN2_HIGH), result))


def log2(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The binary logarithm."""
    f, tail, n = _log_parts(b, x)
    # log2(e) = 1 + 0.44...: the 1 costs no rounding.
    rest = b.const(_LOG2_E - 1)
    result = b.madd(f, rest, b.mul(tail, rest))
    result = b.add(b.add(b.add(result, tail), f), n)
    return _log_special(b, x, result)


def log10(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The decimal logarithm."""
    f, tail, n = _log_parts(b, x)
    log10_e_high, log10_e_low = b.const(0.43359375), b.const(0.0007007319032518)
    log10_2_high, log10_2_low = b.const(0.301025390625), b.const(4.605039066518657e-06)
    result = b.madd(f, log10_e_low, b.mul(tail, log10_e_low))
    result = b.madd(n, log10_2_low, result)
    result = b.madd(f, log10_e_high, b.madd(tail, log10_e_high, result))
    return _log_special(b, x, b.madd(n, log10_2_high, result))


def log1p(b: MathBuilder, x: SSAValue) -> SSAValue:
    """`log(1 + x)`."""
    one = b.const(1.0)
    u = b.add(x, one)
    lost = b.div(b.sub(x, b.sub(u, one)), u)
    usual = b.both(b.compare("ogt", u, b.const(0.0)), b.compare("olt", u, b.const(float("inf"))))
    result = b.add(log(b, u), b.select(usual, lost, b.const(0.0)))
    # So small that log(1 + x) is x; this keeps the sign of 0.
    return b.select(b.compare("oeq", u, one), x, result)


def _odd_quotient(
    b: MathBuilder, x: SSAValue, most: float, fractions: tuple[tuple[float, ...], tuple[float, ...]]
) -> SSAValue:
    """`x P(x^2) / Q(x^2)`, within [-1, 1]; P and Q are constant beyond `most`, from where on it is 1 or more."""
    square = b.at_most(b.mul(x, x), most * most)
    over, under = (b.polynomial(square, coefficients) for coefficients in fractions)
    return b.clamp(b.div(b.mul(x, over), under), -1.0, 1.0)


def tanh(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The hyperbolic tangent."""
    return _odd_quotient(b, x, 9.0, _TANH)


def _half_exp(b: MathBuilder, size: SSAValue) -> SSAValue:
    """`e^size / 2`, in range as long as it is itself; for sizes of at least 0."""
    r, biased = _reduce_exp(b, b.clamp(size, 0.0, 91.0))
    return _scaled_exp(b, r, b.sub_ints(biased, b.int(1)))


def cosh(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The hyperbolic cosine."""
    half = _half_exp(b, b.abs(x))
    return b.add(half, b.div(b.const(0.25), half))


def sinh(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The hyperbolic sine."""
    size = b.abs(x)
    half = _half_exp(b, size)
    large = b.copysign(b.sub(half, b.div(b.const(0.25), half)), x)
    square = b.mul(x, x)
    small = b.madd(b.mul(b.polynomial(square, _SINH), square), x, x)
    return b.select(b.compare("olt", size, b.const(1.0)), small, large)


def erf(b: MathBuilder, x: SSAValue) -> SSAValue:
    """The error function."""
    return _odd_quotient(b, x, 3.9, _ERF)


def pow(b: MathBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """`x^y` with C's special cases: x^0 = 1^y = 1 also for NaN, NaN for a negative x and a y that is not integral."""
    base = b.widen(b.abs(x), f64)
    bits = b.bits(base, i64)
    exponent = b.shift_right(b.sub_ints(bits, b.int(0x3FE6A09E667F3BCD, i64)), 52, i64)
    mantissa = b.from_bits(b.sub_ints(bits, b.shift_left(exponent, 52, i64)), f64)
    one = b.const(1.0, f64)
    s = b.div(b.sub(mantissa, one), b.add(mantissa, one))
    n = b.to_float(b.truncate(exponent, i32), f64)
    logarithm = b.madd(b.polynomial(b.mul(s, s), _LOG2_F64, f64), s, n)
    zero, infinity = b.const(0.0, f64), b.const(float("inf"), f64)
    logarithm = b.select(b.compare("oeq", base, zero), b.const(float("-inf"), f64), logarithm)
    logarithm = b.select(b.compare("olt", base, infinity), logarithm, base)
    # Beyond these bounds the result is 0 or infinite in f32.
    product = b.clamp(b.mul(b.widen(y, f64), logarithm), -200.0, 200.0, f64)
    magic = b.const(1.5 * 2**52, f64)
    shifted = b.add(product, magic)
    r = b.sub(product, b.sub(shifted, magic))
    scale = b.shift_left(b.bits(shifted, i64), 52, i64)
    power = b.from_bits(b.add_ints(b.bits(b.polynomial(r, _EXP2_F64, f64), i64), scale), f64)
    # A NaN has no exponent to add to.
    power = b.select(b.compare("uno", product, product), product, power)
    return _pow_special(b, x, y, b.narrow(power, f32))


def _pow_special(b: MathBuilder, x: SSAValue, y: SSAValue, size: SSAValue) -> SSAValue:
    """`x^y` from `|x|^y`."""
    one, zero, infinity = b.const(1.0), b.const(0.0), b.const(float("inf"))
    half = b.mul(y, b.const(0.5))
    integral = b.compare("oeq", b.trunc(y), y)
    odd = b.both(integral, b.compare("one", b.trunc(half), half))
    negative = b.compare_ints("slt", b.bits(x), b.int(0))
    result = b.select(b.both(negative, odd), b.neg(size), size)
    finite_below = b.both(b.compare("olt", x, zero), b.compare("ogt", x, b.const(float("-inf"))))
    undefined = b.both(finite_below, b.compare("une", b.trunc(y), y))
    result = b.select(undefined, b.const(float("nan")), result)
    minus_one = b.both(b.compare("oeq", x, b.const(-1.0)), b.compare("oeq", b.abs(y), infinity))
    is_one = b.either(b.compare("oeq", x, one), b.either(b.compare("oeq", y, zero), minus_one))
    return b.select(is_one, one, result)
