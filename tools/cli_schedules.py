"""`aicc schedules`: the schedules of a model's kernels, as text that `--schedules` and `--apply-schedules` take."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.printer import Printer
from xdsl.utils.exceptions import DiagnosticException

from aicc.dialects.loops import CallOp
from aicc.lowering.context import make_context
from aicc.lowering.levels import level_of
from aicc.lowering.pipelines import PipelineOptions
from aicc.source import load_module, model_folder
from aicc.tools.cli_values import given_model
from aicc.tools.compile_options import pipeline_options
from aicc.tools.pipeline import NamedStep
from aicc.tools.runner import PipelineRunner
from aicc.transforms.diagnostics import location_names
from aicc.transforms.schedule_writer import SUFFIX
from aicc.transforms.verify import verify

_MOST_NAMES = 6
"""Nodes named in the comment above a schedule; what else there is, is counted."""


def schedules_command(options: argparse.Namespace) -> int:
    """Prints the schedules that `options.model` gets for `options.target`, or writes them to `options.output`."""
    from aicc.dialects.graph.buffers import search_folder

    model = given_model(options.model)
    with search_folder(model_folder(model) or Path()):
        chosen = pipeline_options(options)
        text = schedules_text(load_module(model, chosen.shapes), chosen)
    if options.output == "-":
        sys.stdout.write(text)
    else:
        Path(options.output).write_text(text, encoding="utf-8")
    return 0


def schedules_text(module: ModuleOp, options: PipelineOptions) -> str:
    """
    One `transform.named_sequence` for each kernel of `module` that gets a schedule, below a comment with the nodes of
    the source model that the kernel computes. Changes `module`.

    Raises:
        DiagnosticException: for IR below the level `loops`.
    """
    verify(module)
    level = level_of(module)
    if level == "llvm":
        raise DiagnosticException("IR of the level llvm has no schedules, expected an earlier level")
    steps = NamedStep("O2", options).passes(level)
    end = [step.module_pass.name for step in steps].index("loops-auto-schedule") + 1
    PipelineRunner(make_context(), verify_borders=False).run(steps[:end], module)
    calls: dict[str, list[CallOp]] = {}
    for op in module.walk():
        if isinstance(op, CallOp):
            calls.setdefault(op.callee_name, []).append(op)
    stream = StringIO()
    printer = Printer(stream)
    for op in module.ops:
        if isinstance(op, NamedSequenceOp):
            kernel = op.sym_name.data.removesuffix(SUFFIX)
            stream.write("".join(f"// {line}\n" for line in _comment(kernel, calls.get(kernel, []))))
            printer.print_op(op)
            stream.write("\n\n")
    return stream.getvalue()


def _comment(kernel: str, calls: list[CallOp]) -> Iterator[str]:
    times = "once" if len(calls) == 1 else f"{len(calls)} times"
    yield f"@{kernel}, called {times}"
    for call in calls[:_MOST_NAMES]:
        nodes = location_names(call.location)
        more = f" and {len(nodes) - _MOST_NAMES} more" if len(nodes) > _MOST_NAMES else ""
        if nodes:
            yield f"  for {', '.join(nodes[:_MOST_NAMES])}{more}".replace("\n", " ")
