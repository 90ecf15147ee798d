"""The process that `aicc.outside` starts: compiles the model that it is told of on standard input, and ends."""

from __future__ import annotations

import json
import mmap
import os
import signal
import sys
from pathlib import Path
from typing import Any

from aicc.versions import aicc_version

VERSION = aicc_version()
"""Before the sources are imported."""

# Before the request comes: importing them takes as long as a small compilation.
# ruff: noqa: E402
from aicc.backends.llvm.targets import target_by_name
from aicc.compilation import compile_model
from aicc.frontends.onnx import import_onnx as import_onnx
from aicc.lowering.pipelines import PipelineOptions
from aicc.model_content import MODEL, Content
from aicc.outside import write_program


def serve(request: dict[str, Any]) -> None:
    """Compiles, and writes the program to the file of the request."""
    model: Any = request["model"]
    sources: dict[str, Path | memoryview] = {name: Path(path) for name, path in request["sources"].items()}
    if request["kind"] == "bytes":
        descriptor, size = model
        model = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)[:] if size else b""
        sources[MODEL] = memoryview(model)
    options = PipelineOptions(**request["options"])
    program = compile_model(
        model,
        request["pipeline"],
        options,
        target_by_name(options.target),
        cache=request["cache"],
        processes=request["processes"],
        version=VERSION,
    )
    write_program(request["result"], program, Content("", sources), VERSION)


def main() -> None:
    """Never returns: memory need not be given back piece by piece."""
    # A user's interrupt reaches the process that waits for this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = 1
    try:
        if line := sys.stdin.buffer.readline():
            serve(json.loads(line))
            status = 0
    except Exception as error:
        # The process that waits finds the fault again, and tells of it.
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        sys.stderr.flush()
        os._exit(status)
