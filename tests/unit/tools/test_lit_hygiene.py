"""
Lit files check something: every pass has one, every RUN line compares, no directive is misspelt.

`filecheck` takes `CHECK-NEXT` without a colon for a comment, and a RUN line that never compares passes.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aicc.lowering.table import PASSES as LOWERING_PASSES
from aicc.transforms.table import PASSES as TRANSFORM_PASSES

ROOT = Path(__file__).parents[3]
FOLDERS = (ROOT / "tests" / "lit", ROOT / "examples" / "custom_dialect" / "tests")
SUFFIXES = ("NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY")
LIT_KEYWORDS = ("RUN", "XFAIL", "REQUIRES", "UNSUPPORTED", "DEFINE", "REDEFINE", "END")

_RUN = re.compile(r"//\s*RUN:(.*)")
_PREFIX = re.compile(r"--check-prefix(?:es)?[ =](\S+)")
_LEADING_WORD = re.compile(r"^\s*//\s*([A-Z][A-Z0-9_]*)([-_ ]?)([A-Za-z0-9-]*)(\s*:)?")


def lit_files() -> list[Path]:
    return sorted(
        path
        for folder in FOLDERS
        for path in folder.rglob("*.mlir")
        if not {"Inputs", "Output"} & set(path.relative_to(folder).parts)
    )


def run_lines(text: str) -> list[str]:
    """The RUN lines of a lit file, those that end in a backslash joined with the next."""
    joined: list[str] = []
    continued = False
    for line in _RUN.findall(text):
        if continued:
            joined[-1] += " " + line.strip().removesuffix("\\")
        else:
            joined.append(line.strip().removesuffix("\\"))
        continued = line.rstrip().endswith("\\")
    return joined


def faults(text: str) -> Iterator[str]:
    """What is wrong with the lit file `text`."""
    runs = run_lines(text)
    if not runs:
        yield "has no RUN line"
    prefixes = set[str]()
    for run in runs:
        calls = run.count("filecheck")
        named = [prefix for match in _PREFIX.findall(run) for prefix in match.split(",")]
        prefixes |= set(named)
        if calls > len(_PREFIX.findall(run)):
            prefixes.add("CHECK")
        if not calls and "--verify-diagnostics" not in run:
            yield f"compares nothing in 'RUN:{run}'"
    if any("--verify-diagnostics" in run and "filecheck" not in run for run in runs) and not re.search(
        r"expected-(error|warning|remark|note)", text
    ):
        yield "uses --verify-diagnostics and expects no diagnostic"
    used = set[str]()
    for number, line in enumerate(text.splitlines(), 1):
        match = _LEADING_WORD.match(line)
        if match is None or match[1] in LIT_KEYWORDS:
            continue
        word, separator, suffix, colon = match.groups()
        directive = (separator == "" and suffix == "") or (separator == "-" and is_suffix(suffix))
        if word in prefixes:
            if directive and colon == ":":
                used.add(word)
            else:
                yield f"line {number}: malformed directive: {line.strip()}"
        elif directive and colon is not None and "_" not in word:
            yield f"line {number}: no RUN line checks prefix {word}: {line.strip()}"
        elif any(word.startswith(prefix) and is_suffix(word.removeprefix(prefix).strip("_")) for prefix in prefixes):
            yield f"line {number}: malformed directive: {line.strip()}"
    for prefix in sorted(prefixes - used):
        yield f"has no directive for prefix {prefix}"


def is_suffix(text: str) -> bool:
    return text in SUFFIXES or re.fullmatch(r"COUNT-[0-9]+", text) is not None


@pytest.mark.parametrize("path", lit_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_lit_file_checks_something(path: Path):
    assert list(faults(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("name", sorted(TRANSFORM_PASSES | LOWERING_PASSES))
def test_pass_has_a_lit_file(name: str):
    found = [path for path in lit_files() if path.name == f"{name}.mlir"]
    assert found, f"no lit file {name}.mlir"
    assert any(name in run for path in found for run in run_lines(path.read_text(encoding="utf-8")))


RUN = "// RUN: aicc-opt %s | filecheck %s\n// CHECK: x\n"


@pytest.mark.parametrize(
    "text",
    [
        "// CHECK: x\n",
        "// RUN: aicc-opt %s\n",
        "// RUN: aicc-opt %s --verify-diagnostics\n",
        "// RUN: aicc-opt %s | filecheck %s\n",
        RUN + "// CHECK-NEXT x\n",
        RUN + "// CHECK-NEXT : x\n",
        RUN + "// CHECK-NXT: x\n",
        RUN + "// CHECK_NEXT: x\n",
        RUN + "// CHECKNEXT: x\n",
        RUN + "// CHECK NEXT: x\n",
        RUN + "// OTHER: x\n",
        RUN + "// RUN: aicc-opt %s\n",
        "// RUN: aicc-opt %s | filecheck %s --check-prefix=A\n// CHECK: x\n",
    ],
)
def test_planted_fault_is_found(text: str):
    assert list(faults(text))


@pytest.mark.parametrize(
    "text",
    [
        RUN + "// CHECK-NEXT: x\n// CHECK-SAME: x\n// CHECK-COUNT-2: x\n// Prose: about CHECK-NEXT.\n",
        "// RUN: aicc-opt %s \\\n// RUN:   | filecheck %s --check-prefixes=A,B\n// A: x\n// B-NOT: x\n",
        "// RUN: aicc-opt %s --verify-diagnostics\n// expected-error {{x}}\n",
    ],
)
def test_sound_file_passes(text: str):
    assert list(faults(text)) == []
