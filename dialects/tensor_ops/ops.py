"""Ops of `tensor_ops` on whole tensors: kernels and their calls, views, constants, concatenation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    bf16,
    i16,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.buffers import attribute_array
from aicc.dialects.graph.callees import find_callee
from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    dim_prod,
    dim_sum,
    dims_of,
    evaluate_dims,
    provably_different,
    shape_text,
    substitute_type,
    tensor_type,
)
from aicc.dialects.graph.dtypes import bit_width, is_integer, numpy_dtype
from aicc.dialects.graph.interfaces import ExecutableOp, Frame, RegionExecutableOp
from aicc.dialects.tensor_ops.body_ops import YieldOp
from aicc.dialects.tensor_ops.syntax import parse_dims, print_dims

Array = np.ndarray[Any, np.dtype[Any]]

KERNEL_ATTRIBUTE = "aicc.kernel"
"""Unit attribute of functions that are kernels."""

SUM_LENGTH_ATTRIBUTE = "aicc.sum_length"
"""Of a kernel whose sums have rounding errors that count more: how many terms may be added one after the other."""

SYMBOLS_ATTRIBUTE = "aicc.symbols"
"""Attribute of functions: the names of the symbols in their types, in the order that callers give their values."""

VERSION_ATTRIBUTE = "aicc.version"
"""Attribute of calls that run instead of others, for some sizes: work is counted without them."""


def function_symbols(function: FuncOp) -> tuple[str, ...]:
    """The names in the function's attribute `aicc.symbols`, none if it has no such attribute."""
    names = function.attributes.get(SYMBOLS_ATTRIBUTE)
    if not isinstance(names, ArrayAttr):
        return ()
    return tuple(name.data for name in cast("ArrayAttr[Attribute]", names).data if isinstance(name, StringAttr))


@irdl_op_definition
class KernelOp(IRDLOperation, RegionExecutableOp):
    """
    A group of ops that become one kernel: the region's arguments are the operands, what it yields are the results.

    The region is isolated and holds ops of `graph` or of `tensor_ops`; symbols in its types are those outside.

    - (C1) the types of the region's arguments are those of the operands
    - (C2) the region yields values of the results' types

    ```mlir
    %r = tensor_ops.kernel (%a = %x : tensor<8xf32>) -> (tensor<8xf32>) {
      %0 = graph.relu %a : tensor<8xf32> -> tensor<8xf32>
      tensor_ops.yield %0 : tensor<8xf32>
    }
    ```
    """

    name = "tensor_ops.kernel"

    inputs = var_operand_def()
    body = region_def("single_block")
    res = var_result_def()

    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], result_types: Sequence[Attribute], body: Region):
        super().__init__(operands=[inputs], result_types=[result_types], regions=[body])

    def verify_(self) -> None:
        found = [arg.type for arg in self.body.block.args]
        if found != (expected := [operand.type for operand in self.inputs]):  # C1
            raise VerifyException(f"region has arguments {_types(found)}, expected {_types(expected)}")
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException(f"region ends with {last.name if last else 'nothing'}, expected tensor_ops.yield")
        found = [value.type for value in last.values]
        if found != (expected := [result.type for result in self.res]):  # C2
            raise VerifyException(f"region yields {_types(found)}, expected {_types(expected)}")

    def evaluate_in(self, frame: Frame, operands: Sequence[Array]) -> Sequence[Array]:
        return frame.run_block(self.body.block, operands)

    # By hand: arguments of the region stand next to the operands that they are bound to.
    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        def parse_binding() -> tuple[Any, SSAValue]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type = parser.parse_type()
            return argument.resolve(type), parser.resolve_operand(operand, type)

        bindings = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_binding)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region([argument for argument, _ in bindings])
        op = cls([operand for _, operand in bindings], results, body)
        op.attributes = dict(attributes.data) if attributes else {}
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        with printer.in_parens():
            for i, (argument, operand) in enumerate(zip(self.body.block.args, self.inputs, strict=True)):
                printer.print_string(", " if i else "")
                printer.print_ssa_value(argument)
                printer.print_string(" = ")
                printer.print_operand(operand)
                printer.print_string(" : ")
                printer.print_attribute(operand.type)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list(self.res, lambda result: printer.print_attribute(result.type))
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


class CallSymbolUser(SymbolUserOpInterface):
    """Checks a call against its callee."""

    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        callee = find_callee(op, op.callee)
        if not isinstance(callee, FuncOp):  # C1
            raise VerifyException(f"'{op.callee_name}' is no function of this module")
        names = function_symbols(callee)
        if len(names) != len(op.symbols.data):  # C2
            raise VerifyException(
                f"found {len(op.symbols.data)} symbol values, but @{op.callee_name} has {len(names)} symbols"
            )
        values = dict(zip(names, op.symbols.data, strict=True))
        for what, found, declared in (
            ("operand", [operand.type for operand in op.arguments], callee.function_type.inputs.data),
            ("result", [result.type for result in op.res], callee.function_type.outputs.data),
        ):
            expected = [substitute_type(type, values) for type in declared]
            if found != expected:  # C3
                raise VerifyException(
                    f"{what} types {_types(found)} do not match {_types(expected)} of @{op.callee_name}"
                )


@irdl_op_definition
class CallOp(IRDLOperation, RegionExecutableOp):
    """
    Runs a kernel function on tensors.

    - (C1) `callee` is a function of the module
    - (C2) one value per symbol of the callee (its attribute `aicc.symbols`)
    - (C3) operand and result types are those of the callee with its symbols replaced by these values

    ```mlir
    %r = tensor_ops.call @add_0(%x, %y) symbols [N, 2*S] : (tensor<..>, tensor<..>) -> tensor<..>
    ```
    """

    name = "tensor_ops.call"

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    symbols = prop_def(ShapeAttr)
    res = var_result_def()

    traits = traits_def(Pure(), CallSymbolUser())

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        arguments: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        symbols: Sequence[Dim] = (),
    ):
        reference = SymbolRefAttr(callee) if isinstance(callee, str) else callee
        super().__init__(
            operands=[arguments],
            result_types=[result_types],
            properties={"callee": reference, "symbols": ShapeAttr(symbols)},
        )

    @property
    def callee_name(self) -> str:
        """The name of the function that is called."""
        return self.callee.string_value()

    def evaluate_in(self, frame: Frame, operands: Sequence[Array]) -> Sequence[Array]:
        callee = find_callee(self, self.callee)
        assert isinstance(callee, FuncOp)
        values = evaluate_dims(self.symbols.data, frame.symbols)
        symbols = dict(zip(function_symbols(callee), values, strict=True))
        return frame.call(self.callee_name, operands, symbols)

    # By hand: the list of symbol values.
    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        callee = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        symbols = parse_dims(parser) if parser.parse_optional_keyword("symbols") else []
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        operands = parser.resolve_operands(arguments, types.inputs.data, position)
        op = cls(callee.data, operands, types.outputs.data, symbols)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        with printer.in_parens():
            printer.print_list(self.arguments, printer.print_operand)
        if self.symbols.data:
            printer.print_string(" symbols ")
            print_dims(printer, self.symbols.data)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)


@irdl_op_definition
class ViewOp(IRDLOperation, ExecutableOp):
    """
    The elements of `input` in the same row-major order, under another shape. Costs nothing.

    `anew` is for symbols that have been given new values since the input was made: `N+1` elements are `N` then.

    Neighbouring bytes or bf16 may be read as the parts of packed integers (`packed.dot`), the first in the lowest bits.

    - (C1) same element type; or integers of 8 bits as signless ones of 16 or 32, or bf16 as such of 32
    - (C2) without `anew`: the numbers of elements do not provably differ
    - (C3) elements along the last axis are the parts of the packed integers along it; the other axes stay

    ```mlir
    %v = tensor_ops.view %x : tensor<2x6xf32> to tensor<3x4xf32>
    %p = tensor_ops.view %y : tensor<2x8xui8> to tensor<2x2xi32>
    ```
    """

    name = "tensor_ops.view"

    input = operand_def(TensorType)
    anew = opt_prop_def(UnitAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$input (`anew` $anew^)? attr-dict `:` type($input) `to` type($result)"

    def __init__(
        self, input: SSAValue | Operation, dims: Sequence[Dim], anew: bool = False, element: Attribute | None = None
    ):
        input = SSAValue.get(input)
        super().__init__(
            operands=[input],
            properties={"anew": UnitAttr() if anew else None},
            result_types=[tensor_type(dims, element or element_of(input.type))],
        )

    @property
    def parts(self) -> int:
        """How many elements of the input are one of the result."""
        found, expected = element_of(self.result.type), element_of(self.input.type)
        if found != expected:
            return bit_width(found) // bit_width(expected)
        return 1

    def verify_(self) -> None:
        found, expected = element_of(self.result.type), element_of(self.input.type)
        packs = found in (i16, i32) and is_integer(expected) and bit_width(expected) == 8
        packs |= found == i32 and expected == bf16
        if found != expected and not packs:  # C1
            raise VerifyException(f"result has element type {found}, expected {expected}")
        before, after = dims_of(self.input.type), dims_of(self.result.type)
        if packs and (not after or before != (*after[:-1], after[-1] * self.parts)):  # C3
            raise VerifyException(
                f"shape {shape_text(before)} is not that of {self.parts} parts for each element of {shape_text(after)}"
            )
        if packs:
            return
        if self.anew is None and provably_different(dim_prod(before), dim_prod(after)):  # C2
            raise VerifyException(f"shape {shape_text(after)} has not as many elements as {shape_text(before)}")

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int]) -> list[Array]:
        array = operands[0]
        if self.parts != 1:
            array = np.ascontiguousarray(array).view(numpy_dtype(element_of(self.result.type)))
        return [array.reshape(evaluate_dims(dims_of(self.result.type), symbols))]


@irdl_op_definition
class ConstantOp(IRDLOperation, ExecutableOp):
    """
    A tensor that is known: spelt out, or a buffer.

    - (C1) `value` has the elements of the result's type

    ```mlir
    %c = tensor_ops.constant dense<1.0> : tensor<4xf32> : tensor<4xf32>
    %w = tensor_ops.constant #graph.buffer<"conv1.weight"> : tensor<64x3x7x7xf32>
    ```
    """

    name = "tensor_ops.constant"

    value = prop_def()
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($result)"

    def __init__(self, value: Attribute, type: Attribute):
        super().__init__(properties={"value": value}, result_types=[type])

    def verify_(self) -> None:
        dims_of(self.result.type)
        declared = getattr(self.value, "type", self.result.type)
        if declared != self.result.type:  # C1
            raise VerifyException(f"value has type {declared}, expected {self.result.type}")

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int]) -> list[Array]:
        del operands, symbols
        return [attribute_array(self.value, self.result.type)]


@irdl_op_definition
class ConcatOp(IRDLOperation, ExecutableOp):
    """
    The inputs one after the other along `axis`: `result[.., o_k + i, ..] = input_k[.., i, ..]` with `o_k` the sum of
    the sizes before.

    - (C1) at least one input
    - (C2) `0 <= axis < rank`
    - (C3) the sizes of all other axes are those of the result, as is the element type
    - (C4) the size of the axis is the sum of those of the inputs

    ```mlir
    %r = tensor_ops.concat %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
    ```
    """

    name = "tensor_ops.concat"

    inputs = var_operand_def(TensorType)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], axis: int):
        values = [SSAValue.get(value) for value in inputs]
        if not values:  # C1
            raise VerifyException("concat has no inputs, expected at least 1")
        dims = list(dims_of(values[0].type))
        if not 0 <= axis < len(dims):  # C2
            raise VerifyException(f"axis is {axis}, expected 0 to {len(dims) - 1}")
        dims[axis] = dim_sum(dims_of(value.type)[axis] for value in values)
        super().__init__(
            operands=[values],
            properties={"axis": IntegerAttr(axis, i64)},
            result_types=[tensor_type(dims, element_of(values[0].type))],
        )

    @property
    def position(self) -> int:
        """The axis as a number."""
        return self.axis.value.data

    def offsets(self) -> tuple[Dim, ...]:
        """Where each input starts along the axis."""
        starts: list[Dim] = [0]
        for value in self.inputs:
            starts.append(starts[-1] + dims_of(value.type)[self.position])
        return tuple(starts[:-1])

    def verify_(self) -> None:
        expected = dims_of(self.result.type)
        if not self.inputs:  # C1
            raise VerifyException("concat has no inputs, expected at least 1")
        if not 0 <= self.position < len(expected):  # C2
            raise VerifyException(f"axis is {self.position}, expected 0 to {len(expected) - 1}")
        for value in self.inputs:
            dims = dims_of(value.type)
            same = [d for i, d in enumerate(dims) if i != self.position] == [
                d for i, d in enumerate(expected) if i != self.position
            ]
            if not same or element_of(value.type) != element_of(self.result.type):  # C3
                raise VerifyException(f"input of type {value.type} does not fit a result of type {self.result.type}")
        total = dim_sum(dims_of(value.type)[self.position] for value in self.inputs)
        if total != expected[self.position]:  # C4
            raise VerifyException(f"sizes along axis {self.position} add up to {total}, not {expected[self.position]}")

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int]) -> list[Array]:
        del symbols
        return [np.concatenate(operands, axis=self.position)]

    # By hand: the axis without its type.
    @classmethod
    def parse(cls, parser: Parser) -> ConcatOp:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        parser.parse_keyword("axis")
        axis = parser.parse_integer(allow_boolean=False)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, types.inputs.data, position),
            result_types=types.outputs.data,
            properties={"axis": IntegerAttr(axis, i64)},
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.inputs, printer.print_operand)
        printer.print_string(f" axis {self.position}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_operation_type(self)


def element_of(type: Attribute) -> Attribute:
    """The element type of a tensor type."""
    if not isinstance(type, TensorType):
        raise VerifyException(f"found type {type}, expected a ranked tensor")
    return cast("TensorType[Attribute]", type).get_element_type()


def _types(types: Sequence[Attribute]) -> str:
    return f"({', '.join(map(str, types))})"
