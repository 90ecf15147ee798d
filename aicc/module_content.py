"""The content of a module in memory: its normalised text and its buffers."""

from __future__ import annotations

from io import StringIO
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer

from aicc.dialects.graph.buffers import Buffer, BufferAttr
from aicc.model_content import Content
from aicc.versions import plug_in_packages

_KNOWN = frozenset({"aicc", "xdsl"})


def content_of_module(model: Any) -> Content | None:
    """
    The content of a `ModuleOp`: its text without names of values, and the bytes of its weights.

    None for anything else, and for modules with ops of unknown origin, whose meaning no version tells.
    """
    if not isinstance(model, ModuleOp):
        return None
    known = _KNOWN | plug_in_packages()
    if any(type(op).__module__.partition(".")[0] not in known for op in model.walk()):
        return None
    sources: dict[str, memoryview] = {}
    seen: dict[str, Buffer] = {}
    for op in model.walk():
        value = op.properties.get("value")
        if isinstance(value, BufferAttr):
            buffer = value.data
            name = f"{buffer.name} {buffer.file}"
            if (other := seen.get(name)) is not None:
                if other.same_as(buffer):
                    continue
                return None  # Two arrays of one name look the same in the text.
            seen[name] = buffer
            data = np.ascontiguousarray(buffer.array()).reshape(-1).view(np.uint8)
            sources[name] = data.data
    return Content("text", sources, _normalised(model))


def _normalised(module: ModuleOp) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=True, print_debuginfo=False).print_op(_without_names(module.clone()))
    return stream.getvalue()


def _without_names(module: ModuleOp) -> ModuleOp:
    for op in module.walk():
        _forget_names(op)
    return module


def _forget_names(op: Operation) -> None:
    for result in op.results:
        result.name_hint = None
    for region in op.regions:
        for block in region.blocks:
            for argument in block.args:
                argument.name_hint = None
