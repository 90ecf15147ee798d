"""
Runs a function in a forked child with limits on time and memory, so that whatever it does is an outcome.

The parent is not harmed by a crash, an endless loop or a full memory; forking a process that has imported the compiler
takes a hundredth of starting one. The parent must have no other threads (they may hold locks that the child waits for
for ever), nor have used threads of compiled programs: OpenMP does not survive a fork.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import math
import os
import re
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

SECONDS = 5.0
MEMORY = 2 << 30

ANSWER, FAILURE, CRASH, TIMEOUT, MEMORY_OUT = "answer", "failure", "crash", "timeout", "out of memory"

_WALL = 12
"""Times the seconds of a limit that may pass on the clock, for a child that waits or shares its core with others."""


_PLACE = re.compile(r'^Current thread.*\n  File "(?:.*/)?(.*)", line (\d+) in (.*)$', re.MULTILINE)
"""What `faulthandler` writes of the innermost call."""


@dataclass(frozen=True)
class Limits:
    """Seconds of processor time, and bytes of memory beyond what the parent has."""

    seconds: float = SECONDS
    memory: int = MEMORY


@dataclass(frozen=True)
class Outcome:
    """How a child ended."""

    kind: str
    """`answer` (the function returned), `failure` (it raised), `crash`, `timeout` or `out of memory`."""
    text: str
    """What it returned, else the exception or signal."""
    output: str = ""
    """What it wrote to standard output and error."""
    seconds: float = 0.0
    """Processor time."""
    memory: int = 0
    """Most bytes resident at any time; at least those of the parent."""


def run_limited(work: Callable[[], str], limits: Limits | None = None) -> Outcome:
    """What `work` comes to in a child process of its own; changes to the state of this process are not seen here."""
    limits = limits or Limits()
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as log:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _child(work, limits, writer, log.fileno())
        os.close(writer)
        try:
            data, in_time = _read(reader, limits.seconds * _WALL)
        finally:
            os.close(reader)
        if not in_time:
            os.kill(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        log.seek(0)
        output = log.read().decode("utf-8", "replace")
    kind, text = _verdict(data, status, in_time)
    if kind == CRASH and (place := _PLACE.search(output)) is not None:
        text += f" in {place[3]} ({place[1]}:{place[2]})"
    return Outcome(kind, text, output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10)


def run_parts(count: int, work: Callable[[int], int]) -> int:
    """Runs `work(0)` to `work(count - 1)` in a child process each, all at once; the largest of their exit statuses."""
    gc.collect()
    gc.freeze()  # Else a collection in a child would copy every page.
    if count == 1:
        return work(0)
    children: list[int] = []
    for part in range(count):
        child = os.fork()
        if child == 0:
            status = 3
            try:
                status = work(part)
            finally:
                sys.stdout.flush()
                os._exit(status)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255 for child in children)


def _verdict(data: bytes, status: int, in_time: bool) -> tuple[str, str]:
    if not in_time:
        return TIMEOUT, "the time on the clock is over"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGXCPU:
            return TIMEOUT, "the processor time is over"
        return CRASH, f"ended by {signal.Signals(number).name}"
    kind, _, text = data.decode("utf-8", "replace").partition("\n")
    if kind not in (ANSWER, FAILURE, MEMORY_OUT):
        return CRASH, f"ended with status {os.waitstatus_to_exitcode(status)}"
    return kind, text


def _child(work: Callable[[], str], limits: Limits, writer: int, log: int) -> NoReturn:
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        faulthandler.enable(log)  # A crash that is seen once must say where it was.
        memory = limits.memory + _data_bytes()
        seconds = math.ceil(limits.seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        try:
            report = f"{ANSWER}\n{work()}"
        except MemoryError as error:
            report = f"{MEMORY_OUT}\n{error}"
        except Exception as error:
            report = f"{FAILURE}\n{type(error).__name__}: {error}"
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        data = report.encode("utf-8", "replace")
        while data:
            data = data[os.write(writer, data) :]
        os._exit(0)
    finally:
        os._exit(3)


def _data_bytes() -> int:
    """Writable memory of this process, as the system counts it for the limit."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) << 10
    return 0


def _read(descriptor: int, seconds: float) -> tuple[bytes, bool]:
    """All there is to read until the other side closes, and whether it did so in time."""
    pieces: list[bytes] = []
    end = time.monotonic() + seconds
    while (rest := end - time.monotonic()) > 0:
        ready, _, _ = select.select([descriptor], [], [], rest)
        if ready:
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return b"".join(pieces), True
            pieces.append(piece)
    return b"".join(pieces), False
