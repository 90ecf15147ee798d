"""
A kernel that is compiled by itself, and what comes of that for those who call it.

Passes that work kernel by kernel have `apply_to_unit(unit)`. Where one changes how the kernel is to be called, it notes
so in `unit.demands`, and its `apply_to_callers(callers)` carries that out in a module in which the kernel is only
declared. Both together do what the pass does to a whole module, so that kernels can be compiled in other processes, and
not at all where it is known what comes of it.
"""

from __future__ import annotations

import json
from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import Protocol, runtime_checkable

from xdsl.dialects.builtin import (
    AffineMapAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.printer import Printer

from aicc.dialects.graph.dim_parser import parse_dim
from aicc.dialects.loops.attrs import AnyMemRef, memref_dims, memref_type
from aicc.transforms.loops_pack import Packed, Packing

_TYPES = {"bf16": BFloat16Type, "f16": Float16Type, "f32": Float32Type, "f64": Float64Type, "index": IndexType}


def _type_to_json(type: AnyMemRef) -> list[str]:
    return [str(type.element_type), *map(str, memref_dims(type))]


def _type_from_json(texts: Sequence[str]) -> AnyMemRef:
    element, *dims = texts
    made: Attribute = _TYPES[element]() if element in _TYPES else IntegerType(int(element.removeprefix("i")))
    return memref_type([parse_dim(dim) for dim in dims], made)


@dataclass
class Demands:
    """What callers of a compiled kernel must do, and what is known of it."""

    packs: list[Packed] = field(default_factory=list[Packed])
    """Arguments to be packed, in order."""

    scratch: list[AnyMemRef] = field(default_factory=list[AnyMemRef])
    """Buffers to be passed before the outputs, in terms of the kernel's symbols."""

    notes: dict[str, str] = field(default_factory=dict[str, str])
    """Attributes of the kernel, as text."""

    def to_json(self) -> str:
        """Text that `from_json` reads back."""
        packs = [
            [packed.argument, packed.packing.tiles, packed.packing.order, _type_to_json(packed.source), packed.viewed]
            for packed in self.packs
        ]
        return json.dumps([packs, [_type_to_json(type) for type in self.scratch], self.notes])

    @staticmethod
    def from_json(text: str) -> Demands:
        """The demands in text that `to_json` made."""
        packs, scratch, notes = json.loads(text)
        return Demands(
            [
                Packed(argument, Packing(tuple(tiles), tuple(order)), _type_from_json(source), viewed)
                for argument, tiles, order, source, viewed in packs
            ],
            [_type_from_json(type) for type in scratch],
            notes,
        )


@dataclass
class KernelUnit:
    """A kernel outside of its module."""

    kernel: FuncOp
    sequence: NamedSequenceOp | None = None
    """Its schedule, where it has one."""

    constants: frozenset[int] = frozenset()
    """The positions, among its buffers, of inputs that are constants in every call."""

    demands: Demands = field(default_factory=Demands)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.sym_name.data


@dataclass(frozen=True)
class PackerUnit:
    """A packing kernel that is still to be made."""

    name: str
    symbols: tuple[str, ...]
    """Of the kernel that it is made for."""

    packed: Packed


@dataclass
class Callers:
    """A module in which kernels are only declared, and what these ask of their callers."""

    module: ModuleOp
    by_name: Mapping[str, Demands]
    packers: list[PackerUnit] = field(default_factory=list[PackerUnit])
    """Packing kernels that the module has come to declare."""

    def demands(self) -> Iterator[tuple[FuncOp, Demands]]:
        """The declared kernels, in order, and what each asks."""
        for op in list(self.module.body.block.ops):
            if isinstance(op, FuncOp) and (demands := self.by_name.get(op.sym_name.data)) is not None:
                yield op, demands


@runtime_checkable
class UnitPass(Protocol):
    """A pass that can work on a kernel by itself."""

    def apply_to_unit(self, unit: KernelUnit) -> None: ...


class EntryPointsPass(ModulePass, ABC):
    """A pass to which it makes no difference what is in kernels, and which needs only their declarations."""


@runtime_checkable
class CallersPass(Protocol):
    """A pass whose work on a kernel changes how it is called."""

    def apply_to_callers(self, callers: Callers) -> None: ...


_REPEATED: frozenset[type[Attribute]] = frozenset([AffineMapAttr, IntegerType, MemRefType, StringAttr, VectorType])
"""Attributes that are equal only where their texts are; those of 0.0 and -0.0 are equal too."""


class TextOfUnits:
    """Texts of kernels by which they are known: without locations and names of values; texts of types are kept."""

    def __init__(self) -> None:
        self._texts: dict[Attribute, str] = {}

    def text(self, unit: KernelUnit) -> str:
        """All that what is made of a unit depends on, but for the passes."""
        numbers: dict[SSAValue, int] = {}
        parts: list[str] = [f"constants {sorted(unit.constants)}"]
        self._add(unit.kernel, numbers, parts)
        if unit.sequence is not None:
            self._add(unit.sequence, numbers, parts)
        return "\n".join(parts)

    def _add(self, op: Operation, numbers: dict[SSAValue, int], parts: list[str]) -> None:
        words = [op.name, *(str(numbers[operand]) for operand in op.operands), "->"]
        for result in op.results:
            numbers[result] = len(numbers)
            words.append(self._attribute(result.type))
        for group in (op.properties, op.attributes):
            for key in sorted(group):
                words += [key, self._attribute(group[key])]
        parts.append(" ".join(words))
        for region in op.regions:
            for block in region.blocks:
                self._add_block(block, numbers, parts)

    def _add_block(self, block: Block, numbers: dict[SSAValue, int], parts: list[str]) -> None:
        for argument in block.args:
            numbers[argument] = len(numbers)
        parts.append(" ".join(["{", *(self._attribute(argument.type) for argument in block.args)]))
        for op in block.ops:
            self._add(op, numbers, parts)
        parts.append("}")

    def _attribute(self, attribute: Attribute) -> str:
        if type(attribute) not in _REPEATED:
            return _text(attribute)
        if (text := self._texts.get(attribute)) is None:
            text = self._texts[attribute] = _text(attribute)
        return text


def _text(attribute: Attribute) -> str:
    stream = StringIO()
    Printer(stream).print_attribute(attribute)
    return stream.getvalue()
