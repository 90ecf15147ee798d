"""Emits the objects of many parts on several cores: this process and a few workers draw from one queue."""

import contextlib
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import Target
from aicc.backends.llvm.worker import read_frame, write_frame

_WORTH = 200_000
"""Characters of LLVM text for which starting a worker (about 0.2 s) pays."""


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


def emit_all(texts: Sequence[str], target: Target, processes: int) -> list[bytes]:
    """
    Object code of each text, in order, made by this process and up to `processes - 1` workers.

    What a lost worker leaves is made here, so the result is complete or the exception is that of `emit_object`.
    """
    results: dict[int, bytes] = {}
    # Long ones first: the last to finish is then a short one.
    queue = deque(sorted(range(len(texts)), key=lambda i: -len(texts[i])))
    count = min(processes - 1, len(texts) - 1) if sum(map(len, texts)) >= _WORTH else 0
    workers = [_Worker(target) for _ in range(count)]

    def serve(worker: _Worker) -> None:
        while queue:
            try:
                index = queue.popleft()
            except IndexError:
                return
            image = worker.emit(texts[index])
            if image is None:
                queue.appendleft(index)
                return
            results[index] = image

    threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        while len(results) < len(texts):
            try:
                index = queue.popleft()
            except IndexError:
                for thread in threads:
                    thread.join()
                if not queue:
                    break
                continue
            results[index] = emit_object(texts[index], target)
    finally:
        queue.clear()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.close()
    return [results[index] for index in range(len(texts))]
