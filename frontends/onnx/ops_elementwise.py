"""Arithmetic, comparison, logic and activations: element by element, with numpy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.dialects.builtin import bf16, f16, f32, f64, i1
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph import activations, arithmetic, choice, comparison, functions
from aicc.dialects.graph.bitcast import BitcastOp
from aicc.dialects.graph.dtypes import bit_width, element_type, is_integer, is_narrow_float, numpy_dtype
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp
from aicc.dialects.graph.narrow import ROUND_MODES, round_mode_named
from aicc.frontends.onnx.broadcast import second_operand, slope
from aicc.frontends.onnx.context import Handler, NodeContext, Result


def _unary(op: Callable[[SSAValue], Operation]) -> Handler:
    return lambda ctx: ctx.emit(op(ctx.ssa(0)))


def _binary(op: Callable[[SSAValue, SSAValue], Operation]) -> Handler:
    return lambda ctx: ctx.emit(op(ctx.ssa(0), second_operand(ctx)))


def _variadic(op: Callable[[SSAValue, SSAValue], Operation]) -> Handler:
    def handle(ctx: NodeContext) -> SSAValue:
        first, *rest = ctx.every()
        for value in rest:
            first = ctx.emit(op(first, value))
        return first

    return handle


def _mean(ctx: NodeContext) -> SSAValue:
    total = _variadic(arithmetic.AddOp)(ctx)
    assert isinstance(total, SSAValue)
    return ctx.emit(arithmetic.DivOp(total, ctx.scalar(len(ctx.inputs), ctx.element(0))))


def _mod(ctx: NodeContext) -> SSAValue:
    op = arithmetic.RemOp if ctx.attr_int("fmod", 0) else arithmetic.ModOp
    return ctx.emit(op(ctx.ssa(0), ctx.ssa(1)))


_DIGITS: Mapping[Attribute, tuple[int, int]] = {f16: (11, 5), bf16: (8, 8), f32: (24, 8), f64: (53, 11)}
"""Of the types of floats: the binary digits that integers may have to be among their values, and of exponents."""


def _pow(ctx: NodeContext) -> SSAValue:
    """The exponent may be of another type; the result has that of the base. Computed in one that holds both."""
    base, exponent = ctx.element(0), ctx.element(1)
    if base == exponent:
        return ctx.emit(arithmetic.PowOp(ctx.ssa(0), second_operand(ctx)))
    content = ctx.value(1).content
    if content is not None and content.dtype != object and _is_exact(content, base):
        common = base
    else:
        common = _common_type(base, exponent)
    power = ctx.emit(arithmetic.PowOp(_input_as(ctx, 0, common), _input_as(ctx, 1, common)))
    return power if common == base else ctx.emit(choice.CastOp(power, base))


def _is_exact(content: np.ndarray, element: Attribute) -> bool:
    """Whether a type has all these numbers."""
    with np.errstate(all="ignore"):
        return bool((content.astype(numpy_dtype(element)).astype(content.dtype) == content).all())


def _common_type(base: Attribute, exponent: Attribute) -> Attribute:
    """The smallest type that has the values of both: whether a large exponent is odd gives a power its sign."""
    if is_integer(base) and is_integer(exponent):
        common = np.result_type(numpy_dtype(base), numpy_dtype(exponent))
        return element_type(common) if common.kind in "iu" else base
    wanted = [base, exponent]
    for common in (*(type for type in wanted if type in _DIGITS), f32, f64):
        if all(_holds(common, type) for type in wanted):
            return common
    return f64


def _holds(common: Attribute, type: Attribute) -> bool:
    """Whether a float type has all values of a type."""
    (digits, exponents), (own, range) = _DIGITS[common], _DIGITS.get(type, (bit_width(type), 0))
    return own <= digits and range <= exponents


def _input_as(ctx: NodeContext, position: int, element: Attribute) -> SSAValue:
    value = ctx.ssa(position)
    return value if ctx.element(position) == element else ctx.emit(choice.CastOp(value, element))


def _prelu(ctx: NodeContext) -> SSAValue:
    return ctx.emit(choice.PreluOp(ctx.ssa(0), slope(ctx)))


def _bit_shift(ctx: NodeContext) -> SSAValue:
    match ctx.attr_str("direction"):
        case "LEFT":
            return ctx.emit(arithmetic.ShiftLeftOp(ctx.ssa(0), ctx.ssa(1)))
        case "RIGHT":
            return ctx.emit(arithmetic.ShiftRightOp(ctx.ssa(0), ctx.ssa(1)))
        case direction:
            ctx.fail(f"direction is '{direction}', expected LEFT or RIGHT")


def _where(ctx: NodeContext) -> SSAValue:
    return ctx.emit(choice.WhereOp(ctx.ssa(0), ctx.ssa(1), ctx.ssa(2)))


def _clip(ctx: NodeContext) -> Result:
    """Bounds are attributes up to opset 10, optional inputs from 11 on."""
    if ctx.version < 11:
        # The defaults are the largest floats, so infinities are clipped too.
        limit = float(np.finfo(np.float32).max)
        low, high = ctx.attr_float("min", -limit), ctx.attr_float("max", limit)
        element = ctx.element(0)
        return ctx.emit(choice.ClipOp(ctx.ssa(0), ctx.scalar(low, element), ctx.scalar(high, element)))
    if not ctx.has(1) and not ctx.has(2):
        return ctx.value(0)
    bounds = [ctx.optional(1), ctx.optional(2)]
    for i, bound in enumerate(bounds):
        if bound is not None and ctx.dims(i + 1) == (1,):  # Not allowed, but exported.
            bounds[i] = ctx.emit(ReshapeOp(bound, ()))
    return ctx.emit(choice.ClipOp(ctx.ssa(0), *bounds))


def _cast(ctx: NodeContext) -> Result:
    return _converted(ctx, ctx.attr_element("to"))


def _cast_like(ctx: NodeContext) -> Result:
    return _converted(ctx, ctx.element(1))


def _converted(ctx: NodeContext, target: Attribute) -> Result:
    if ctx.element(0) == target:
        return ctx.value(0)
    # The attribute is for floats of 8 bits only; integers wrap.
    saturate = is_narrow_float(target) and bool(ctx.attr_int("saturate", 1))
    name = ctx.attr_str("round_mode", "up")
    if (mode := round_mode_named(name)) is None:
        ctx.fail(f"round_mode is '{name}', expected one of {', '.join(ROUND_MODES)}")
    return ctx.emit(choice.CastOp(ctx.ssa(0), target, saturate=saturate, round_mode=mode))


def _bit_cast(ctx: NodeContext) -> SSAValue:
    return ctx.emit(BitcastOp(ctx.ssa(0), ctx.attr_element("to")))


def _dropout(ctx: NodeContext) -> list[Result]:
    """Inference: the input, and a mask of ones."""
    if ctx.has(2) and ctx.constant_input(2, "training_mode").any():
        ctx.fail("training mode is not supported")
    if not ctx.wants(1):
        return [ctx.value(0)]
    element = i1 if ctx.version >= 10 else ctx.element(0)
    return [ctx.value(0), ctx.emit(ExpandOp(ctx.scalar(True, element), ctx.dims(0)))]


def _identity(ctx: NodeContext) -> Result:
    return ctx.any_value(0)


def _is_inf(ctx: NodeContext) -> SSAValue:
    negative, positive = ctx.attr_int("detect_negative", 1), ctx.attr_int("detect_positive", 1)
    found = ctx.emit(comparison.IsInfOp(ctx.ssa(0)))
    if negative and positive:
        return found
    zero = ctx.scalar(0, ctx.element(0))
    if not negative and not positive:
        return ctx.emit(arithmetic.AndOp(found, ctx.scalar(False, i1)))
    side = comparison.GtOp if positive else comparison.LtOp
    return ctx.emit(arithmetic.AndOp(found, ctx.emit(side(ctx.ssa(0), zero))))


def _gelu(ctx: NodeContext) -> SSAValue:
    return ctx.emit(activations.GeluOp(ctx.ssa(0), approximate=ctx.attr_str("approximate", "none")))


def _swish(ctx: NodeContext) -> SSAValue:
    alpha = ctx.attr_float("alpha", 1.0)
    x = ctx.ssa(0)
    if alpha == 1.0:
        return ctx.emit(activations.SiluOp(x))
    scaled = ctx.emit(arithmetic.MulOp(x, ctx.scalar(alpha, ctx.element(0))))
    return ctx.emit(arithmetic.MulOp(x, ctx.emit(activations.SigmoidOp(scaled))))


def _swiglu(ctx: NodeContext) -> SSAValue:
    return ctx.emit(arithmetic.MulOp(_swish(ctx), ctx.ssa(1)))


def _shrink(ctx: NodeContext) -> SSAValue:
    """`x + bias` below `-lambd`, `x - bias` above `lambd`, else 0."""
    x, element = ctx.ssa(0), ctx.element(0)
    bias, bound = ctx.scalar(ctx.attr_float("bias", 0.0), element), ctx.attr_float("lambd", 0.5)
    above = ctx.emit(comparison.GtOp(x, ctx.scalar(bound, element)))
    below = ctx.emit(comparison.LtOp(x, ctx.scalar(-bound, element)))
    inner = ctx.emit(choice.WhereOp(above, ctx.emit(arithmetic.SubOp(x, bias)), ctx.scalar(0, element)))
    return ctx.emit(choice.WhereOp(below, ctx.emit(arithmetic.AddOp(x, bias)), inner))


def _bitwise_not(ctx: NodeContext) -> SSAValue:
    return ctx.emit(functions.BitNotOp(ctx.ssa(0)))


def _with_floats(op: Callable[..., Operation], **defaults: float) -> Handler:
    """An activation whose parameters are attributes of the same names."""

    def handle(ctx: NodeContext) -> SSAValue:
        return ctx.emit(op(ctx.ssa(0), **{name: ctx.attr_float(name, value) for name, value in defaults.items()}))

    return handle


HANDLERS: Mapping[str, Handler] = {
    "Abs": _unary(functions.AbsOp),
    "Acos": _unary(functions.AcosOp),
    "Acosh": _unary(functions.AcoshOp),
    "Add": _binary(arithmetic.AddOp),
    "And": _binary(arithmetic.AndOp),
    "Asin": _unary(functions.AsinOp),
    "Asinh": _unary(functions.AsinhOp),
    "Atan": _unary(functions.AtanOp),
    "Atanh": _unary(functions.AtanhOp),
    "BitCast": _bit_cast,
    "BitShift": _bit_shift,
    "BitwiseAnd": _binary(arithmetic.AndOp),
    "BitwiseNot": _bitwise_not,
    "BitwiseOr": _binary(arithmetic.OrOp),
    "BitwiseXor": _binary(arithmetic.XorOp),
    "Cast": _cast,
    "CastLike": _cast_like,
    "Ceil": _unary(functions.CeilOp),
    "Celu": _with_floats(activations.CeluOp, alpha=1.0),
    "Clip": _clip,
    "Cos": _unary(functions.CosOp),
    "Cosh": _unary(functions.CoshOp),
    "Div": _binary(arithmetic.DivOp),
    "Dropout": _dropout,
    "Elu": _with_floats(activations.EluOp, alpha=1.0),
    "Equal": _binary(comparison.EqOp),
    "Erf": _unary(functions.ErfOp),
    "Exp": _unary(functions.ExpOp),
    "Floor": _unary(functions.FloorOp),
    "Gelu": _gelu,
    "Greater": _binary(comparison.GtOp),
    "GreaterOrEqual": _binary(comparison.GeOp),
    "HardSigmoid": _with_floats(activations.HardSigmoidOp, alpha=0.2, beta=0.5),
    "HardSwish": _unary(activations.HardSwishOp),
    "Identity": _identity,
    "IsInf": _is_inf,
    "IsNaN": _unary(comparison.IsNanOp),
    "LeakyRelu": _with_floats(activations.LeakyReluOp, alpha=0.01),
    "Less": _binary(comparison.LtOp),
    "LessOrEqual": _binary(comparison.LeOp),
    "Log": _unary(functions.LogOp),
    "Max": _variadic(arithmetic.MaxOp),
    "Mean": _mean,
    "Min": _variadic(arithmetic.MinOp),
    "Mish": _unary(activations.MishOp),
    "Mod": _mod,
    "Mul": _binary(arithmetic.MulOp),
    "Neg": _unary(functions.NegOp),
    "Not": _unary(functions.NotOp),
    "Or": _binary(arithmetic.OrOp),
    "PRelu": _prelu,
    "Pow": _pow,
    "Reciprocal": _unary(functions.ReciprocalOp),
    "Relu": _unary(activations.ReluOp),
    "Round": _unary(functions.RoundOp),
    # The defaults are the constants of Klambauer et al. 2017 as the standard rounds them.
    "Selu": _with_floats(activations.SeluOp, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875),
    "Shrink": _shrink,
    "Sigmoid": _unary(activations.SigmoidOp),
    "Sign": _unary(functions.SignOp),
    "Sin": _unary(functions.SinOp),
    "Sinh": _unary(functions.SinhOp),
    "Softplus": _unary(activations.SoftplusOp),
    "Softsign": _unary(activations.SoftsignOp),
    "Sqrt": _unary(functions.SqrtOp),
    "Sub": _binary(arithmetic.SubOp),
    "Sum": _variadic(arithmetic.AddOp),
    "SwiGLU": _swiglu,
    "Swish": _swish,
    "Tan": _unary(functions.TanOp),
    "Tanh": _unary(functions.TanhOp),
    "ThresholdedRelu": _with_floats(activations.ThresholdedReluOp, alpha=1.0),
    "Where": _where,
    "Xor": _binary(arithmetic.XorOp),
}
