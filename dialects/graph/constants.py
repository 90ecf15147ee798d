"""Ops without operands: constants and index patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, DenseIntOrFPElementsAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import int_attr, parse_properties, print_properties
from aicc.dialects.graph.axes import check_axis, normalized_axis
from aicc.dialects.graph.buffers import BufferAttr, array_to_constant_attr, constant_array, dense_attr
from aicc.dialects.graph.dims import Dim, dims_of, evaluate_dims, tensor_of, tensor_type
from aicc.dialects.graph.dtypes import element_type as element_type_for
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.interfaces import (
    Arrays,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    check_element_type,
    element_kind,
    element_type_of,
)


@irdl_op_definition
class ConstantOp(GraphOp):
    """
    `result = value`: spelt-out elements, or a buffer that holds them.

    - (C1) `value` is dense elements or a buffer
    - (C2) its shape and element type are those of the result

    ```mlir
    %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %w = graph.constant #graph.buffer<"conv1.weight"> : tensor<64x3x7x7xf32>
    ```
    """

    name = "graph.constant"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONSTANT

    value = prop_def(Attribute)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, value: Attribute, type: Attribute | None = None):
        """`type` is needed for a buffer."""
        if type is None:
            type = _value_type(value)
        IRDLOperation.__init__(self, properties={"value": value}, result_types=[type])

    @staticmethod
    def from_array(array: np.ndarray, name: str = "constant", element: Attribute | None = None) -> ConstantOp:
        """
        A constant that holds `array`: dense if small, else a buffer called `name`.

        `element` is its element type, where that is not the one that goes with the dtype (such as `index`).
        """
        type = tensor_type(array.shape, element_type_for(array.dtype) if element is None else element)
        return ConstantOp(array_to_constant_attr(array, name, type.element_type), type)

    def infer_types(self) -> Sequence[Attribute]:
        type = tensor_of(self.result.type)
        element_kind(type.element_type)
        match self.value:
            case DenseIntOrFPElementsAttr():  # C2
                if (found := _dense_type(self.value)) != type:
                    raise VerifyException(f"value has type {found}, expected {type}")
                if (size := _dense_size(self.value)) != prod(type.get_shape()):
                    raise VerifyException(f"value holds {size} elements, expected those of {type}")
            case BufferAttr(data=buffer):
                if any(not isinstance(dim, int) for dim in dims_of(type)):
                    raise VerifyException(f"result has type {type}, expected a static shape")
                if buffer.is_loaded:
                    constant_array(self)
            case _:  # C1
                raise VerifyException(f"value is {self.value}, expected dense elements or a #graph.buffer")
        return [type]

    def array(self) -> np.ndarray:
        """The elements, read-only."""
        return constant_array(self)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        return [self.array()]

    def flops(self) -> Dim:
        return 0

    @classmethod
    def parse(cls, parser: Parser) -> ConstantOp:
        value = parser.parse_attribute()
        _, attributes = parse_properties(cls, parser)
        if (type := _dense_type(value)) is not None:
            op = ConstantOp(value, type)
        else:
            parser.parse_punctuation(":")
            op = ConstantOp(value, parser.parse_type())
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        # The type of dense elements is part of them, so it is not written twice.
        printer.print_string(" ")
        printer.print_attribute(self.value)
        print_properties(self, printer, hidden=("value",))
        if not isinstance(self.value, DenseIntOrFPElementsAttr):
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)


def _dense_type(value: Attribute) -> Attribute | None:
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    return cast(DenseIntOrFPElementsAttr[IntegerType], value).get_type()


def _dense_size(value: Attribute) -> int:
    return len(cast(DenseIntOrFPElementsAttr[IntegerType], value))


def _value_type(value: Attribute) -> Attribute:
    if (type := _dense_type(value)) is None:
        raise VerifyException(f"a constant of value {value} needs a type")
    return type


def scalar_like(b: OpBuilder, value: float | int | bool, like: SSAValue) -> SSAValue:
    """A constant of rank 0 with the element type of a tensor."""
    return scalar_of(b, value, element_type_of(like))


def scalar_of(b: OpBuilder, value: float | int | bool, element_type: Attribute) -> SSAValue:
    """A constant of rank 0 with the given element type."""
    array = np.array(value, numpy_dtype(element_type))
    return b.add(ConstantOp(dense_attr(array, element_type)))


@irdl_op_definition
class IotaOp(GraphOp):
    """
    `result[.., i, ..] = i` at position `i` of `axis`. Integers wrap, floats are rounded.

    - (C1) `0 <= axis < rank(result)`
    - (C2) the elements are numbers

    ```mlir
    %r = graph.iota {axis = 1} : tensor<2x?xi64, #graph.dims<N>>
    ```
    """

    name = "graph.iota"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.ELEMENTWISE

    axis = prop_def(IntegerAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, type: Attribute, axis: int = 0):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, type)
        IRDLOperation.__init__(self, properties={"axis": int_attr(axis)}, result_types=[type])

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        check_axis(self.axis_value, len(dims_of(self.result.type)))  # C1
        check_element_type("result", element_type_of(self.result), ElementKind.NUMBER)  # C2
        return [self.result.type]

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        shape = evaluate_dims(dims_of(self.result.type), symbols)
        axis = self.axis_value
        line = np.arange(shape[axis], dtype=np.int64).astype(numpy_dtype(element_type_of(self.result)))
        aligned = line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        return [np.broadcast_to(aligned, shape)]


OPS: list[type[GraphOp]] = [ConstantOp, IotaOp]
