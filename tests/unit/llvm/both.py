"""Runs a loops-level function natively and in the interpreter, and compares what they write."""

from __future__ import annotations

from typing import Any

import numpy as np

from aicc.dialects.loops.interpreter import Interpreter
from aicc.lowering.parse import parse_module
from aicc.transforms.verify import verify
from tests.unit.native import native

GUARD = 64
"""Elements around each array that must stay as they are."""


def guarded(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A copy of `array` with known bytes around it: the whole, and the part in the middle."""
    size = array.nbytes
    edge = GUARD * array.itemsize
    whole = np.full(size + 2 * edge, 0xA5, np.uint8)
    middle = whole[edge : edge + size].view(array.dtype).reshape(array.shape)
    middle[...] = array
    return whole, middle


def check(text: str, *arguments: Any, name: str = "f", exact: bool = True, opt: int = 2) -> list[np.ndarray]:
    """The arrays after the native run, which must be those of the interpreter, with nothing written around them."""
    module = parse_module(text)
    verify(module)
    expected = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    Interpreter(module).call(name, *expected)
    buffers = [guarded(argument) if isinstance(argument, np.ndarray) else None for argument in arguments]
    given = [argument if buffer is None else buffer[1] for argument, buffer in zip(arguments, buffers, strict=True)]
    native(module, name, opt=opt)(*given)
    found: list[np.ndarray] = []
    for want, have, buffer in zip(expected, given, buffers, strict=True):
        if buffer is None:
            continue
        edge = GUARD * have.itemsize
        assert (buffer[0][:edge] == 0xA5).all() and (buffer[0][len(buffer[0]) - edge :] == 0xA5).all(), "out of bounds"
        if exact or have.dtype.kind in "iub":
            np.testing.assert_array_equal(have, want)
        else:
            np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-5)
        found.append(have)
    return found
