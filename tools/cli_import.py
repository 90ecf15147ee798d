"""`aicc import`: an ONNX model as textual IR, its weights in a safetensors file beside it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from xdsl.printer import Printer

from aicc.dialects.graph.buffers import save_buffers
from aicc.frontends.onnx import import_onnx


def import_command(options: argparse.Namespace) -> int:
    """Writes `options.output` and, if the model has large weights, a file of the same name ending in `.safetensors`."""
    module = import_onnx(Path(options.model))
    if options.output == "-":
        Printer(sys.stdout).print_op(module)
        print()
        return 0
    path = Path(options.output)
    save_buffers(module, path.with_suffix(".safetensors"))
    with path.open("w", encoding="utf-8") as file:
        Printer(file).print_op(module)
        file.write("\n")
    return 0
