"""Elementwise functions of one operand: signs, rounding, roots, exponentials, trigonometry, bits."""

from __future__ import annotations

import math as python_math
from collections.abc import Callable
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects import math
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition

from aicc.dialects.graph.elementwise import Array, FloatFunctionOp, UnaryOp
from aicc.dialects.graph.interfaces import ElementKind, GraphOp
from aicc.dialects.graph.scalars import ScalarBuilder


@irdl_op_definition
class NegOp(UnaryOp):
    """`result = -x`. Integers wrap."""

    name = "graph.neg"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.neg(args[0])

    def compute(self, *operands: Array) -> Array:
        return np.negative(operands[0])


@irdl_op_definition
class AbsOp(UnaryOp):
    """`result = |x|`; INT_MIN stays as it is."""

    name = "graph.abs"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.abs(args[0], unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        return np.abs(operands[0])


@irdl_op_definition
class SignOp(UnaryOp):
    """`result = -1, 0 or 1` as `x` is negative, zero or positive; NaN for NaN."""

    name = "graph.sign"
    CONTINUOUS: ClassVar[bool] = False
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        zero = b.const_like(0, x)
        # Zero and NaN are neither greater nor less, and are passed on.
        if self.unsigned:
            return b.select(b.cmp("ne", x, zero), b.const_like(1, x), zero)
        negative = b.select(b.cmp("lt", x, zero), b.const_like(-1, x), x)
        return b.select(b.cmp("gt", x, zero), b.const_like(1, x), negative)

    def compute(self, *operands: Array) -> Array:
        return np.sign(operands[0])


@irdl_op_definition
class NotOp(UnaryOp):
    """`result = not x`."""

    name = "graph.not"
    ALLOWED: ClassVar[ElementKind] = ElementKind.BOOL

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.not_(args[0])

    def compute(self, *operands: Array) -> Array:
        return ~operands[0]


@irdl_op_definition
class BitNotOp(UnaryOp):
    """`result = ~x`: all bits flipped."""

    name = "graph.bit_not"
    ALLOWED: ClassVar[ElementKind] = ElementKind.INTEGER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.not_(args[0])

    def compute(self, *operands: Array) -> Array:
        return ~operands[0]


@irdl_op_definition
class ReciprocalOp(UnaryOp):
    """`result = 1 / x`."""

    name = "graph.reciprocal"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.div(b.const_like(1, args[0]), args[0])

    def compute(self, *operands: Array) -> Array:
        return 1 / operands[0]


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`result = 1 / sqrt(x)`, each of the two rounded."""

    name = "graph.rsqrt"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.div(b.const_like(1, args[0]), b.sqrt(args[0]))

    def compute(self, *operands: Array) -> Array:
        return 1 / np.sqrt(operands[0])


_erf_elements: Callable[[Array], Any] = np.frompyfunc(python_math.erf, 1, 1)


def erf(x: Array) -> Array:
    """The error function of each element, computed in f64."""
    return cast(Array, np.asarray(_erf_elements(x.astype(np.float64)))).astype(x.dtype)


@irdl_op_definition
class FloorOp(FloatFunctionOp):
    """`result =` the largest integer that is at most `x`."""

    name = "graph.floor"
    CONTINUOUS: ClassVar[bool] = False
    MATH: ClassVar[type[Operation]] = math.FloorOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.floor


@irdl_op_definition
class CeilOp(FloatFunctionOp):
    """`result =` the smallest integer that is at least `x`."""

    name = "graph.ceil"
    CONTINUOUS: ClassVar[bool] = False
    MATH: ClassVar[type[Operation]] = math.CeilOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.ceil


@irdl_op_definition
class RoundOp(FloatFunctionOp):
    """`result =` the nearest integer; ties go to the even one."""

    name = "graph.round"
    CONTINUOUS: ClassVar[bool] = False
    MATH: ClassVar[type[Operation]] = math.RoundEvenOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.rint


@irdl_op_definition
class TruncOp(FloatFunctionOp):
    """`result =` `x` without its fraction."""

    name = "graph.trunc"
    CONTINUOUS: ClassVar[bool] = False
    MATH: ClassVar[type[Operation]] = math.TruncOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.trunc


@irdl_op_definition
class SqrtOp(FloatFunctionOp):
    """`result =` the square root; NaN for negative `x`, -0 for -0."""

    name = "graph.sqrt"
    MATH: ClassVar[type[Operation]] = math.SqrtOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.sqrt


@irdl_op_definition
class ExpOp(FloatFunctionOp):
    """`result =` `e ^ x`."""

    name = "graph.exp"
    MATH: ClassVar[type[Operation]] = math.ExpOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.exp


@irdl_op_definition
class Expm1Op(FloatFunctionOp):
    """`result =` `e ^ x - 1`, accurate near 0."""

    name = "graph.expm1"
    MATH: ClassVar[type[Operation]] = math.ExpM1Op
    NUMPY: ClassVar[Callable[[Array], Array]] = np.expm1


@irdl_op_definition
class LogOp(FloatFunctionOp):
    """`result =` the natural logarithm; -inf for 0, NaN for negative `x`."""

    name = "graph.log"
    MATH: ClassVar[type[Operation]] = math.LogOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.log


@irdl_op_definition
class Log1pOp(FloatFunctionOp):
    """`result =` `log(1 + x)`, accurate near 0."""

    name = "graph.log1p"
    MATH: ClassVar[type[Operation]] = math.Log1pOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.log1p


@irdl_op_definition
class SinOp(FloatFunctionOp):
    """`result =` the sine; NaN for an infinity."""

    name = "graph.sin"
    MATH: ClassVar[type[Operation]] = math.SinOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.sin


@irdl_op_definition
class CosOp(FloatFunctionOp):
    """`result =` the cosine; NaN for an infinity."""

    name = "graph.cos"
    MATH: ClassVar[type[Operation]] = math.CosOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.cos


@irdl_op_definition
class TanOp(FloatFunctionOp):
    """`result =` the tangent; NaN for an infinity."""

    name = "graph.tan"
    MATH: ClassVar[type[Operation]] = math.TanOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.tan


@irdl_op_definition
class AsinOp(FloatFunctionOp):
    """`result =` the arc sine; NaN outside `[-1, 1]`."""

    name = "graph.asin"
    MATH: ClassVar[type[Operation]] = math.AsinOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.arcsin


@irdl_op_definition
class AcosOp(FloatFunctionOp):
    """`result =` the arc cosine; NaN outside `[-1, 1]`."""

    name = "graph.acos"
    MATH: ClassVar[type[Operation]] = math.AcosOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.arccos


@irdl_op_definition
class AtanOp(FloatFunctionOp):
    """`result =` the arc tangent."""

    name = "graph.atan"
    MATH: ClassVar[type[Operation]] = math.AtanOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.arctan


@irdl_op_definition
class SinhOp(FloatFunctionOp):
    """`result =` the hyperbolic sine."""

    name = "graph.sinh"
    MATH: ClassVar[type[Operation]] = math.SinhOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.sinh


@irdl_op_definition
class CoshOp(FloatFunctionOp):
    """`result =` the hyperbolic cosine."""

    name = "graph.cosh"
    MATH: ClassVar[type[Operation]] = math.CoshOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.cosh


@irdl_op_definition
class TanhOp(FloatFunctionOp):
    """`result =` the hyperbolic tangent."""

    name = "graph.tanh"
    MATH: ClassVar[type[Operation]] = math.TanhOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.tanh


@irdl_op_definition
class AsinhOp(FloatFunctionOp):
    """`result =` the inverse hyperbolic sine."""

    name = "graph.asinh"
    MATH: ClassVar[type[Operation]] = math.AsinhOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.arcsinh


@irdl_op_definition
class AcoshOp(FloatFunctionOp):
    """`result =` the inverse hyperbolic cosine; NaN below 1."""

    name = "graph.acosh"
    MATH: ClassVar[type[Operation]] = math.AcoshOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.arccosh


@irdl_op_definition
class AtanhOp(FloatFunctionOp):
    """`result =` the inverse hyperbolic tangent; NaN outside `[-1, 1]`."""

    name = "graph.atanh"
    MATH: ClassVar[type[Operation]] = math.AtanhOp
    NUMPY: ClassVar[Callable[[Array], Array]] = np.arctanh


@irdl_op_definition
class ErfOp(FloatFunctionOp):
    """`result =` the error function `2 / sqrt(pi) * integral(exp(-t^2), t = 0..x)`."""

    name = "graph.erf"
    MATH: ClassVar[type[Operation]] = math.ErfOp
    NUMPY: ClassVar[Callable[[Array], Array]] = erf


OPS: list[type[GraphOp]] = [
    AbsOp,
    AcosOp,
    AcoshOp,
    AsinOp,
    AsinhOp,
    AtanOp,
    AtanhOp,
    BitNotOp,
    CeilOp,
    CosOp,
    CoshOp,
    ErfOp,
    ExpOp,
    Expm1Op,
    FloorOp,
    LogOp,
    Log1pOp,
    NegOp,
    NotOp,
    ReciprocalOp,
    RoundOp,
    RsqrtOp,
    SignOp,
    SinOp,
    SinhOp,
    SqrtOp,
    TanOp,
    TanhOp,
    TruncOp,
]
