"""The runner of the standard's test suite, and a part of that suite: what has passed once passes."""

import faulthandler
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.conformance import processes
from tests.conformance.__main__ import select, table
from tests.conformance.cases import Case, operators_of
from tests.conformance.judge import Outcome, judge

ROOT = Path(__file__).parents[3]
EVERY = 20
"""Of the cases that pass, one in so many is run here."""


def case(name: str, op: str = "Neg", expected: float = -1.0, domain: str = "") -> Case:
    """`op` of 1, with the result it should have."""
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, (1,))
    node = helper.make_node(op, ["x"], ["y"], domain=domain)
    model = helper.make_model(helper.make_graph([node], "g", [info], [onnx.ValueInfoProto(name="y")]))
    data = [([np.ones(1, np.float32)], [np.array([expected], np.float32)])]
    return Case(name, model, 1e-3, 1e-7, None, data)


def test_every_end_of_a_case():
    assert judge(case("right"), {}) == ("pass", "")
    status, message = judge(case("wrong", expected=1.0), {})
    assert status == "fail" and "Mismatched elements: 1 / 1" in message
    status, message = judge(case("unknown", op="NoSuchOperator"), {})
    assert status == "unsupported" and "NoSuchOperator" in message


def test_a_process_that_dies_hangs_or_fills_the_memory_ends_its_case_only(monkeypatch: pytest.MonkeyPatch):
    def act(case: Case, options: dict[str, object]) -> tuple[str, str]:
        match case.name:
            case "dies":
                faulthandler.disable()  # which pytest turns on
                os.abort()
            case "hangs":
                time.sleep(1000)
            case "works":
                while True:
                    pass
            case "grows":
                try:
                    np.ones(1 << 40, np.uint8)
                except MemoryError:
                    return "fail", "MemoryError"
        return "pass", ""

    monkeypatch.setattr(processes, "judge", act)
    monkeypatch.setattr(processes, "WALL_SECONDS", 5)
    monkeypatch.setattr(processes, "PROCESSOR_SECONDS", 1)
    cases = [case(name) for name in ("good", "dies", "hangs", "works", "grows", "last")]
    ended = {outcome.name: outcome for outcome in processes.run_cases(cases, 3, {})}
    assert {name: outcome.status for name, outcome in ended.items()} == {
        "good": "pass",
        "dies": "crash",
        "hangs": "timeout",
        "works": "timeout",
        "grows": "fail",
        "last": "pass",
    }
    assert ended["dies"].message == "Aborted"


def test_cases_belong_to_operators():
    cases = [case("test_a", "Neg"), case("test_a_expanded", "Mul"), case("test_b", "Adam", domain="ai.onnx.ml")]
    assert operators_of(cases) == {
        "test_a": [("", "Neg")],
        "test_a_expanded": [("", "Neg")],
        "test_b": [("ai.onnx.ml", "Adam")],
    }
    assert [c.domain for c in cases] == ["", "", "ai.onnx.ml"]


def test_selection():
    cases = [case(f"test_{letter}") for letter in "abcde"]
    names = {"step": (2, False, None), "failing": (0, True, None), "pattern": (0, False, "[ab]$")}
    passing = ["test_a", "test_c", "test_d"]
    assert {
        key: [c.name[-1] for c in select(cases, pattern, passing, step, failing)]
        for key, (step, failing, pattern) in names.items()
    } == {"step": ["a", "d"], "failing": ["b", "e"], "pattern": ["a", "b"]}


def test_the_table_counts_by_operator():
    operators = {"a": [("", "Neg")], "b": [("", "Neg"), ("ai.onnx.ml", "Scaler")]}
    rows = [row.split() for row in table([Outcome("a", "pass"), Outcome("b", "crash")], operators).splitlines()]
    assert rows == [
        ["operator", "pass", "fail", "unsupported", "crash", "timeout"],
        ["Neg", "1", "1"],
        ["ai.onnx.ml::Scaler", "1"],
        ["all", "cases", "1", "1"],
    ]


def test_a_part_of_the_suite():
    command = [sys.executable, "-m", "tests.conformance", "--every", str(EVERY), "--jobs", "1", "--details"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = (ROOT / "tests" / "conformance" / "passing.txt").read_text().split()
    assert done.stdout.splitlines()[-1].split()[2:] == [str(len(listed[::EVERY]))]
