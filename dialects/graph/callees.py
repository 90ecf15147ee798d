"""Finding the function that a call names, without going over the module for each call."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

_tables: WeakKeyDictionary[Operation, dict[str, Operation]] = WeakKeyDictionary()
"""What was found at the last look into a symbol table. Ops come, go and get other names, so that each is checked."""


def find_callee(op: Operation, callee: SymbolRefAttr) -> Operation | None:
    """The op that `callee` names in the symbol table around `op`; as `SymbolTable.lookup_symbol`, for plain names."""
    anchor = op.parent_op()
    while anchor is not None and not anchor.has_trait(SymbolTable):
        anchor = anchor.parent_op()
    if anchor is None or callee.nested_references.data:
        return SymbolTable.lookup_symbol(op, callee)
    name = callee.root_reference.data
    found = _tables.get(anchor, {}).get(name)
    if found is None or found.parent_op() is not anchor or symbol_name(found) != name:
        table: dict[str, Operation] = {}
        for child in anchor.regions[0].block.ops:
            if (other := symbol_name(child)) is not None:
                table.setdefault(other, child)
        _tables[anchor] = table
        found = table.get(name)
    return found


def symbol_name(op: Operation) -> str | None:
    """The name that `op` has in a symbol table."""
    attribute = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return attribute.data if isinstance(attribute, StringAttr) else None
