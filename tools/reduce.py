"""
Delta debugging: smaller and smaller versions of something that still show what was wrong with the whole.

A version is replaced by a smaller one whenever the check says that this one still shows it. `Step`s propose smaller
versions, coarse ones first; they are gone through in rounds until none helps any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

Step = Callable[[T], Iterator[T]]
"""Smaller versions of its argument; told of none that was taken: it is asked again with that one."""


class Reducer(Generic[T]):
    """One reduction; `tried` and `taken` count versions."""

    def __init__(
        self, check: Callable[[T], bool], steps: Sequence[Step[T]], key: Callable[[T], bytes], seconds: float
    ) -> None:
        self._check = check
        self._steps = steps
        self._key = key
        self._end = time.monotonic() + seconds
        self._seen: set[int] = set()
        self.tried = 0
        self.taken = 0

    @property
    def in_time(self) -> bool:
        return time.monotonic() < self._end

    def reduce(self, whole: T) -> T:
        """The smallest version that was found."""
        best = whole
        self._seen.add(hash(self._key(whole)))
        progress = True
        while progress and self.in_time:
            progress = False
            for step in self._steps:
                while (smaller := self._first(step(best))) is not None:
                    best, progress = smaller, True
        return best

    def _first(self, versions: Iterator[T]) -> T | None:
        """The first of `versions` that is new and still shows it."""
        for version in versions:
            if not self.in_time:
                return None
            key = hash(self._key(version))
            if key in self._seen:
                continue
            self._seen.add(key)
            self.tried += 1
            if self._check(version):
                self.taken += 1
                return version
        return None


def chunks(count: int) -> Iterator[range]:
    """Parts of `range(count)` to be left out: all, halves, quarters, ... single ones, last ones first."""
    size = count
    while size:
        for start in range(count - size, -1, -size):
            yield range(start, start + size)
        if size > 1 and count % size:
            yield range(count % size)
        size //= 2
