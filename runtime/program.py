"""
A compiled program in memory: object code, signature and weights, linked and ready to be called.

The entry points follow a plain C ABI: `main(buffers, sizes, threads)` and, where constants were folded into kernels,
`prepare` with the same arguments. `buffers` is a table of pointers in the order of the signature's `buffers`, `sizes`
the values of its symbols.
"""

import ctypes
import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from aicc.runtime.errors import ProgramError
from aicc.runtime.expressions import compile_expression
from aicc.runtime.memory import ALIGNMENT, aligned_empty
from aicc.runtime.profile import CLOCK_SHIM, new_counters
from aicc.runtime.signature import Signature
from aicc.runtime.threads import PARALLEL_SHIM_OPENMP, PARALLEL_SHIM_SERIAL, openmp_parallel_address

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_counter = itertools.count()
_link_lock = threading.Lock()


@dataclass(frozen=True)
class CompiledProgram:
    """What the compiler hands over: position-independent objects for this machine, and the data they refer to."""

    signature: Signature
    objects: Sequence[bytes]
    weights: Mapping[str, np.ndarray]
    has_prepare: bool


@cache
def _engine() -> llvm.LLJIT:
    """The process's JIT; libraries are added to it one per program."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    return llvm.create_lljit_compiler(machine, use_jit_link=False)


class LoadedProgram:
    """
    Linked code with its weights and prepared buffers; safe to call from several threads.

    Raises:
        ProgramError: the objects cannot be linked, or a weight is missing.
    """

    def __init__(self, program: CompiledProgram) -> None:
        self.signature = program.signature
        builder = llvm.JITLibraryBuilder()
        openmp = openmp_parallel_address()
        if openmp is None:
            builder.add_ir(PARALLEL_SHIM_SERIAL)
        else:
            builder.add_ir(PARALLEL_SHIM_OPENMP).import_symbol("GOMP_parallel", openmp)
        if program.signature.profile:
            builder.add_ir(CLOCK_SHIM)
        for image in program.objects:
            builder.add_object_img(image)
        builder.add_current_process().export_symbol("main")
        if program.has_prepare:
            builder.export_symbol("prepare")
        with _link_lock:
            try:
                self._tracker = builder.link(_engine(), f"aicc_{next(_counter)}")
            except RuntimeError as error:
                raise ProgramError(f"the compiled program cannot be linked: {error}") from error
        self.entry = _PROTOTYPE(self._tracker["main"])
        self._kept: list[np.ndarray] = []
        self.counters = new_counters(len(program.signature.profile))
        self.table = self._constant_table(program)
        if program.has_prepare:
            self._prepare(_PROTOTYPE(self._tracker["prepare"]))

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
        entry(ctypes.addressof(pointers), ctypes.addressof(sizes), 1)

    def _constant_table(self, program: CompiledProgram) -> list[int]:
        """The pointer table with weights and prepared buffers filled in and 0 elsewhere."""
        table: list[int] = []
        for buffer in program.signature.buffers:
            if buffer.kind == "weight":
                if buffer.name not in program.weights:
                    raise ProgramError(f"the weight '{buffer.name}' is missing")
                array = np.ascontiguousarray(program.weights[buffer.name])
            elif buffer.kind == "prepared":
                array = aligned_empty([int(buffer.size)], np.dtype(np.uint8))
            elif buffer.kind == "profile":
                array = self.counters
            else:
                table.append(0)
                continue
            self._kept.append(array)
            table.append(array.ctypes.data)
        return table
