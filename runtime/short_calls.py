"""The short way to call a model, for arrays of shapes that it was called with before (`aicc.runtime.python_call`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from aicc.runtime.memory import ALIGNMENT
from aicc.runtime.plan import Callee, Plan
from aicc.runtime.python_call import ARENA_FIELDS, FIELDS, INPUT_FIELDS, OUTPUT_FIELDS, PLAN_FIELDS
from aicc.runtime.python_interface import addresses
from aicc.runtime.results import POOLED
from aicc.runtime.threads import SHARES

MOST_SHAPES = 64
"""Combinations of shapes that have the short way: they are tried one after the other, about 10 ns each."""

_ONE_ARGUMENT = 0x8
"""CPython's `METH_O`."""


class _Method(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def never(given: object) -> None:
    """A short way that there is not."""


class ShortCalls:
    """Calls of one model that go the short way."""

    def __init__(self, code: int, inputs: Sequence[str], outputs: Sequence[str]) -> None:
        """`code` is the address of `aicc_python_call` in a program that lives as long as this."""
        self.call: Callable[[object], Any] = never
        """Results as a dictionary or tuple, as the arrays are given; `None` where only the long way leads on."""
        self._kept: list[object] = [*inputs, *outputs]
        """What the tables point to."""
        self._left = MOST_SHAPES
        self._head = np.zeros(len(FIELDS), np.int64)
        if (known := addresses()) is None:
            return
        self._set(known)
        self._set({"inputs": len(inputs), "outputs": len(outputs), "shares": ctypes.addressof(SHARES)})
        self._set({"input_names": self._words(map(id, inputs)), "output_names": self._words(map(id, outputs))})
        self._set({"held": self._words([0] * len(inputs)), "made": self._words([0] * len(outputs))})
        method = _Method(b"run", code, _ONE_ARGUMENT, None)
        self._kept.append(method)
        new = ctypes.pythonapi.PyCFunction_NewEx
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
        self.call = new(ctypes.addressof(method), self._head, None)

    def learn(self, callee: Callee, plan: Plan, arrays: Sequence[np.ndarray]) -> None:
        """Adds the shapes of these arrays, which a call has been planned for."""
        if self.call is never or not self._left:
            return
        self._left -= 1
        inputs: list[int] = []
        for slot, array in zip(callee.slots, arrays, strict=True):
            described = (self._id(array.dtype), array.ndim, self._words(array.shape), slot)
            inputs += _record(INPUT_FIELDS, described)
        outputs: list[int] = []
        for slot, shape, dtype, size in plan.results:
            take = arguments = 0
            if size >= POOLED:
                take, arguments = self._id(callee.take_result), self._id((shape, dtype, size))
            described = (self._id(dtype), len(shape), self._words(shape), slot, size + ALIGNMENT, take, arguments)
            outputs += _record(OUTPUT_FIELDS, described)
        arenas: list[int] = []
        for slot, size in plan.arenas:
            described = (slot, self._id(callee.take_arena), self._id(size), self._id(callee.give_arena), 0)
            arenas += _record(ARENA_FIELDS, described)
        self._kept += [plan, callee]
        first = FIELDS.index("plans")
        values = (
            int(self._head[first]),
            callee.main,
            self._words(callee.table),
            plan.sizes,
            callee.threads,
            callee.spins,
            ctypes.addressof(callee.runs),
            self._words(inputs),
            self._words(outputs),
            self._words(arenas),
            len(plan.arenas),
        )
        # One store, which calls on other threads find done or not.
        self._head[first] = self._words(_record(PLAN_FIELDS, values))

    def _set(self, values: Mapping[str, int]) -> None:
        for name, value in values.items():
            self._head[FIELDS.index(name)] = value

    def _words(self, values: Any) -> int:
        """The address of a table that stays."""
        given = list(values)
        table = (ctypes.c_int64 * max(1, len(given)))(*given)
        self._kept.append(table)
        return ctypes.addressof(table)

    def _id(self, value: object) -> int:
        """The address of an object that stays."""
        self._kept.append(value)
        return id(value)


def _record(fields: Sequence[str], values: Sequence[int]) -> Sequence[int]:
    assert len(fields) == len(values)
    return values
