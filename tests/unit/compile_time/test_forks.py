"""Work shared with copies of the process: same results in the same order, whatever becomes of the copies."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

PROGRAM = """
import os, signal, sys, time
from aicc.forks import Forks

here = os.getpid()


def work(task: bytes) -> bytes:
    if task == b"die" and os.getpid() != here:
        os.kill(os.getpid(), signal.SIGKILL)
    if task == b"raise" and os.getpid() != here:
        raise ValueError("in the copy")
    if task == b"bad":
        raise KeyError("bad")
    time.sleep(0.002)
    return task * 1000


def run(count, tasks, later=()):
    with Forks(work, count) as forks:
        first = [forks.add(task) for task in tasks]
        results = list(forks.results(first))
        results += forks.results([forks.add(task) for task in later])
    assert results == [task * 1000 for task in (*tasks, *later)], results


TASKS = [b"%d" % i for i in range(40)]
{body}
print("done", len(os.listdir("/proc/self/fd")))
"""


def in_process(body: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{body}", body)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("count", [0, 1, 3])
def test_results_come_in_the_order_of_the_tasks(count: int):
    assert in_process(f"run({count}, TASKS, [b'x', b'y'])").startswith("done")


@pytest.mark.parametrize("kind", ["die", "raise"])
def test_what_copies_leave_is_done_here(kind: str):
    assert in_process(f"run(2, [b'{kind}', *TASKS, b'{kind}'], [b'z', b'{kind}'])").startswith("done")


def test_exceptions_are_those_of_the_work():
    assert "KeyError" in in_process("run(2, [*TASKS, b'bad'])")


def test_nothing_is_left_open_and_no_process_either():
    printed = in_process("run(2, TASKS)\nrun(2, TASKS)\ntry:\n  os.wait()\nexcept ChildProcessError: print('alone')")
    assert printed.splitlines()[0] == "alone"
    assert printed.splitlines()[1] == in_process("").strip()


def test_more_tasks_than_a_pipe_takes():
    body = "work = bytes\nwith Forks(work, 1) as forks:\n  numbers = [forks.add(b'%d' % i) for i in range(60000)]\n"
    body += "  assert list(forks.results(numbers[::1000])) == [b'%d' % i for i in range(0, 60000, 1000)]"
    assert in_process(body).startswith("done")
