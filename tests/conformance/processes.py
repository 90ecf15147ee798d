"""Each case in a process of its own, forked from this one, with limits on time and memory."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from tests.conformance.cases import Case
from tests.conformance.judge import Outcome, judge

PROCESSOR_SECONDS = 30
WALL_SECONDS = 180
"""Longer by far: other programs may keep the machine busy."""
MEMORY = 4 << 30
"""Address space in bytes, beyond what this process has."""


@dataclass
class _Running:
    case: Case
    process: BaseProcess
    start: float


def run_cases(cases: Sequence[Case], jobs: int, options: dict[str, Any]) -> Iterator[Outcome]:
    """How each case ends, as they end; `jobs` at a time, compiled with `options` of `aicc.compile`."""
    # What this process has imported, the forked ones need not import again.
    judge(cases[0], options | {"cache": False})
    context = get_context("fork")
    pending = list(reversed(cases))
    running: dict[Connection, _Running] = {}
    try:
        while pending or running:
            while pending and len(running) < jobs:
                case = pending.pop()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_child, args=(case, options, sender), daemon=True)
                process.start()
                sender.close()
                running[receiver] = _Running(case, process, time.monotonic())
            first = min(entry.start for entry in running.values())
            ready = wait(list(running), timeout=max(0.0, first + WALL_SECONDS - time.monotonic()))
            for receiver in [connection for connection in running if connection in ready]:
                yield _ended(receiver, running.pop(receiver))
            for receiver, entry in list(running.items()):
                if time.monotonic() - entry.start > WALL_SECONDS:
                    del running[receiver]
                    entry.process.kill()
                    yield _outcome(entry, "timeout", f"longer than {WALL_SECONDS} s")
    finally:
        for entry in running.values():
            entry.process.kill()


def _child(case: Case, options: dict[str, Any], sender: Connection) -> None:
    """Judges in the forked process."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 1))
    with open("/proc/self/statm") as file:
        present = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + MEMORY, present + MEMORY))
    sender.send(judge(case, options))
    sender.close()


def _ended(receiver: Connection, entry: _Running) -> Outcome:
    """The outcome of a process that has sent it, or died."""
    try:
        status, message = receiver.recv()
    except EOFError:
        entry.process.join()
        code = entry.process.exitcode or 0
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return _outcome(entry, "timeout", f"longer than {PROCESSOR_SECONDS} s of processor time")
        return _outcome(entry, "crash", signal.strsignal(-code) or "" if code < 0 else f"exit status {code}")
    entry.process.join(10)
    entry.process.kill()
    return _outcome(entry, status, message)


def _outcome(entry: _Running, status: str, message: str) -> Outcome:
    return Outcome(entry.case.name, status, message, time.monotonic() - entry.start)
