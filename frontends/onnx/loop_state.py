"""
The state of a loop while it is imported: which of its sizes change from one iteration to the next.

A size of a carried tensor that the body does not leave as it is becomes a symbol of the loop; the body is imported
again with it, until all that it gives fits what it takes. Sizes that begin equal and change in the same way share one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from aicc.dialects.graph.dims import Dim, provably_equal, shape_text, sym, tensor_type
from aicc.frontends.onnx.values import AnyTensor, Value


@dataclass(eq=False)
class _Size:
    """A symbol of the loop, or a size that stays."""

    symbol: str | None
    initial: Dim
    following: Dim

    @property
    def dim(self) -> Dim:
        """The size in an iteration."""
        return self.initial if self.symbol is None else sym(self.symbol)


class LoopState:
    """The sizes of the carried tensors of one loop."""

    def __init__(self, initial: Sequence[AnyTensor], dims: Sequence[Sequence[Dim]], fresh: Callable[[], str]):
        """`initial` are the types of the tensors before the loop, of sizes `dims`; `fresh` names a new symbol."""
        self._elements: list[Attribute] = [type.element_type for type in initial]
        self._sizes = [[_Size(None, dim, dim) for dim in shape] for shape in dims]
        self._fresh = fresh

    def types(self) -> list[AnyTensor]:
        """The types of the tensors in an iteration."""
        shapes = [[size.dim for size in sizes] for sizes in self._sizes]
        return [tensor_type(shape, element) for shape, element in zip(shapes, self._elements, strict=True)]

    def symbols(self) -> list[tuple[str, Dim, Dim]]:
        """The symbols with their sizes before the loop and at the end of an iteration."""
        found = {size.symbol: size for sizes in self._sizes for size in sizes}
        return [(name, size.initial, size.following) for name, size in found.items() if name is not None]

    def update(self, results: Sequence[Value]) -> str | bool:
        """
        Takes in what the body gave for the state; whether it must be imported again. A text says what does not fit.
        """
        changed = False
        groups: dict[tuple[object, Dim, Dim], _Size] = {}
        for number, (sizes, result) in enumerate(zip(self._sizes, results, strict=True)):
            if result.type.element_type != self._elements[number]:
                return f"value {number} is {self._elements[number]} first and {result.type.element_type} afterwards"
            if len(result.dims) != len(sizes):
                before = shape_text([size.initial for size in sizes])
                return f"value {number} has shape {before} first and {shape_text(result.dims)} afterwards"
            for axis, (size, dim) in enumerate(zip(sizes, result.dims, strict=True)):
                if size.symbol is None and provably_equal(size.initial, dim):
                    continue
                key = (size.symbol, size.initial, dim)
                if key not in groups:
                    taken = {other.symbol for other in groups.values()}
                    keep = size.symbol is not None and size.symbol not in taken
                    groups[key] = _Size(size.symbol if keep else self._fresh(), size.initial, dim)
                    changed = changed or not keep
                sizes[axis] = groups[key]
        return changed
