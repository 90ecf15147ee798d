"""What users wait and pay for besides the running time: compilation, cold and from the cache, and memory."""

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx

from benchmarks.cases import Case
from benchmarks.engines import interpreter_of
from benchmarks.peer import one_line
from benchmarks.report import OURS, duration
from benchmarks.results import write_json
from benchmarks.rounds import ROOT, plain_environment
from benchmarks.start import Start

STARTS = 3
"""Fresh processes per engine; the figures are medians."""


@dataclass(frozen=True)
class Costs:
    """
    One engine on one model. `cold` is seconds until a fresh process with an empty cache has the model ready, imports
    counted, and `warm` the same when the model was compiled before; an engine without a cache has them equal.
    """

    case: str
    engine: str
    cold: float = 0.0
    warm: float = 0.0
    warm_load: float = 0.0
    """Of `warm`, without the import."""
    compile_peak: int = 0
    """Growth of the resident set while compiling cold, in bytes; the largest child process is `children_peak`."""
    children_peak: int = 0
    run_bytes: int = 0
    """Growth of the resident set once the model has run, in bytes, loaded from the cache."""
    run_peak: int = 0
    refused: str = ""


class StartError(Exception):
    """A process ended without an answer; the message is the last line that it wrote."""


def _start(engine: str, model: Path, inputs: Path, threads: int, cache: Path) -> Start:
    command = [interpreter_of(engine), "-m", "benchmarks.start", engine, str(model), str(inputs), str(threads)]
    environment = plain_environment(threads) | {"AICC_CACHE_DIR": str(cache)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
        raise StartError(lines[-1])
    return Start(**json.loads(done.stdout.splitlines()[-1]))


def costs_of(case: str, engine: str, model: Path, inputs: Path, threads: int) -> Costs:
    """The medians over `STARTS` fresh processes; cold ones each with a cache folder of their own."""
    try:
        cold: list[Start] = []
        with tempfile.TemporaryDirectory() as name:
            for i in range(STARTS):
                cold.append(_start(engine, model, inputs, threads, Path(name) / str(i)))
            if engine == OURS:
                warm = [_start(engine, model, inputs, threads, Path(name) / "0") for _ in range(STARTS)]
            else:
                warm = cold
    except StartError as error:
        return Costs(case, engine, refused=one_line(error))

    def median(starts: Sequence[Start], field: str) -> float:
        return statistics.median(getattr(start, field) for start in starts)

    return Costs(
        case,
        engine,
        median(cold, "ready"),
        median(warm, "ready"),
        median(warm, "load"),
        int(median(cold, "load_peak")),
        int(median(cold, "children_peak")),
        int(median(warm, "run_bytes")),
        int(median(warm, "run_peak")),
    )


def _line(c: Costs) -> str:
    if c.refused:
        return f"{c.case:<28}{c.engine:<13}{c.refused}"
    times = "".join(f"{duration(seconds):>9}" for seconds in (c.cold, c.warm, c.warm_load))
    sizes = "".join(f"{size / 2**20:>10.0f}" for size in (c.compile_peak, c.children_peak, c.run_bytes, c.run_peak))
    return f"{c.case:<28}{c.engine:<13}{times}{sizes}"


HEADER = (
    f"{'case':<28}{'engine':<13}{'cold':>9}{'warm':>9}{'load':>9}"
    f"{'compile':>10}{'children':>10}{'run':>10}{'run peak':>10}   (memory in MB)"
)


def read_costs(path: Path) -> list[Costs]:
    """None if there is no such file."""
    return [Costs(**costs) for costs in json.loads(path.read_text())["costs"]] if path.exists() else []


def costs_table(found: Iterable[Costs]) -> str:
    """Markdown: a line for each model and engine."""
    names = ["model", "engine", "cold", "warm", "load", "compile MB", "children MB", "run MB", "run peak MB"]
    lines = [f"| {' | '.join(names)} |", "|---|---|" + "---:|" * (len(names) - 2)]
    for c in found:
        if c.refused:
            lines.append(f"| {c.case} | {c.engine} | {c.refused} |")
            continue
        cells = [duration(seconds) for seconds in (c.cold, c.warm, c.warm_load)]
        cells += [f"{size / 2**20:.0f}" for size in (c.compile_peak, c.children_peak, c.run_bytes, c.run_peak)]
        lines.append(f"| {c.case} | {c.engine} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measure_costs(cases: Iterable[Case], engines: Sequence[str], threads: int, keep: Path) -> list[Costs]:
    """A line for each network and engine, printed as it comes and merged into the file."""
    found = {f"{c.case} {c.engine}": c for c in read_costs(keep)}
    print(HEADER, flush=True)
    measured: list[Costs] = []
    with tempfile.TemporaryDirectory() as name:
        model, inputs = Path(name) / "model.onnx", Path(name) / "inputs.npz"
        for case in cases:
            proto = case.build()
            onnx.save(proto, model)
            np.savez(inputs, **case.sample(proto))  # pyright: ignore[reportArgumentType]
            del proto
            for engine in engines:
                measured.append(costs_of(case.name, engine, model, inputs, threads))
                print(_line(measured[-1]), flush=True)
                found[f"{case.name} {engine}"] = measured[-1]
                write_json(keep, {"cores": os.cpu_count(), "costs": [asdict(c) for c in found.values()]})
    return measured
