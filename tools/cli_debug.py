"""`aicc debug`: where a compiled model's numbers go wrong, in the names of its nodes and in those of passes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.utils.exceptions import DiagnosticException

from aicc.compiler import OPT_LEVELS
from aicc.dialects.graph.buffers import search_folder
from aicc.lowering.levels import level_of
from aicc.lowering.signature import main_function, tensor_infos
from aicc.runtime.signature import TensorInfo
from aicc.runtime.wording import number_of
from aicc.source import load_module, model_folder
from aicc.tools.cli_inputs import input_arrays
from aicc.tools.cli_values import UsageError, given_model
from aicc.tools.compile_options import pipeline_options
from aicc.tools.debug import Finding, debug_module
from aicc.tools.debug_nodes import NodeError
from aicc.transforms.verify import verify

_MOST_ROWS = 15
_MOST_NODES = 4


def debug_command(options: argparse.Namespace) -> int:
    """Prints what was found; 1 if a result or node is wrong, or with `--check-nan` if a NaN or infinity is made."""
    if not options.bound > 0:
        raise UsageError(f"--bound {options.bound}: expected a number above 0")
    model = given_model(options.model)
    with search_folder(model_folder(model) or Path()):
        chosen = pipeline_options(options)
        module = load_module(model, chosen.shapes)
        verify(module)
        if (level := level_of(module)) not in ("graph", "tensor_ops"):
            raise DiagnosticException(f"IR of the level {level} has no numpy meaning, expected graph or tensor_ops")
        infos = [TensorInfo(i.name, i.dtype, i.shape) for i in tensor_infos(main_function(module))[0]]
        finding = debug_module(
            module,
            input_arrays(infos, options.input, options.size),
            OPT_LEVELS[options.opt_level],
            chosen,
            threads=options.threads,
            bound=options.bound,
        )
    failed = not finding.right or finding.first_wrong is not None or (options.check_nan and bool(finding.made))
    if options.json:
        print(json.dumps(_as_json(finding), indent=1))
    else:
        for line in _nan_lines(finding) if options.check_nan else _lines(finding, options.bound, every=options.all):
            print(line)
    return 1 if failed else 0


def _lines(finding: Finding, bound: float, *, every: bool) -> Iterator[str]:
    for name, apart, within in finding.outputs:
        verdict = "right" if within else f"WRONG: {apart}"
        yield f"output {name}: error {_share(apart.error)} of the largest value (bound {bound:g}), {verdict}"
    first = finding.first_wrong
    if first is not None:
        yield f"first node past the bound: {_names(first)} ({', '.join(first.ops)})"
        yield f"  its own error is {_share(first.own.error)}: {first.own}"
    elif not finding.right:
        yield "no node is wrong by itself, given the results of those before it"
        yield "  (where values are rounded to integers, as in quantised models, tiny differences become whole steps)"
    if (blame := finding.blame) is not None:
        what = " or ".join(blame.passes)
        changed = f"; it changes {', '.join(blame.nodes)}" if blame.nodes else ""
        yield f"pass at fault: {what} (step {blame.position} of {blame.of}){changed}"
    if made := finding.made:
        yield f"NaN or infinity is made {number_of(len(made), 'time')}: --check-nan says where"
    yield from _table(finding, every)


def _nan_lines(finding: Finding) -> Iterator[str]:
    if not finding.made:
        yield "no node makes a NaN or infinity of finite numbers"
    for number, made in enumerate(finding.made):
        yield f"{'first: ' if number == 0 else '  then: '}{made}"


def _table(finding: Finding, every: bool) -> Iterator[str]:
    """The kernels with the largest errors of their own, in the order of the program."""
    largest = sorted(finding.nodes, key=lambda node: -node.own.error)
    shown = largest if every else largest[:_MOST_ROWS]
    chosen = {id(node) for node in shown}
    rows = [["own error", "share", "error so far", "nodes"]]
    for node in finding.nodes:
        if id(node) in chosen:
            share = f"{100 * finding.share(node):.1f}%"
            rows.append([_share(node.own.error), share, _share(node.total.error), _names(node)])
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        yield "  ".join([*(text.rjust(width) for text, width in zip(row, widths, strict=False)), row[3]])
    if len(shown) < len(largest):
        yield f"and {len(largest) - len(shown)} more with smaller errors (--all shows them)"


def _names(node: NodeError) -> str:
    more = f", and {len(node.nodes) - _MOST_NODES} more" if len(node.nodes) > _MOST_NODES else ""
    return ", ".join(node.nodes[:_MOST_NODES]) + more


def _share(error: float) -> str:
    return f"{error:.2g}" if np.isfinite(error) else "infinite"


def _as_json(finding: Finding) -> dict[str, Any]:
    first = finding.first_wrong
    return {
        "right": finding.right,
        "outputs": [{"name": name, "within": within, **asdict(apart)} for name, apart, within in finding.outputs],
        "first_wrong": None if first is None else asdict(first),
        "blame": None if finding.blame is None else asdict(finding.blame),
        "made": [asdict(made) for made in finding.made],
        "nodes": [{**asdict(node), "share": finding.share(node)} for node in finding.nodes],
    }
