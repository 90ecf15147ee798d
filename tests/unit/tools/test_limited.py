"""Whatever a function does in a limited child process is an outcome."""

import ctypes
import os
import sys

import numpy as np
import pytest

from aicc.tools.limited import ANSWER, CRASH, FAILURE, MEMORY_OUT, TIMEOUT, Limits, run_limited, run_parts


def raises() -> str:
    raise ValueError("wrong")


def never_ends() -> str:
    while True:
        pass


def exits() -> str:
    sys.exit(4)


@pytest.mark.parametrize(
    ("work", "kind", "text"),
    [
        (lambda: "yes", ANSWER, "yes"),
        (raises, FAILURE, "ValueError: wrong"),
        (never_ends, TIMEOUT, "processor time"),
        (lambda: ctypes.string_at(0).decode(), CRASH, "SIGSEGV in string_at (__init__.py:"),
        (lambda: str(np.ones(1 << 29).sum()), MEMORY_OUT, "4.00 GiB"),
        (exits, CRASH, "status 3"),
    ],
    ids=["answer", "failure", "timeout", "crash", "memory", "exit"],
)
def test_outcomes(work, kind, text):
    outcome = run_limited(work, Limits(seconds=1))
    assert outcome.kind == kind and text in outcome.text


def test_what_the_child_prints_is_kept():
    assert run_limited(lambda: str(os.write(1, b"told\n"))).output == "told\n"


def test_parts_run_in_processes_of_their_own():
    parent = os.getpid()
    assert run_parts(3, lambda part: part if os.getpid() != parent else 9) == 2
    assert run_parts(1, lambda part: 7) == 7
