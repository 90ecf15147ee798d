"""`aicc import`: an ONNX model as textual IR, its weights in a safetensors file beside it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from xdsl.printer import Printer

from aicc.dialects.graph.buffers import has_buffers, save_buffers
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from aicc.source import refuse_programs


def import_command(options: argparse.Namespace) -> int:
    """Writes `options.output` and, if the model has large weights, a file of the same name ending in `.safetensors`."""
    model = Path(options.model)
    refuse_programs(model)
    if model.suffix == ".mlir":
        raise ModelError(f"{model}: is textual IR already, expected an ONNX model")
    module = import_onnx(model)
    if options.output == "-":
        Printer(sys.stdout).print_op(module)
        print()
        if has_buffers(module):
            note = "the text names weights but does not hold them; -o FILE.mlir writes them to a file beside the text"
            print(f"aicc: note: {note}", file=sys.stderr)
        return 0
    path = Path(options.output)
    with path.open("w", encoding="utf-8") as file:
        save_buffers(module, path.with_suffix(".safetensors"))
        Printer(file).print_op(module)
        file.write("\n")
    return 0
