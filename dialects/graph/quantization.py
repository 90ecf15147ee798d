"""
Quantisation in graph ops: what all operators on quantised tensors are made of.

A quantised integer `q` stands for `(q - zero) * scale`. Scales and zero points broadcast to the tensor. `emit` inserts
an op and returns its result (`OpBuilder.add`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MaxOp, MinOp, MulOp, SubOp
from aicc.dialects.graph.choice import CastOp, ClipOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import rank_of
from aicc.dialects.graph.dtypes import element_type, is_narrow, is_narrow_float, numpy_dtype
from aicc.dialects.graph.functions import RoundOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.reductions import ReduceMaxOp, ReduceMinOp

Emit = Callable[[Operation], SSAValue]
Array = np.ndarray[Any, Any]


def cast(emit: Emit, value: SSAValue, element: Attribute) -> SSAValue:
    """`value` in an element type; no op if it has it."""
    return value if element_type_of(value) == element else emit(CastOp(value, element))


def number(emit: Emit, value: float, element: Attribute) -> SSAValue:
    """A constant of rank 0."""
    return emit(ConstantOp.from_array(np.array(value, numpy_dtype(element))))


def round_to(emit: Emit, value: SSAValue, zero: SSAValue | None, target: Attribute) -> SSAValue:
    """
    `saturate(round(value) + zero)` in a quantised type, rounded half to even.

    Sums are those of f32, which holds them exactly. The floats of 8 bits are rounded once and have no zero points.
    """
    if is_narrow_float(target):
        return emit(CastOp(value, target, saturate=True))
    rounded = cast(emit, emit(RoundOp(value)), f32)
    if zero is not None:
        rounded = emit(AddOp(rounded, cast(emit, zero, f32)))
    if is_narrow(target):
        return emit(CastOp(emit(CastOp(rounded, i32)), target, saturate=True))
    return emit(CastOp(rounded, target))


def quantize(
    emit: Emit, x: SSAValue, scale: SSAValue, zero: SSAValue | None, target: Attribute, precise: Attribute | None = None
) -> SSAValue:
    """`saturate(round(x / scale) + zero)`; the quotient is computed in `precise`, by default the type of the scale."""
    precise = element_type_of(scale) if precise is None else precise
    return round_to(emit, emit(DivOp(cast(emit, x, precise), cast(emit, scale, precise))), zero, target)


def dequantize(emit: Emit, q: SSAValue, scale: SSAValue, zero: SSAValue | None) -> SSAValue:
    """`(q - zero) * scale` in the type of the scale."""
    element = element_type_of(scale)
    if not is_narrow_float(element_type_of(q)):
        q = cast(emit, q, i32)
        if zero is not None:
            q = emit(SubOp(q, cast(emit, zero, i32)))
    return emit(MulOp(cast(emit, q, element), scale))


def dynamic_quantize(emit: Emit, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """
    `x` in ui8 by the range of its elements, which is widened to hold 0; its scale (in the type of `x`) and zero point.

    `scale = (max - min) / 255`, `zero = saturate(round(-min / scale))`. Where all of `x` is 0, so is the scale.
    """
    axes, element, target = list(range(rank_of(x.type))), element_type_of(x), element_type(np.dtype(np.uint8))
    none, most = number(emit, 0.0, element), number(emit, 255.0, element)
    low = emit(MinOp(emit(ReduceMinOp(x, axes, keepdims=False)), none))
    high = emit(MaxOp(emit(ReduceMaxOp(x, axes, keepdims=False)), none))
    scale = emit(DivOp(emit(SubOp(high, low)), most))
    zero = emit(ClipOp(emit(SubOp(none, emit(DivOp(low, scale)))), none, most))
    zero = emit(CastOp(emit(RoundOp(zero)), target))
    return quantize(emit, x, scale, zero, target), scale, zero


def dynamic_quantize_array(x: Array) -> tuple[Array, Array, Array]:
    """The numpy meaning of `dynamic_quantize`, all in the type of `x`: also the integers and the zero point."""
    none, most = np.zeros((), x.dtype), np.full((), 255, x.dtype)
    low, high = np.min(x, initial=0), np.max(x, initial=0)
    with np.errstate(all="ignore"):
        scale = (high - low) / most
        zero = np.rint(np.clip(none - low / scale, none, most))
        zero = none if np.isnan(zero) else zero
        q = np.clip(np.rint(x / scale) + zero, none, most)
    return np.where(np.isnan(q), none, q), scale, zero
