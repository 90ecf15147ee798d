"""Random nodes: element by element, reductions, and positions of extremes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.unit.fuzz.builder import ALL, BF16, BOOL, FLOATS, I32, I64, INTEGERS, NUMBERS, Builder, Skip
from tests.unit.fuzz.schemas import common

Recipe = Callable[[Builder], object]

EXACT_UNARY = ("Abs", "Neg", "Relu", "Sqrt", "Identity", "Not", "BitwiseNot")
JUMPING_UNARY = ("Floor", "Ceil", "Round", "Sign", "IsNaN")
INEXACT_UNARY = (
    *("Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh"),
    *("Erf", "Sigmoid", "Softplus", "Softsign", "Mish", "HardSwish", "Reciprocal"),
)
"""Reciprocal is one division, but of the standard's definition in f16, which leaves the order of roundings open."""

EXACT_BINARY = ("Add", "Sub", "Mul", "Div")
LOGIC = ("And", "Or", "Xor")
BITS = ("BitwiseAnd", "BitwiseOr", "BitwiseXor")
COMPARISONS = ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
VARIADIC = ("Min", "Max", "Sum", "Mean")
REDUCTIONS = (
    *("ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum"),
    *("ReduceLogSumExp", "ReduceSumSquare"),
)
AXES_AS_INPUT = {"ReduceSum": 13}
"""Operator set from which the axes of a reduction are an input; 18 for all others."""


def unary(op: str, exact: bool, jumping: bool = False) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(ALL, op, g.opset), exact=jumping)
        return g.add(op, [x], exact=exact)

    return recipe


def activation(op: str, exact: bool, **ranges: tuple[float, float]) -> Recipe:
    """Attributes are drawn from ranges, or left out."""

    def recipe(g: Builder) -> object:
        x = g.pick(common(FLOATS, op, g.opset), exact=op in ("Shrink", "ThresholdedRelu"))
        given = {
            name: float(np.float32(g.rng.uniform(low, high))) for name, (low, high) in ranges.items() if g.chance(0.6)
        }
        return g.add(op, [x], exact=exact, **given)

    return recipe


def binary(op: str, jumping: bool = False) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(ALL, op, g.opset), exact=jumping)
        y = g.broadcasting(x.shape, x.dtype, exact=jumping)
        return g.add(op, [x, y] if g.chance(0.5) else [y, x])

    return recipe


def variadic(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(NUMBERS, op, g.opset))
        others = [g.broadcasting(x.shape, x.dtype) for _ in range(g.integer(0, 2))]
        return g.add(op, [x, *others], exact=op in ("Min", "Max") or (op == "Sum" and len(others) < 2))

    return recipe


def bit_shift(g: Builder) -> object:
    x = g.pick(common(INTEGERS, "BitShift", g.opset))
    y = g.broadcasting(x.shape, x.dtype)
    return g.add("BitShift", [x, y], direction=g.choose(("LEFT", "RIGHT")))


def mod(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "Mod", g.opset), exact=True)
    y = g.broadcasting(x.shape, x.dtype, exact=True)
    fmod = 1 if x.dtype.kind == "f" or x.dtype == BF16 else g.integer(0, 1)
    return g.add("Mod", [x, y], fmod=fmod)


def power(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "Pow", g.opset))
    others = common(NUMBERS, "Pow", g.opset, 1) if g.opset >= 12 else [x.dtype]
    dtype = x.dtype if g.chance(0.6) else g.choose(others)
    assert isinstance(dtype, np.dtype)
    if x.dtype.kind in "iu" and (dtype.kind not in "iu"):
        raise Skip("an integer to a power that is none: rounding decides")
    y = g.broadcasting(x.shape, dtype)
    if x.dtype.kind in "iu" and (y.array < 0).any():
        raise Skip("an integer to a negative power is left open")
    return g.add("Pow", [x, y], exact=False)


def is_inf(g: Builder) -> object:
    x = g.pick(common(FLOATS, "IsInf", g.opset), exact=True)
    given = {name: g.integer(0, 1) for name in ("detect_negative", "detect_positive") if g.chance(0.4)}
    return g.add("IsInf", [x], **given)


def prelu(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "PRelu", g.opset))
    cut = g.integer(0, x.rank)
    slope = g.matching([n if g.chance(0.6) else 1 for n in x.shape[cut:]], x.dtype)
    return g.add("PRelu", [x, slope])


def clip(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "Clip", g.opset))
    if g.opset < 11:
        bounds = sorted(float(np.float32(b)) for b in g.rng.standard_normal(2))
        given = {name: b for name, b in zip(("min", "max"), bounds, strict=True) if g.chance(0.7)}
        return g.add("Clip", [x], **given)
    bounds = [g.matching((), x.dtype) if g.chance(0.7) else None for _ in range(2)]
    return g.add("Clip", [x, *bounds])


def where(g: Builder) -> object:
    x = g.pick(common(ALL, "Where", g.opset, 1))
    condition = g.broadcasting(x.shape, BOOL)
    return g.add("Where", [condition, x, g.broadcasting(x.shape, x.dtype)])


def cast(g: Builder) -> object:
    from onnx import helper

    x = g.pick(common(ALL, "Cast", g.opset))
    targets = common(ALL, "Cast", g.opset)
    target = g.choose(targets)
    assert isinstance(target, np.dtype)
    is_float = x.dtype.kind == "f" or x.dtype == BF16
    if is_float and not (target.kind == "f" or target == BF16):
        # What floats become that an integer cannot hold is left open by the standard.
        if not x.exact:
            raise Skip("rounding decides")
        wide = x.array.astype(np.float64)
        if target != BOOL and not (np.abs(np.nan_to_num(wide, nan=1e30)) < np.iinfo(target).max / 2).all():
            raise Skip("out of range")
        if target.kind == "u" and (wide <= -1).any():
            raise Skip("out of range")
    if g.chance(0.2) and g.has("CastLike"):
        return g.add("CastLike", [x, g.matching((1,), target)])
    return g.add("Cast", [x], to=helper.np_dtype_to_tensor_dtype(target))


def axes_of(g: Builder, rank: int, least: int = 1) -> list[int]:
    """Some axes, some of them counted from the end."""
    return [axis - rank if g.chance(0.4) else axis for axis in g.some(range(rank), least)]


def reduction(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(NUMBERS, op, g.opset), least_rank=0 if g.chance(0.2) else 1)
        exact = op in ("ReduceMax", "ReduceMin")
        keepdims = {} if g.chance(0.4) else {"keepdims": g.integer(0, 1)}
        axes = axes_of(g, x.rank) if x.rank and g.chance(0.85) else None
        if axes is None and x.dtype.kind == "f" and 0 in x.shape and op in ("ReduceMean",):
            raise Skip("the mean of nothing")
        if g.opset < AXES_AS_INPUT.get(op, 18):
            return g.add(op, [x], exact=exact, axes=axes, **keepdims)
        noop = {"noop_with_empty_axes": g.integer(0, 1)} if g.chance(0.4) else {}
        return g.add(op, [x, None if axes is None else g.integers(axes)], exact=exact, **keepdims, **noop)

    return recipe


def arg_reduction(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(NUMBERS, op, g.opset), least_rank=1, least=1, exact=True)
        if x.dtype.kind not in "iu" and np.isnan(x.array.astype(np.float64)).any():
            raise Skip("the place of a NaN is left open")
        given = {"axis": g.integer(-x.rank, x.rank - 1)} if g.chance(0.8) else {}
        if g.chance(0.6):
            given["keepdims"] = g.integer(0, 1)
        if g.opset >= 12 and g.chance(0.5):
            given["select_last_index"] = g.integer(0, 1)
        return g.add(op, [x], **given)

    return recipe


def cumsum(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "CumSum", g.opset), least_rank=1)
    axis = g.integer(-x.rank, x.rank - 1)
    where = g.number(axis, I64 if g.chance(0.5) else I32)
    if g.chance(0.15):
        where = g.input(where.array)
    given = {name: g.integer(0, 1) for name in ("exclusive", "reverse") if g.chance(0.5)}
    return g.add("CumSum", [x, where], exact=False, **given)


def gelu(g: Builder) -> object:
    x = g.pick(common(FLOATS, "Gelu", g.opset))
    return g.add("Gelu", [x], exact=False, **({"approximate": "tanh"} if g.chance(0.5) else {}))


RECIPES: dict[str, Recipe] = {
    **{op: unary(op, exact=True) for op in EXACT_UNARY},
    **{op: unary(op, exact=True, jumping=True) for op in JUMPING_UNARY},
    **{op: unary(op, exact=False) for op in INEXACT_UNARY},
    **{op: binary(op) for op in (*EXACT_BINARY, *LOGIC, *BITS)},
    **{op: binary(op, jumping=True) for op in COMPARISONS},
    **{op: variadic(op) for op in VARIADIC},
    **{op: reduction(op) for op in REDUCTIONS},
    **{op: arg_reduction(op) for op in ("ArgMax", "ArgMin")},
    "BitShift": bit_shift,
    "Cast": cast,
    "Celu": activation("Celu", False, alpha=(0.2, 2)),
    "Clip": clip,
    "CumSum": cumsum,
    "Elu": activation("Elu", False, alpha=(0.2, 2)),
    "Gelu": gelu,
    "HardSigmoid": activation("HardSigmoid", False, alpha=(0.1, 0.5), beta=(0.2, 0.8)),
    "IsInf": is_inf,
    "LeakyRelu": activation("LeakyRelu", True, alpha=(-0.5, 0.5)),
    "Mod": mod,
    "PRelu": prelu,
    "Pow": power,
    "Selu": activation("Selu", False, alpha=(0.5, 2), gamma=(0.5, 2)),
    "Shrink": activation("Shrink", True, lambd=(0, 1), bias=(-1, 1)),
    "Swish": activation("Swish", False, alpha=(0.5, 2)),
    "ThresholdedRelu": activation("ThresholdedRelu", True, alpha=(-1, 1)),
    "Where": where,
}
