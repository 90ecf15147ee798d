"""A model that is ready to run."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from aicc.runtime.adopt import adopt
from aicc.runtime.binding import ShapeBinder
from aicc.runtime.calls import Caller
from aicc.runtime.compiled import CompiledProgram, Variant
from aicc.runtime.errors import InputError
from aicc.runtime.expressions import compile_expressions
from aicc.runtime.image import write_image
from aicc.runtime.profile import BYTES, FLOPS, RUNS, Profile, kernel_times, reset_counters
from aicc.runtime.program import LoadedProgram
from aicc.runtime.results import named_out
from aicc.runtime.short_calls import ShortCalls
from aicc.runtime.signature import KernelCall, TensorInfo
from aicc.runtime.threads import thread_count
from aicc.runtime.variants import Stats, VariantCaller, VariantStats, share_constants
from aicc.runtime.wording import number_of

Out = Mapping[str, np.ndarray] | Sequence[np.ndarray | None] | np.ndarray
"""Arrays of the caller's for results."""


def _caller(program: LoadedProgram, threads: int) -> Caller:
    """What calls `program`; the module for those that define sizes is loaded where one is met."""
    if not program.signature.needs_state:
        return Caller(program, threads)
    from aicc.runtime.sized_calls import SizedCaller

    return SizedCaller(program, threads)


class Model:
    """
    A compiled model. Calls from several threads are safe; each takes working memory of its own.

    `threads` is the most threads one call uses; None means the cores this process may run on. The result never
    depends on it.
    """

    def __init__(
        self,
        program: CompiledProgram | LoadedProgram,
        *,
        threads: int | None = None,
        variants: Sequence[tuple[Mapping[str, int], LoadedProgram]] = (),
        compiles: int = 0,
        cache_hits: int = 0,
    ) -> None:
        """`variants` are loaded programs for known sizes, and have nothing to do with those of `program` itself."""
        self._threads = thread_count(threads)
        self._program = program if isinstance(program, LoadedProgram) else LoadedProgram(program)
        self._variants = list(variants)
        if isinstance(program, CompiledProgram):
            self._variants += [(one.sizes, LoadedProgram(one.program)) for one in program.variants]
        self._made = (compiles, cache_hits)
        signature = self._program.signature
        self._inputs = signature.inputs
        self._outputs = signature.outputs
        self._input_names = [info.name for info in self._inputs]
        self._output_names = [info.name for info in self._outputs]
        programs = [*(one for _, one in self._variants), self._program]
        if self._variants:
            share_constants(reversed(programs))
        self._callers = [_caller(one, self._threads) for one in programs]
        self._call = (
            VariantCaller(self._callers, [sizes for sizes, _ in self._variants], self._program)
            if self._variants
            else self._callers[0]
        )
        self._short_calls = ShortCalls(self._program.python_call, self._input_names, self._output_names)
        self._short = self._short_calls.call
        for one, caller in zip(programs, self._callers, strict=True):
            if not one.signature.needs_state:
                caller.short = self._short_calls

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
        compiles, hits = self._made
        return Model(self._program, threads=threads, variants=self._variants, compiles=compiles, cache_hits=hits)

    @property
    def stats(self) -> Stats:
        """How many programs were compiled for the model or found in the cache, and how often each has run."""
        sizes = [*(sizes for sizes, _ in self._variants), dict[str, int]()]
        return Stats(
            *self._made,
            tuple(VariantStats(when, one.runs, one.plans) for when, one in zip(sizes, self._callers, strict=True)),
        )

    @property
    def threads(self) -> int:
        """The most threads one call uses."""
        return self._threads

    def run(self, inputs: Mapping[str, np.ndarray], *, out: Out | None = None) -> dict[str, np.ndarray]:
        """
        Runs the model on arrays by name and returns arrays by name: fresh ones, or those of `out`.

        Arrays of other libraries that speak DLPack (torch, jax, ...), have an `__array_interface__` or are buffers are
        read where they are, as numpy arrays are: only strides and byte order that programs cannot read cost a copy.

        `out` names arrays that results are written into without a copy: a mapping by name, of any of the outputs; a
        list of all in order, None for a fresh one; or the array for the only output. Each must have the result's dtype
        and shape, be C-contiguous, writable, and share no memory with an input or another one.

        Raises:
            InputError: a name is missing or unknown, or an array's dtype, rank or size does not fit.
        """
        if out is None and (results := self._short(inputs)) is not None:
            return results
        try:
            given = [inputs[name] for name in self._input_names]
            known = len(inputs) == len(given)
        except (KeyError, TypeError, IndexError):
            given, known = list[Any](), False
        if not known:
            raise self._wrong_names(inputs)
        results = self._call(given) if out is None else self._placed(given, out)
        return dict(zip(self._output_names, results, strict=True))

    def _placed(self, given: Sequence[Any], out: Out) -> list[Any]:
        """The results, those that `out` has an array for in it."""
        wanted = named_out(out, self._outputs)
        adopted = [k for k, array in enumerate(wanted) if array is not None and type(array) is not np.ndarray]
        if not adopted:
            return self._call(given, wanted)
        arrays = list(wanted)
        for k in adopted:
            arrays[k] = adopt(f"out '{self._output_names[k]}'", wanted[k])
        results = self._call(given, arrays)
        for k in adopted:
            results[k] = wanted[k]
        return results

    def _wrong_names(self, inputs: object) -> InputError:
        """What is wrong with the mapping of inputs."""
        names = self._input_names
        if not isinstance(inputs, Mapping):
            return InputError(f"expected a mapping from input names to arrays, found a {type(inputs).__name__}")
        given = list(cast(Mapping[str, Any], inputs))
        missing = [name for name in names if name not in given]
        unknown = [name for name in given if name not in names]
        parts = [f"missing input {', '.join(map(repr, missing))}"] if missing else []
        parts += [f"unknown input {', '.join(map(repr, unknown))}"] if unknown else []
        return InputError(f"{'; '.join(parts)}; the model has {', '.join(map(repr, names)) or 'no inputs'}")

    def __call__(self, *arrays: np.ndarray, out: Out | None = None) -> tuple[np.ndarray, ...]:
        """As `run`, with arrays in the order of `inputs` and results in the order of `outputs`."""
        if out is None and (results := self._short(arrays)) is not None:
            return results
        if len(arrays) != len(self._inputs):
            names = ", ".join(repr(info.name) for info in self._inputs) or "none"
            raise InputError(
                f"got {number_of(len(arrays), 'array')} for {number_of(len(self._inputs), 'input')}: {names}"
            )
        return tuple(self._call(arrays) if out is None else self._placed(arrays, out))

    def profile(self, inputs: Mapping[str, np.ndarray], *, runs: int = 10) -> Profile:
        """
        Times the kernels of a model that was compiled with `profile=True` over `runs` runs on `inputs`, after one that
        does not count.

        Runs of this model by other threads meanwhile count as well.

        Raises:
            ValueError: the model was compiled without `profile=True`, or `runs` is below 1.
            InputError: as `run`.
        """
        if not self._program.signature.profile:
            raise ValueError("the model notes no times; compile it with profile=True")
        if runs < 1:
            raise ValueError(f"runs is {runs}, expected at least 1")
        self.run(inputs)
        program = self._program_for(inputs)
        calls, counters = program.signature.profile, program.counters
        reset_counters(counters)
        start = time.perf_counter()
        for _ in range(runs):
            self.run(inputs)
        seconds = (time.perf_counter() - start) / runs
        signature = program.signature
        binder = ShapeBinder(signature)
        arrays = [binder.check_array(k, inputs[name]) for k, name in enumerate(self._input_names)]
        values = binder.bind(arrays)
        told = [call for call in calls if not call.counted]
        sizes = iter(compile_expressions([call.bytes for call in told], signature.symbols)(values))
        known = [call.flops for call in told if call.flops is not None]
        flops = iter(compile_expressions(known, signature.symbols)(values))
        work: list[tuple[float | None, float]] = []
        for call, row in zip(calls, counters.tolist(), strict=True):
            if call.counted:
                count = max(1, row[RUNS])
                work.append((None if call.flops is None else row[FLOPS] / count, row[BYTES] / count))
            else:
                work.append((None if call.flops is None else next(flops), next(sizes)))
        rows = [(call.kernel, call.nodes, call.schedule) for call in calls]
        return Profile(kernel_times(rows, work, counters, runs), seconds, runs, self._threads)

    def _program_for(self, inputs: Mapping[str, np.ndarray]) -> LoadedProgram:
        """The one that runs for these inputs."""
        if not isinstance(self._call, VariantCaller):
            return self._program
        position = self._call.choose([inputs[name] for name in self._input_names])
        return self._variants[position][1] if position < len(self._variants) else self._program

    def save(self, path: str | PathLike[str]) -> None:
        """
        Writes the model to a file of its own, code and weights, for `aicc.load`: on this machine or one like it.

        Raises:
            OSError: the file cannot be written.
        """
        path = Path(path)
        variants = tuple(Variant(sizes, one.program) for sizes, one in self._variants)
        write_image(path, replace(self._program.program, variants=variants))
        # A temporary file is for its owner only; this one is as open as any other new file.
        mask = os.umask(0)
        os.umask(mask)
        path.chmod(0o666 & ~mask)

    def __reduce__(self) -> tuple[Any, ...]:
        """A model is sent to other processes as the file that `save` writes; nothing is compiled there."""
        from aicc.runtime.loading import load_bytes

        with TemporaryDirectory(prefix="aicc-") as folder:
            path = Path(folder) / "model.aicc"
            self.save(path)
            return load_bytes, (path.read_bytes(), self._threads)

    def __repr__(self) -> str:
        return f"Model({', '.join(map(str, self._inputs))} -> {', '.join(map(str, self._outputs))})"
