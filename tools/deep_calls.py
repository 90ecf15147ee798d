"""Python's limit on calls within calls, which regions within regions come up against."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Lock

_CALLS = 10_000
"""xDSL's parser and printer, and the lowering of loops, make about ten per region."""

_lock = Lock()
_inside = 0
_before = 0


@contextmanager
def deep_calls() -> Generator[None, None, None]:
    """Has the limit raised, and as it was once nobody needs it any more; also around a function."""
    global _inside, _before
    with _lock:
        if not _inside:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _CALLS))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                sys.setrecursionlimit(_before)
