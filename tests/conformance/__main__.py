"""
Runs the standard's own test suite: `python -m tests.conformance [--only REGEX]`, or `make conformance` for all of it.

A case of passing.txt that does not pass any more is an error. A run of the whole suite without one writes
docs/onnx-support.md and adds to passing.txt what passes now.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.conformance.cases import Case, Operator, load_cases, operators_of
from tests.conformance.judge import STATUSES, Outcome
from tests.conformance.processes import run_cases
from tests.conformance.support import support_text

PASSING = Path(__file__).with_name("passing.txt")
SUPPORT = Path(__file__).parents[2] / "docs" / "onnx-support.md"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--only", metavar="REGEX", help="the cases whose name this is found in")
    parser.add_argument("--every", type=int, default=0, metavar="N", help="every N-th case of passing.txt")
    parser.add_argument("--failing", action="store_true", help="the cases that are not in passing.txt")
    parser.add_argument("--opt-level", type=int, default=2, choices=(0, 2), help="as of aicc.compile (2)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (one per core)")
    parser.add_argument("--details", action="store_true", help="print why each case that does not pass does not")
    parser.add_argument("--list", action="store_true", help="print the names of the cases only")
    chosen = parser.parse_args(arguments)

    every = [case for case in load_cases() if case.deterministic]
    passing = PASSING.read_text().split() if PASSING.exists() else []
    cases = select(every, chosen.only, passing, chosen.every, chosen.failing)
    if chosen.list:
        print(*(case.name for case in cases), sep="\n")
        return 0
    if not cases:
        print("no case is meant", file=sys.stderr)
        return 2
    outcomes = [*run(cases, chosen.jobs, chosen.opt_level, chosen.details)]
    operators = operators_of(every)
    print(table(outcomes, operators))
    dropped = sorted({o.name for o in outcomes if o.status != "pass"} & set(passing))
    for name in dropped:
        print(f"{name}: passed before and does not any more", file=sys.stderr)
    whole = len(cases) == len(every) and chosen.opt_level == 2
    if whole and not dropped:
        PASSING.write_text("".join(f"{name}\n" for name in sorted(o.name for o in outcomes if o.status == "pass")))
        SUPPORT.write_text(support_text(every, outcomes, operators))
    return 1 if dropped else 0


def select(cases: Sequence[Case], pattern: str | None, passing: Sequence[str], step: int, failing: bool) -> list[Case]:
    """The cases that the options mean, in the suite's order."""
    chosen = set(passing[::step]) if step else {case.name for case in cases}
    if failing:
        chosen -= set(passing)
    return [case for case in cases if case.name in chosen and re.search(pattern or "", case.name)]


def run(cases: Sequence[Case], jobs: int, opt_level: int, details: bool) -> list[Outcome]:
    """The outcomes in the order of `cases`, told as they come."""
    found: dict[str, Outcome] = {}
    live = sys.stdout.isatty() and not details
    for outcome in run_cases(cases, jobs, {"cache": False, "threads": 1, "opt_level": opt_level}):
        found[outcome.name] = outcome
        if details and outcome.status != "pass":
            print(f"{outcome.status:<11} {outcome.name}: {outcome.message[:600]}", flush=True)
        if live:
            print(f"\r{len(found)} of {len(cases)}", end="", flush=True)
    if live:
        print("\r", end="")
    return [found[case.name] for case in cases]


def table(outcomes: Sequence[Outcome], operators: Mapping[str, Sequence[Operator]]) -> str:
    """Counts by operator, and of all cases; a case that is about several operators counts for each."""
    rows: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for domain, name in operators[outcome.name]:
            rows.setdefault(f"{domain}::{name}" if domain else name, Counter())[outcome.status] += 1
    rows = dict(sorted(rows.items())) | {"all cases": Counter(outcome.status for outcome in outcomes)}
    width = max(len(name) for name in rows)
    lines = [f"{'operator':<{width}}" + "".join(f" {status:>11}" for status in STATUSES)]
    lines += [
        f"{name:<{width}}" + "".join(f" {counts[status] or '':>11}" for status in STATUSES)
        for name, counts in rows.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
