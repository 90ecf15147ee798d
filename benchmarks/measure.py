"""Measures cases one after the other and keeps what comes out."""

import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx

from benchmarks.cases import Case, Inputs, work_of
from benchmarks.machine import Limits
from benchmarks.report import OURS, LiveTable, Row
from benchmarks.results import merge_rows
from benchmarks.rounds import PeerError, compare, peers_for
from benchmarks.streams import Moved


@dataclass(frozen=True)
class Plan:
    """How to measure: which engines (the last that can run a case is the reference), how long, where to keep it."""

    engines: Sequence[str]
    threads: Sequence[int]
    rounds: int
    seconds: float
    """Per engine and round."""
    keep: Path
    """The JSON file."""
    budget: float
    """Seconds after which no further case is begun."""
    about: dict[str, object]


def prepare(cases: Iterable[Case], threads: int) -> None:
    """Compiles all cases with aicc and times nothing: after it the object cache has what a measurement needs."""
    with tempfile.TemporaryDirectory() as name, peers_for([threads]) as pools:
        path = Path(name) / "model.onnx"
        for case in cases:
            onnx.save(case.build(), path)
            try:
                print(f"{case.name}: {pools[threads].load(OURS, path):.2f} s", flush=True)
            except PeerError as error:
                print(f"{case.name}: {error}", flush=True)


def _moved(
    case: Case, model: onnx.ModelProto, inputs: Inputs, limit: Limits, results: Sequence[np.ndarray]
) -> Moved | None:
    """What the case reads and writes at least; None where its arithmetic takes longer."""
    work = work_of(model, inputs, results, case.bytes)
    written = sum(result.nbytes for result in results)
    return Moved(max(work.bytes - written, 0), written) if limit.moving_bounds(work.flops, work.bytes) else None


def measure(cases: Iterable[Case], limits: dict[int, Limits], plan: Plan) -> list[Row]:
    """The rows of all cases begun within the budget, printed as they come and merged into the file at the end."""
    cases = list(cases)
    start = time.monotonic()
    rows: list[Row] = []
    table = LiveTable([case.name for case in cases], [e for e in plan.engines if e != OURS])
    try:
        with tempfile.TemporaryDirectory() as name, peers_for(plan.threads) as pools:
            path = Path(name) / "model.onnx"
            for done, case in enumerate(cases):
                if time.monotonic() - start > plan.budget:
                    print(f"out of time: {len(cases) - done} cases left; run again with --resume")
                    break
                model = case.build()
                onnx.save(model, path)
                inputs = case.sample(model)
                for threads in plan.threads:
                    limit = limits[threads]
                    compared = compare(
                        pools[threads],
                        plan.engines,
                        path,
                        inputs,
                        rounds=plan.rounds,
                        seconds=plan.seconds,
                        moved=partial(_moved, case, model, inputs, limit),
                    )
                    work = work_of(model, inputs, compared.results, case.bytes)
                    bound = limit.bound(work.flops, work.bytes)
                    rows.append(Row(case.name, threads, compared.engines, work, bound))
                    table.add(rows[-1])
    finally:
        merge_rows(plan.keep, rows, plan.about)
    return rows
