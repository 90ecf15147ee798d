"""Aligned arrays and the pool of arenas that concurrent calls of one model draw from."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector of the machines we compile for."""


def aligned_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """An uninitialised C-ordered array whose data start on a multiple of `ALIGNMENT` bytes."""
    count = 1
    for extent in shape:
        count *= extent
    size = count * dtype.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


class ArenaPool:
    """Arenas by least size; a call takes one and gives it back, so calls never share one and rarely allocate."""

    def __init__(self) -> None:
        self._free: list[np.ndarray] = []
        self._lock = threading.Lock()

    def take(self, size: int) -> np.ndarray:
        """An arena of at least `size` bytes, aligned."""
        with self._lock:
            for i, arena in enumerate(self._free):
                if arena.nbytes >= size:
                    return self._free.pop(i)
            # A smaller arena would stay unused while larger ones exist: let it go.
            if self._free:
                self._free.pop()
        return aligned_empty([max(size, ALIGNMENT)], np.dtype(np.uint8))

    def give(self, arena: np.ndarray) -> None:
        """Returns an arena taken with `take`."""
        with self._lock:
            self._free.append(arena)
