"""How long passes work on each kernel, for whoever listens; nothing is measured otherwise."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, str, float], None]
"""Called with the kind of work (`schedule`, `apply`, `lower`, `emit`), the kernel's name, and seconds."""

_listener: ContextVar[Listener | None] = ContextVar("kernel_clock_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """`listener` is told of the work on kernels in this context."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(work: str, kernel: str, seconds: float) -> None:
    """Tells of work that was done elsewhere."""
    if (listener := _listener.get()) is not None:
        listener(work, kernel, seconds)


@contextmanager
def kernel_time(work: str, kernel: str) -> Generator[None]:
    """Around work on one kernel."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    start = time.perf_counter()
    try:
        yield
    finally:
        listener(work, kernel, time.perf_counter() - start)
