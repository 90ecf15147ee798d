"""The pointer table that `@main` and `@prepare` are called with, and the constants that kernels carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, DictionaryAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from aicc.dialects.graph.dims import Dim
from aicc.dialects.graph.symbolic import dim_max
from aicc.dialects.loops.defined_sizes import OUTPUT
from aicc.lowering.loops_to_llvm_memory import dense_global
from aicc.transforms.target_facts import MASKED_BYTES


class ModuleState:
    """What the functions of a module share."""

    def __init__(self, signature: Mapping[str, Any], masked_bytes: int = MASKED_BYTES) -> None:
        self.masked_bytes = masked_bytes
        self.signature = dict(signature)
        self.entries: list[dict[str, Any]] = []
        self.globals: list[Operation] = []
        self.uses_threads = False
        self.externals: dict[str, tuple[list[Attribute], Attribute]] = {}
        """Library functions that are called: their types."""
        self.runtime: dict[str, tuple[list[Attribute], Attribute | None]] = {}
        """Functions of the runtime that are called, which may not return: their types."""
        self._slots: dict[object, int] = {}
        self._arenas: list[tuple[int, Dim]] = []
        self._globals: dict[object, str] = {}
        self._pooled: dict[str, int] = {}

    def declare(self, name: str, operands: list[Attribute], result: Attribute) -> None:
        """Notes that the library function `name` is called."""
        self.externals[name] = (operands, result)

    def pooled(self, key: str) -> int:
        """The number of a pooled buffer."""
        number = self._pooled.setdefault(key, len(self._pooled))
        self.signature["pooled"] = len(self._pooled)
        if key.startswith(OUTPUT):
            self.signature.setdefault("results", {})[key.removeprefix(OUTPUT)] = number
        return number

    def stop(self, what: dict[str, Any]) -> int:
        """The number of a check that may end the run; `what` is told then."""
        stops = self.signature.setdefault("stops", [])
        stops.append(what)
        return len(stops)

    def weight(self, name: str, file: str | None, kept: bool) -> int:
        """The place of a weight; `kept` says that `@main` reads it, and not `@prepare` alone."""
        place = self.slot({"kind": "weight", "name": name, "file": file})
        self.entries[place]["kept"] = kept or self.entries[place].get("kept", False)
        return place

    def slot(self, entry: Mapping[str, Any]) -> int:
        """The place of a buffer in the table; equal entries share one."""
        key = tuple(sorted(entry.items()))
        if key not in self._slots:
            self._slots[key] = len(self.entries)
            self.entries.append(dict(entry))
        return self._slots[key]

    def arena(self, ordinal: int, size: Dim) -> int:
        """
        The place of a function's arena number `ordinal`, of `size` bytes.

        `@main` and `@prepare` never run at once, so that they share arenas.
        """
        if ordinal < len(self._arenas):
            place, known = self._arenas[ordinal]
            size = dim_max(known, size)
        else:
            place = len(self.entries)
            self.entries.append({"kind": "arena"})
            self._arenas.append((place, size))
        self._arenas[ordinal] = (place, size)
        self.entries[place]["bytes"] = str(size)
        return place

    def profile(self, size: Dim, calls: Attribute | None) -> int:
        """The place of the times of kernel calls; the signature lists what `calls` says of each."""
        if isa(calls, ArrayAttr[DictionaryAttr]):
            self.signature["profile"] = [{key: _plain(value) for key, value in call.data.items()} for call in calls]
        return self.slot({"kind": "profile", "bytes": str(size)})

    def constant(self, value: DenseIntOrFPElementsAttr, element: Attribute) -> str:
        """The name of the global that holds a dense constant."""
        key = (value, element)
        if key not in self._globals:
            name = self._globals[key] = f"constant.{len(self.globals)}"
            type_, data = dense_global(value, element)
            op = base.GlobalOp(type_, name, "internal", constant=True, value=data, alignment=64)
            self.globals.append(op)
        return self._globals[key]

    def signature_text(self) -> str:
        """The signature with the list of buffers."""
        return json.dumps({**self.signature, "buffers": self.entries})


def _plain(value: Attribute) -> str | list[str] | bool:
    """Text, a list of texts, or `True` for what only stands there, out of an attribute."""
    if isinstance(value, UnitAttr):
        return True
    if isa(value, ArrayAttr[StringAttr]):
        return [part.data for part in value]
    assert isinstance(value, StringAttr)
    return value.data
