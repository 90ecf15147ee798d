"""Emits the objects of many parts on several cores: this process and a few workers draw from one queue."""

import contextlib
import heapq
import subprocess
import sys
import threading
import time
from typing import Self

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import Target
from aicc.backends.llvm.worker import read_frame, write_frame

_WORTH = 60_000
"""Characters of LLVM text for each of which one more worker pays: as long to emit as a worker takes to start."""


class _Worker:
    """One `aicc.backends.llvm.worker` process, started at once and asked for one part at a time."""

    def __init__(self, target: Target) -> None:
        command = [sys.executable, "-m", "aicc.backends.llvm.worker", target.name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def emit(self, text: str) -> bytes | None:
        """The object; None if the worker is gone."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            write_frame(self._process.stdin, text.encode())
            return read_frame(self._process.stdout)
        except OSError:
            return None

    def close(self) -> None:
        """Lets the process end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Emitter:
    """
    Object code of parts that are handed over one by one, made while the caller still makes further parts.

    Workers start one by one as parts come in and make the longest first, so that the last to finish is a short one;
    `finish` helps them. What a lost worker leaves is made by `finish`, so the result is complete or the exception is
    that of `emit_object`. Leaving the context ends the workers.
    """

    def __init__(self, target: Target, processes: int) -> None:
        self._target = target
        self._most_workers = processes - 1
        self._texts: list[str] = []
        self._results: dict[int, bytes] = {}
        self.seconds: dict[int, float] = {}
        """Time that each part took, by its position."""
        self._pending: list[tuple[int, int]] = []
        """Heap of minus length and position."""
        self._characters = 0
        self._more_to_come = True
        self._changed = threading.Condition()
        self._workers: list[_Worker] = []
        self._threads: list[threading.Thread] = []

    def add(self, text: str) -> None:
        """Hands over the next part."""
        with self._changed:
            heapq.heappush(self._pending, (-len(text), len(self._texts)))
            self._texts.append(text)
            self._changed.notify()
        self._characters += len(text)
        if len(self._workers) < min(self._most_workers, self._characters // _WORTH):
            worker = _Worker(self._target)
            thread = threading.Thread(target=self._serve, args=(worker,), daemon=True)
            self._workers.append(worker)
            self._threads.append(thread)
            thread.start()

    def finish(self) -> list[bytes]:
        """The objects, in the order of the parts."""
        self._close_queue()
        while len(self._results) < len(self._texts):
            while (index := self._take()) is not None:
                start = time.perf_counter()
                self._results[index] = emit_object(self._texts[index], self._target)
                self.seconds[index] = time.perf_counter() - start
            for thread in self._threads:
                thread.join()
        return [self._results[index] for index in range(len(self._texts))]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close_queue()
        self._pending.clear()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.close()

    def _close_queue(self) -> None:
        with self._changed:
            self._more_to_come = False
            self._changed.notify_all()

    def _take(self) -> int | None:
        """The next part; waits for one while more are to come."""
        with self._changed:
            while not self._pending and self._more_to_come:
                self._changed.wait()
            return heapq.heappop(self._pending)[1] if self._pending else None

    def _serve(self, worker: _Worker) -> None:
        while (index := self._take()) is not None:
            start = time.perf_counter()
            image = worker.emit(self._texts[index])
            self.seconds[index] = time.perf_counter() - start
            if image is None:
                with self._changed:
                    heapq.heappush(self._pending, (-len(self._texts[index]), index))
                    self._changed.notify()
                return
            self._results[index] = image
