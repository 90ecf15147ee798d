"""Runs a case and says how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onnx.backend.test.runner import Runner

from aicc import onnx_backend
from aicc.frontends.errors import ModelError
from tests.conformance.cases import Case

STATUSES = ("pass", "fail", "unsupported", "crash", "timeout")
"""`unsupported` is refused with a diagnostic that says what and where; every other end but `pass` is a fault."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    name: str
    status: str
    message: str = ""
    seconds: float = 0.0


def judge(case: Case, options: dict[str, Any]) -> tuple[str, str]:
    """Status and message of `case`, compiled with `options`; results are compared as the suite itself does it."""
    try:
        prepared = onnx_backend.prepare(case.model, **options)
        for inputs, expected in case.data_sets():
            found = prepared.run(inputs)
            Runner.assert_similar_outputs(expected, found, case.rtol, case.atol)
    except ModelError as error:
        # The importer tells of a fault of its own in the same way, so that the rest of the model is still checked.
        return ("fail" if "internal fault" in str(error) else "unsupported"), str(error)
    except AssertionError as error:
        return "fail", " ".join(str(error).split())
    except Exception as error:
        return "fail", f"{type(error).__name__}: {error}"
    return "pass", ""
