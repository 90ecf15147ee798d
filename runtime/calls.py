"""
One call of a compiled program, with as little as possible left to do per call.

What depends on the shapes of the inputs alone (values of symbols, shapes of results, sizes of arenas) is found and
checked once per combination of shapes, and kept as a `Plan`. The tables of pointers that programs read are kept, too: a
call takes one that no other call has in hand, and writes the addresses of its own arrays into it.
"""

import ctypes
import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from aicc.runtime.binding import ShapeBinder
from aicc.runtime.expressions import compile_expressions
from aicc.runtime.memory import ArenaPool, address_of, aligned_empty_at
from aicc.runtime.plan import Callee, Plan
from aicc.runtime.program import LoadedProgram
from aicc.runtime.results import POOLED, ResultPool, check_apart, check_out, shared_memory
from aicc.runtime.short_calls import ShortCalls
from aicc.runtime.threads import SPINS, ThreadShare, default_threads

MOST_PLANS = 256
"""Combinations of shapes that are remembered; with more of them all are forgotten."""


class Caller:
    """Calls a program with at most `threads` threads each; safe to use from several threads."""

    def __init__(self, program: LoadedProgram, threads: int) -> None:
        signature = program.signature
        self._program = program
        self._binder = ShapeBinder(signature)
        # A program without loops on threads needs no team.
        self._threads = threads if program.uses_threads else 1
        # Waiting threads that spin must not keep those from running that work.
        self._spins = SPINS if threads <= default_threads() else 0
        self._outputs = signature.outputs
        kinds = list(enumerate(signature.buffers))
        slots = {buffer.index: slot for slot, buffer in kinds if buffer.kind == "input"}
        # Inputs that the program never reads have no place in its table: the last one is for them.
        unused = len(program.table)
        self._inputs = [
            (slots.get(index, unused), info.dtype, max(info.dtype.alignment, 1))
            for index, info in enumerate(signature.inputs)
        ]
        self._output_slots = {buffer.index: slot for slot, buffer in kinds if buffer.kind == "output"}
        self._arena_slots = [slot for slot, buffer in kinds if buffer.kind == "arena"]
        arena_sizes = [buffer.size for _, buffer in kinds if buffer.kind == "arena"]
        self._arena_sizes = compile_expressions(arena_sizes, signature.symbols)
        # Those that the program makes take the place of empty ones.
        made = signature.results
        dims = [
            "0" if position in made else str(dim)
            for position, info in enumerate(signature.outputs)
            for dim in info.shape
        ]
        self._output_dims = compile_expressions(dims, signature.symbols)
        self._sizes_type = ctypes.c_int64 * max(1, len(signature.symbols))
        self._template = (ctypes.c_void_p * (unused + 2))(*program.table)
        self._tables: list[tuple[Any, int]] = []
        self._plans: dict[tuple[tuple[int, ...], ...], Plan] = {}
        self.arenas = ArenaPool()
        self.results = ResultPool()
        self._runs = itertools.count()
        self.short: ShortCalls | None = None
        """What is told of the shapes that were planned for."""
        self._callee: Callee | None = None

    @property
    def runs(self) -> int:
        """The number of calls."""
        short = 0 if self._callee is None else self._callee.runs.value
        return int(self._runs.__reduce__()[1][0]) + short

    @property
    def plans(self) -> int:
        """Combinations of input shapes that are prepared for."""
        return len(self._plans)

    def __call__(self, given: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """
        The results for arrays in the order of the program's inputs; those that `out` has an array for are written into
        it, and are that array.

        Raises:
            InputError: an array's dtype, rank or size does not fit, or one of `out` cannot take the result.
        """
        next(self._runs)
        try:
            pointers, address = self._tables.pop()
        except IndexError:
            pointers = type(self._template).from_buffer_copy(self._template)
            address = ctypes.addressof(pointers)
        try:
            arrays = given
            for position, (slot, dtype, alignment) in enumerate(self._inputs):
                array = given[position]
                if type(array) is np.ndarray and array.dtype is dtype and array.flags.c_contiguous:
                    pointers[slot] = data = address_of(array)
                    if not data % alignment:
                        continue
                # In another form, or wrong.
                array = self._binder.check_array(position, array)
                arrays = [*arrays[:position], array, *arrays[position + 1 :]]
                pointers[slot] = address_of(array)
            plan = self._plans.get(tuple([array.shape for array in arrays])) or self._new_plan(arrays)
            if out is None:
                results: list[Any] = []
                for slot, shape, dtype, size in plan.results:
                    fresh = aligned_empty_at if size < POOLED else self.results.take
                    result, pointers[slot] = fresh(shape, dtype, size)
                    results.append(result)
            else:
                results = self._placed(out, plan, arrays, pointers)
            if plan.arenas:
                self._run_in_arenas(pointers, address, plan, results)
            else:
                self._run(address, plan, results)
        finally:
            self._tables.append((pointers, address))
        return results

    def _placed(self, out: Sequence[Any], plan: Plan, arrays: Sequence[np.ndarray], pointers: Any) -> list[Any]:
        """The arrays of `out`, checked, and fresh ones where it has none; writes their addresses."""
        results: list[Any] = []
        written: list[tuple[int, int, int]] = []
        for index, (given, (slot, shape, dtype, size)) in enumerate(zip(out, plan.results, strict=True)):
            if given is None:
                fresh = aligned_empty_at if size < POOLED else self.results.take
                given, pointers[slot] = fresh(shape, dtype, size)
            else:
                pointers[slot] = address = check_out(self._outputs[index], shape, given)
                written.append((address, address + size, index))
            results.append(given)
        for position, (slot, *_) in enumerate(self._inputs):
            begin: int = pointers[slot]
            end = begin + arrays[position].nbytes
            for first, last, index in written:
                # Results are written while inputs are still being read.
                if first < end and begin < last and begin < end and slot != len(self._template) - 1:
                    raise shared_memory(
                        self._outputs[index], f"input '{self._program.signature.inputs[position].name}'"
                    )
        if len(written) > 1:
            check_apart(written, self._outputs)
        return results

    def _new_plan(self, arrays: Sequence[np.ndarray]) -> Plan:
        """Checks the shapes of the arrays, and remembers what follows from them."""
        checked = [self._binder.check_array(position, array) for position, array in enumerate(arrays)]
        values = self._binder.bind(checked)
        dims = iter(self._output_dims(values))
        results: list[tuple[int, tuple[int, ...], np.dtype[Any], int]] = []
        unused = len(self._template) - 1
        for index, info in enumerate(self._outputs):
            shape = tuple(next(dims) for _ in info.shape)
            size = prod(shape) * info.dtype.itemsize
            results.append((self._output_slots.get(index, unused), shape, info.dtype, size))
        sizes = self._sizes_type(*values)
        arenas = tuple(zip(self._arena_slots, self._arena_sizes(values), strict=True))
        plan = Plan(sizes, ctypes.addressof(sizes), tuple(results), arenas)
        # A caller that keeps one call's results until the next returns needs those of two.
        self.results.limit = max(self.results.limit, 2 * sum(size for *_, size in results))
        if len(self._plans) >= MOST_PLANS:
            self._plans.clear()
        self._plans[tuple([array.shape for array in arrays])] = plan
        if self.short is not None:
            self._callee = self._callee or self._as_callee()
            self.short.learn(self._callee, plan, checked)
        return plan

    def _as_callee(self) -> Callee:
        """What calls that go the short way need."""
        slots = [slot for slot, *_ in self._inputs]
        own = self.results.take, self.arenas.take, self.arenas.give
        table = [word or 0 for word in self._template]
        return Callee(self._program.main, table, slots, self._threads, self._spins, *own, ctypes.c_int64())

    def _run_in_arenas(self, pointers: Any, address: int, plan: Plan, results: list[Any]) -> None:
        taken = [(slot, self.arenas.take(size)) for slot, size in plan.arenas]
        try:
            for slot, arena in taken:
                pointers[slot] = address_of(arena)
            self._run(address, plan, results)
        finally:
            for _, arena in taken:
                self.arenas.give(arena)

    def _run(self, address: int, plan: Plan, results: list[Any]) -> None:
        """Runs the program, which fills `results`."""
        program = self._program
        if self._threads == 1:
            program.entry(address, plan.sizes, 1)
            return
        with ThreadShare(self._threads) as threads:
            program.run(program.main, address, plan.sizes, threads, self._spins)
