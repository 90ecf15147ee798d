"""Elementwise ops that choose or convert: where, clip, prelu, cast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyTensorTypeConstr, StringAttr, UnitAttr, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph import narrow
from aicc.dialects.graph.assembly import flag
from aicc.dialects.graph.dims import dims_of, tensor_of, tensor_type
from aicc.dialects.graph.dtypes import (
    accumulator_type,
    bit_width,
    is_bool,
    is_float,
    is_narrow,
    is_narrow_float,
    is_unsigned,
    numpy_dtype,
    signless,
)
from aicc.dialects.graph.elementwise import Array, BinaryOp, ElementwiseOp
from aicc.dialects.graph.interfaces import (
    ElementKind,
    GraphOp,
    check_element_type,
    element_kind,
    element_type_of,
)
from aicc.dialects.graph.scalars import ScalarBuilder


@irdl_op_definition
class WhereOp(ElementwiseOp):
    """
    `result = a` where `condition` holds, else `b`; all three broadcast.

    - (C1) `condition` is i1
    - (C2) `a` and `b` have one element type
    """

    name = "graph.where"

    condition = operand_def(AnyTensorTypeConstr)
    a = operand_def(AnyTensorTypeConstr)
    b = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, condition: SSAValue | Operation, a: SSAValue | Operation, b: SSAValue | Operation):
        self.build_self([condition, a, b])

    def check_operands(self) -> None:
        check_element_type("condition", element_type_of(self.condition), ElementKind.BOOL)  # C1
        left, right = element_type_of(self.a), element_type_of(self.b)
        element_kind(left)
        if left != right:  # C2
            raise VerifyException(f"operands have element types {left} and {right}, expected the same")

    def result_element_type(self) -> Attribute:
        return element_type_of(self.a)

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.select(*args)

    def build_scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        # Nothing is computed, so nothing is widened.
        return self.scalar(b, *args)

    def compute(self, *operands: Array) -> Array:
        return np.where(*operands)


@irdl_op_definition
class ClipOp(ElementwiseOp):
    """
    `result = min(max(x, min), max)`: the upper bound wins where the two cross. NaN in `x` or a bound gives NaN.

    - (C1) `min` and `max` have rank 0
    - (C2) all operands have one element type, a number
    """

    name = "graph.clip"
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    x = operand_def(AnyTensorTypeConstr)
    min = opt_operand_def(AnyTensorTypeConstr)
    max = opt_operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        x: SSAValue | Operation,
        min: SSAValue | Operation | None = None,
        max: SSAValue | Operation | None = None,
    ):
        self.build_self([x, min, max])

    def check_operands(self) -> None:
        super().check_operands()
        for name, bound in (("min", self.min), ("max", self.max)):
            if bound is not None and tensor_of(bound.type).shape.data:  # C1
                raise VerifyException(f"{name} has type {bound.type}, expected rank 0")

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        result, *bounds = args
        if self.min is not None:
            result = b.max(result, bounds.pop(0), unsigned=self.unsigned)
        if self.max is not None:
            result = b.min(result, bounds.pop(0), unsigned=self.unsigned)
        return result

    def compute(self, *operands: Array) -> Array:
        result, *bounds = operands
        if self.min is not None:
            result = np.maximum(result, bounds.pop(0))
        if self.max is not None:
            result = np.minimum(result, bounds.pop(0))
        return result


@irdl_op_definition
class PreluOp(BinaryOp):
    """`result = lhs` where `lhs >= 0` (or is NaN), else `rhs * lhs`: `rhs` holds the slopes, which broadcast."""

    name = "graph.prelu"
    ALLOWED: ClassVar[ElementKind] = ElementKind.SIGNED_NUMBER

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x, slope = args
        return b.select(b.cmp("lt", x, b.const_like(0, x)), b.mul(slope, x), x)

    def compute(self, *operands: Array) -> Array:
        x, slope = operands
        return np.where(x < 0, slope * x, x)


def integer_limits(element_type: Attribute) -> tuple[int, int]:
    """The smallest and largest value of an integer element type."""
    bits = bit_width(element_type)
    return (0, 2**bits - 1) if is_unsigned(element_type) else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


@irdl_op_definition
class CastOp(ElementwiseOp):
    """
    `result = x` in another element type.

    - to i1: whether `x` is not 0 (NaN is true); from i1: 0 or 1
    - to a float: rounded to nearest even, infinite past the range; integers to f16 and bf16 by way of f32
    - from a float to an integer: towards zero; the nearest value of the range where out of it, 0 for NaN
    - from an integer to an integer: wraps, or with `saturate` the nearest value of the range
    - to a float of 8 or 4 bits: rounded to nearest even; past the range NaN (in f8E5M2 infinite), or with `saturate`
      (and always in f4E2M1FN, where NaN becomes 0) the largest number; from integers and bf16 by way of f32
    - to f8E8M0FNU: to a power of two as `round_mode` says; of 0 and numbers below the range NaN, or with `saturate`
      the smallest; of numbers below 0 NaN
    - from a float to an integer of 4 or 2 bits: the low bits of the i32

    ```mlir
    %r = graph.cast %x {saturate} : tensor<4xi32> -> tensor<4xui8>
    ```
    """

    name = "graph.cast"

    x = operand_def(AnyTensorTypeConstr)
    saturate = opt_prop_def(UnitAttr)
    round_mode = prop_def(StringAttr, default_value=StringAttr("up"))
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        element_type: Attribute,
        *,
        saturate: bool = False,
        round_mode: narrow.RoundMode = "up",
    ):
        IRDLOperation.__init__(
            self,
            operands=[x],
            properties={"saturate": flag(saturate), "round_mode": StringAttr(round_mode)},
            result_types=[tensor_type(dims_of(SSAValue.get(x).type), element_type)],
        )

    @property
    def rounding(self) -> narrow.RoundMode:
        """How a conversion to a power of two rounds."""
        mode = narrow.round_mode_named(self.round_mode.data)
        assert mode is not None
        return mode

    def infer_types(self) -> Sequence[Attribute]:
        element_kind(element_type_of(self.x))
        target = self.result_element_type()
        element_kind(target)
        if narrow.round_mode_named(self.round_mode.data) is None:
            raise VerifyException(
                f"round_mode is '{self.round_mode.data}', expected one of {', '.join(narrow.ROUND_MODES)}"
            )
        return [tensor_type(dims_of(self.x.type), target)]

    def result_element_type(self) -> Attribute:
        return element_type_of(self.result)

    def compute(self, *operands: Array) -> Array:
        x = operands[0]
        source, target = element_type_of(self.x), self.result_element_type()
        if source == target:
            return x
        if is_narrow(source):
            x = narrow.widen_array(x)
        if is_narrow_float(target):
            x = x if x.dtype.kind == "f" else x.astype(np.float32)
            saturate = self.saturate is not None
            return narrow.narrow_floats(x, target, saturate=saturate, round_mode=self.rounding)
        if is_narrow(target):
            if x.dtype.kind == "f":
                x = _float_to_integer(x, i32, np.dtype(np.int32))
            elif self.saturate is not None:
                x = np.clip(x.astype(np.int64) if x.dtype == np.bool_ else x, *integer_limits(target))
            return narrow.narrow_integers(x, target)
        dtype = numpy_dtype(target)
        if dtype == np.bool_:
            return x != 0
        if is_float(target):
            return x if x.dtype.kind == "f" else x.astype(numpy_dtype(accumulator_type(target)))
        if x.dtype.kind == "f":
            return _float_to_integer(x, target, dtype)
        if self.saturate is not None:
            low, high = integer_limits(target)
            source = np.iinfo(x.dtype) if x.dtype != np.bool_ else np.iinfo(np.uint8)
            x = np.clip(x, max(low, int(source.min)), min(high, int(source.max))) if x.dtype != np.bool_ else x
        return x.astype(dtype)

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        x = args[0]
        source, target = element_type_of(self.x), self.result_element_type()
        if source == target:
            return x
        if is_narrow(source):
            x, source = narrow.widen_scalar(b, x, source), narrow.wide_type(source)
        saturate = self.saturate is not None
        if is_narrow_float(target):
            x = x if is_float(source) else _to_float(b, x, source, f32)
            return narrow.narrow_scalar(b, x, target, saturate=saturate, round_mode=self.rounding)
        if is_narrow(target):
            if is_float(source):
                x = b.float_to_integer(x, i32, unsigned=False)
            else:
                x = _integer_to_integer(b, x, source, target, saturate)
            return narrow.narrow_scalar(b, x, target, saturate=saturate, round_mode=self.rounding)
        if is_bool(target):
            return x if is_bool(source) else b.cmp("ne", x, b.const_like(0, x))
        if is_float(target):
            return _to_float(b, x, source, accumulator_type(target))
        if is_float(source):
            return b.float_to_integer(x, signless(target), unsigned=is_unsigned(target))
        return _integer_to_integer(b, x, source, target, saturate)


def _float_to_integer(x: Array, target: Attribute, dtype: np.dtype[Any]) -> Array:
    low, high = integer_limits(target)
    whole = np.trunc(x)
    # `high + 1` is a power of two, so exact in every float type; `high` itself is not.
    inside = (whole >= float(low)) & (whole < float(high + 1))
    result = np.where(inside, whole, 0).astype(dtype)
    result = np.where(whole >= float(high + 1), np.array(high, dtype), result)
    return np.where(whole < float(low), np.array(low, dtype), result)


def _to_float(b: ScalarBuilder, x: SSAValue, source: Attribute, target: Attribute) -> SSAValue:
    assert is_float(target)
    if is_float(source):
        return b.extend_float(x, target) if bit_width(x.type) < bit_width(target) else b.truncate_float(x, target)
    x = b.index_to_i64(x)
    return b.insert(arith.UIToFPOp(x, target) if is_unsigned(source) else arith.SIToFPOp(x, target))


def _integer_to_integer(
    b: ScalarBuilder, x: SSAValue, source: Attribute, target: Attribute, saturate: bool
) -> SSAValue:
    if saturate:
        low, high = integer_limits(target)
        source_low, source_high = integer_limits(source)
        unsigned = is_unsigned(source)
        if source_low < low:
            x = b.max(x, b.const_like(low, x), unsigned=unsigned)
        if source_high > high:
            x = b.min(x, b.const_like(high, x), unsigned=unsigned)
    return b.resize_integer(x, signless(target), unsigned=is_unsigned(source))


OPS: list[type[GraphOp]] = [CastOp, ClipOp, PreluOp, WhereOp]
