"""
Base classes of elementwise ops: operands broadcast as in numpy, and each result element is a scalar expression.

The scalar expression (`scalar`, in `arith` and `math`) and the meaning in numpy (`compute`) are written apart, so that
one checks the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import dims_of, tensor_type
from aicc.dialects.graph.dtypes import BFLOAT16, accumulator_type, is_float, is_unsigned, numpy_dtype, signless
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    broadcast_checks,
    broadcast_dims,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.scalars import ScalarBuilder

Array = np.ndarray[Any, Any]

_F32 = np.dtype(np.float32)


def widened(array: Array) -> Array:
    """f16 and bf16 as f32; any other array as it is."""
    return array.astype(_F32) if array.dtype in (np.float16, BFLOAT16) else array


class ElementwiseOp(GraphOp, ABC):
    """`result[i] = scalar(operands[i]...)` with numpy broadcasting; f16 and bf16 are computed in f32, rounded once."""

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.ELEMENTWISE

    ALLOWED: ClassVar[ElementKind] = ElementKind.ANY
    """Element types of the operands, which are all equal unless `check_operands` says otherwise."""

    @abstractmethod
    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        """One element of the result; in f32 where an operand is f16 or bf16. Called through `build_scalar`."""

    @abstractmethod
    def compute(self, *operands: Array) -> Array:
        """All elements of the result in numpy; of any dtype that is cast to the result's afterwards."""

    def check_operands(self) -> None:
        """
        Checks the element types of the operands.

        Raises:
            VerifyException: if they are not allowed.
        """
        first = element_type_of(self.operands[0])
        check_element_type("operand", first, self.ALLOWED)
        for operand in self.operands[1:]:
            if (other := element_type_of(operand)) != first:
                raise VerifyException(f"operands have element types {first} and {other}, expected the same")

    def result_element_type(self) -> Attribute:
        """The element type of the result: by default that of the first operand."""
        return element_type_of(self.operands[0])

    @property
    def unsigned(self) -> bool:
        """Whether the first operand holds unsigned integers or i1."""
        return is_unsigned(element_type_of(self.operands[0]))

    def operand_shapes(self) -> list[Sequence[Any]]:
        """The sizes of each operand."""
        return [dims_of(operand.type) for operand in self.operands]

    def infer_types(self) -> Sequence[Attribute]:
        self.check_operands()
        return [tensor_type(broadcast_dims(self.operand_shapes()), self.result_element_type())]

    def runtime_checks(self) -> Sequence[Check]:
        shapes = self.operand_shapes()
        return [*broadcast_checks(self, shapes, broadcast_dims(shapes)), *super().runtime_checks()]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        with np.errstate(all="ignore"):
            result = np.asarray(self.compute(*map(widened, operands)))
            return [result.astype(numpy_dtype(self.result_element_type()), copy=False)]

    def build_scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        """
        One element of the result from one (signless) element of each operand.

        f16 and bf16 are widened to f32 before `scalar` and the result is rounded after it.
        """
        wide = [b.extend_float(arg, accumulator_type(arg.type)) for arg in args]
        result = self.scalar(b, *wide)
        return b.truncate_float(result, signless(self.result_element_type()))


class UnaryOp(ElementwiseOp, ABC):
    """An elementwise op of one operand."""

    x = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation):
        self.build_self([x])


class BinaryOp(ElementwiseOp, ABC):
    """An elementwise op of two operands of one element type."""

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation):
        self.build_self([lhs, rhs])


class FloatFunctionOp(UnaryOp, ABC):
    """A function of one float that `math` and numpy both have."""

    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    MATH: ClassVar[type[Operation]]
    """The op of `math`."""

    NUMPY: ClassVar[Callable[[Array], Array]]
    """The function of numpy."""

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.unary(self.MATH, args[0])

    def compute(self, *operands: Array) -> Array:
        return type(self).NUMPY(operands[0])


class PredicateOp(ElementwiseOp, ABC):
    """An elementwise op whose result is i1."""

    def result_element_type(self) -> Attribute:
        return i1


def is_float_array(array: Array) -> bool:
    """Whether the elements are floats (f16 and bf16 are widened before)."""
    return array.dtype.kind == "f"


def is_float_scalar(value: SSAValue) -> bool:
    """Whether a scalar is a float."""
    return is_float(value.type)
