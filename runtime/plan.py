"""What calls of a program need: of all of them, and of those with arrays of the same shapes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Plan:
    """What follows from the shapes of the inputs."""

    values: ctypes.Array[ctypes.c_int64]
    """Of the symbols."""

    sizes: int
    """Address of `values`."""

    results: tuple[tuple[int, tuple[int, ...], np.dtype[Any], int], ...]
    """Of each output: its place in the table, shape, dtype and bytes."""

    arenas: tuple[tuple[int, int], ...]
    """Of each arena: its place in the table, and bytes."""


@dataclass(frozen=True)
class Callee:
    """What all calls of one program have in common."""

    main: int
    """Its address."""
    table: Sequence[int]
    """Of buffers, constants in their places."""
    slots: Sequence[int]
    """Of the inputs: places in the table."""
    threads: int
    spins: int
    take_result: Callable[..., object]
    """As `ResultPool.take`."""
    take_arena: Callable[[int], np.ndarray]
    give_arena: Callable[[np.ndarray], None]
    runs: ctypes.c_int64
    """Counts them."""
