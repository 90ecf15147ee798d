"""
A compiled program in memory: object code, signature and weights, linked and ready to be called.

The entry points follow a plain C ABI: `main(buffers, sizes, threads)` and, where constants were folded into kernels,
`prepare` with the same arguments. `buffers` is a table of pointers in the order of the signature's `buffers`, `sizes`
the values of its symbols.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aicc.runtime.compiled import CompiledProgram
from aicc.runtime.errors import ProgramError
from aicc.runtime.expressions import compile_expression
from aicc.runtime.linker import Linked, LinkError, UnsupportedObject
from aicc.runtime.memory import ALIGNMENT, aligned_empty, contiguous, long_lived_blocks
from aicc.runtime.parallel import imports
from aicc.runtime.profile import new_counters
from aicc.runtime.threads import ThreadShare, default_threads, openmp_symbols

if TYPE_CHECKING:
    from aicc.runtime.jit import Jitted

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def link(images: Sequence[bytes], exported: Sequence[str]) -> Linked | Jitted:
    """
    Links objects with what the process lends to them; `exported` are the symbols whose addresses are asked for.

    Raises:
        ProgramError: they cannot be linked.
    """
    try:
        return Linked(images, imports())
    except LinkError as error:
        raise ProgramError(f"the compiled program cannot be linked: {error}") from error
    except UnsupportedObject:
        from aicc.runtime.jit import Jitted

        return Jitted(images, imports(), exported)


GATHERED_BYTES = 1 << 16
"""
Weights of at most so many bytes are copied next to each other once the model is compiled: a bias that is read where it
lies in a file keeps the pages around it in memory, up to 2 MiB.
"""

CACHED_BYTES = 16 << 20
"""
Weights of at most so many bytes in all, which caches keep from one call to the next, are copied to where cache lines
begin: each vector is in two lines where they lie in a model's file. (Products of one row: 10 to 20 % of their time.)
"""


def _gathered(program: CompiledProgram) -> set[str]:
    """The weights that are copied, next to each other."""
    kept = {
        buffer.name: program.weights[buffer.name]
        for buffer in program.signature.buffers
        if buffer.kind == "weight" and buffer.kept and buffer.name in program.weights
    }
    cached = sum(array.nbytes for array in kept.values()) <= CACHED_BYTES
    fresh = program.prepared is None
    return {
        name
        for name, array in kept.items()
        if (fresh and array.nbytes <= GATHERED_BYTES) or (cached and array.ctypes.data % ALIGNMENT)
    }


class LoadedProgram:
    """
    Linked code with its weights and prepared buffers; safe to call from several threads.

    `program` is what was linked, without the weights that only `prepare` needed, and with what that has computed.

    Raises:
        ProgramError: the objects cannot be linked, or a weight is missing.
    """

    def __init__(self, program: CompiledProgram) -> None:
        self.signature = program.signature
        to_prepare = program.has_prepare and program.prepared is None
        exported = ["main", "aicc_run", "aicc_python_call"]
        if to_prepare:
            exported.append("prepare")
        if program.signature.needs_state:
            exported.append("aicc_guard")
        self._code = link(program.objects, exported)
        self.main: int = self._code.address("main")
        self.entry = _PROTOTYPE(self.main)
        self.guard = self._code.address("aicc_guard") if program.signature.needs_state else 0
        """What runs `main` so that it can end early; in the place of `main` where that needs a state."""
        # The runtime's own functions, which are in an object of theirs, name each other.
        self.uses_threads = bool(openmp_symbols()) and any(
            b"aicc_parallel" in image for image in program.objects if b"aicc_run" not in image
        )
        self.run = _RUN(self._code.address("aicc_run"))
        self.python_call = self._code.address("aicc_python_call")
        self.counters = new_counters(len(program.signature.profile))
        arrays = self._arrays(program)
        self.table = [0 if array is None else array.ctypes.data for array in arrays]
        if to_prepare:
            self._prepare(_PROTOTYPE(self._code.address("prepare")))
        weights: dict[str, np.ndarray] = {}
        prepared: dict[str, np.ndarray] = {}
        for slot, (buffer, array) in enumerate(zip(self.signature.buffers, arrays, strict=True)):
            if buffer.kind == "weight" and not buffer.kept:
                self.table[slot] = 0
            elif array is not None and buffer.kind in ("weight", "prepared"):
                (weights if buffer.kind == "weight" else prepared)[buffer.name] = array
        self.program = replace(program, weights=weights, prepared=prepared)

    def _prepare(self, entry: Callable[[int, int, int], None]) -> None:
        """Computes what depends on constants alone; its arena is a constant, so symbols may have any value."""
        sizes = (ctypes.c_int64 * max(1, len(self.signature.symbols)))()
        pointers = (ctypes.c_void_p * len(self.table))(*self.table)
        arenas: list[np.ndarray] = []
        for slot, buffer in enumerate(self.signature.buffers):
            if buffer.kind == "arena":
                size = compile_expression(buffer.size, self.signature.symbols)(list(sizes))
                arenas.append(aligned_empty([max(size, ALIGNMENT)], np.dtype(np.uint8)))
                pointers[slot] = arenas[-1].ctypes.data
        # Not simply all cores: a forked child has no threads.
        with ThreadShare(default_threads() if self.uses_threads else 1) as threads:
            entry(ctypes.addressof(pointers), ctypes.addressof(sizes), threads)

    def _arrays(self, program: CompiledProgram) -> list[np.ndarray | None]:
        """The constants of the pointer table: weights, prepared buffers and counters."""
        arrays: list[np.ndarray | None] = []
        fresh = program.prepared is None
        gathered = _gathered(program)
        own = [
            program.weights[buffer.name].nbytes if buffer.name in gathered else int(buffer.size)
            for buffer in program.signature.buffers
            if buffer.name in gathered or (fresh and buffer.kind == "prepared")
        ]
        blocks = iter(long_lived_blocks(own))
        for buffer in program.signature.buffers:
            array: np.ndarray | None = None
            if buffer.kind == "weight" and (buffer.kept or fresh):
                if buffer.name not in program.weights:
                    raise ProgramError(f"the weight '{buffer.name}' is missing")
                array = contiguous(program.weights[buffer.name])
                if buffer.name in gathered:
                    block = next(blocks)
                    block[...] = array.reshape(-1).view(np.uint8)
                    array = block
            elif buffer.kind == "prepared":
                if program.prepared is None:
                    array = next(blocks)
                else:
                    array = program.prepared.get(buffer.name)
                if array is None or array.nbytes != int(buffer.size):
                    raise ProgramError(f"the prepared buffer '{buffer.name}' is missing, or not of {buffer.size} bytes")
            elif buffer.kind == "profile":
                array = self.counters
            arrays.append(array)
        return arrays
