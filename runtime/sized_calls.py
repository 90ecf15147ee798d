"""Calls of programs that define sizes while they run: they find memory for results themselves, and may end early."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from aicc.runtime.call_state import OUT_OF_MEMORY, CallState
from aicc.runtime.calls import Caller
from aicc.runtime.errors import InputError, OutOfMemory
from aicc.runtime.expressions import compile_expressions
from aicc.runtime.memory import address_of
from aicc.runtime.plan import Plan
from aicc.runtime.program import LoadedProgram
from aicc.runtime.results import check_out
from aicc.runtime.signature import Stop
from aicc.runtime.threads import ThreadShare


class SizedCaller(Caller):
    """Each call takes a state of its own, whose memory later calls use again."""

    def __init__(self, program: LoadedProgram, threads: int) -> None:
        super().__init__(program, threads)
        signature = program.signature
        self._states: list[CallState] = []
        self._known = len(signature.symbols)
        names = (*signature.symbols, *signature.defined)
        self._count = len(names)
        dims = [str(dim) for position in signature.results for dim in signature.outputs[position].shape]
        self._defined_dims = compile_expressions(dims, names)

    def __call__(self, given: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """As for other programs; what `out` has for results that the program finds memory for is copied to."""
        made = self._program.signature.results
        if out is None or not any(out[position] is not None for position in made):
            return super().__call__(given, out)
        results = super().__call__(given, [None if k in made else array for k, array in enumerate(out)])
        for position in made:
            if (wanted := out[position]) is not None:
                made_here: np.ndarray = results[position]
                target = check_out(self._outputs[position], made_here.shape, wanted)
                ctypes.memmove(target, address_of(made_here), made_here.nbytes)
                results[position] = wanted
        return results

    def _run(self, address: int, plan: Plan, results: list[Any]) -> None:
        program = self._program
        try:
            state = self._states.pop()
        except IndexError:
            state = CallState(program.main, self._count, program.signature.pooled)
        try:
            state.sizes[: self._known] = plan.values[: self._known]
            with ThreadShare(self._threads) as threads:
                program.run(program.guard, address, state.address, threads, self._spins)
            if (stopped := state.stopped) is not None:
                raise _error(program.signature.stops, *stopped)
            self._take_results(state, results)
        finally:
            self._states.append(state)

    def _take_results(self, state: CallState, results: list[Any]) -> None:
        """Puts the arrays that the program has made in their places among the results."""
        dims = iter(self._defined_dims(state.sizes.tolist()))
        for position, buffer in self._program.signature.results.items():
            info = self._outputs[position]
            shape = tuple(next(dims) for _ in info.shape)
            results[position] = state.take(buffer, shape, info.dtype, prod(shape) * info.dtype.itemsize)


def _error(stops: tuple[Stop, ...], number: int, lhs: int, rhs: int) -> InputError | OutOfMemory:
    """What is wrong with the data of a call that ended early."""
    if number == OUT_OF_MEMORY:
        size = f"{lhs / 2**30:.1f} GiB" if lhs > 0 else "more than can be addressed"
        return OutOfMemory(
            f"the model needs {size} of memory for a tensor whose size data tells, which the system refuses"
        )
    stop = stops[number - 1]
    where = f" (computed by {', '.join(map(repr, stop.nodes))})" if stop.nodes else ""
    if stop.size:
        what = stop.text or f"size {stop.size}"
        limit = f"at most {stop.most}" + (f", which is {rhs}" if stop.most != str(rhs) else "")
        return InputError(f"{what} is {lhs}, expected {'at least 0' if lhs < 0 else limit}{where}")
    if stop.rhs.isdecimal():
        return InputError(f"{stop.text}: {stop.lhs} is {lhs}, expected {rhs}{where}")
    return InputError(f"{stop.text}: {stop.lhs} is {lhs}, but {stop.rhs} is {rhs}{where}")
