"""
The one entry point that kernels call to run in parallel: `aicc_parallel(fn, context, n)`.

It is bound to the OpenMP runtime's `GOMP_parallel` when one is found, else to a plain call. Work is drawn by kernels
from a shared counter in `context`, so `fn(context)` run by any number of threads, one included, gives the same result.
A forked child has none of its parent's threads and would wait for them for ever: it runs serially.
"""

import ctypes
import os
import threading
from functools import cache

_OPENMP_LIBRARIES = ("libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so")

_active = 0
_active_lock = threading.Lock()
_forked = False


def _after_fork() -> None:
    global _forked, _active, _active_lock
    _forked = True
    _active = 0
    _active_lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


@cache
def openmp_parallel_address() -> int | None:
    """Address of `GOMP_parallel` in the first OpenMP runtime that loads, or None."""
    for name in _OPENMP_LIBRARIES:
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
            address = ctypes.cast(library.GOMP_parallel, ctypes.c_void_p).value
        except (OSError, AttributeError):
            continue
        if address is not None:
            return address
    return None


PARALLEL_SHIM_SERIAL = """
define void @aicc_parallel(ptr %fn, ptr %context, i64 %n) {
  call void %fn(ptr %context)
  ret void
}
"""

PARALLEL_SHIM_OPENMP = """
declare void @GOMP_parallel(ptr, ptr, i32, i32)
define void @aicc_parallel(ptr %fn, ptr %context, i64 %n) {
  %many = icmp sgt i64 %n, 1
  br i1 %many, label %parallel, label %serial
parallel:
  %count = trunc i64 %n to i32
  call void @GOMP_parallel(ptr %fn, ptr %context, i32 %count, i32 0)
  ret void
serial:
  call void %fn(ptr %context)
  ret void
}
"""


def default_threads() -> int:
    """The cores this process may run on."""
    return len(os.sched_getaffinity(0))


class ThreadShare:
    """Context of one call: how many threads it may use while other calls are running."""

    __slots__ = ("wanted",)

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted

    def __enter__(self) -> int:
        global _active
        if self.wanted == 1 or _forked:
            return 1
        with _active_lock:
            _active += 1
            return max(1, self.wanted // _active)

    def __exit__(self, *_: object) -> None:
        global _active
        if self.wanted == 1 or _forked:
            return
        with _active_lock:
            _active = max(0, _active - 1)
