"""A model that is ready to run."""

import ctypes
import os
import time
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from aicc.runtime.binding import ShapeBinder
from aicc.runtime.errors import InputError
from aicc.runtime.expressions import compile_expressions
from aicc.runtime.image import write_image
from aicc.runtime.memory import ArenaPool, aligned_empty
from aicc.runtime.profile import Profile, kernel_times, reset_counters
from aicc.runtime.program import CompiledProgram, LoadedProgram
from aicc.runtime.signature import KernelCall, TensorInfo
from aicc.runtime.threads import SPINS, ThreadShare, default_threads


class Model:
    """
    A compiled model. Calls from several threads are safe; each takes working memory of its own.

    `threads` is the most threads one call uses; None means the cores this process may run on. The result never
    depends on it.
    """

    def __init__(self, program: CompiledProgram | LoadedProgram, *, threads: int | None = None) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}, expected at least 1")
        self._program = program if isinstance(program, LoadedProgram) else LoadedProgram(program)
        signature = program.signature
        self._threads = default_threads() if threads is None else threads
        # Waiting threads that spin must not keep those from running that work.
        self._spins = SPINS if self._threads <= default_threads() else 0
        self._binder = ShapeBinder(signature)
        self._inputs = signature.inputs
        self._outputs = signature.outputs
        self._symbols = len(signature.symbols)
        self._arenas = ArenaPool()
        table = self._program.table
        self._table = table
        self._table_type = ctypes.c_void_p * max(1, len(table))
        self._sizes_type = ctypes.c_int64 * max(1, self._symbols)
        kinds = [(slot, buffer) for slot, buffer in enumerate(signature.buffers)]
        self._input_slots = [(slot, b.index) for slot, b in kinds if b.kind == "input"]
        self._output_slots = [(slot, b.index) for slot, b in kinds if b.kind == "output"]
        self._arena_slots = [slot for slot, b in kinds if b.kind == "arena"]
        sizes = [b.size for _, b in kinds if b.kind == "arena"]
        self._arena_size = compile_expressions(sizes, signature.symbols)
        dims = [str(d) for info in self._outputs for d in info.shape]
        self._output_dims = compile_expressions(dims, signature.symbols)

    @property
    def inputs(self) -> Sequence[TensorInfo]:
        """Name, dtype and shape of each input; a dynamic size is the text of an expression over symbols."""
        return self._inputs

    @property
    def outputs(self) -> Sequence[TensorInfo]:
        """Name, dtype and shape of each output."""
        return self._outputs

    @property
    def kernel_calls(self) -> Sequence[KernelCall]:
        """The calls that a model compiled with `profile=True` times."""
        return self._program.signature.profile

    @property
    def counters(self) -> np.ndarray:
        """
        Of each of `kernel_calls`: runs, nanoseconds in all, nanoseconds of the shortest run, clock of the last one.

        All runs of the program count, of any thread; `aicc.runtime.profile.reset_counters` forgets them.
        """
        return self._program.counters

    def with_threads(self, threads: int | None) -> "Model":
        """The same program, code and weights shared, for calls of at most `threads` threads."""
        return Model(self._program, threads=threads)

    @property
    def threads(self) -> int:
        """The most threads one call uses."""
        return self._threads

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """
        Runs the model on arrays by name and returns fresh arrays by name.

        Raises:
            InputError: a name is missing or unknown, or an array's dtype, rank or size does not fit.
        """
        names = [info.name for info in self._inputs]
        if not isinstance(inputs, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"expected a mapping from input names to arrays, found a {type(inputs).__name__}")
        if len(inputs) != len(names) or any(name not in inputs for name in names):
            missing = [name for name in names if name not in inputs]
            unknown = [name for name in inputs if name not in names]
            parts = [f"missing input {', '.join(map(repr, missing))}"] if missing else []
            parts += [f"unknown input {', '.join(map(repr, unknown))}"] if unknown else []
            raise InputError(f"{'; '.join(parts)}; the model has {', '.join(map(repr, names)) or 'no inputs'}")
        results = self._call([inputs[name] for name in names])
        return {info.name: array for info, array in zip(self._outputs, results, strict=True)}

    def __call__(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """As `run`, with arrays in the order of `inputs` and results in the order of `outputs`."""
        if len(arrays) != len(self._inputs):
            names = ", ".join(repr(info.name) for info in self._inputs) or "none"
            raise InputError(f"got {len(arrays)} arrays for {len(self._inputs)} inputs: {names}")
        return tuple(self._call(arrays))

    def _call(self, given: Sequence[Any]) -> list[np.ndarray]:
        check = self._binder.check_array
        arrays = [check(position, array) for position, array in enumerate(given)]
        values = self._binder.bind(arrays)
        dims = iter(self._output_dims(values))
        results = [aligned_empty([next(dims) for _ in info.shape], info.dtype) for info in self._outputs]
        pointers = self._table_type(*self._table)
        for slot, index in self._input_slots:
            pointers[slot] = arrays[index].ctypes.data
        for slot, index in self._output_slots:
            pointers[slot] = results[index].ctypes.data
        sizes = self._sizes_type(*values)
        arenas = [self._arenas.take(size) for size in self._arena_size(values)]
        for slot, arena in zip(self._arena_slots, arenas, strict=True):
            pointers[slot] = arena.ctypes.data
        try:
            with ThreadShare(self._threads) as threads:
                program = self._program
                program.run(program.main, ctypes.addressof(pointers), ctypes.addressof(sizes), threads, self._spins)
        finally:
            for arena in arenas:
                self._arenas.give(arena)
        return results

    def profile(self, inputs: Mapping[str, np.ndarray], *, runs: int = 10) -> Profile:
        """
        Times the kernels of a model that was compiled with `profile=True` over `runs` runs on `inputs`, after one that
        does not count.

        Runs of this model by other threads meanwhile count as well.

        Raises:
            ValueError: the model was compiled without `profile=True`, or `runs` is below 1.
            InputError: as `run`.
        """
        calls = self.kernel_calls
        if not calls and not self._program.signature.profile:
            raise ValueError("the model notes no times; compile it with profile=True")
        if runs < 1:
            raise ValueError(f"runs is {runs}, expected at least 1")
        self.run(inputs)
        reset_counters(self.counters)
        start = time.perf_counter()
        for _ in range(runs):
            self.run(inputs)
        seconds = (time.perf_counter() - start) / runs
        arrays = [self._binder.check_array(k, inputs[info.name]) for k, info in enumerate(self._inputs)]
        values = self._binder.bind(arrays)
        symbols = self._program.signature.symbols
        sizes = compile_expressions([call.bytes for call in calls], symbols)(values)
        known = [call.flops for call in calls if call.flops is not None]
        flops = iter(compile_expressions(known, symbols)(values))
        work = [(None if c.flops is None else next(flops), size) for c, size in zip(calls, sizes, strict=True)]
        rows = [(call.kernel, call.nodes, call.schedule) for call in calls]
        return Profile(kernel_times(rows, work, self.counters, runs), seconds, runs, self._threads)

    def save(self, path: str | PathLike[str]) -> None:
        """
        Writes the model to a file of its own, code and weights, for `aicc.load`: on this machine or one like it.

        Raises:
            OSError: the file cannot be written.
        """
        path = Path(path)
        write_image(path, self._program.program)
        # A temporary file is for its owner only; this one is as open as any other new file.
        mask = os.umask(0)
        os.umask(mask)
        path.chmod(0o666 & ~mask)

    def __repr__(self) -> str:
        return f"Model({', '.join(map(str, self._inputs))} -> {', '.join(map(str, self._outputs))})"
