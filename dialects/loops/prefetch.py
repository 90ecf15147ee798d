"""A hint to the caches."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Self

from xdsl.dialects.builtin import I64, AffineMapAttr, IndexType, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Resource, get_effects
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.loops.access import verify_access
from aicc.dialects.loops.affine_text import canonical_access, parse_access, print_access
from aicc.dialects.loops.attrs import memref_of

NEAREST = 3
"""Locality of what is wanted in the innermost cache."""


@dataclass(frozen=True)
class Caches(Resource):
    """What the caches hold; memory is the same whatever that is."""

    def name(self) -> str:
        return "caches"


class CachesEffect(MemoryEffect):
    """Changes what the caches hold, and nothing else: not dead, and in the way of no other op."""

    @classmethod
    def get_effects(cls, op: Operation) -> Set[EffectInstance]:
        return _CACHES


_CACHES = frozenset([EffectInstance(MemoryEffectKind.WRITE, resource=Caches())])


def leaves_memory_alone(op: Operation) -> bool:
    """Whether an op, known for its effects, neither reads nor writes memory."""
    effects = get_effects(op)
    return effects is not None and all(isinstance(effect.resource, Caches) for effect in effects)


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """
    Hints that `memref[map(indices...)]` is read (or written) soon: its cache line may be fetched. Computes nothing.

    Indices may lie outside the memref: then there is nothing to fetch. `locality` says how near it is wanted: 3 in the
    innermost cache, 2 in the next one, 1 in the last one, 0 where it disturbs what is there the least.

    - (C1) the map takes the operands, and has one result per dimension of the memref
    - (C2) `0 <= locality <= 3`

    ```mlir
    loops.prefetch %m[%i + 1, %k * 16] locality 2 : memref<8x64xf32>
    loops.prefetch %m[%i, %k] write locality 3 : memref<8x64xf32>
    ```
    """

    name = "loops.prefetch"

    memref = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    locality = prop_def(IntegerAttr[I64])
    write = opt_prop_def(UnitAttr)

    traits = traits_def(CachesEffect())

    def __init__(
        self,
        memref: SSAValue,
        affine_map: AffineMap,
        indices: Sequence[SSAValue],
        locality: int = NEAREST,
        write: bool = False,
    ):
        access, operands = canonical_access(affine_map, indices)
        super().__init__(
            operands=[memref, operands],
            properties={
                "map": AffineMapAttr(access),
                "locality": IntegerAttr(locality, i64),
                "write": UnitAttr() if write else None,
            },
        )

    def verify_(self) -> None:
        verify_access(self.map.data, len(self.indices), 0, memref_of(self.memref).get_num_dims())  # C1
        if not 0 <= (found := self.locality.value.data) <= NEAREST:  # C2
            raise VerifyException(f"locality is {found}, expected 0 to {NEAREST}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_operand(self.memref)
        with printer.in_square_brackets():
            print_access(printer, self.map.data, self.indices)
        if self.write is not None:
            printer.print_string(" write")
        printer.print_string(f" locality {self.locality.value.data}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.memref.type)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            finish = parse_access(parser)
        write = UnitAttr() if parser.parse_optional_keyword("write") else None
        parser.parse_keyword("locality")
        locality = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        attributes: dict[str, Attribute] = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        memref = parser.resolve_operand(source, parser.parse_type())
        affine_map, operands = finish()
        return cls.build(
            operands=[memref, operands],
            properties={"map": AffineMapAttr(affine_map), "locality": locality, "write": write},
            attributes=attributes,
        )
