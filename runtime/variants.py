"""
Programs of one model for known sizes: which one a call runs, what they share, and what is counted.

A model has one program for all sizes, and perhaps others for which some symbols are numbers. The sizes of the arrays of
a call decide; that is found once per combination of shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aicc.runtime.binding import ShapeBinder
from aicc.runtime.calls import MOST_PLANS, Caller
from aicc.runtime.image import checksum
from aicc.runtime.memory import long_lived_blocks
from aicc.runtime.program import LoadedProgram
from aicc.runtime.wording import number_of


@dataclass(frozen=True)
class VariantStats:
    """One program of a model."""

    sizes: Mapping[str, int]
    """What symbols must be for it to run; empty for the one that takes all sizes."""
    runs: int
    """How often it has run."""
    plans: int
    """Combinations of input shapes that are prepared for."""

    def __str__(self) -> str:
        when = ", ".join(f"{name}={value}" for name, value in self.sizes.items()) or "any size"
        return f"{when}: {number_of(self.runs, 'run')}, {number_of(self.plans, 'combination')} of shapes"


@dataclass(frozen=True)
class Stats:
    """What has happened to a model."""

    compiles: int
    """Programs that the compiler made for it. Nothing is ever compiled after `aicc.compile` has returned."""
    cache_hits: int
    """Programs that were found in the cache instead."""
    variants: tuple[VariantStats, ...]
    """Those for known sizes, and last the one for all."""

    def __str__(self) -> str:
        lines = [f"{self.compiles} compiled, {self.cache_hits} from the cache", *map(str, self.variants)]
        return "\n".join(lines)


class VariantCaller:
    """Calls the first of several programs whose sizes are those of the arrays at hand; the last one takes all."""

    def __init__(self, callers: Sequence[Caller], sizes: Sequence[Mapping[str, int]], general: LoadedProgram) -> None:
        self._callers = callers
        self._sizes = sizes
        self._symbols = general.signature.symbols
        self._binder = ShapeBinder(general.signature)
        self._chosen: dict[tuple[Any, ...], Caller] = {}

    def __call__(self, given: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """As `Caller.__call__`."""
        try:
            caller = self._chosen[tuple([array.shape for array in given])]
        except (AttributeError, KeyError):
            caller = self._callers[self.choose(given)]
        return caller(given, out)

    def choose(self, given: Sequence[Any]) -> int:
        """
        The position of the program for these arrays.

        Raises:
            InputError: the arrays do not fit the model.
        """
        arrays = [self._binder.check_array(position, array) for position, array in enumerate(given)]
        # What else must hold, the program says: one for a size of 1 may broadcast where the general one does not.
        values = dict(zip(self._symbols, self._binder.solve(arrays), strict=True))
        position = next(
            (k for k, sizes in enumerate(self._sizes) if all(values[name] == size for name, size in sizes.items())),
            len(self._callers) - 1,
        )
        if len(self._chosen) >= MOST_PLANS:
            self._chosen.clear()
        self._chosen[tuple([array.shape for array in arrays])] = self._callers[position]
        return position


def share_constants(programs: Iterable[LoadedProgram]) -> None:
    """Makes programs that read equal weights and packed weights read the same memory, before any is called."""
    known: dict[tuple[int, str], np.ndarray] = {}
    for program in programs:
        own: list[tuple[int, str, np.ndarray]] = []
        shared = 0
        placed: dict[str, dict[str, np.ndarray]] = {"weight": {}, "prepared": {}}
        for slot, buffer in enumerate(program.signature.buffers):
            array = _constant(program, buffer.kind, buffer.name)
            if array is None:
                continue
            data = array.reshape(-1).view(np.uint8)
            found = known.setdefault((data.size, checksum(data)), array)
            placed[buffer.kind][buffer.name] = found
            if found is not array:
                shared += 1
                program.table[slot] = found.ctypes.data
            elif buffer.kind == "prepared":
                own.append((slot, buffer.name, array))
        if shared and own:
            # All packed weights of a program are one block, which would stay for the few that nothing else has.
            for (slot, name, array), block in zip(own, long_lived_blocks([a.nbytes for _, _, a in own]), strict=True):
                block[:] = array.reshape(-1).view(np.uint8)
                known[block.size, checksum(block)] = placed["prepared"][name] = block
                program.table[slot] = block.ctypes.data
        program.program = replace(program.program, weights=placed["weight"], prepared=placed["prepared"])


def _constant(program: LoadedProgram, kind: str, name: str) -> np.ndarray | None:
    """The content of a buffer that `main` reads and never writes."""
    arrays = {"weight": program.program.weights, "prepared": program.program.prepared or {}}.get(kind, {})
    return arrays.get(name)
