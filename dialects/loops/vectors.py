"""n-D vectors: repeating, reducing and permuting their lanes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeAlias

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, StringAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.loops.access import lanes_of, scalar_of, vector_of
from aicc.dialects.loops.attrs import ReduceKind

Numbers: TypeAlias = DenseArrayBase[IntegerType]


@irdl_op_definition
class BroadcastOp(IRDLOperation):
    """
    `result[l0, ...] = value[l0 or 0, ...]`: dimensions of size 1 are repeated, and so are missing ones, which are the
    last ones of the result: of a vector, each lane fills a row; a scalar fills all lanes.

    - (C1) same element type; `value` has at most the rank of the result
    - (C2) each dimension of `value` is 1 or that of the result

    ```mlir
    %b = loops.broadcast %a : vector<6x1xf32> to vector<6x16xf32>
    %d = loops.broadcast %c : vector<6xf32> to vector<6x16xf32>
    ```
    """

    name = "loops.broadcast"

    value = operand_def()
    result = result_def(VectorType)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"

    def __init__(self, value: SSAValue, shape: Sequence[int]):
        super().__init__(operands=[value], result_types=[vector_of(value.type, shape)])

    def verify_(self) -> None:
        source, target = self.value.type, self.result.type
        have, want = lanes_of(source), lanes_of(target)
        if scalar_of(source) != scalar_of(target):  # C1
            raise VerifyException(f"cannot broadcast {source} to {target}: element types must be equal")
        if len(have) > len(want):  # C1
            raise VerifyException(f"cannot broadcast {source} to {target}, which has fewer dimensions")
        if any(a not in (1, b) for a, b in zip(have, want, strict=False)):  # C2
            raise VerifyException(f"cannot broadcast {source} to {target}: only dimensions of size 1 are repeated")


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """
    The lanes along `axes` combined by `kind`, in an order of the compiler's choice; a scalar when none is left.

    - (C1) `kind` is one of add, mul, minimumf, maximumf, minnumf, maxnumf, minsi, maxsi, minui, maxui, and, or, xor
    - (C2) `axes` ascend and are dimensions of the operand
    - (C3) the result has the other dimensions, in order

    ```mlir
    %s = loops.reduce "add" %v axes [1] : vector<6x16xf32> to vector<6xf32>
    ```
    """

    name = "loops.reduce"

    value = operand_def(VectorType)
    kind = prop_def(StringAttr)
    axes = prop_def(Numbers)
    result = result_def()

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, kind: str, axes: Sequence[int]):
        rest = [size for axis, size in enumerate(lanes_of(value.type)) if axis not in axes]
        super().__init__(
            operands=[value],
            properties={"kind": StringAttr(kind), "axes": DenseArrayBase.from_list(i64, list(axes))},
            result_types=[vector_of(value.type, rest)],
        )

    def verify_(self) -> None:
        if self.kind.data not in set(ReduceKind):  # C1
            raise VerifyException(f"kind is '{self.kind.data}', expected one of {', '.join(ReduceKind)}")
        axes = self.axes.get_values()
        shape = lanes_of(self.value.type)
        if list(axes) != sorted({int(axis) for axis in axes if 0 <= axis < len(shape)}):  # C2
            raise VerifyException(f"axes {list(axes)} do not ascend within the {len(shape)} dimensions of the operand")
        expected = vector_of(self.value.type, [size for axis, size in enumerate(shape) if axis not in axes])
        if self.result.type != expected:  # C3
            raise VerifyException(f"the result is {self.result.type}, expected {expected}")

    # By hand, because a format string cannot print a list of integers without its type.

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.kind)
        _print_op(printer, self, self.value, "axes", self.axes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kind = StringAttr(parser.parse_str_literal(" with the kind of reduction"))
        value, axes, attributes, result = _parse_op(parser, "axes")
        return cls.build(
            operands=[value],
            properties={"kind": kind, "axes": axes},
            attributes=attributes,
            result_types=[result],
        )


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """
    `result[l0, ...] = value[...]` where dimension `k` of the result is dimension `permutation[k]` of the operand.

    - (C1) `permutation` is one of the dimensions of the operand
    - (C2) the result is permuted accordingly

    ```mlir
    %t = loops.transpose %v permutation [1, 0] : vector<4x8xf32> to vector<8x4xf32>
    ```
    """

    name = "loops.transpose"

    value = operand_def(VectorType)
    permutation = prop_def(Numbers)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    def __init__(self, value: SSAValue, permutation: Sequence[int]):
        shape = lanes_of(value.type)
        super().__init__(
            operands=[value],
            properties={"permutation": DenseArrayBase.from_list(i64, list(permutation))},
            result_types=[vector_of(value.type, [shape[axis] for axis in permutation])],
        )

    def verify_(self) -> None:
        shape, permutation = lanes_of(self.value.type), self.permutation.get_values()
        if sorted(permutation) != list(range(len(shape))):  # C1
            raise VerifyException(f"{list(permutation)} is no permutation of {len(shape)} dimensions")
        expected = vector_of(self.value.type, [shape[int(axis)] for axis in permutation])
        if self.result.type != expected:  # C2
            raise VerifyException(f"the result is {self.result.type}, expected {expected}")

    # By hand, as for `loops.reduce`.

    def print(self, printer: Printer) -> None:
        _print_op(printer, self, self.value, "permutation", self.permutation)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value, permutation, attributes, result = _parse_op(parser, "permutation")
        return cls.build(
            operands=[value],
            properties={"permutation": permutation},
            attributes=attributes,
            result_types=[result],
        )


def _print_op(printer: Printer, op: Operation, value: SSAValue, word: str, numbers: Numbers) -> None:
    """` %value <word> [1, 2] {...} : type to type`."""
    printer.print_string(" ")
    printer.print_operand(value)
    printer.print_string(f" {word} {list(numbers.get_values())}")
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(value.type)
    printer.print_string(" to ")
    printer.print_attribute(op.results[0].type)


def _parse_op(parser: Parser, word: str) -> tuple[SSAValue, Numbers, dict[str, Attribute], Attribute]:
    value = parser.parse_unresolved_operand()
    parser.parse_keyword(word)
    numbers = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(False))
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    operand = parser.resolve_operand(value, parser.parse_type())
    parser.parse_keyword("to")
    return operand, DenseArrayBase.from_list(i64, numbers), attributes, parser.parse_type()
