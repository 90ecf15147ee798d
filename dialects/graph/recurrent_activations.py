"""
The activations of recurrent ops: a list such as `"sigmoid,tanh,scaled_tanh(1.7159,0.6667)"`.

Each has a numpy function and a decomposition into graph ops, both of the argument and up to two parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.activations import (
    EluOp,
    HardSigmoidOp,
    LeakyReluOp,
    ReluOp,
    SigmoidOp,
    SoftplusOp,
    SoftsignOp,
    ThresholdedReluOp,
)
from aicc.dialects.graph.arithmetic import AddOp, MulOp
from aicc.dialects.graph.constants import scalar_like
from aicc.dialects.graph.elementwise import Array
from aicc.dialects.graph.functions import TanhOp
from aicc.dialects.graph.interfaces import OpBuilder

_Compute = Callable[[Array, float, float], Array]
_Build = Callable[[OpBuilder, SSAValue, float, float], SSAValue]


@dataclass(frozen=True)
class _Kind:
    """A family of activations: the values of parameters that are not given, the meaning, the ops."""

    defaults: tuple[float, ...]
    compute: _Compute
    build: _Build


def _sigmoid(x: Array, alpha: float, beta: float) -> Array:
    small: Array = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _affine(b: OpBuilder, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return b.add(AddOp(b.add(MulOp(x, scalar_like(b, alpha, x))), scalar_like(b, beta, x)))


def _scaled_tanh(b: OpBuilder, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    inner = b.add(TanhOp(b.add(MulOp(x, scalar_like(b, beta, x)))))
    return b.add(MulOp(inner, scalar_like(b, alpha, x)))


_KINDS: Mapping[str, _Kind] = {
    "affine": _Kind((1.0, 0.0), lambda x, alpha, beta: alpha * x + beta, _affine),
    "elu": _Kind(
        (1.0,),
        lambda x, alpha, beta: np.where(x > 0, x, alpha * np.expm1(x)),
        lambda b, x, alpha, beta: b.add(EluOp(x, alpha)),
    ),
    "hard_sigmoid": _Kind(
        (0.2, 0.5),
        lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
        lambda b, x, alpha, beta: b.add(HardSigmoidOp(x, alpha, beta)),
    ),
    "leaky_relu": _Kind(
        (0.01,),
        lambda x, alpha, beta: np.where(x < 0, alpha * x, x),
        lambda b, x, alpha, beta: b.add(LeakyReluOp(x, alpha)),
    ),
    "relu": _Kind((), lambda x, alpha, beta: np.maximum(x, 0), lambda b, x, alpha, beta: b.add(ReluOp(x))),
    "scaled_tanh": _Kind((1.0, 1.0), lambda x, alpha, beta: alpha * np.tanh(beta * x), _scaled_tanh),
    "sigmoid": _Kind((), _sigmoid, lambda b, x, alpha, beta: b.add(SigmoidOp(x))),
    "softplus": _Kind((), lambda x, alpha, beta: np.logaddexp(x, 0), lambda b, x, alpha, beta: b.add(SoftplusOp(x))),
    "softsign": _Kind((), lambda x, alpha, beta: x / (1 + np.abs(x)), lambda b, x, alpha, beta: b.add(SoftsignOp(x))),
    "tanh": _Kind((), lambda x, alpha, beta: np.tanh(x), lambda b, x, alpha, beta: b.add(TanhOp(x))),
    "thresholded_relu": _Kind(
        (1.0,),
        lambda x, alpha, beta: np.where(x > alpha, x, 0),
        lambda b, x, alpha, beta: b.add(ThresholdedReluOp(x, alpha)),
    ),
}

NAMES = tuple(_KINDS)
"""The names of all activations, in alphabetical order."""

_ITEM = re.compile(r"([a-z_]+)(?:\(([^()]*)\))?(?:,|$)")


@dataclass(frozen=True)
class Activation:
    """One activation with its parameters."""

    name: str
    parameters: tuple[float, ...]

    def __str__(self) -> str:
        if self.parameters == _KINDS[self.name].defaults:
            return self.name
        return f"{self.name}({','.join(map(repr, self.parameters))})"

    def compute(self, x: Array) -> Array:
        """The numpy meaning, in the dtype of `x`."""
        alpha, beta = self._pair
        return _KINDS[self.name].compute(x, alpha, beta).astype(x.dtype)

    def build(self, b: OpBuilder, x: SSAValue) -> SSAValue:
        """The same as graph ops."""
        alpha, beta = self._pair
        return _KINDS[self.name].build(b, x, alpha, beta)

    @property
    def _pair(self) -> tuple[float, float]:
        alpha, beta, *_ = (*self.parameters, 0.0, 0.0)
        return alpha, beta


def activation(name: str, *given: float) -> Activation:
    """
    The activation of a name; parameters that are not given have their usual values.

    Raises:
        VerifyException: for an unknown name or too many parameters.
    """
    kind = _KINDS.get(name)
    if kind is None:
        raise VerifyException(f"there is no activation '{name}'; expected one of {', '.join(NAMES)}")
    if len(given) > len(kind.defaults):
        raise VerifyException(f"activation '{name}' has {len(given)} parameters, expected {len(kind.defaults)}")
    return Activation(name, (*given, *kind.defaults[len(given) :]))


def parse_activations(text: str) -> tuple[Activation, ...]:
    """
    The activations that a property lists.

    Raises:
        VerifyException: for text of another form, and what `activation` raises.
    """
    found: list[Activation] = []
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        given: list[float] = []
        try:
            given += [float(number) for number in match[2].split(",")] if match is not None and match[2] else []
        except ValueError:
            match = None
        if match is None:
            raise VerifyException(f'activations are "{text}", expected a list such as "sigmoid,tanh,elu(1.0)"')
        found.append(activation(match[1], *given))
        position = match.end()
    return tuple(found)


def float_of(attr: FloatAttr[Any] | None) -> float | None:
    """The number in an optional property."""
    return None if attr is None else attr.value.data
