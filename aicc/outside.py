"""
Compiles in a process of its own, which ends with the compilation: the compiler's memory is given back, it may fork, and
its modules are imported while this process still looks into the cache.

The process is `python -c` with this process's search path; it reads its request as a line of JSON and answers through a
file in memory. What goes wrong there is found again by compiling here, so that errors and warnings are the same.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aicc.model_content import MODEL, Content

if TYPE_CHECKING:
    import numpy as np

    from aicc.lowering.pipelines import PipelineOptions
    from aicc.runtime.compiled import CompiledProgram

_START = (
    "import gc,json,sys;gc.disable();sys.path[:]=json.loads(sys.stdin.buffer.readline());"
    "from aicc.serve import main;main()"
)

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Read by numpy's library, whose threads a process that forks is better without."""


class CompilerEnded(RuntimeError):
    """The process that compiled the model was ended by a signal."""


def can_send(model: Any) -> bool:
    """Whether `model` is something that another process can be told."""
    return isinstance(model, str | bytes | os.PathLike) or type(model).__name__ == "ModelProto"


class Outside:
    """
    A process that compiles one model; it starts at once. To be used as a context, which ends it.

    Raises:
        OSError: no process can be started.
    """

    def __init__(self) -> None:
        self._content = Content("", {})
        self._result = os.memfd_create("aicc-program")
        self._model = os.memfd_create("aicc-model")
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            if not sys.executable:
                raise OSError("the interpreter is not known")
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                env=os.environ | dict.fromkeys(_ONE_THREAD, "1"),
                pass_fds=(self._result, self._model),
            )
            assert self._process.stdin is not None
            self._input = self._process.stdin
            self._send(list(map(str, sys.path)))
        except OSError:
            self._close()
            raise

    def begin(
        self,
        model: Any,
        content: Content | None,
        pipeline: str,
        options: PipelineOptions,
        *,
        cache: bool,
        processes: int,
    ) -> None:
        """Has `model` compiled, of which `can_send` is true."""
        if content is not None:
            self._content = content
        request: dict[str, Any] = {
            "pipeline": pipeline,
            "options": asdict(options),
            "cache": cache,
            "processes": processes,
            "result": self._result,
            "sources": {
                name: os.fspath(path) for name, path in self._content.sources.items() if isinstance(path, Path)
            },
        }
        # What cannot be sent leaves the process without a request, and so without a result.
        with contextlib.suppress(OSError, ValueError, TypeError):
            if isinstance(model, str | os.PathLike):
                request |= {"kind": "text" if isinstance(model, str) and "\n" in model else "path"}
                request |= {"model": os.fspath(model)}
            else:
                data = model if isinstance(model, bytes) else model.SerializeToString()
                _write(self._model, data)
                self._content.sources = {**self._content.sources, MODEL: memoryview(data)}
                request |= {"kind": "bytes", "model": [self._model, len(data)]}
            self._send(request)
        with contextlib.suppress(OSError):
            self._input.close()

    def finish(self) -> tuple[CompiledProgram, str] | None:
        """
        Waits for the program; also gives the version of aicc that made it. None if the process failed.

        Raises:
            CompilerEnded: the process was ended by a signal.
        """
        status = self._process.wait()
        if status < 0:
            raise CompilerEnded(
                f"the process that compiled the model was ended by signal {-status}"
                + (", as for want of memory" if status == -9 else "")
            )
        if status:
            return None
        self._errors.seek(0)
        if warnings := self._errors.read():
            sys.stderr.write(warnings.decode("utf-8", "replace"))
        return _read_program(self._result, self._content)

    def _send(self, message: Any) -> None:
        self._input.write(json.dumps(message).encode() + b"\n")
        self._input.flush()

    def _close(self) -> None:
        os.close(self._result)
        os.close(self._model)
        self._errors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        with contextlib.suppress(OSError):
            self._input.close()
        self._process.wait()
        self._close()


def _write(descriptor: int, data: bytes | memoryview) -> None:
    view = memoryview(data).cast("B")
    while view.nbytes:
        view = view[os.write(descriptor, view) :]


def write_program(descriptor: int, program: CompiledProgram, content: Content, version: str) -> None:
    """
    Writes what `_read_program` reads: the length of a table in JSON, the table, objects, and the weights that are not
    views of the sources of `content`.
    """
    places = content.places(program.weights)
    weights: dict[str, list[Any]] = {}
    data: list[np.ndarray] = []
    for name, array in program.weights.items():
        if (place := places.get(name)) is not None:
            weights[name] = [place.source, place.offset, place.size]
        else:
            weights[name] = [None, 0, array.nbytes]
            data.append(array)
    machine = program.machine
    table = json.dumps(
        {
            "version": version,
            "signature": program.signature.text,
            "objects": list(map(len, program.objects)),
            "weights": weights,
            "has_prepare": program.has_prepare,
            "machine": None if machine is None else [machine.triple, *machine.features],
        }
    ).encode()
    _write(descriptor, len(table).to_bytes(8, "little") + table + b"".join(program.objects))
    for array in data:
        if array.nbytes:
            _write(descriptor, array.reshape(-1).view("u1").data)


def _read_program(descriptor: int, content: Content) -> tuple[CompiledProgram, str]:

    from aicc.runtime.compiled import CompiledProgram, Machine
    from aicc.runtime.memory import long_lived_blocks
    from aicc.runtime.signature import parse_signature

    os.lseek(descriptor, 0, os.SEEK_SET)
    table = json.loads(_read(descriptor, int.from_bytes(_read(descriptor, 8), "little")))
    objects = [_read(descriptor, size) for size in table["objects"]]
    named = {place[0]: content.source(place[0]) for place in table["weights"].values() if place[0] is not None}
    own = long_lived_blocks([size for source, _, size in table["weights"].values() if source is None])
    blocks = iter(own)
    weights: dict[str, np.ndarray] = {}
    for name, (source, offset, size) in table["weights"].items():
        if source is not None:
            weights[name] = named[source][offset : offset + size]
            continue
        weights[name] = array = next(blocks)[:size]
        view = memoryview(array.data)
        while view.nbytes and (count := os.readv(descriptor, [view])):
            view = view[count:]
    machine = table["machine"]
    program = CompiledProgram(
        parse_signature(table["signature"]),
        objects,
        weights,
        table["has_prepare"],
        machine=None if machine is None else Machine(machine[0], tuple(machine[1:])),
    )
    return program, table["version"]


def _read(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
