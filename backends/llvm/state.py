"""What the LLVM writer keeps while it writes: lines, names, labels, and the edges that phi nodes are made from."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.backends.llvm.metadata import Metadata
from aicc.backends.llvm.text import mangled, type_text


class Text:
    """The text of one module as it grows, and the names of the function at hand."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declarations: dict[str, str] = {}
        """Intrinsic name -> its `declare` line."""
        self.metadata = Metadata()
        self.names: dict[SSAValue, str] = {}
        # By identity, as hashing a vector type costs more than writing it; the module keeps the types alive.
        self._types: dict[int, str] = {}
        self._mangled: dict[int, str] = {}
        self.labels: dict[Block, str] = {}
        self.edges: dict[Block, list[tuple[str, list[SSAValue]]]] = {}
        """Block -> label of the predecessor and operands handed over, for each edge into it."""
        self.splits: list[str] = []
        """Lines of the blocks that stand for further edges of the current terminator."""
        self.label = ""
        """Label of the block at hand."""
        self._splits = 0

    def type(self, type_: Attribute) -> str:
        """`type_text`, remembered."""
        text = self._types.get(id(type_))
        if text is None:
            text = self._types[id(type_)] = type_text(type_)
        return text

    def mangled(self, type_: Attribute) -> str:
        """`mangled`, remembered."""
        text = self._mangled.get(id(type_))
        if text is None:
            text = self._mangled[id(type_)] = mangled(type_)
        return text

    def typed(self, value: SSAValue) -> str:
        """Type and name of a value."""
        return f"{self.type(value.type)} {self.names[value]}"

    def result(self, op: Operation) -> str:
        """A fresh name for the op's one result; `name =` is up to the caller."""
        return self.names[op.results[0]]

    def edge(self, target: Block, operands: Iterable[SSAValue]) -> str:
        """Records an edge of the current terminator and gives the label to branch to."""
        values = list(operands)
        known = self.edges.setdefault(target, [])
        origin = self.label
        if values and any(label == origin for label, _ in known):
            origin = f"split{self._splits}"
            self._splits += 1
            self.splits += [f"{origin}:", f"  br label %{self.labels[target]}"]
            known.append((origin, values))
            return origin
        known.append((origin, values))
        return self.labels[target]
