"""`aicc reduce`: a smaller model that shows the same fault."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from aicc.dialects.graph.buffers import inline_constants, search_folder
from aicc.runtime.wording import number_of
from aicc.source import load_module, refuse_programs
from aicc.tools.cli_values import UsageError
from aicc.tools.compile_options import compile_options
from aicc.tools.limited import Limits
from aicc.tools.reduce import Reducer
from aicc.tools.reduce_checks import NOTHING, Symptom, Trial, command_check
from aicc.tools.reduce_ir import ir_steps, ir_text

if TYPE_CHECKING:
    from onnx import ModelProto


def reduce_command(options: argparse.Namespace) -> int:
    """Writes the smallest version found; 1 if the model shows no fault."""
    path = Path(options.model)
    is_ir = path.suffix == ".mlir"
    if options.pipeline is not None and not is_ir:
        raise UsageError("--pipeline: passes run on textual IR, expected a .mlir file")
    if options.command_line is not None and options.check is not None:
        raise UsageError("--command with --check: expected one of them")
    output = Path(options.output or path.with_name(f"{path.stem}-reduced{path.suffix}"))
    trial = Trial(
        compile_options(options),
        options.pipeline,
        options.input,
        options.size,
        options.bound,
        Limits(seconds=options.limit),
    )
    return _reduce_ir(path, output, options, trial) if is_ir else _reduce_onnx(path, output, options, trial)


def _checker(
    options: argparse.Namespace, trial: Trial, whole: bytes | str, suffix: str, folder: Path
) -> Callable[[bytes | str], bool] | None:
    """What says whether a version still shows the fault that the whole shows; None if the whole shows none."""
    if options.command_line is not None:
        version = folder / f"version{suffix}"
        command = command_check(options.command_line, version)

        def check(model: bytes | str) -> bool:
            version.write_bytes(model if isinstance(model, bytes) else model.encode())
            return command()

        if check(whole):
            return check
        print("aicc: error: the command does not end with status 0 for the whole model", file=sys.stderr)
        return None
    symptom: Symptom = trial.symptom(whole)
    if symptom.kind == NOTHING or options.check not in (None, symptom.kind):
        shown = "nothing is wrong with it" if symptom.kind == NOTHING else f"a {symptom.kind}: {symptom.text}"
        print(f"aicc: error: the model does not show what is to be kept: {shown}", file=sys.stderr)
        return None
    print(f"{symptom.kind}: {symptom.text.strip()}")
    return lambda model: trial.symptom(model).same_as(symptom)


def _reduce_onnx(path: Path, output: Path, options: argparse.Namespace, trial: Trial) -> int:
    refuse_programs(path)
    import onnx
    from google.protobuf.message import DecodeError

    from aicc.tools.reduce_onnx import onnx_steps

    try:
        whole = onnx.ModelProto.FromString(path.read_bytes())
    except DecodeError as error:
        raise DiagnosticException(f"{path}: not an ONNX model, or damaged: {error}") from error

    def data(model: ModelProto) -> bytes:
        return model.SerializeToString(deterministic=True)

    with tempfile.TemporaryDirectory(prefix="aicc-") as folder:
        check = _checker(options, trial, data(whole), ".onnx", Path(folder))
        if check is None:
            return 1
        reducer = Reducer(lambda model: check(data(model)), onnx_steps(), data, options.seconds)
        best = reducer.reduce(whole)
    output.write_bytes(data(best))
    kept = f"{len(best.graph.node)} of {number_of(len(whole.graph.node), 'node')}"
    return _report(output, kept, reducer.tried, reducer.in_time)


def _reduce_ir(path: Path, output: Path, options: argparse.Namespace, trial: Trial) -> int:
    with search_folder(path.parent):
        module = load_module(path)
        inline_constants(module)

    def check_text(module: ModuleOp) -> str:
        try:
            module.verify()
        except (VerifyException, AssertionError):
            return ""
        return ir_text(module)

    with tempfile.TemporaryDirectory(prefix="aicc-") as folder:
        check = _checker(options, trial, ir_text(module), ".mlir", Path(folder))
        if check is None:
            return 1

        def checked(version: ModuleOp) -> bool:
            text = check_text(version)
            return bool(text) and check(text)

        reducer = Reducer(checked, ir_steps(), lambda version: ir_text(version).encode(), options.seconds)
        best = reducer.reduce(module)
    output.write_text(ir_text(best), encoding="utf-8")
    count, whole = (sum(1 for _ in m.walk()) - 1 for m in (best, module))
    return _report(output, f"{count} of {number_of(whole, 'op')}", reducer.tried, reducer.in_time)


def _report(output: Path, kept: str, tried: int, in_time: bool) -> int:
    over = "" if in_time else "; the time was over (--seconds)"
    print(f"{output}: {kept} left, {number_of(tried, 'version')} tried{over}")
    return 0
