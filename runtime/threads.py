"""
How many threads a call may use, and the OpenMP runtime that lends them (`aicc.runtime.parallel` says how).

A forked child has none of its parent's threads and would wait for them for ever: it runs serially.
"""

import ctypes
import os
import threading
from functools import cache
from operator import index

_OPENMP_LIBRARIES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")

SPINS = 4000
"""How often a thread of a team looks for the next loop before it goes to sleep: about 50 microseconds."""

OPENMP_FUNCTIONS = ("GOMP_parallel", "GOMP_parallel_start", "GOMP_parallel_end", "omp_get_thread_num")

SHARES = (ctypes.c_int64 * 3)()
"""
Running calls on several threads that Python code makes, and those of `aicc.runtime.python_call`, which alone changes
that word; not 0 in a forked child.
"""

_active_lock = threading.Lock()


def _after_fork() -> None:
    global _active_lock
    SHARES[:] = [0, 0, 1]
    _active_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


@cache
def openmp_symbols() -> dict[str, int]:
    """Addresses of what we use of the first OpenMP runtime that loads; nothing without one."""
    for name in _OPENMP_LIBRARIES:
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
            functions = {symbol: getattr(library, symbol) for symbol in OPENMP_FUNCTIONS}
        except (OSError, AttributeError):
            continue
        return {symbol: ctypes.cast(function, ctypes.c_void_p).value or 0 for symbol, function in functions.items()}
    return {}


def default_threads() -> int:
    """The cores this process may run on."""
    return len(os.sched_getaffinity(0))


def thread_count(threads: int | None) -> int:
    """
    The most threads a call uses, of what the user said: None means the cores this process may run on.

    Raises:
        TypeError: it is no integer.
        ValueError: it is below 1.
    """
    if threads is None:
        return default_threads()
    try:
        count = index(threads)
    except TypeError:
        raise TypeError(f"threads is {threads!r}, expected an integer or None") from None
    if count < 1:
        raise ValueError(f"threads is {count}, expected at least 1")
    return count


class ThreadShare:
    """Context of one call: how many threads it may use while other calls are running."""

    __slots__ = ("wanted",)

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def __enter__(self) -> int:
        if self.wanted == 1 or SHARES[2]:
            return 1
        with _active_lock:
            SHARES[0] += 1
            return max(1, self.wanted // (SHARES[0] + SHARES[1]))

    def __exit__(self, *_: object) -> None:
        if self.wanted == 1 or SHARES[2]:
            return
        with _active_lock:
            SHARES[0] = max(0, SHARES[0] - 1)
