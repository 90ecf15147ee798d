"""`aicc check`: why a model cannot be compiled, its sizes, memory, arithmetic and kernels; as text or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from aicc.compiler import OPT_LEVELS
from aicc.runtime.wording import number_of
from aicc.tools.check import Amount, Report, check_model
from aicc.tools.cli_inputs import sizes_given
from aicc.tools.compile_options import pipeline_options

_MOST_KERNELS = 20
_MOST_OPERATORS = 12
_MOST_NODES = 4
_WIDEST = 60
"""Characters of a formula that are shown."""


def check_command(options: argparse.Namespace) -> int:
    """Prints the report on `options.model`; 1 if it cannot be compiled."""
    sizes = sizes_given(options.size)
    report = check_model(options.model, pipeline_options(options), OPT_LEVELS[options.opt_level], sizes)
    if options.json:
        print(json.dumps({"compiles": not report.problems, **asdict(report)}, indent=1))
    else:
        for line in report_lines(report, every=options.all):
            print(line)
    return 1 if report.problems else 0


def report_lines(report: Report, *, every: bool = False) -> Iterator[str]:
    """The report as a person reads it; `every` kernel, or those with most work."""
    yield from _model_lines(report)
    if report.problems:
        operators = {problem.operator for problem in report.problems}
        nodes, kinds = number_of(len(report.problems), "node"), number_of(len(operators), "operator")
        yield f"cannot be compiled: {nodes}, {kinds}"
        yield from (f"  {problem}" for problem in report.problems)
        return
    yield "not supported: nothing"
    yield from _listed("inputs", map(_tensor, report.inputs))
    yield from _listed("outputs", map(_tensor, report.outputs))
    yield from _listed("declared otherwise", report.notes)
    yield from _listed("symbols", [f"{symbol.name}: {'; '.join(symbol.sources)}" for symbol in report.symbols])
    yield from _listed("checked at run time", report.relations)
    if report.symbols:
        values = ", ".join(f"{name}={value}" for name, value in report.sizes.items())
        yield f"amounts for {values or 'what data tells'} (--size gives others), with their formulas:"
    memory = report.memory
    if memory is not None:
        kept = f" ({_bytes(memory.kept)} of them read as they are)"
        yield f"memory: weights {_bytes(memory.weights)}{kept}, packed at load {_bytes(memory.packed)}"
        yield f"  arena of a call {_amount(memory.arena, _bytes)}; results {_amount(memory.results, _bytes)}"
        if memory.pooled:
            yield f"  and {memory.pooled} buffers whose size data tells"
    if report.flops is not None:
        yield f"arithmetic: {_amount(report.flops, _operations)}"
    yield from _kernel_lines(report, every)


def _model_lines(report: Report) -> Iterator[str]:
    yield report.model
    if producer := report.facts.get("producer"):
        yield f"made by {producer}"
    if opsets := report.facts.get("opsets"):
        yield f"operator sets: {', '.join(f'{domain} {version}' for domain, version in opsets.items())}"
    operators: Mapping[str, int] = report.facts["operators"]
    shown = [f"{name} x{number}" if number > 1 else name for name, number in list(operators.items())[:_MOST_OPERATORS]]
    more = f", and {len(operators) - len(shown)} more" if len(operators) > len(shown) else ""
    nodes, kinds = number_of(sum(operators.values()), "node"), number_of(len(operators), "operator")
    yield f"{nodes}, {kinds}: {', '.join(shown)}{more}"


def _tensor(described: Mapping[str, Any]) -> str:
    return f"{described['name']}: {described['dtype']}[{', '.join(map(str, described['shape']))}]"


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == 0:
            yield f"{title}:"
        yield f"  {line}"


def _kernel_lines(report: Report, every: bool) -> Iterator[str]:
    calls = sum(kernel.calls for kernel in report.kernels)
    times = number_of(calls, "time")
    yield f"kernels after fusion: {len(report.kernels)}, called {times} (loops and branches count once)"
    if not report.kernels:
        return

    def work(amount: Amount | None) -> int:
        return 0 if amount is None else amount.value or 0

    ordered = sorted(report.kernels, key=lambda kernel: (work(kernel.flops), work(kernel.bytes)), reverse=True)
    shown = ordered if every else ordered[:_MOST_KERNELS]
    total = work(report.flops)
    rows = [["calls", "operations", "share", "bytes", "kernel", "nodes"]]
    for kernel in shown:
        nodes = ", ".join(kernel.nodes[:_MOST_NODES])
        if len(kernel.nodes) > _MOST_NODES:
            nodes += f", and {len(kernel.nodes) - _MOST_NODES} more"
        share = f"{100 * work(kernel.flops) / total:.1f}%" if total else "-"
        flops = "?" if kernel.flops is None or kernel.flops.value is None else _operations(kernel.flops.value)
        size = "?" if kernel.bytes.value is None else _bytes(kernel.bytes.value)
        rows.append([str(kernel.calls), flops, share, size, kernel.name, nodes])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        cells = [text.rjust(width) for text, width in zip(row, widths, strict=False)]
        yield f"  {'  '.join([*cells, *row[4:]]).rstrip()}"
    if len(shown) < len(ordered):
        yield f"  and {len(ordered) - len(shown)} more (--all shows them)"


def _amount(amount: Amount, unit: Callable[[int], str]) -> str:
    formula = amount.formula if len(amount.formula) <= _WIDEST else f"{amount.formula[:_WIDEST]}..."
    if amount.value is None:
        return f"= {formula}"
    return unit(amount.value) if amount.formula.isdigit() else f"{unit(amount.value)} = {formula}"


def _bytes(size: int) -> str:
    return _scaled(size, "B")


def _operations(number: int) -> str:
    return _scaled(number, "FLOP")


def _scaled(number: int, unit: str) -> str:
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= factor:
            return f"{number / factor:.{2 if factor == 10**9 else 1}f} {prefix}{unit}"
    return f"{number} {unit}"
