"""Elementwise activations. NaN goes through each of them."""

from __future__ import annotations

from abc import ABC
from math import sqrt
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import FloatAttr, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import float_attr
from aicc.dialects.graph.elementwise import Array, UnaryOp
from aicc.dialects.graph.functions import erf
from aicc.dialects.graph.interfaces import ElementKind, GraphOp
from aicc.dialects.graph.scalars import ScalarBuilder

SELU_ALPHA = 1.67326319217681884765625
SELU_GAMMA = 1.05070102214813232421875
"""The parameters of the self-normalising form (Klambauer et al. 2017), as the ONNX standard rounds them."""


class ActivationOp(UnaryOp, ABC):
    """A function of one float."""

    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT


class AlphaOp(ActivationOp, ABC):
    """A function of one float with a parameter `alpha`."""

    alpha = prop_def(FloatAttr)

    def __init__(self, x: SSAValue | Operation, alpha: float):
        self.build_self([x], {"alpha": float_attr(alpha)})

    @property
    def slope(self) -> float:
        """The value of `alpha`."""
        return self.alpha.value.data


def _sigmoid(b: ScalarBuilder, x: SSAValue) -> SSAValue:
    one = b.const_like(1, x)
    # Where the exponential is out of range, the quotient is 1, or too small for a normal number.
    return b.div(one, b.add(one, b.exp_in_range(b.neg(x))))


def _softplus(b: ScalarBuilder, x: SSAValue) -> SSAValue:
    positive = b.max(x, b.const_like(0, x))
    return b.add(positive, b.log1p(b.exp(b.neg(b.abs(x)))))


def _softplus_array(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _unit_interval(b: ScalarBuilder, x: SSAValue) -> SSAValue:
    return b.min(b.max(x, b.const_like(0, x)), b.const_like(1, x))


@irdl_op_definition
class ReluOp(UnaryOp):
    """`result = max(x, 0)`."""

    name = "graph.relu"
    ALLOWED: ClassVar[ElementKind] = ElementKind.SIGNED_NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.max(args[0], b.const_like(0, args[0]))

    def compute(self, *operands: Array) -> Array:
        return np.maximum(operands[0], 0)


@irdl_op_definition
class SigmoidOp(ActivationOp):
    """`result = 1 / (1 + exp(-x))`."""

    name = "graph.sigmoid"

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return _sigmoid(b, args[0])

    def compute(self, *operands: Array) -> Array:
        return 1 / (1 + np.exp(-operands[0]))


@irdl_op_definition
class SiluOp(ActivationOp):
    """`result = x / (1 + exp(-x))`; NaN for -inf."""

    name = "graph.silu"

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.div(args[0], b.add(b.const_like(1, args[0]), b.exp_in_range(b.neg(args[0]))))

    def compute(self, *operands: Array) -> Array:
        return operands[0] / (1 + np.exp(-operands[0]))


@irdl_op_definition
class SoftplusOp(ActivationOp):
    """`result = log(1 + exp(x))`, as `max(x, 0) + log1p(exp(-|x|))`, which does not overflow."""

    name = "graph.softplus"

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return _softplus(b, args[0])

    def compute(self, *operands: Array) -> Array:
        return _softplus_array(operands[0])


@irdl_op_definition
class SoftsignOp(ActivationOp):
    """`result = x / (1 + |x|)`; NaN for infinities."""

    name = "graph.softsign"

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.div(args[0], b.add(b.const_like(1, args[0]), b.abs(args[0])))

    def compute(self, *operands: Array) -> Array:
        return operands[0] / (1 + np.abs(operands[0]))


@irdl_op_definition
class MishOp(ActivationOp):
    """`result = x * tanh(softplus(x))`; NaN for -inf."""

    name = "graph.mish"

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.mul(args[0], b.tanh(_softplus(b, args[0])))

    def compute(self, *operands: Array) -> Array:
        return operands[0] * np.tanh(_softplus_array(operands[0]))


@irdl_op_definition
class HardSwishOp(ActivationOp):
    """`result = x * min(max(x / 6 + 0.5, 0), 1)`; NaN for -inf."""

    name = "graph.hard_swish"

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        return b.mul(x, _unit_interval(b, b.add(b.mul(x, b.const_like(1 / 6, x)), b.const_like(0.5, x))))

    def compute(self, *operands: Array) -> Array:
        return operands[0] * np.minimum(np.maximum(operands[0] / 6 + 0.5, 0), 1)


@irdl_op_definition
class GeluOp(ActivationOp):
    """
    `result = x * (1 + erf(x / sqrt(2))) / 2`, or with `approximate = "tanh"`
    `x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2`; NaN for -inf.
    """

    name = "graph.gelu"

    approximate = prop_def(StringAttr, default_value=StringAttr("none"))

    def __init__(self, x: SSAValue | Operation, approximate: str = "none"):
        self.build_self([x], {"approximate": StringAttr(approximate)})

    def check_operands(self) -> None:
        super().check_operands()
        if self.approximate.data not in ("none", "tanh"):
            raise VerifyException(f'approximate is "{self.approximate.data}", expected "none" or "tanh"')

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x, one = args[0], b.const_like(1, args[0])
        if self.approximate.data == "none":
            inner = b.erf(b.mul(x, b.const_like(1 / sqrt(2), x)))
            return b.mul(b.mul(b.const_like(0.5, x), x), b.add(one, inner))
        # (1 + tanh(y)) / 2 = 1 / (1 + exp(-2 y)), which is shorter, and loses no digits where tanh is near -1.
        scale = 2 * sqrt(2 / np.pi)
        cubic = b.mul(b.const_like(0.044715 * scale, x), b.mul(x, x))
        twice = b.mul(x, b.add(b.const_like(scale, x), cubic))
        return b.div(x, b.add(one, b.exp_in_range(b.neg(twice))))

    def compute(self, *operands: Array) -> Array:
        x = operands[0]
        if self.approximate.data == "none":
            return 0.5 * x * (1 + erf(x * x.dtype.type(1 / sqrt(2))))
        return 0.5 * x * (1 + np.tanh(sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))


@irdl_op_definition
class LeakyReluOp(AlphaOp):
    """`result = x` where `x >= 0`, else `alpha * x`."""

    name = "graph.leaky_relu"

    def __init__(self, x: SSAValue | Operation, alpha: float = 0.01):
        super().__init__(x, alpha)

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        return b.select(b.cmp("lt", x, b.const_like(0, x)), b.mul(b.const_like(self.slope, x), x), x)

    def compute(self, *operands: Array) -> Array:
        return np.where(operands[0] < 0, self.slope * operands[0], operands[0])


@irdl_op_definition
class ThresholdedReluOp(AlphaOp):
    """`result = x` where `x > alpha`, else 0; so 0 for NaN."""

    name = "graph.thresholded_relu"

    def __init__(self, x: SSAValue | Operation, alpha: float = 1.0):
        super().__init__(x, alpha)

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        return b.select(b.cmp("gt", x, b.const_like(self.slope, x)), x, b.const_like(0, x))

    def compute(self, *operands: Array) -> Array:
        x = operands[0]
        return np.where(x > x.dtype.type(self.slope), x, np.zeros_like(x))


@irdl_op_definition
class EluOp(AlphaOp):
    """`result = x` where `x > 0`, else `alpha * (exp(x) - 1)`."""

    name = "graph.elu"

    def __init__(self, x: SSAValue | Operation, alpha: float = 1.0):
        super().__init__(x, alpha)

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        return b.select(b.cmp("gt", x, b.const_like(0, x)), x, b.mul(b.const_like(self.slope, x), b.expm1(x)))

    def compute(self, *operands: Array) -> Array:
        return np.where(operands[0] > 0, operands[0], self.slope * np.expm1(operands[0]))


@irdl_op_definition
class CeluOp(AlphaOp):
    """
    `result = max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)`.

    - (C1) `alpha` is not 0
    """

    name = "graph.celu"

    def __init__(self, x: SSAValue | Operation, alpha: float = 1.0):
        super().__init__(x, alpha)

    def check_operands(self) -> None:
        super().check_operands()
        if self.slope == 0:  # C1
            raise VerifyException("alpha is 0, expected a number to divide by")

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        zero, alpha = b.const_like(0, x), b.const_like(self.slope, x)
        negative = b.min(b.mul(alpha, b.expm1(b.div(x, alpha))), zero)
        return b.add(b.max(x, zero), negative)

    def compute(self, *operands: Array) -> Array:
        x = operands[0]
        return np.maximum(x, 0) + np.minimum(self.slope * np.expm1(x / self.slope), 0)


@irdl_op_definition
class SeluOp(AlphaOp):
    """`result = gamma * x` where `x > 0`, else `gamma * alpha * (exp(x) - 1)`."""

    name = "graph.selu"

    gamma = prop_def(FloatAttr)

    def __init__(
        self,
        x: SSAValue | Operation,
        alpha: float = SELU_ALPHA,
        gamma: float = SELU_GAMMA,
    ):
        self.build_self([x], {"alpha": float_attr(alpha), "gamma": float_attr(gamma)})

    @property
    def scale(self) -> float:
        """The value of `gamma`."""
        return self.gamma.value.data

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        negative = b.mul(b.const_like(self.slope, x), b.expm1(x))
        return b.mul(b.const_like(self.scale, x), b.select(b.cmp("gt", x, b.const_like(0, x)), x, negative))

    def compute(self, *operands: Array) -> Array:
        x = operands[0]
        return self.scale * np.where(x > 0, x, self.slope * np.expm1(x))


@irdl_op_definition
class HardSigmoidOp(AlphaOp):
    """`result = min(max(alpha * x + beta, 0), 1)`."""

    name = "graph.hard_sigmoid"

    beta = prop_def(FloatAttr)

    def __init__(self, x: SSAValue | Operation, alpha: float = 0.2, beta: float = 0.5):
        self.build_self([x], {"alpha": float_attr(alpha), "beta": float_attr(beta)})

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        line = b.add(b.mul(b.const_like(self.slope, x), x), b.const_like(self.beta.value.data, x))
        return _unit_interval(b, line)

    def compute(self, *operands: Array) -> Array:
        return np.minimum(np.maximum(self.slope * operands[0] + self.beta.value.data, 0), 1)


OPS: list[type[GraphOp]] = [
    CeluOp,
    EluOp,
    GeluOp,
    HardSigmoidOp,
    HardSwishOp,
    LeakyReluOp,
    MishOp,
    ReluOp,
    SeluOp,
    SigmoidOp,
    SiluOp,
    SoftplusOp,
    SoftsignOp,
    ThresholdedReluOp,
]
