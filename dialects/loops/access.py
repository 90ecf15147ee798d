"""Reading and writing elements and n-D vectors of memrefs, and index arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Self, cast

from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType, UnitAttr, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.loops.affine_text import Access, canonical_access, parse_access, print_access
from aicc.dialects.loops.attrs import AnyMemRef, memref_of, segment_sizes
from aicc.dialects.loops.segments import quick_operands

Index = SSAValue | int


def lanes_of(type: Attribute) -> tuple[int, ...]:
    """The shape of an n-D vector, `()` for a scalar."""
    return type.get_shape() if isinstance(type, VectorType) else ()


def scalar_of(type: Attribute) -> Attribute:
    """The type of one lane."""
    return cast(VectorType[Attribute], type).element_type if isinstance(type, VectorType) else type


def vector_of(type: Attribute, shape: Sequence[int]) -> Attribute:
    """The vector of `shape` with the element type of `type`; a scalar for the empty shape."""
    return _vector(scalar_of(type), tuple(shape)) if shape else scalar_of(type)


@cache
def _vector(element: Attribute, shape: tuple[int, ...]) -> Attribute:
    """The type, made and verified once."""
    return VectorType(element, shape)


def index_access(indices: Sequence[Index]) -> Access:
    """The access `[indices...]`, one value or integer per dimension."""
    operands = [index for index in indices if isinstance(index, SSAValue)]
    position = iter(range(len(operands)))
    exprs: list[AffineExpr] = [
        AffineConstantExpr(index) if isinstance(index, int) else AffineDimExpr(next(position)) for index in indices
    ]
    return AffineMap(len(operands), 0, tuple(exprs)), tuple(operands)


def verify_access(affine_map: AffineMap, operands: int, lanes: int, results: int | None = None) -> None:
    """
    Checks that the map takes `operands` indices and `lanes` lane dimensions and has `results` results.

    Raises:
        VerifyException: if it does not.
    """
    found = affine_map.num_dims + affine_map.num_symbols
    if affine_map.num_dims < lanes or found != operands + lanes:
        raise VerifyException(
            f"the map takes {affine_map.num_dims} dimensions and {affine_map.num_symbols} symbols, expected one input "
            f"for each of {operands} indices and {lanes} lane dimensions"
        )
    if results is not None and len(affine_map.results) != results:
        raise VerifyException(f"the map has {len(affine_map.results)} results, expected {results}: one per dimension")


@irdl_op_definition
class ApplyOp(IRDLOperation):
    """
    `result[l0, ...] = map(indices..., l0, ...)`: one index, or a vector of one per lane.

    - (C1) the map takes the operands and the lanes, and has one result

    ```mlir
    %j = loops.apply %i * 16 + 3
    %v = loops.apply %i * 16 + l0 : vector<16xindex>
    ```
    """

    name = "loops.apply"

    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(IndexType | VectorType[IndexType])

    traits = traits_def(Pure())

    def __init__(self, affine_map: AffineMap, indices: Sequence[SSAValue], type: Attribute | None = None):
        type = type or IndexType()
        access, operands = canonical_access(affine_map, indices, len(lanes_of(type)))
        Operation.__init__(self, operands=operands, properties={"map": AffineMapAttr(access)}, result_types=[type])

    def verify_(self) -> None:
        verify_access(self.map.data, len(self.indices), len(lanes_of(self.result.type)))  # C1
        if (count := len(self.map.data.results)) != 1:  # C1
            raise VerifyException(f"the map has {count} results, expected one")

    # By hand, as for all ops with maps: expressions over the operands' names.

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.map.data, self.indices, len(lanes_of(self.result.type)))
        printer.print_op_attributes(self.attributes)
        if self.result.type != IndexType():
            printer.print_string(" : ")
            printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        type: Attribute = IndexType()
        finish = parse_access(parser, lambda: len(lanes_of(type)), single=True)
        attributes = parser.parse_optional_attr_dict()
        if parser.parse_optional_punctuation(":") is not None:
            type = parser.parse_type()
        affine_map, operands = finish()
        return cls.build(
            operands=[operands],
            properties={"map": AffineMapAttr(affine_map)},
            attributes=attributes,
            result_types=[type],
        )


@quick_operands
@irdl_op_definition
class LoadOp(IRDLOperation):
    """
    `result[l0, ...] = memref[map(indices..., l0, ...)]`: one element, or one per lane of an n-D vector.

    With `lanes`, lanes of the last vector dimension from `lanes` on touch no memory and read as `fill` (0 without).
    With `fill`, lanes whose index lies outside the memref touch no memory either and read as `fill`; without it every
    lane that is not masked lies inside.

    - (C1) the map takes the operands and the lanes, and has one result per dimension of the memref
    - (C2) the result is an element of the memref or a vector of such
    - (C3) `fill` is of the element type
    - (C4) `lanes` needs a vector result

    ```mlir
    %x = loops.load %m[%i, %k + 1] : memref<8x16xf32> to f32
    %v = loops.load %m[%i + l0, %k - 1 + l1] lanes %n fill 0.0 : f32 : memref<8x16xf32> to vector<6x16xf32>
    ```
    """

    name = "loops.load"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    lanes = opt_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    fill = opt_prop_def()
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        memref: SSAValue,
        affine_map: AffineMap,
        indices: Sequence[SSAValue],
        type: Attribute | None = None,
        lanes: SSAValue | None = None,
        fill: Attribute | None = None,
    ):
        """`type` defaults to one element."""
        type = memref_of(memref).element_type if type is None else type
        access, operands = canonical_access(affine_map, indices, len(lanes_of(type)))
        properties: dict[str, Attribute] = {"map": AffineMapAttr(access)}
        if fill is not None:
            properties["fill"] = fill
        mask = () if lanes is None else (lanes,)
        # Straight to the base, as in loops.for.
        properties["operandSegmentSizes"] = segment_sizes(1, len(operands), len(mask))
        Operation.__init__(self, operands=[memref, *operands, *mask], properties=properties, result_types=[type])

    @classmethod
    def at(cls, memref: SSAValue, indices: Sequence[Index], fill: Attribute | None = None) -> Self:
        """One element, with an index or integer per dimension."""
        return cls(memref, *index_access(indices), fill=fill)

    def verify_(self) -> None:
        type = memref_of(self.memref)
        _verify_element(type, self.result.type, self.lanes is not None)  # C2, C4
        verify_access(self.map.data, len(self.indices), len(lanes_of(self.result.type)), type.get_num_dims())  # C1
        if self.fill is not None and (found := getattr(self.fill, "type", None)) != type.element_type:  # C3
            raise VerifyException(f"fill is of type {found}, expected the element type {type.element_type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.memref)
        with printer.in_square_brackets():
            print_access(printer, self.map.data, self.indices, len(lanes_of(self.result.type)))
        _print_lanes(printer, self.lanes)
        if self.fill is not None:
            printer.print_string(" fill ")
            printer.print_attribute(self.fill)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        type: Attribute = IndexType()
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            finish = parse_access(parser, lambda: len(lanes_of(type)))
        lanes = _parse_lanes(parser)
        fill = parser.parse_attribute() if parser.parse_optional_keyword("fill") else None
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        memref = parser.resolve_operand(source, parser.parse_type())
        parser.parse_keyword("to")
        type = parser.parse_type()
        affine_map, operands = finish()
        return cls.build(
            operands=[memref, operands, lanes],
            properties={"map": AffineMapAttr(affine_map), "fill": fill},
            attributes=attributes,
            result_types=[type],
        )


@quick_operands
@irdl_op_definition
class StoreOp(IRDLOperation):
    """
    `memref[map(indices..., l0, ...)] = value[l0, ...]`: one element, or one per lane of an n-D vector.

    With `lanes`, lanes of the last vector dimension from `lanes` on are not written. With `inside`, lanes whose index
    lies outside the memref are not written either; without it every lane that is not masked lies inside. Distinct lanes
    have distinct addresses. `nontemporal` says that nothing reads soon what is written: whole cache lines of it go to
    memory past the caches, and are not read from there first.

    - (C1) the map takes the operands and the lanes, and has one result per dimension of the memref
    - (C2) the value is an element of the memref or a vector of such
    - (C3) `lanes` needs a vector value

    ```mlir
    loops.store %v, %m[%i + l0, %k + l1] lanes %n : vector<6x16xf32> to memref<8x16xf32>
    loops.store %x, %m[%i * 4 + 3, %k] inside : f32 to memref<6x16xf32>
    loops.store %v, %m[%i, %k * 16 + l0] nontemporal : vector<16xf32> to memref<8x64xf32>
    ```
    """

    name = "loops.store"

    value = operand_def()
    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    lanes = opt_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    inside = opt_prop_def(UnitAttr)
    nontemporal = opt_prop_def(UnitAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        affine_map: AffineMap,
        indices: Sequence[SSAValue],
        lanes: SSAValue | None = None,
        inside: bool = False,
    ):
        access, operands = canonical_access(affine_map, indices, len(lanes_of(value.type)))
        mask = () if lanes is None else (lanes,)
        properties: dict[str, Attribute] = {
            "map": AffineMapAttr(access),
            "operandSegmentSizes": segment_sizes(1, 1, len(operands), len(mask)),
        }
        if inside:
            properties["inside"] = UnitAttr()
        Operation.__init__(self, operands=[value, memref, *operands, *mask], properties=properties)

    @classmethod
    def at(cls, value: SSAValue, memref: SSAValue, indices: Sequence[Index]) -> Self:
        """One element, with an index or integer per dimension."""
        return cls(value, memref, *index_access(indices))

    def verify_(self) -> None:
        type = memref_of(self.memref)
        _verify_element(type, self.value.type, self.lanes is not None)  # C2, C3
        verify_access(self.map.data, len(self.indices), len(lanes_of(self.value.type)), type.get_num_dims())  # C1

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.value)
        printer.print_string(", ")
        printer.print_operand(self.memref)
        with printer.in_square_brackets():
            print_access(printer, self.map.data, self.indices, len(lanes_of(self.value.type)))
        _print_lanes(printer, self.lanes)
        for name in ("inside", "nontemporal"):
            if name in self.properties:
                printer.print_string(f" {name}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(" to ")
        printer.print_attribute(self.memref.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        type: Attribute = IndexType()
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        target: UnresolvedOperand = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            finish = parse_access(parser, lambda: len(lanes_of(type)))
        lanes = _parse_lanes(parser)
        flags = {
            name: UnitAttr() if parser.parse_optional_keyword(name) else None for name in ("inside", "nontemporal")
        }
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_keyword("to")
        memref = parser.resolve_operand(target, parser.parse_type())
        affine_map, operands = finish()
        return cls.build(
            operands=[parser.resolve_operand(value, type), memref, operands, lanes],
            properties={"map": AffineMapAttr(affine_map), **flags},
            attributes=attributes,
        )


def access_of(op: LoadOp | StoreOp) -> tuple[AffineMap, tuple[SSAValue, ...], tuple[int, ...]]:
    """The map without symbols, its operands, and the shape of the lanes."""
    affine_map = op.map.data
    first = 1 if isinstance(op, LoadOp) else 2
    lanes = lanes_of(op.results[0].type if isinstance(op, LoadOp) else op.operands[0].type)
    count = affine_map.num_dims + affine_map.num_symbols - len(lanes)
    operands = tuple(op.operands[first : first + count])
    if affine_map.num_symbols:
        affine_map, operands = canonical_access(affine_map, operands, len(lanes))
    return affine_map, operands, lanes


def _verify_element(memref: AnyMemRef, value: Attribute, masked: bool) -> None:
    if scalar_of(value) != memref.element_type:
        raise VerifyException(f"the value is {value}, expected {memref.element_type} or a vector of it")
    if masked and not lanes_of(value):
        raise VerifyException(f"lanes given for a value of type {value}; only a vector has lanes to mask")


def _print_lanes(printer: Printer, lanes: SSAValue | None) -> None:
    if lanes is not None:
        printer.print_string(" lanes ")
        printer.print_operand(lanes)


def _parse_lanes(parser: Parser) -> SSAValue | None:
    return parser.parse_operand(IndexType()) if parser.parse_optional_keyword("lanes") else None
