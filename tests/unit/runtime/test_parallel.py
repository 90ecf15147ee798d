"""Loops on threads: each iteration in one part, a thread that is held up costs no more than the part it has in hand."""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from aicc.backends.llvm.objects import emit_object
from aicc.backends.llvm.targets import host_target
from aicc.runtime.parallel import CHUNKS, shim_text
from aicc.runtime.program import link
from aicc.runtime.threads import openmp_symbols


@cache
def runtime() -> Any:
    """The functions under test."""
    return link([emit_object(shim_text(), host_target())], ["aicc_parallel", "aicc_run"])


BODY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
MAIN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
PARALLEL = ctypes.CFUNCTYPE(None, BODY, ctypes.c_void_p, *[ctypes.c_int64] * 4)
RUN = ctypes.CFUNCTYPE(None, MAIN, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)

several = pytest.mark.skipif(not openmp_symbols(), reason="no OpenMP runtime here")


def parallel(body: Callable[[int, int], None], total: int, grain: int, threads: int, least: int = 0) -> None:
    """Runs a loop of Python code."""
    function = BODY(lambda _, begin, end: body(begin, end))
    PARALLEL(runtime().address("aicc_parallel"))(function, None, total, grain, least, threads)


def in_team(main: Callable[[int], None], threads: int, spins: int = 100) -> None:
    """Runs Python code as a program whose loops a team shares."""
    RUN(runtime().address("aicc_run"))(MAIN(lambda _, __, count: main(count)), None, None, threads, spins)


def check_parts(parts: list[tuple[int, int]], total: int, grain: int, threads: int) -> None:
    parts = sorted(part for part in parts if part[0] < part[1])
    covered = [i for begin, end in parts for i in range(begin, end)]
    assert covered == list(range(total))
    assert all(begin % grain == 0 and (end % grain == 0 or end == total) for begin, end in parts)
    assert len(parts) <= max(1, CHUNKS * threads)


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
@pytest.mark.parametrize("total, grain", [(0, 1), (1, 1), (2, 1), (7, 1), (7, 3), (100, 7), (1000, 1), (5, 100)])
def test_parts(total: int, grain: int, threads: int):
    alone: list[tuple[int, int]] = []
    parallel(lambda begin, end: alone.append((begin, end)), total, grain, threads)
    check_parts(alone, total, grain, threads)
    loops: list[list[tuple[int, int]]] = [[] for _ in range(5)]

    def main(count: int) -> None:
        for parts in loops:
            parallel(lambda begin, end, parts=parts: parts.append((begin, end)), total, grain, count)

    in_team(main, threads)
    for parts in loops:
        check_parts(parts, total, grain, threads)


@several
def test_work_of_several_threads():
    seen: set[int] = set()

    def body(begin: int, end: int) -> None:
        seen.add(threading.get_native_id())
        time.sleep(0.01)

    in_team(lambda count: parallel(body, 16, 1, count), 2)
    assert len(seen) == 2
    seen.clear()
    parallel(body, 16, 1, 2)
    assert len(seen) == 2


@several
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_threads_start_with_the_first_loop_that_is_shared():
    def count() -> int:
        return len(os.listdir("/proc/self/task"))

    seen: list[int] = []

    def main(threads: int) -> None:
        for total, grain, least in ((1, 1, 0), (5, 1, 2), (7, 4, 0), (8, 4, 0), (8, 1, 0)):
            parallel(lambda begin, end: None, total, grain, threads, least)
            seen.append(count() - before)

    # An OpenMP runtime keeps threads of its own for each thread that opens a region.
    before = count() + 1
    caller = threading.Thread(target=in_team, args=(main, 4))
    caller.start()
    caller.join()
    assert seen == [0, 0, 0, 3, 3]


@several
@pytest.mark.parametrize("team", [False, True])
def test_loops_in_loops_are_shared_out_where_the_outer_ones_are_not(team: bool):
    outer: list[int] = []
    inner: list[tuple[int, int]] = []

    def body(begin: int, end: int, count: int) -> None:
        outer.append(threading.get_native_id())
        parallel(note, 16, 1, count)

    def note(begin: int, end: int) -> None:
        inner.append((threading.get_native_id(), end - begin))
        time.sleep(0.002)

    def run(total: int) -> None:
        outer.clear()
        inner.clear()
        if team:
            in_team(lambda count: parallel(lambda b, e: body(b, e, count), total, 1, count, 2), 2)
        else:
            parallel(lambda b, e: body(b, e, 2), total, 1, 2, 2)

    run(3)
    assert len(outer) == 1 and len({thread for thread, _ in inner}) == 2 and len(inner) == 16
    run(4)
    assert len(outer) == 4 and len(inner) == 4 and {size for _, size in inner} == {16}
    # And what comes after is shared out as before.
    run(1)
    assert len(outer) == 1 and len({thread for thread, _ in inner}) == 2


@several
def test_a_thread_that_is_held_up_keeps_one_part():
    leader = threading.get_native_id()
    held: list[int] = []
    entered = threading.Event()
    done: list[int] = []

    def body(begin: int, end: int) -> None:
        if threading.get_native_id() != leader:
            held.append(begin)
            entered.set()
            while len(done) < 15:
                time.sleep(0.001)
        else:
            entered.wait(10)
            done.append(begin)

    in_team(lambda count: parallel(body, 16, 1, count), 2)
    assert len(held) == 1 and len(done) == 15


@several
@pytest.mark.parametrize("spins", [0, 1000])
def test_threads_that_sleep_are_woken(spins: int):
    leader = threading.get_native_id()
    helped: list[int] = []

    def body(begin: int, end: int) -> None:
        if threading.get_native_id() != leader:
            helped.append(begin)
        time.sleep(0.005)

    def main(count: int) -> None:
        for _ in range(3):
            time.sleep(0.02)
            parallel(body, 16, 1, count)

    in_team(main, 2, spins)
    assert helped


def test_many_teams_at_once():
    totals: list[int] = []

    def call() -> None:
        mine: list[int] = []
        in_team(lambda count: [parallel(lambda b, e: mine.append(e - b), 40, 1, count) for _ in range(20)] and None, 2)
        totals.append(sum(mine))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert totals == [800] * 4
