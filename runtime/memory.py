"""Aligned arrays, and the pool of arenas that concurrent calls of one model draw from."""

import ctypes
import mmap
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from aicc.runtime.errors import OutOfMemory

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector of the machines we compile for."""

HUGE_PAGE = 2 << 20
"""
Bytes of a huge page. Arenas and prepared buffers of at least this size ask for such pages: their parts then lie as far
apart in physical memory as in virtual memory, which spreads them evenly over the sets of the caches, and take few
entries of the translation buffers.
"""


_field = ctypes.c_size_t.from_address
_HEAD = object.__basicsize__
"""An array object begins with what all objects have, then the address of its data (numpy's C interface)."""


def _read_address(array: np.ndarray) -> int:
    return _field(id(array) + _HEAD).value


def _ask_address(array: np.ndarray) -> int:
    return array.ctypes.data


_probe = np.empty(1)
# A tenth of what asking numpy takes, and several are needed per call.
address_of = _read_address if _read_address(_probe) == _probe.ctypes.data else _ask_address
"""The address of an array's data."""


LARGE = 1 << 28
"""Bytes from which on the system is asked first: many hand out memory that is not there, and end the process later."""


def ensure_available(size: int) -> None:
    """
    Checks that `size` bytes can be had, as far as the system tells.

    Raises:
        OutOfMemory: if not.
    """
    if size >= LARGE and size > (available := available_bytes()):
        raise OutOfMemory(f"the model needs {size / 2**30:.1f} GiB of memory, but {available / 2**30:.1f} GiB are left")


def available_bytes() -> int:
    """Memory and swap space that no process uses; more than any machine has where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return sys.maxsize
    sizes = {name: int(rest.split()[0]) << 10 for name, _, rest in (line.partition(":") for line in lines)}
    if "MemAvailable" not in sizes:
        return sys.maxsize
    return sizes["MemAvailable"] + sizes.get("SwapFree", 0)


def refused(size: int, error: Exception) -> OutOfMemory:
    """The error to raise when the system refuses `size` bytes."""
    return OutOfMemory(f"the model needs {size / 2**30:.1f} GiB of memory, which the system refuses: {error}")


def contiguous(array: np.ndarray) -> np.ndarray:
    """
    The array with its elements one after the other.

    Raises:
        OutOfMemory: if it must be copied for that, and there is not enough memory.
    """
    if not array.flags.c_contiguous:
        ensure_available(array.nbytes)
    try:
        return np.ascontiguousarray(array)
    except MemoryError as error:
        raise refused(array.nbytes, error) from None


def aligned_empty_at(shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> tuple[np.ndarray, int]:
    """
    An uninitialised C-ordered array of `size` bytes whose data start on a multiple of `ALIGNMENT` bytes, and where.
    """
    ensure_available(size)
    try:
        raw = np.empty(size + ALIGNMENT, np.uint8)
    except MemoryError as error:
        raise refused(size, error) from None
    address = address_of(raw)
    start = -address % ALIGNMENT
    return np.ndarray(shape, dtype, raw, start), address + start


def aligned_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """An uninitialised C-ordered array whose data start on a multiple of `ALIGNMENT` bytes."""
    return aligned_empty_at(tuple(shape), dtype, prod(shape) * dtype.itemsize)[0]


def mapped_pages(size: int) -> tuple[mmap.mmap, int]:
    """
    Fresh pages of the system's, and the offset at which `size` bytes lie in them: huge pages where the system has them
    and `size` is that large.

    Raises:
        OutOfMemory: if they cannot be had.
    """
    ensure_available(size)
    try:
        return _map(size)
    except (OSError, OverflowError) as error:
        raise refused(size, error) from None


def _map(size: int) -> tuple[mmap.mmap, int]:
    if size < HUGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), 0
    # Address space only: pages before the start are never touched.
    block = mmap.mmap(-1, size + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError):
        # Refused by kernels that are built without them.
        block.madvise(mmap.MADV_HUGEPAGE)
    return block, -np.frombuffer(block, np.uint8).ctypes.data % HUGE_PAGE


def long_lived_bytes(size: int) -> np.ndarray:
    """`size` uninitialised bytes, aligned, in huge pages where the system has them and `size` is that large."""
    if size < HUGE_PAGE:
        return aligned_empty([max(size, ALIGNMENT)], np.dtype(np.uint8))
    block, start = mapped_pages(size)
    return np.frombuffer(block, np.uint8, size, start)


def long_lived_blocks(sizes: Sequence[int]) -> list[np.ndarray]:
    """Arrays of so many bytes each, aligned, next to each other in one block of `long_lived_bytes`."""
    ends = list(accumulate(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes))
    block = long_lived_bytes(ends[-1] if ends else 0)
    return [block[start : start + size] for start, size in zip([0, *ends], sizes, strict=False)]


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
        return long_lived_bytes(size)

    def give(self, arena: np.ndarray) -> None:
        """Returns an arena taken with `take`."""
        with self._lock:
            self._free.append(arena)
