"""Ops that stand inside the scalar bodies of `tensor_ops`, next to `arith` and `math`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ShapeAttr, evaluate, is_tensor, tensor_of
from aicc.dialects.graph.dtypes import signless
from aicc.dialects.graph.interfaces import Arrays, ExecutableOp

AT_MOST_ZERO = "aicc.at_most_zero"
"""Unit attribute of a `math` op in a body whose operand is at most 0, or NaN."""


@irdl_op_definition
class YieldOp(IRDLOperation):
    """
    Ends a body with its values: accumulators or result elements of a scalar body, result tensors of a kernel.

    ```mlir
    tensor_ops.yield %sum : f32
    ```
    """

    name = "tensor_ops.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue | Operation):
        super().__init__(operands=[values])


@irdl_op_definition
class IndexOp(IRDLOperation):
    """
    The index of the current point in iteration dimension `dim` of the enclosing op.

    - (C1) `dim` is a dimension of the enclosing op's space, in a `finish` region a parallel one; checked by that op

    ```mlir
    %i = tensor_ops.index 1
    ```
    """

    name = "tensor_ops.index"

    dim = prop_def(IntegerAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())

    def __init__(self, dim: int):
        super().__init__(properties={"dim": IntegerAttr(dim, i64)}, result_types=[IndexType()])

    @property
    def position(self) -> int:
        """The iteration dimension as a number."""
        return self.dim.value.data

    # By hand: the format string would print the dimension with its type.
    @classmethod
    def parse(cls, parser: Parser) -> IndexOp:
        op = cls(parser.parse_integer(allow_boolean=False, allow_negative=False))
        op.attributes = parser.parse_optional_attr_dict()
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.position}")
        printer.print_op_attributes(self.attributes)


@irdl_op_definition
class SizeOp(IRDLOperation, ExecutableOp):
    """
    The value of a symbolic size, in terms of the enclosing function's symbols.

    - (C1) `value` holds exactly one size

    ```mlir
    %n = tensor_ops.size #graph.shape<2*N+1>
    ```
    """

    name = "tensor_ops.size"

    value = prop_def(ShapeAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())
    assembly_format = "qualified($value) attr-dict"

    def __init__(self, dim: Dim):
        super().__init__(properties={"value": ShapeAttr([dim])}, result_types=[IndexType()])

    @property
    def size(self) -> Dim:
        """The size that is computed."""
        return self.value.data[0]

    def verify_(self) -> None:
        if (count := len(self.value.data)) != 1:  # C1
            raise VerifyException(f"value lists {count} sizes, expected 1")

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        del operands
        return [np.array(evaluate(self.size, symbols), np.int64)]


@irdl_op_definition
class ExtractOp(IRDLOperation, ExecutableOp):
    """
    `result = tensor[indices...]`: reads one element of a tensor that is defined outside of the body.

    Outside of bodies it reads one element of a tensor, such as the condition of `scf.if`. Whoever makes the op
    guarantees that the indices are in bounds (lowerings clamp them), so that it is pure.

    - (C1) `tensor` is a ranked tensor
    - (C2) one index per dimension of `tensor`
    - (C3) `result` is the scalar form of the element type (integers without sign)

    ```mlir
    %v = tensor_ops.extract %table[%i, %j] : tensor<10x4xf32>
    ```
    """

    name = "tensor_ops.extract"

    tensor = operand_def(TensorType)
    indices = var_operand_def(IndexType)
    result = result_def()

    traits = traits_def(Pure())

    def __init__(self, tensor: SSAValue | Operation, indices: Sequence[SSAValue | Operation]):
        tensor = SSAValue.get(tensor)
        element = signless(tensor_of(tensor.type).element_type)  # C1
        super().__init__(operands=[tensor, indices], result_types=[element])

    def verify_(self) -> None:
        tensor = tensor_of(self.tensor.type)
        if (rank := len(tensor.shape.data)) != len(self.indices):  # C2
            raise VerifyException(f"extract has {len(self.indices)} indices for a tensor of rank {rank}")
        if (expected := signless(tensor.element_type)) != self.result.type:  # C3
            raise VerifyException(f"extract has result type {self.result.type}, expected {expected}")

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        del symbols
        return [np.asarray(operands[0][tuple(operands[1:])])]

    # By hand: the result type is the signless form of the element type, which the format string cannot say.
    @classmethod
    def parse(cls, parser: Parser) -> ExtractOp:
        tensor = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not is_tensor(type):
            parser.raise_error(f"extract reads a value of type {type}, expected a ranked tensor", position, parser.pos)
        resolved = parser.resolve_operands(indices, [IndexType()] * len(indices), position)
        op = cls(parser.resolve_operand(tensor, type), resolved)
        op.attributes = attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.tensor)
        with printer.in_square_brackets():
            printer.print_list(self.indices, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)
