"""Which ops of a block must stay behind which, because of sizes that data defines: no value says so."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from aicc.dialects.graph.defined_sizes import DefinesSymbols, SizeCheck
from aicc.transforms.symbols import symbols_in_attribute


class SymbolOrder:
    """A walk over the ops of a block, in order."""

    def __init__(self) -> None:
        self._latest: dict[str, Operation] = {}
        """The last op that defined or checked a symbol of the block."""

    def visit(self, op: Operation) -> Iterable[Operation]:
        """
        The earlier ops that define or check a symbol which `op`, or an op in its regions, names; each once.

        Every op of the block is to be visited, and only once.
        """
        found: dict[Operation, None] = {}
        if self._latest:
            found = {self._latest[name]: None for name in symbols_named(op) if name in self._latest}
        match op:
            case DefinesSymbols():
                self._latest.update(dict.fromkeys(op.defined_symbols(), op))
            case SizeCheck():
                # What comes later relies on it.
                self._latest.update({name: op for name in symbols_named(op) if name in self._latest})
            case _:
                pass
        return found


def symbols_named(root: Operation) -> dict[str, None]:
    """The symbols in types of operands and results, and in properties, of `root` and the ops in it."""
    found: dict[str, None] = {}
    for op in root.walk():
        for value in (*op.operands, *op.results):
            symbols_in_attribute(value.type, found)
        for attribute in op.properties.values():
            symbols_in_attribute(attribute, found)
    return found
