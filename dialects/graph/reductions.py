"""
Reductions along axes.

A reduction is `finish(combine(.. combine(identity, prepare(x0)), prepare(x1) ..), count)`, in any order. f16 and bf16
are accumulated in f32 and rounded once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import (
    AnyTensorTypeConstr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from aicc.dialects.graph.assembly import array_values, flag, int_array
from aicc.dialects.graph.axes import check_axes, normalized_axes
from aicc.dialects.graph.choice import integer_limits
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, tensor_type
from aicc.dialects.graph.dtypes import (
    accumulator_type,
    is_bool,
    is_float,
    is_integer,
    is_unsigned,
    numpy_dtype,
    signless,
)
from aicc.dialects.graph.elementwise import Array, widened
from aicc.dialects.graph.interfaces import (
    Arrays,
    ElementKind,
    FusionKind,
    GraphOp,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant


class AxesOp(GraphOp, ABC):
    """
    Combines the elements along `axes` to one; with `keepdims` those axes stay, with size 1.

    - (C1) `axes` are ascending and in `[0, rank(x))`
    - (C2) the element type of `x` is allowed for the op
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.REDUCTION
    ALLOWED: ClassVar[ElementKind] = ElementKind.NUMBER

    x = operand_def(AnyTensorTypeConstr)
    axes = prop_def(DenseArrayBase)
    keepdims = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, axes: Sequence[int], *, keepdims: bool = False):
        """Negative axes count from the end; any order."""
        axes = normalized_axes(axes, SSAValue.get(x).type)
        self.build_self([x], {"axes": int_array(axes), "keepdims": flag(keepdims)})

    @property
    def axis_list(self) -> tuple[int, ...]:
        """`axes` as numbers."""
        return array_values(self.axes)

    def infer_types(self) -> Sequence[Attribute]:
        dims = dims_of(self.x.type)
        axes = self.axis_list
        check_axes(axes, len(dims))  # C1
        element = element_type_of(self.x)
        check_element_type("input", element, self.ALLOWED)  # C2
        keep = self.keepdims is not None
        kept = [1 if axis in axes else dim for axis, dim in enumerate(dims) if keep or axis not in axes]
        return [tensor_type(kept, element)]

    @abstractmethod
    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        """The result in numpy, with reduced axes kept; `x` is widened."""

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, axes = operands[0], self.axis_list
        with np.errstate(all="ignore"):
            result = np.asarray(self.reduce_array(widened(x), axes)).astype(x.dtype, copy=False)
        return [result if self.keepdims is not None else np.squeeze(result, axes)]

    def flops(self) -> Dim:
        return dim_prod(dims_of(self.x.type))


class ReductionOp(AxesOp, ABC):
    """A reduction whose elements are combined one by one."""

    def accumulator_type(self) -> Attribute:
        """The element type of the accumulator; signedness as in the input."""
        return accumulator_type(element_type_of(self.x))

    @property
    def unsigned(self) -> bool:
        """Whether the elements are unsigned integers or i1."""
        return is_unsigned(element_type_of(self.x))

    @abstractmethod
    def identity(self) -> FloatAttr | IntegerAttr:
        """What the accumulator starts as, of the (signless) accumulator type."""

    @abstractmethod
    def combine(self, b: ScalarBuilder, accumulator: SSAValue, x: SSAValue) -> SSAValue:
        """The accumulator with one more prepared element, or with another accumulator."""

    def prepare(self, b: ScalarBuilder, x: SSAValue) -> SSAValue:
        """An element, of the accumulator type, before it is combined."""
        del b
        return x

    def finish(self, b: ScalarBuilder, accumulator: SSAValue, count: SSAValue) -> SSAValue:
        """The result from the accumulator and the number of elements (an `index`), in the accumulator type."""
        del b, count
        return accumulator

    def build_prepare(self, b: ScalarBuilder, x: SSAValue) -> SSAValue:
        """`prepare` of an element of the operand (signless)."""
        return self.prepare(b, _resized(b, x, signless(self.accumulator_type()), self.unsigned))

    def build_finish(self, b: ScalarBuilder, accumulator: SSAValue, count: SSAValue) -> SSAValue:
        """An element of the result (signless)."""
        result = self.finish(b, accumulator, count)
        return _resized(b, result, signless(element_type_of(self.x)), self.unsigned)

    def constant(self, value: float | int) -> FloatAttr | IntegerAttr:
        """A constant of the accumulator type."""
        return scalar_constant(value, signless(self.accumulator_type()))


def _resized(b: ScalarBuilder, x: SSAValue, type: Attribute, unsigned: bool) -> SSAValue:
    """A number in a wider or narrower type of its own class."""
    if x.type == type:
        return x
    if is_float(type):
        return b.truncate_float(x, type) if _is_narrower(type, x.type) else b.extend_float(x, type)
    return b.resize_integer(x, type, unsigned=unsigned)


def _is_narrower(a: Attribute, b: Attribute) -> bool:
    return numpy_dtype(a).itemsize < numpy_dtype(b).itemsize


class SumLikeOp(ReductionOp, ABC):
    """A reduction that adds up prepared elements."""

    def identity(self) -> FloatAttr | IntegerAttr:
        return self.constant(0)

    def combine(self, b: ScalarBuilder, accumulator: SSAValue, x: SSAValue) -> SSAValue:
        return b.add(accumulator, x)


def _sum(x: Array, axes: tuple[int, ...]) -> Array:
    return np.sum(x, axis=axes, keepdims=True, dtype=x.dtype)


@irdl_op_definition
class ReduceSumOp(SumLikeOp):
    """`result = sum(x)` along `axes`; 0 of nothing. Integers wrap."""

    name = "graph.reduce_sum"

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        return _sum(x, axes)


@irdl_op_definition
class ReduceMeanOp(SumLikeOp):
    """`result = sum(x) / count` along `axes`; NaN of nothing. Integers: summed in 64 bits, then truncated."""

    name = "graph.reduce_mean"

    def accumulator_type(self) -> Attribute:
        element = element_type_of(self.x)
        if not is_integer(element):
            return super().accumulator_type()
        return IntegerType(64, Signedness.UNSIGNED) if is_unsigned(element) else IntegerType(64)

    def finish(self, b: ScalarBuilder, accumulator: SSAValue, count: SSAValue) -> SSAValue:
        return b.div(accumulator, b.from_index(count, accumulator.type), unsigned=self.unsigned)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
        if x.dtype.kind == "f":
            return _sum(x, axes) / x.dtype.type(count)
        wide = _sum(x.astype(np.uint64 if x.dtype.kind == "u" else np.int64), axes)
        if count == 0:
            return np.zeros_like(wide)
        quotient: Array = np.abs(wide) // wide.dtype.type(count)
        return np.where(wide < 0, -quotient, quotient) if wide.dtype.kind == "i" else quotient


class ExtremumOp(ReductionOp, ABC):
    """A largest or smallest element; NaN if any is NaN."""

    ALLOWED: ClassVar[ElementKind] = ElementKind.ANY
    LARGEST: ClassVar[bool]

    def identity(self) -> FloatAttr | IntegerAttr:
        return self.constant(worst_value(element_type_of(self.x), largest=self.LARGEST))

    def combine(self, b: ScalarBuilder, accumulator: SSAValue, x: SSAValue) -> SSAValue:
        if self.LARGEST:
            return b.max(accumulator, x, unsigned=self.unsigned)
        return b.min(accumulator, x, unsigned=self.unsigned)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        start = x.dtype.type(worst_value(element_type_of(self.x), largest=self.LARGEST))
        reduce = np.max if self.LARGEST else np.min
        return reduce(x, axis=axes, keepdims=True, initial=start)


def worst_value(element_type: Attribute, *, largest: bool) -> float | int:
    """The value that no other is less than (for `largest`) or more than: infinite for floats."""
    if is_float(element_type):
        return float("-inf") if largest else float("inf")
    if is_bool(element_type):
        return 0 if largest else 1
    low, high = integer_limits(element_type)
    return low if largest else high


@irdl_op_definition
class ReduceMaxOp(ExtremumOp):
    """`result = max(x)` along `axes`; the least value of nothing, NaN if any is NaN. For i1 whether any is true."""

    name = "graph.reduce_max"
    LARGEST: ClassVar[bool] = True


@irdl_op_definition
class ReduceMinOp(ExtremumOp):
    """`result = min(x)` along `axes`; the greatest value of nothing, NaN if any is NaN. For i1 whether all are true."""

    name = "graph.reduce_min"
    LARGEST: ClassVar[bool] = False


@irdl_op_definition
class ReduceProdOp(ReductionOp):
    """`result = product(x)` along `axes`; 1 of nothing. Integers wrap."""

    name = "graph.reduce_prod"

    def identity(self) -> FloatAttr | IntegerAttr:
        return self.constant(1)

    def combine(self, b: ScalarBuilder, accumulator: SSAValue, x: SSAValue) -> SSAValue:
        return b.mul(accumulator, x)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        return np.prod(x, axis=axes, keepdims=True, dtype=x.dtype)


@irdl_op_definition
class ReduceL1Op(SumLikeOp):
    """`result = sum(|x|)` along `axes`."""

    name = "graph.reduce_l1"

    def prepare(self, b: ScalarBuilder, x: SSAValue) -> SSAValue:
        return b.abs(x, unsigned=self.unsigned)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        return _sum(np.abs(x), axes)


@irdl_op_definition
class ReduceL2Op(SumLikeOp):
    """`result = sqrt(sum(x * x))` along `axes`. Floats only."""

    name = "graph.reduce_l2"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def prepare(self, b: ScalarBuilder, x: SSAValue) -> SSAValue:
        return b.mul(x, x)

    def finish(self, b: ScalarBuilder, accumulator: SSAValue, count: SSAValue) -> SSAValue:
        return b.sqrt(accumulator)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        return np.sqrt(_sum(x * x, axes))


@irdl_op_definition
class ReduceSumSquareOp(SumLikeOp):
    """`result = sum(x * x)` along `axes`. Integers wrap."""

    name = "graph.reduce_sum_square"

    def prepare(self, b: ScalarBuilder, x: SSAValue) -> SSAValue:
        return b.mul(x, x)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        return _sum(x * x, axes)


@irdl_op_definition
class ReduceLogSumOp(SumLikeOp):
    """`result = log(sum(x))` along `axes`."""

    name = "graph.reduce_log_sum"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def finish(self, b: ScalarBuilder, accumulator: SSAValue, count: SSAValue) -> SSAValue:
        return b.log(accumulator)

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        return np.log(_sum(x, axes))


OPS: list[type[GraphOp]] = [
    ReduceL1Op,
    ReduceL2Op,
    ReduceLogSumOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    ReduceSumSquareOp,
]
