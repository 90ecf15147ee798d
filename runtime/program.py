"""
A compiled program in memory: object code, signature and weights, linked and ready to be called.

The entry points follow a plain C ABI: `main(buffers, sizes, threads)` and, where constants were folded into kernels,
`prepare` with the same arguments. `buffers` is a table of pointers in the order of the signature's `buffers`, `sizes`
the values of its symbols.
"""

import ctypes
import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import llvmlite.binding as llvm
import numpy as np

from aicc.runtime.call_state import functions as state_functions
from aicc.runtime.compiled import CompiledProgram
from aicc.runtime.errors import ProgramError
from aicc.runtime.expressions import compile_expression
from aicc.runtime.memory import ALIGNMENT, aligned_empty, long_lived_blocks
from aicc.runtime.parallel import FUNCTIONS, link_shim
from aicc.runtime.profile import CLOCK_SHIM, new_counters
from aicc.runtime.threads import default_threads

_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_counter = itertools.count()
_link_lock = threading.Lock()


@cache
def _engine() -> llvm.LLJIT:
    """The process's JIT; libraries are added to it one per program."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    return llvm.create_lljit_compiler(machine, use_jit_link=False)


@cache
def runtime_functions() -> Mapping[str, int]:
    """Addresses of `aicc_parallel` and `aicc_run`, which run loops on threads."""
    # The code lives as long as the process.
    _shims.append(link_shim(_engine()))
    return {name: _shims[-1][name] for name in FUNCTIONS}


_shims: list[llvm.ResourceTracker] = []


class LoadedProgram:
    """
    Linked code with its weights and prepared buffers; safe to call from several threads.

    `program` is what was linked, without the weights that only `prepare` needed, and with what that has computed.

    Raises:
        ProgramError: the objects cannot be linked, or a weight is missing.
    """

    def __init__(self, program: CompiledProgram) -> None:
        self.signature = program.signature
        builder = llvm.JITLibraryBuilder()
        functions = runtime_functions()
        builder.import_symbol("aicc_parallel", functions["aicc_parallel"])
        if program.signature.profile:
            builder.add_ir(CLOCK_SHIM)
        if program.signature.needs_state:
            for name, address in state_functions(_engine()).items():
                builder.import_symbol(name, address)
        for image in program.objects:
            builder.add_object_img(image)
        builder.add_current_process().export_symbol("main")
        to_prepare = program.has_prepare and program.prepared is None
        if to_prepare:
            builder.export_symbol("prepare")
        with _link_lock:
            try:
                self._tracker = builder.link(_engine(), f"aicc_{next(_counter)}")
            except RuntimeError as error:
                raise ProgramError(f"the compiled program cannot be linked: {error}") from error
        self.main: int = self._tracker["main"]
        self.entry = _PROTOTYPE(self.main)
        self.guard = 0
        """What runs `main` so that it can end early; in the place of `main` where that needs a state."""
        if program.signature.needs_state:
            self.guard = state_functions(_engine())["aicc_guard"]
        self.uses_threads = any(b"aicc_parallel" in image for image in program.objects)
        self.run = _RUN(functions["aicc_run"])
        self.counters = new_counters(len(program.signature.profile))
        arrays = self._arrays(program)
        self.table = [0 if array is None else array.ctypes.data for array in arrays]
        if to_prepare:
            self._prepare(_PROTOTYPE(self._tracker["prepare"]))
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
        entry(ctypes.addressof(pointers), ctypes.addressof(sizes), default_threads())

    def _arrays(self, program: CompiledProgram) -> list[np.ndarray | None]:
        """The constants of the pointer table: weights, prepared buffers and counters."""
        arrays: list[np.ndarray | None] = []
        prepared = [int(buffer.size) for buffer in program.signature.buffers if buffer.kind == "prepared"]
        blocks = iter(long_lived_blocks(prepared if program.prepared is None else []))
        for buffer in program.signature.buffers:
            array: np.ndarray | None = None
            if buffer.kind == "weight" and (buffer.kept or program.prepared is None):
                if buffer.name not in program.weights:
                    raise ProgramError(f"the weight '{buffer.name}' is missing")
                array = np.ascontiguousarray(program.weights[buffer.name])
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
