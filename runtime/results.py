"""
The memory of results: fresh arrays, whose pages are used again once nobody holds the array, and arrays of the caller.

Fresh pages cost a fault each when they are first written, which takes longer than much of what is computed. Those of
large results are therefore kept when the last array that shows them is gone, as many as two calls need.
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from aicc.runtime.errors import InputError
from aicc.runtime.memory import address_of, mapped_pages
from aicc.runtime.signature import TensorInfo
from aicc.runtime.wording import number_of

POOLED = 128 << 10
"""Bytes from which on a result has pages of its own; the allocator of the C library reuses smaller pieces itself."""


@dataclass(frozen=True, eq=False)
class _Pages:
    """A piece of memory for one result at a time."""

    memory: mmap.mmap
    start: int
    """Offset of the first byte that is used."""
    address: int
    size: int


class _Lease(np.ndarray):
    """
    The base of a result and, through numpy, of every view of it: when it goes, so has the last of them.

    Its own base is no array, since numpy would put that one in its place.
    """

    pool: ResultPool | None = None
    pages: _Pages | None = None

    def __del__(self) -> None:
        # Slices of the base itself have no pages.
        if self.pool is not None and self.pages is not None:
            self.pool.give(self.pages)


class ResultPool:
    """Pages of results that are gone. Safe to use from several threads, and from the garbage collector in each."""

    def __init__(self) -> None:
        # Changed by single operations only, which no other thread and no finalizer can interrupt: a lock that a
        # finalizer waits for may be held by the very thread that it runs in.
        self._free: list[_Pages] = []
        self.limit = 0
        """Bytes that are kept at most."""

    def take(self, shape: tuple[int, ...], dtype: np.dtype[Any], size: int) -> tuple[np.ndarray, int]:
        """An uninitialised array of `size` bytes, on a page of its own, and the address of its data."""
        pages = self._fitting(size)
        if pages is None:
            memory, start = mapped_pages(size)
            pages = _Pages(memory, start, address_of(np.frombuffer(memory, np.uint8)) + start, size)
        lease = _Lease((size,), np.uint8, pages.memory, pages.start)
        lease.pool, lease.pages = self, pages
        return np.ndarray(shape, dtype, lease), pages.address

    def _fitting(self, size: int) -> _Pages | None:
        """The pages that were given back last, of those that are large enough and not half empty."""
        for pages in reversed(tuple(self._free)):
            if size <= pages.size <= 2 * size:
                try:
                    self._free.remove(pages)
                except ValueError:
                    continue  # Another thread has taken them.
                return pages
        return None

    def give(self, pages: _Pages) -> None:
        """Keeps `pages`; lets those go that were kept longest where they are too many."""
        self._free.append(pages)
        while sum(kept.size for kept in tuple(self._free)) > self.limit:
            try:
                self._free.pop(0)
            except IndexError:
                return


def named_out(out: object, infos: Sequence[TensorInfo]) -> list[Any]:
    """
    The arrays that a caller wants results in, in the order of the outputs; None for a fresh one.

    `out` is a mapping by name, a list or tuple in that order, or the array itself for the only output.

    Raises:
        InputError: an output of that name does not exist, or the number of arrays is not that of the outputs.
    """
    if isinstance(out, Mapping):
        given = cast("Mapping[Any, Any]", out)
        names = [info.name for info in infos]
        if unknown := [name for name in given if name not in names]:
            known = ", ".join(map(repr, names)) or "no outputs"
            raise InputError(f"out: unknown output {', '.join(map(repr, unknown))}; the model has {known}")
        return [given.get(name) for name in names]
    arrays = list(cast("Sequence[Any]", out)) if isinstance(out, list | tuple) else [out]
    if len(arrays) != len(infos):
        names = ", ".join(repr(info.name) for info in infos) or "none"
        raise InputError(f"out: {number_of(len(arrays), 'array')} for {number_of(len(infos), 'output')}: {names}")
    return arrays


def check_out(info: TensorInfo, shape: tuple[int, ...], array: np.ndarray) -> int:
    """
    The address of `array`, if the program can write the result `info` of this shape there.

    Raises:
        InputError: it cannot.
    """
    flags = array.flags
    if array.dtype != info.dtype or array.shape != shape or not (flags.c_contiguous and flags.behaved):
        raise _refuse_out(info, shape, array)
    return address_of(array)


def _refuse_out(info: TensorInfo, shape: tuple[int, ...], array: np.ndarray) -> InputError:
    """What is wrong with `array`."""
    if array.dtype != info.dtype:
        reason = f"has dtype {array.dtype}, expected {info.dtype}"
    elif array.shape != shape:
        formula = "" if info.shape == shape else f", which is [{', '.join(map(str, info.shape))}]"
        reason = f"has shape {list(array.shape)}, expected {list(shape)}{formula}"
    elif not array.flags.c_contiguous:
        reason = f"has strides {list(array.strides)}, expected a C-contiguous array"
    elif not array.flags.writeable:
        reason = "is read-only, expected an array that can be written"
    else:
        reason = f"starts at an odd address, expected a multiple of {info.dtype.alignment} bytes"
    return InputError(f"out '{info.name}' {reason}")


def shared_memory(info: TensorInfo, other: str) -> InputError:
    """The error for an array that shares memory with `other`."""
    return InputError(f"out '{info.name}' shares memory with {other}, expected memory of its own")


def check_apart(written: Sequence[tuple[int, int, int]], infos: Sequence[TensorInfo]) -> None:
    """
    Checks that no two arrays of `written` (first and last address, index of the output) share memory.

    Raises:
        InputError: two do.
    """
    ordered = sorted(entry for entry in written if entry[0] < entry[1])
    for (_, end, one), (begin, _, other) in pairwise(ordered):
        if begin < end:
            raise shared_memory(infos[max(one, other)], f"out '{infos[min(one, other)].name}'")
