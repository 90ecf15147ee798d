"""
Times aicc beside numpy, onnxruntime and openvino: `python -m benchmarks WHAT [--help]`, or `make bench` for everything.

Results are checked in the run that is timed. Times are medians over interleaved rounds, each engine in its own process.
"""

import argparse
import os
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from aicc.runtime.wording import number_of
from benchmarks.accuracy import accuracy_table, measure_accuracy, read_accuracy
from benchmarks.cases import Case
from benchmarks.costs import costs_table, measure_costs, read_costs
from benchmarks.dynamic import RANGES, dynamic_table, measure_dynamic, prepare_sizes, read_dynamic
from benchmarks.engines import engines_here
from benchmarks.kernels.catalog import kernel_cases
from benchmarks.kernels.convolution import convolution_counts
from benchmarks.loops import CASES, measure_loops
from benchmarks.machine import Limits, limits
from benchmarks.measure import Plan, measure, prepare
from benchmarks.networks.catalog import network_cases
from benchmarks.report import OURS, compared, markdown, summary, totals, worst_first
from benchmarks.results import read_rows, write_json
from benchmarks.rounds import Peers
from benchmarks.streams import NAME as STREAMS

RESULTS = Path(__file__).parent / "results"

TOLERANCE = 1e-3
"""Of the largest result, in f32: more is an error."""


def about(threads: Sequence[int]) -> dict[str, object]:
    """What the figures were measured on, and with what."""
    pool = Peers(threads[0])
    try:
        blas = pool["numpy"].ask("blas")
    finally:
        pool.close()
    return {"machine": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version(), "blas": blas}


def select(cases: Sequence[Case], pattern: str, part: str) -> list[Case]:
    """The cases whose name `pattern` is found in, of these every `n`-th from `i` for `part` `i/n`."""
    index, _, count = part.partition("/")
    chosen = [case for case in cases if re.search(pattern, case.name)]
    return chosen[int(index) - 1 :: int(count)]


def listed(names: Iterable[str], arguments: argparse.Namespace) -> bool:
    """Prints the names if only they are asked for."""
    if arguments.list:
        print(*names, sep="\n")
    return arguments.list


def limits_text(threads: int, found: Limits) -> str:
    peaks = ", ".join(f"{element} {rate / 1e9:.1f} GFLOP/s" for element, rate in found.flops.items())
    rates = ", ".join(f"{b.level} {b.read / 1e9:.0f}/{b.copy / 1e9:.0f}" for b in found.bandwidths)
    region = ""
    if found.region_warm:
        warm, paused = found.region_warm * 1e6, found.region_paused * 1e6
        region = f"; a parallel region {warm:.1f} us, after a pause of 10 ms {paused:.0f} us"
    return f"{number_of(threads, 'thread')}: FMA {peaks}; read/copy GB/s: {rates}{region}"


def measure_machine(threads: Sequence[int], *, quick: bool) -> dict[int, Limits]:
    found = {count: limits(count, quick=quick) for count in threads}
    for count, limit in found.items():
        print(limits_text(count, limit), flush=True)
    return found


def measure_cases(kind: str, arguments: argparse.Namespace) -> int:
    """`kernels` and `models`; exit status 1 if a result is wrong."""
    kernels = kind == "kernels"
    keep = arguments.out / f"{kind}.json"
    cases = select(kernel_cases() if kernels else network_cases(arguments.folder), arguments.only, arguments.part)
    if arguments.resume:
        done = {row.case for row in read_rows(keep)}
        cases = [case for case in cases if case.name not in done]
    if listed((case.name for case in cases), arguments):
        return 0
    if arguments.prepare:
        prepare(cases, arguments.threads[0])
        return 0
    seconds = arguments.seconds or (0.05 if kernels else 0.4)
    rounds = arguments.rounds
    if arguments.quick:
        rounds, seconds = min(3, rounds), seconds / 3
    facts = about(arguments.threads)
    print(f"{facts['machine']}, {facts['cores']} cores, Python {facts['python']}; numpy's products: {facts['blas']}")
    found = measure_machine(arguments.threads, quick=True)
    facts["limits"] = {count: asdict(limit) for count, limit in found.items()}
    plan = Plan(arguments.engines, arguments.threads, rounds, seconds, keep, arguments.budget, facts)
    rows = measure(cases, found, plan)
    allowed = {case.name: case.tolerance for case in cases}
    wrong = [row for row in rows if row.ours and row.ours.error > allowed.get(row.case, TOLERANCE)]
    for row in wrong:
        print(f"WRONG: {row.case}: {row.ours.error if row.ours else 0:.1e} from the reference")
    return 1 if wrong else 0


def machine(arguments: argparse.Namespace) -> int:
    found = measure_machine(arguments.threads, quick=False)
    write_json(arguments.out / "machine.json", {count: asdict(limit) for count, limit in found.items()})
    return 0


def costs(arguments: argparse.Namespace) -> int:
    cases = select(network_cases(arguments.folder), arguments.only, arguments.part)
    if listed((case.name for case in cases), arguments):
        return 0
    engines = [engine for engine in arguments.engines if engine != "numpy"]
    measure_costs(cases, engines, max(arguments.threads), arguments.out / "costs.json")
    return 0


def accuracy(arguments: argparse.Namespace) -> int:
    cases = select(network_cases(arguments.folder), arguments.only, arguments.part)
    if listed((case.name for case in cases), arguments):
        return 0
    engines = [engine for engine in arguments.engines if engine != "numpy"]
    measure_accuracy(cases, engines, arguments.out / "accuracy.json")
    return 0


def dynamic(arguments: argparse.Namespace) -> int:
    """Exit status 1 if a result is wrong."""
    every = [case for case in network_cases(arguments.folder) if case.name in RANGES]
    cases = select(every, arguments.only, arguments.part)
    if listed((case.name for case in cases), arguments):
        return 0
    prepare_sizes(cases, arguments.sizes, arguments.out / "dynamic")
    if arguments.prepare:
        return 0
    rounds, seconds = (3, 0.02) if arguments.quick else (arguments.rounds, arguments.seconds or 0.1)
    keep = arguments.out / "dynamic.json"
    found = measure_dynamic(cases, arguments.sizes, arguments.threads, rounds, seconds, keep)
    wrong = [one for one in found if one.wrong]
    for one in wrong:
        print(f"WRONG: {one.case}")
    return 1 if wrong else 0


def loops(arguments: argparse.Namespace) -> int:
    """Exit status 1 if a result is wrong."""
    cases = [name for name in CASES if re.search(arguments.only, name)]
    if listed(cases, arguments):
        return 0
    rounds, seconds = (3, 0.05) if arguments.quick else (arguments.rounds, arguments.seconds or 0.3)
    found = measure_loops(cases, arguments.threads, 64, rounds, seconds)
    return 0 if all(one.equal for one in found) else 1


def report(arguments: argparse.Namespace) -> int:
    """Tables of the kept results, the worst ratio first, and the plots."""
    from benchmarks.plots import plot

    if not arguments.out.exists():
        print(f"no results in {arguments.out}: measure something first")
        return 1
    for kind in ("models", "kernels"):
        rows = [row for row in read_rows(arguments.out / f"{kind}.json") if re.search(arguments.only, row.case)]
        if not rows:
            continue
        peers = list(dict.fromkeys(engine for row in rows for engine in row.engines if engine not in (OURS, STREAMS)))
        print(f"## {kind}\n\n{summary(rows)}\n\n{markdown(worst_first(rows), peers)}\n")
        if kind == "kernels" and (sums := totals(rows, convolution_counts())):
            print(f"## All convolutions of a network\n\n{sums}\n")
        if find_spec("matplotlib"):
            plot(kind, rows, arguments.out)
    if found := read_costs(arguments.out / "costs.json"):
        print(f"## Seconds until a model is ready, and memory\n\n{costs_table(found)}\n")
    if sizes := read_dynamic(arguments.out / "dynamic.json"):
        print("## Symbolic sizes\n\n" + "\n".join(dynamic_table(sizes)) + "\n")
    if errors := read_accuracy(arguments.out / "accuracy.json"):
        print(f"## Errors against float64\n\n{accuracy_table(errors.values())}\n")
    return 0


def compare(arguments: argparse.Namespace) -> int:
    print(compared(read_rows(arguments.old), read_rows(arguments.new)))
    return 0


def everything(arguments: argparse.Namespace) -> int:
    """All of it; exit status 1 if a result is wrong."""
    machine(arguments)
    status = max(measure_cases(kind, arguments) for kind in ("kernels", "models"))
    costs(arguments)
    status = max(status, dynamic(arguments))
    status = max(status, loops(arguments))
    accuracy(arguments)
    report(arguments)
    print(f"tables' figures and plots are in {arguments.out}")
    return status


def integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def names(text: str) -> list[str]:
    return text.split(",")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.set_defaults(run=everything)
    commands = parser.add_subparsers(metavar="WHAT")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--only", default="", metavar="PATTERN", help="regular expression to find in a case's name")
    shared.add_argument("--threads", type=integers, default=[1, 2], metavar="1,2", help="numbers of threads")
    shared.add_argument("--engines", type=names, default=engines_here(), metavar="NAME,...")
    shared.add_argument("--rounds", type=int, default=5, help="rounds over all engines (default: 5)")
    shared.add_argument("--seconds", type=float, help="per engine and round (default: 0.05, models 0.4)")
    shared.add_argument("--quick", action="store_true", help="3 rounds, a third of the time")
    shared.add_argument("--part", default="1/1", metavar="I/N", help="every N-th case, from the I-th")
    shared.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no case is begun")
    shared.add_argument("--resume", action="store_true", help="leave out what the results hold already")
    shared.add_argument("--prepare", action="store_true", help="compile only, to fill the object cache; time nothing")
    shared.add_argument("--list", action="store_true", help="print the names of the cases")
    shared.add_argument("--out", type=Path, default=RESULTS, help="folder of the results (default: %(default)s)")
    shared.add_argument("--sizes", type=int, default=20, help="of 'dynamic': sizes per model (default: 20)")
    shared.add_argument("--folder", type=Path, help="further models: subfolders with model.onnx and caseN.npz")
    for name, run, text in (
        ("all", everything, "everything below but compare"),
        ("machine", machine, "the machine's own limits"),
        ("kernels", lambda a: measure_cases("kernels", a), "one operator or a few"),
        ("models", lambda a: measure_cases("models", a), "whole networks"),
        ("costs", costs, "compilation, cold and from the cache, and memory"),
        ("dynamic", dynamic, "models with symbolic sizes beside the same compiled for each size"),
        ("loops", loops, "a decoder's loop beside its body called alone"),
        ("accuracy", accuracy, "errors of whole networks against a float64 run"),
        ("report", report, "tables of the kept results, the worst first, and plots"),
    ):
        commands.add_parser(name, parents=[shared], help=text).set_defaults(run=run)
    differ = commands.add_parser("compare", help="what changed between two files of results")
    differ.add_argument("old", type=Path)
    differ.add_argument("new", type=Path)
    differ.set_defaults(run=compare)
    return parser.parse_args(sys.argv[1:] or ["all"])


def main() -> int:
    arguments = parse()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
