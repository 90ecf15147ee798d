"""Replacing the symbols of sizes in types and attributes of ops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    SymExpr,
    dims_of,
    is_tensor,
    lower_bound,
    substitute,
    sym,
    symbol_of,
    tensor_of,
    tensor_type,
    upper_bound,
)
from aicc.dialects.graph.interfaces import set_type


class SymbolSubstitution:
    """
    Replaces symbols by other sizes, in tensor types, `#graph.shape` and lists of them; each attribute once.

    Sizes that are in `whole` are replaced as they stand.
    """

    def __init__(self, values: Mapping[str, Dim], whole: Mapping[SymExpr, Dim] | None = None):
        self.values = values
        self._whole = whole or {}
        self._cache: dict[Attribute, Attribute] = {}

    def dim(self, dim: Dim) -> Dim:
        """`dim` with the symbols replaced."""
        if isinstance(dim, SymExpr) and dim in self._whole:
            return self._whole[dim]
        return substitute(dim, self.values)

    def attribute(self, attribute: Attribute) -> Attribute:
        """`attribute` with the symbols replaced."""
        found = self._cache.get(attribute)
        if found is None:
            found = self._cache[attribute] = self._compute(attribute)
        return found

    def _compute(self, attribute: Attribute) -> Attribute:
        if is_tensor(attribute):
            if not any(size.data < 0 for size in attribute.shape.data):
                return attribute
            return tensor_type(list(map(self.dim, dims_of(attribute))), tensor_of(attribute).element_type)
        match attribute:
            case ShapeAttr(data=dims):
                return ShapeAttr(map(self.dim, dims))
            case FunctionType(inputs=ArrayAttr(data=inputs), outputs=ArrayAttr(data=outputs)):
                return FunctionType.from_lists(list(map(self.attribute, inputs)), list(map(self.attribute, outputs)))
            case ArrayAttr():
                return ArrayAttr(map(self.attribute, attribute.data))
            case _:
                return attribute

    def apply(self, root: Operation) -> None:
        """Replaces in all results, block arguments, properties and attributes of `root` and the ops in it."""
        if not self.values and not self._whole:
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


def sizes_in_attribute(attribute: Attribute, found: dict[SymExpr, None]) -> None:
    """Adds the symbolic sizes in `attribute` to `found`, in order of appearance."""
    if is_tensor(attribute):
        found.update((dim, None) for dim in dims_of(attribute) if isinstance(dim, SymExpr))
        return
    match attribute:
        case ShapeAttr(data=dims):
            found.update((dim, None) for dim in dims if isinstance(dim, SymExpr))
        case ArrayAttr():
            for item in attribute.data:
                sizes_in_attribute(item, found)
        case _:
            pass


def symbols_in_attribute(attribute: Attribute, found: dict[str, None]) -> None:
    """Adds the symbols in `attribute` to `found`, in order of appearance."""
    sizes: dict[SymExpr, None] = {}
    sizes_in_attribute(attribute, sizes)
    for size in sizes:
        found.update(dict.fromkeys(size.symbols()))


def sizes_in_block(block: Block) -> tuple[SymExpr, ...]:
    """The symbolic sizes in types and properties of a block and the ops in it, in order of first appearance."""
    found: dict[SymExpr, None] = {}
    for argument in block.args:
        sizes_in_attribute(argument.type, found)
    for top in block.ops:
        for op in top.walk():
            for value in _defined_by(op):
                sizes_in_attribute(value.type, found)
            for attribute in op.properties.values():
                sizes_in_attribute(attribute, found)
    return tuple(found)


def independent_sizes(sizes: Iterable[SymExpr]) -> tuple[SymExpr, ...]:
    """
    What `sizes` are made of, in order of appearance: their symbols, and sizes that stand for themselves.

    A size such as `floordiv(s,8)` does if no other one has a symbol of it, and if it may be any number, as symbols may:
    one of known range tells more than a symbol would.
    """
    users: dict[str, set[SymExpr]] = {}
    for size in sizes:
        for name in size.symbols():
            users.setdefault(name, set()).add(size)
    found: dict[SymExpr, None] = {}
    for size in sizes:
        alone = all(len(users[name]) == 1 for name in size.symbols())
        if alone and upper_bound(size) is None and (lower_bound(size) or 0) <= 0:
            found[size] = None
        else:
            found.update(dict.fromkeys(map(sym, size.symbols())))
    return tuple(found)


def renaming(sizes: Iterable[SymExpr], names: Iterable[str]) -> SymbolSubstitution:
    """Puts symbols of these names in the place of `sizes` that `independent_sizes` gave."""
    whole = {size: sym(name) for size, name in zip(sizes, names, strict=True)}
    symbols = {name: new for size, new in whole.items() if (name := symbol_of(size)) is not None}
    return SymbolSubstitution(symbols, whole)
