"""
Times aicc beside numpy, onnxruntime and openvino: `python -m benchmarks [--help]`, or `make bench`.

Results are checked in the run that is timed. Times are medians over interleaved rounds, each engine in its own process.
"""

import argparse
import os
import platform
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.kernels.catalog import kernel_cases
from benchmarks.machine import measure_limits
from benchmarks.measure import Plan, measure
from benchmarks.networks.catalog import network_cases
from benchmarks.results import read_rows
from benchmarks.rounds import Peers

RESULTS = Path(__file__).parent / "results"


def engines_here() -> list[str]:
    """The engines that are installed, the reference last."""
    return ["aicc", "numpy", *(name for name in ("openvino", "onnxruntime") if find_spec(name))]


def about(threads: Sequence[int]) -> dict[str, object]:
    """What the figures were measured on, and with what."""
    pool = Peers(threads[0])
    try:
        blas = pool["numpy"].ask("blas")
    finally:
        pool.close()
    return {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version(), "blas": blas}


def select(cases: Sequence[Case], pattern: str, part: str, rows: Path, resume: bool) -> list[Case]:
    """The cases whose name `pattern` is found in, of these every `n`-th from `i` for `part` `i/n`."""
    chosen = [case for case in cases if re.search(pattern, case.name)]
    if resume:
        done = {row.case for row in read_rows(rows)}
        chosen = [case for case in chosen if case.name not in done]
    index, _, count = part.partition("/")
    return chosen[int(index) - 1 :: int(count)]


def integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", choices=["kernels", "models"])
    parser.add_argument("--only", default="", metavar="PATTERN", help="regular expression that a case's name must hold")
    parser.add_argument("--threads", type=integers, default=[1, 2], metavar="1,2", help="numbers of threads")
    parser.add_argument("--engines", type=lambda text: text.split(","), default=engines_here(), metavar="NAME,...")
    parser.add_argument("--rounds", type=int, default=5, help="rounds over all engines (default: 5)")
    parser.add_argument(
        "--seconds", type=float, help="per engine and round (default: 0.05 for kernels, 0.4 for models)"
    )
    parser.add_argument("--quick", action="store_true", help="3 rounds, a third of the time")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every N-th case, from the I-th")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no case is begun")
    parser.add_argument("--resume", action="store_true", help="leave out what the results hold already")
    parser.add_argument("--prepare", action="store_true", help="compile only, to fill the object cache; time nothing")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the results (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="further models: subfolders with model.onnx and caseN.npz")
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    kernels = arguments.what == "kernels"
    keep = arguments.out / f"{arguments.what}.json"
    cases = kernel_cases() if kernels else network_cases(arguments.folder)
    cases = select(cases, arguments.only, arguments.part, keep, arguments.resume)
    if arguments.list:
        print("\n".join(case.name for case in cases))
        return 0
    seconds = arguments.seconds or (0.05 if kernels else 0.4)
    rounds = arguments.rounds
    if arguments.quick:
        rounds, seconds = min(3, rounds), seconds / 3
    engines = arguments.engines
    if arguments.prepare:
        engines, rounds = ["aicc"], 0
    facts = about(arguments.threads)
    print(f"{facts['machine']}, {facts['cores']} cores, Python {facts['python']}; numpy's products: {facts['blas']}")
    limits = measure_limits(arguments.threads)
    peaks = ", ".join(f"{limit.flops / 1e9:.1f} GFLOP/s on {count}" for count, limit in limits.items())
    print(f"FMA peak: {peaks} thread(s)")
    plan = Plan(engines, arguments.threads, rounds, seconds, keep, arguments.budget, facts)
    rows = measure(cases, limits, plan)
    wrong = [row for row in rows if row.ours and row.ours.error > 1e-3]
    for row in wrong:
        print(f"WRONG: {row.case}: {row.ours.error if row.ours else 0:.1e} from the reference")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
