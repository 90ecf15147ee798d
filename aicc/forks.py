"""
Processes that share the work of this one: copies of it, made once all that they need is in memory.

Only for a process that has no threads of its own: what another thread holds locked stays locked in a copy for ever.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Self, cast

Work = Callable[[bytes], bytes]

_TASK = struct.Struct("<QQQ")
"""Number, place and length; shorter than what a pipe passes on in one piece."""

_DONE = struct.Struct("<QQQQ")
"""Number, worker, place and length of the result; the length is `_FAILED` where there is none."""

_FAILED = (1 << 64) - 1
_PIPE_BYTES = 1 << 20


@dataclass
class _Worker:
    pid: int
    """0 once the process has ended."""

    results: int
    """A file in memory."""

    def has_ended(self, options: int = os.WNOHANG) -> bool:
        """Whether the process is no more; waits for its end unless told not to."""
        if self.pid and os.waitpid(self.pid, options)[0]:
            self.pid = 0
        return not self.pid


class Forks:
    """
    Does tasks, in this process and in up to `count` copies of it.

    `work` turns a task into its result and must give the same wherever it runs. The copies are made at once; tasks that
    are added later reach them as bytes. What a copy cannot do, or leaves undone when it dies, is done here, so that the
    exceptions are those of `work`.
    """

    def __init__(self, work: Work, count: int) -> None:
        self._work = work
        self._results: dict[int, bytes] = {}
        self._tasks: list[bytes] = []
        self._own: deque[int] = deque()
        """Tasks that the pipe had no room for."""
        self._memory = os.memfd_create("aicc-tasks")
        self._end = 0
        self._workers: list[_Worker] = []
        self._lost = False
        receiving, self._sending = os.pipe()
        self._finished, finishing = os.pipe()
        for descriptor in (self._sending, finishing):
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        try:
            for number in range(count):
                results = os.memfd_create("aicc-results")
                if (pid := os.fork()) == 0:
                    os.close(self._sending)
                    self._serve(number, receiving, finishing, results)
                self._workers.append(_Worker(pid, results))
        except OSError:
            # No more processes: those that are there do.
            pass
        os.close(finishing)
        # A description of its own, so that this process alone does not wait for tasks.
        self._taking = os.open(f"/proc/self/fd/{receiving}", os.O_RDONLY | os.O_NONBLOCK)
        os.close(receiving)
        os.set_blocking(self._sending, False)

    def _serve(self, number: int, receiving: int, finishing: int, results: int) -> None:
        """What a copy does until there will be no more tasks; never returns."""
        end = 0
        try:
            while len(record := os.read(receiving, _TASK.size)) == _TASK.size:
                task, place, size = _TASK.unpack(record)
                try:
                    result = self._work(os.pread(self._memory, size, place))
                except Exception:
                    os.write(finishing, _DONE.pack(task, number, 0, _FAILED))
                    continue
                _write(results, result, end)
                os.write(finishing, _DONE.pack(task, number, end, len(result)))
                end += len(result)
        finally:
            os._exit(0)

    def add(self, task: bytes) -> int:
        """Adds a task, which may be begun at once; returns its number."""
        number = len(self._tasks)
        self._tasks.append(task)
        _write(self._memory, task, self._end)
        try:
            os.write(self._sending, _TASK.pack(number, self._end, len(task)))
        except BlockingIOError:
            self._own.append(number)
        self._end += len(task)
        return number

    def results(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """The results of these tasks, in order; takes part in the work until they are there."""
        for number in numbers:
            while number not in self._results:
                self._receive(0)
                if number in self._results:
                    break
                if (mine := self._take()) is not None:
                    if mine not in self._results:
                        self._results[mine] = self._work(self._tasks[mine])
                elif self._lost or not self._workers:
                    self._results[number] = self._work(self._tasks[number])
                else:
                    self._receive(100)
            yield self._results[number]

    def _take(self) -> int | None:
        try:
            record = os.read(self._taking, _TASK.size)
        except BlockingIOError:
            record = b""
        if len(record) == _TASK.size:
            return _TASK.unpack(record)[0]
        return self._own.popleft() if self._own else None

    def _receive(self, milliseconds: int) -> None:
        """Takes in results; waits for one for at most so long."""
        if not self._workers:
            return
        poll = select.poll()
        poll.register(self._finished, select.POLLIN)
        while poll.poll(milliseconds):
            milliseconds = 0
            record = os.read(self._finished, _DONE.size)
            if len(record) < _DONE.size:
                self._lost = True
                return
            number, worker, place, size = cast("tuple[int, int, int, int]", _DONE.unpack(record))
            if size == _FAILED:
                self._results[number] = self._work(self._tasks[number])
            else:
                self._results[number] = os.pread(self._workers[worker].results, size, place)
        if milliseconds and any(worker.has_ended() for worker in self._workers):
            # Which tasks it had is not known; doing one twice does no harm.
            self._lost = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for descriptor in (self._sending, self._taking, self._finished, self._memory):
            os.close(descriptor)
        for worker in self._workers:
            os.close(worker.results)
            if worker.pid and exception[0] is not None:
                os.kill(worker.pid, signal.SIGKILL)
            worker.has_ended(0)


def _write(descriptor: int, content: bytes, place: int) -> None:
    done = 0
    while done < len(content):
        done += os.pwrite(descriptor, content[done:], place + done)
