"""Replacing the symbols of sizes in types and attributes of ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.graph.dims import Dim, ShapeAttr, SymExpr, dims_of, is_tensor, substitute, substitute_type
from aicc.dialects.graph.interfaces import set_type


class SymbolSubstitution:
    """Replaces symbols by other sizes, in tensor types, `#graph.shape` and lists of them; each attribute once."""

    def __init__(self, values: Mapping[str, Dim]):
        self.values = values
        self._cache: dict[Attribute, Attribute] = {}

    def attribute(self, attribute: Attribute) -> Attribute:
        """`attribute` with the symbols replaced."""
        found = self._cache.get(attribute)
        if found is None:
            found = self._cache[attribute] = self._compute(attribute)
        return found

    def _compute(self, attribute: Attribute) -> Attribute:
        if is_tensor(attribute):
            return substitute_type(attribute, self.values)
        match attribute:
            case ShapeAttr(data=dims):
                return ShapeAttr(substitute(dim, self.values) for dim in dims)
            case FunctionType(inputs=ArrayAttr(data=inputs), outputs=ArrayAttr(data=outputs)):
                return FunctionType.from_lists(list(map(self.attribute, inputs)), list(map(self.attribute, outputs)))
            case ArrayAttr():
                return ArrayAttr(map(self.attribute, attribute.data))
            case _:
                return attribute

    def apply(self, root: Operation) -> None:
        """Replaces in all results, block arguments, properties and attributes of `root` and the ops in it."""
        if not self.values:
            return
        for op in root.walk():
            for value in _defined_by(op):
                set_type(value, self.attribute(value.type))
            for table in (op.properties, op.attributes):
                for name, value in table.items():
                    table[name] = self.attribute(value)


def _defined_by(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def symbols_in_attribute(attribute: Attribute, found: dict[str, None]) -> None:
    """Adds the symbols in `attribute` to `found`, in order of appearance."""
    if is_tensor(attribute):
        _add(dims_of(attribute), found)
        return
    match attribute:
        case ShapeAttr(data=dims):
            _add(dims, found)
        case ArrayAttr():
            for item in attribute.data:
                symbols_in_attribute(item, found)
        case _:
            pass


def _add(dims: tuple[Dim, ...], found: dict[str, None]) -> None:
    for dim in dims:
        if isinstance(dim, SymExpr):
            found.update(dict.fromkeys(dim.symbols()))


def symbols_in_block(block: Block) -> tuple[str, ...]:
    """The symbols in types and properties of a block and the ops in it, in order of first appearance."""
    found: dict[str, None] = {}
    for argument in block.args:
        symbols_in_attribute(argument.type, found)
    for top in block.ops:
        for op in top.walk():
            for value in _defined_by(op):
                symbols_in_attribute(value.type, found)
            for attribute in op.properties.values():
                symbols_in_attribute(attribute, found)
    return tuple(found)
