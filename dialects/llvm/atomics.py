"""Atomic read-modify-write, compare-exchange and fences, which xDSL's `llvm` dialect lacks."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.dialects.llvm import ATOMIC_ORDERING_KEYWORDS, LLVMStructType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from aicc.dialects.llvm.memory import ORDERINGS, POINTER, parse_ordering

ATOMIC_OPERATIONS = (
    "xchg",
    "add",
    "sub",
    "_and",
    "nand",
    "_or",
    "_xor",
    "max",
    "min",
    "umax",
    "umin",
    "fadd",
    "fsub",
    "fmax",
    "fmin",
)
"""Upstream's spelling of the read-modify-write operations, at the index that stands for them."""


@irdl_op_definition
class AtomicRMWOp(IRDLOperation):
    """
    Replaces memory at `ptr` by `memory op val` at once; the result is the value before.

    ```mlir
    %old = llvm.atomicrmw add %p, %one monotonic : !llvm.ptr, i64
    ```
    """

    name = "llvm.atomicrmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    ptr = operand_def(POINTER)
    val = operand_def(T)
    res = result_def(T)
    bin_op = prop_def(IntegerAttr)
    ordering = prop_def(IntegerAttr)

    def __init__(
        self, operation: str, ptr: SSAValue | Operation, val: SSAValue | Operation, ordering: str = "monotonic"
    ):
        super().__init__(
            operands=[ptr, val],
            result_types=[SSAValue.get(val).type],
            properties={
                "bin_op": IntegerAttr(ATOMIC_OPERATIONS.index(operation), 64),
                "ordering": IntegerAttr(ORDERINGS[ordering], 64),
            },
        )

    # Enumerations stored as integers and printed as words.
    @classmethod
    def parse(cls, parser: Parser) -> AtomicRMWOp:
        operation = parser.expect(
            lambda: parser.parse_optional_keyword_in(ATOMIC_OPERATIONS), "expected an atomic operation"
        )
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        ordering = ATOMIC_ORDERING_KEYWORDS[parse_ordering(parser)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        operands = parser.resolve_operands([ptr, val], [ptr_type, parser.parse_type()], parser.pos)
        op = cls(operation, operands[0], operands[1], ordering)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {ATOMIC_OPERATIONS[self.bin_op.value.data]} ")
        printer.print_ssa_value(self.ptr)
        printer.print_string(", ")
        printer.print_ssa_value(self.val)
        printer.print_string(f" {ATOMIC_ORDERING_KEYWORDS[self.ordering.value.data]}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([self.ptr.type, self.val.type], printer.print_attribute)


@irdl_op_definition
class CmpXchgOp(IRDLOperation):
    """
    Replaces memory at `ptr` by `val` if it equals `cmp`, at once; the result is the value before and whether it did.

    ```mlir
    %r = llvm.cmpxchg %p, %old, %new acq_rel monotonic : !llvm.ptr, i64
    ```
    """

    name = "llvm.cmpxchg"

    T: ClassVar = VarConstraint("T", AnyAttr())

    ptr = operand_def(POINTER)
    cmp = operand_def(T)
    val = operand_def(T)
    res = result_def(LLVMStructType)
    success_ordering = prop_def(IntegerAttr)
    failure_ordering = prop_def(IntegerAttr)

    def __init__(
        self,
        ptr: SSAValue | Operation,
        cmp: SSAValue | Operation,
        val: SSAValue | Operation,
        success: str = "acq_rel",
        failure: str = "monotonic",
    ):
        super().__init__(
            operands=[ptr, cmp, val],
            result_types=[LLVMStructType.from_type_list([SSAValue.get(val).type, IntegerType(1)])],
            properties={
                "success_ordering": IntegerAttr(ORDERINGS[success], 64),
                "failure_ordering": IntegerAttr(ORDERINGS[failure], 64),
            },
        )

    # Enumerations stored as integers and printed as words.
    @classmethod
    def parse(cls, parser: Parser) -> CmpXchgOp:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        cmp = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        success = ATOMIC_ORDERING_KEYWORDS[parse_ordering(parser)]
        failure = ATOMIC_ORDERING_KEYWORDS[parse_ordering(parser)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        ptr_type = parser.parse_type()
        parser.parse_punctuation(",")
        type_ = parser.parse_type()
        operands = parser.resolve_operands([ptr, cmp, val], [ptr_type, type_, type_], parser.pos)
        op = cls(*operands, success=success, failure=failure)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list([self.ptr, self.cmp, self.val], printer.print_ssa_value)
        for ordering in (self.success_ordering, self.failure_ordering):
            printer.print_string(f" {ATOMIC_ORDERING_KEYWORDS[ordering.value.data]}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list([self.ptr.type, self.val.type], printer.print_attribute)


@irdl_op_definition
class FenceOp(IRDLOperation):
    """Orders memory accesses before and after it: `llvm.fence acquire`."""

    name = "llvm.fence"

    ordering = prop_def(IntegerAttr)

    def __init__(self, ordering: str):
        super().__init__(properties={"ordering": IntegerAttr(ORDERINGS[ordering], 64)})

    # An enumeration stored as an integer and printed as a word.
    @classmethod
    def parse(cls, parser: Parser) -> FenceOp:
        op = cls(ATOMIC_ORDERING_KEYWORDS[parse_ordering(parser)])
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {ATOMIC_ORDERING_KEYWORDS[self.ordering.value.data]}")
        printer.print_op_attributes(self.attributes)
