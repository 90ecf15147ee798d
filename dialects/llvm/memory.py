"""Memory ops that xDSL's `llvm` dialect lacks or restricts: masked access, copies, prefetch, atomics, addresses."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    I1,
    I32,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    i8,
    i32,
)
from xdsl.dialects.llvm import (
    ATOMIC_ORDERING_KEYWORDS,
    GEP_USE_SSA_VAL,
    LLVMArrayType,
    LLVMPointerType,
    LLVMStructType,
)
from xdsl.dialects.utils import parse_dynamic_index_list_without_types, print_dynamic_index_list
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

POINTER = base(LLVMPointerType)
POINTERS = VectorType.constr(POINTER)

ORDERINGS = {word: value for value, word in ATOMIC_ORDERING_KEYWORDS.items()}


def parse_ordering(parser: Parser) -> int:
    return ORDERINGS[parser.expect(lambda: parser.parse_optional_keyword_in(ORDERINGS), "expected an ordering")]


GEP_FLAGS = {0: "", 1: "inbounds_flag", 2: "nusw", 3: "inbounds", 4: "nuw", 6: "nusw|nuw", 7: "inbounds|nuw"}
"""`noWrapFlags` of a `getelementptr` -> keyword; `inbounds` implies `nusw`."""

_GEP_FLAG_VALUES = {"inbounds_flag": 1, "nusw": 2, "inbounds": 3, "nuw": 4}


@irdl_op_definition
class GEPOp(IRDLOperation):
    """
    Address of an element: `base + index * size(elem_type)` and on into arrays and structs; a vector of addresses when
    an operand is a vector.

    - (C1) one operand per dynamic index
    - (C2) further indices go into arrays and structs; a struct's is constant and in range

    ```mlir
    %q = llvm.getelementptr inbounds|nuw %p[%i, 2] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<4 x f32>
    ```
    """

    name = "llvm.getelementptr"

    ptr = operand_def(POINTER | POINTERS)
    ssa_indices = var_operand_def()
    elem_type = prop_def()
    noWrapFlags = prop_def(IntegerAttr[I32], default_value=IntegerAttr(0, 32))
    rawConstantIndices = prop_def(DenseArrayBase.constr(i32))
    result = result_def(POINTER | POINTERS)

    traits = traits_def(Pure())

    def __init__(
        self,
        ptr: SSAValue | Operation,
        indices: Sequence[int | SSAValue | Operation],
        elem_type: Attribute,
        *,
        flags: int = 0,
        result_type: Attribute | None = None,
    ):
        values = [SSAValue.get(index) for index in indices if not isinstance(index, int)]
        raw = [index if isinstance(index, int) else GEP_USE_SSA_VAL for index in indices]
        super().__init__(
            operands=[ptr, values],
            result_types=[result_type or LLVMPointerType()],
            properties={
                "elem_type": elem_type,
                "noWrapFlags": IntegerAttr(flags, 32),
                "rawConstantIndices": DenseArrayBase.from_list(i32, raw),
            },
        )

    def indices(self) -> list[int | SSAValue]:
        """The indices in order, constants as integers."""
        values = iter(self.ssa_indices)
        return [next(values) if raw == GEP_USE_SSA_VAL else raw for raw in self.rawConstantIndices.get_values()]

    def verify_(self) -> None:
        raw = self.rawConstantIndices.get_values()
        if (dynamic := raw.count(GEP_USE_SSA_VAL)) != len(self.ssa_indices):  # C1
            raise VerifyException(f"{dynamic} dynamic indices, but {len(self.ssa_indices)} operands for them")
        current: Attribute = self.elem_type
        for place, index in enumerate(raw[1:], start=1):  # C2
            match current:
                case LLVMArrayType():
                    current = current.type
                case LLVMStructType(types=types) if index == GEP_USE_SSA_VAL:
                    raise VerifyException(f"index {place} goes into a struct and must be constant")
                case LLVMStructType(types=types) if 0 <= index < len(types):
                    current = types.data[index]
                case LLVMStructType(types=types):
                    raise VerifyException(f"index {place} is {index}, the struct has {len(types)} fields")
                case _:
                    raise VerifyException(f"index {place} goes into {current}, expected an array or a struct")

    # Mixed constant and dynamic indices and the flag keywords are beyond the format language.
    @classmethod
    def parse(cls, parser: Parser) -> GEPOp:
        flags = 0
        while (word := parser.parse_optional_keyword_in(_GEP_FLAG_VALUES)) is not None:
            flags |= _GEP_FLAG_VALUES[word]
            if parser.parse_optional_punctuation("|") is None:
                break
        ptr = parser.parse_unresolved_operand()
        values, raw = parse_dynamic_index_list_without_types(parser, GEP_USE_SSA_VAL)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = parser.parse_function_type()
        parser.parse_punctuation(",")
        elem_type = parser.parse_type()
        operands = parser.resolve_operands([ptr, *values], types.inputs.data, parser.pos)
        dynamic = iter(operands[1:])
        indices = [next(dynamic) if index == GEP_USE_SSA_VAL else index for index in raw]
        op = cls(operands[0], indices, elem_type, flags=flags, result_type=types.outputs.data[0])
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        if flags := GEP_FLAGS[self.noWrapFlags.value.data]:
            printer.print_string(f" {flags}")
        printer.print_string(" ")
        printer.print_ssa_value(self.ptr)
        print_dynamic_index_list(printer, GEP_USE_SSA_VAL, self.ssa_indices, self.rawConstantIndices.get_values())
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_function_type([value.type for value in self.operands], [self.result.type])
        printer.print_string(", ")
        printer.print_attribute(self.elem_type)


_METADATA = ("alignment", "nontemporal", "alias_scopes", "noalias_scopes")
"""Properties of loads and stores that are printed in the attribute dictionary, as upstream does."""


def _print_dictionary(op: IRDLOperation, printer: Printer) -> None:
    metadata = {key: op.properties[key] for key in _METADATA if key in op.properties}
    printer.print_op_attributes(metadata | op.attributes)


def _take_metadata(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    return {key: attributes.pop(key) for key in (*_METADATA, "invariant", "volatile_") if key in attributes}


@irdl_op_definition
class LoadOp(IRDLOperation):
    """
    The value of the result's type at `addr`, aligned to `alignment` bytes (its natural alignment when not given).

    `invariant` promises that the memory never changes; `alias_scopes` and `noalias_scopes` name regions.

    ```mlir
    %v = llvm.load %p invariant {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
    ```
    """

    name = "llvm.load"

    addr = operand_def(POINTER)
    alignment = opt_prop_def(IntegerAttr)
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    invariant = opt_prop_def(UnitAttr)
    ordering = prop_def(IntegerAttr, default_value=IntegerAttr(0, 64))
    alias_scopes = opt_prop_def(ArrayAttr)
    noalias_scopes = opt_prop_def(ArrayAttr)
    res = result_def()

    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        addr: SSAValue | Operation,
        type_: Attribute,
        alignment: int | None = None,
        *,
        ordering: int = 0,
        metadata: Mapping[str, Attribute] | None = None,
    ):
        properties: dict[str, Attribute] = {"ordering": IntegerAttr(ordering, 64), **(metadata or {})}
        if alignment is not None:
            properties["alignment"] = IntegerAttr(alignment, 64)
        super().__init__(operands=[addr], result_types=[type_], properties=properties)

    # Keywords before and after the operand and an ordering stored as an integer.
    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        metadata: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("volatile") is not None:
            metadata["volatile_"] = UnitAttr()
        addr = parser.parse_unresolved_operand()
        ordering = parse_ordering(parser) if parser.parse_optional_keyword("atomic") is not None else 0
        if parser.parse_optional_keyword("invariant") is not None:
            metadata["invariant"] = UnitAttr()
        attributes = parser.parse_optional_attr_dict()
        metadata |= _take_metadata(attributes)
        parser.parse_punctuation(":")
        operand = parser.resolve_operand(addr, parser.parse_type())
        parser.parse_punctuation("->")
        op = cls(operand, parser.parse_type(), ordering=ordering, metadata=metadata)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" " if self.volatile_ is None else " volatile ")
        printer.print_ssa_value(self.addr)
        if ordering := self.ordering.value.data:
            printer.print_string(f" atomic {ATOMIC_ORDERING_KEYWORDS[ordering]}")
        if self.invariant is not None:
            printer.print_string(" invariant")
        _print_dictionary(self, printer)
        printer.print_string(" : ")
        printer.print_attribute(self.addr.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.res.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """
    Writes `value` to `addr`; alignment and scopes as for `llvm.load`; `nontemporal` keeps it out of the caches.

    ```mlir
    llvm.store %v, %p {alignment = 4 : i64, nontemporal} : vector<8xf32>, !llvm.ptr
    ```
    """

    name = "llvm.store"

    value = operand_def()
    addr = operand_def(POINTER)
    alignment = opt_prop_def(IntegerAttr)
    volatile_ = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)
    ordering = prop_def(IntegerAttr, default_value=IntegerAttr(0, 64))
    alias_scopes = opt_prop_def(ArrayAttr)
    noalias_scopes = opt_prop_def(ArrayAttr)

    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue | Operation,
        addr: SSAValue | Operation,
        alignment: int | None = None,
        *,
        ordering: int = 0,
        metadata: Mapping[str, Attribute] | None = None,
    ):
        properties: dict[str, Attribute] = {"ordering": IntegerAttr(ordering, 64), **(metadata or {})}
        if alignment is not None:
            properties["alignment"] = IntegerAttr(alignment, 64)
        super().__init__(operands=[value, addr], properties=properties)

    # A keyword before the operands and an ordering stored as an integer.
    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        metadata: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("volatile") is not None:
            metadata["volatile_"] = UnitAttr()
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        addr = parser.parse_unresolved_operand()
        ordering = parse_ordering(parser) if parser.parse_optional_keyword("atomic") is not None else 0
        attributes = parser.parse_optional_attr_dict()
        metadata |= _take_metadata(attributes)
        parser.parse_punctuation(":")
        value_type = parser.parse_type()
        parser.parse_punctuation(",")
        operands = parser.resolve_operands([value, addr], [value_type, parser.parse_type()], parser.pos)
        op = cls(operands[0], operands[1], ordering=ordering, metadata=metadata)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" " if self.volatile_ is None else " volatile ")
        printer.print_list([self.value, self.addr], printer.print_ssa_value)
        if ordering := self.ordering.value.data:
            printer.print_string(f" atomic {ATOMIC_ORDERING_KEYWORDS[ordering]}")
        _print_dictionary(self, printer)
        printer.print_string(" : ")
        printer.print_list([self.value.type, self.addr.type], printer.print_attribute)


class _Masked(IRDLOperation, ABC):
    """Base of masked accesses: lanes whose mask bit is 0 touch no memory."""

    T: ClassVar = VarConstraint("T", base(VectorType))

    alignment = prop_def(IntegerAttr[I32])

    irdl_options = (ParsePropInAttrDict(),)


@irdl_op_definition
class MaskedLoadOp(_Masked):
    """`result[l] = mask[l] ? memory[data + l] : pass_thru[l]`."""

    name = "llvm.intr.masked.load"

    data = operand_def(POINTER)
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(_Masked.T)
    res = result_def(_Masked.T)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        data: SSAValue | Operation,
        mask: SSAValue | Operation,
        pass_thru: SSAValue | Operation,
        alignment: int = 1,
    ):
        super().__init__(
            operands=[data, mask, pass_thru],
            result_types=[SSAValue.get(pass_thru).type],
            properties={"alignment": IntegerAttr(alignment, 32)},
        )


@irdl_op_definition
class MaskedStoreOp(_Masked):
    """`memory[data + l] = value[l]` where `mask[l]`."""

    name = "llvm.intr.masked.store"

    value = operand_def(base(VectorType))
    data = operand_def(POINTER)
    mask = operand_def(VectorType[I1])

    assembly_format = "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)"

    def __init__(
        self,
        value: SSAValue | Operation,
        data: SSAValue | Operation,
        mask: SSAValue | Operation,
        alignment: int = 1,
    ):
        super().__init__(operands=[value, data, mask], properties={"alignment": IntegerAttr(alignment, 32)})


@irdl_op_definition
class MaskedGatherOp(_Masked):
    """`result[l] = mask[l] ? memory[ptrs[l]] : pass_thru[l]`."""

    name = "llvm.intr.masked.gather"

    ptrs = operand_def(POINTERS)
    mask = operand_def(VectorType[I1])
    pass_thru = operand_def(_Masked.T)
    res = result_def(_Masked.T)

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"

    def __init__(
        self,
        ptrs: SSAValue | Operation,
        mask: SSAValue | Operation,
        pass_thru: SSAValue | Operation,
        alignment: int = 1,
    ):
        super().__init__(
            operands=[ptrs, mask, pass_thru],
            result_types=[SSAValue.get(pass_thru).type],
            properties={"alignment": IntegerAttr(alignment, 32)},
        )


@irdl_op_definition
class MaskedScatterOp(_Masked):
    """`memory[ptrs[l]] = value[l]` where `mask[l]`, in the order of the lanes."""

    name = "llvm.intr.masked.scatter"

    value = operand_def(base(VectorType))
    ptrs = operand_def(POINTERS)
    mask = operand_def(VectorType[I1])

    assembly_format = "$value `,` $ptrs `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($ptrs)"

    def __init__(
        self,
        value: SSAValue | Operation,
        ptrs: SSAValue | Operation,
        mask: SSAValue | Operation,
        alignment: int = 1,
    ):
        super().__init__(operands=[value, ptrs, mask], properties={"alignment": IntegerAttr(alignment, 32)})


class _Block(IRDLOperation, ABC):
    """Base of copies of `len` bytes; generic syntax, as upstream."""

    dst = operand_def(POINTER)
    src = operand_def(POINTER)
    len = operand_def(IntegerType)
    isVolatile = prop_def(BoolAttr)

    def __init__(self, dst: SSAValue | Operation, src: SSAValue | Operation, size: SSAValue | Operation):
        super().__init__(operands=[dst, src, size], properties={"isVolatile": IntegerAttr.from_bool(False)})


@irdl_op_definition
class MemcpyOp(_Block):
    """Copies `len` bytes between blocks that are equal or do not overlap."""

    name = "llvm.intr.memcpy"


@irdl_op_definition
class MemmoveOp(_Block):
    """Copies `len` bytes between blocks that may overlap."""

    name = "llvm.intr.memmove"


@irdl_op_definition
class MemsetOp(IRDLOperation):
    """Sets `len` bytes to `val`; generic syntax, as upstream."""

    name = "llvm.intr.memset"

    dst = operand_def(POINTER)
    val = operand_def(i8)
    len = operand_def(IntegerType)
    isVolatile = prop_def(BoolAttr)

    def __init__(self, dst: SSAValue | Operation, val: SSAValue | Operation, size: SSAValue | Operation):
        super().__init__(operands=[dst, val, size], properties={"isVolatile": IntegerAttr.from_bool(False)})


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Hints that `addr` is read (`rw` 0) or written (1) soon; `hint` 3 keeps it in all caches; `cache` 1 is data."""

    name = "llvm.intr.prefetch"

    addr = operand_def(POINTER)
    rw = prop_def(IntegerAttr[I32])
    hint = prop_def(IntegerAttr[I32])
    cache = prop_def(IntegerAttr[I32])

    def __init__(self, addr: SSAValue | Operation, *, write: bool = False, locality: int = 3):
        super().__init__(
            operands=[addr],
            properties={
                "rw": IntegerAttr(int(write), 32),
                "hint": IntegerAttr(locality, 32),
                "cache": IntegerAttr(1, 32),
            },
        )


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """Promises that `cond` is true."""

    name = "llvm.intr.assume"

    cond = operand_def(I1)

    assembly_format = "$cond attr-dict `:` type($cond)"

    def __init__(self, cond: SSAValue | Operation):
        super().__init__(operands=[cond])
