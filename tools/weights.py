"""Weights beside the IR that is written: no output may refer to data that is not there."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from aicc.lowering.table import PASSES as LOWERING_PASSES
from aicc.tools.runner import Instrument

if TYPE_CHECKING:
    from aicc.dialects.graph.buffers import Buffer

_BUFFERS = "aicc.dialects.graph.buffers"


class WeightKeeper(Instrument):
    """Remembers the buffers of a module before its level changes: the LLVM dialect has their names only."""

    def __init__(self) -> None:
        self.buffers: dict[str, Buffer] = {}

    def before_pass(self, module_pass: ModulePass, op: Operation) -> None:
        if module_pass.name in LOWERING_PASSES and _BUFFERS in sys.modules:
            from aicc.dialects.graph.buffers import settle_names

            self.buffers |= settle_names(op)


def settle_weights(module: ModuleOp, output: str, kept: Mapping[str, Buffer]) -> None:
    """
    Makes the buffers of `module`, and those of `kept` that its signature names, readable from the file `output`.

    Buffers that a pass made, or that lie in another folder, are written with all others to a safetensors file beside
    the output. For standard output (`-`), which has no place beside it, a warning on standard error counts the buffers
    that a pass made.
    """
    if _BUFFERS not in sys.modules:
        return  # No buffer can exist.
    from aicc.dialects.graph.buffers import BufferAttr, save_buffers

    values = [op.properties.get("value") for op in module.walk()]
    buffers = [value.data for value in values if isinstance(value, BufferAttr)]
    path = Path(output)
    if output == "-" or path.is_char_device():
        if made := sum(buffer.file is None and buffer.is_loaded for buffer in buffers):
            print(
                f"aicc-opt: warning: the data of {made} weights is not in the output; "
                "--inline-constants spells them out, -o writes them beside the file",
                file=sys.stderr,
            )
        return
    folder = path.parent.resolve()
    _settle_signature(module, path, kept)
    if any(
        (buffer.file is None and buffer.is_loaded)
        or (buffer.folder is not None and buffer.file is not None and buffer.folder.resolve() != folder)
        for buffer in buffers
    ):
        save_buffers(module, path.with_suffix(".safetensors"))


def _settle_signature(module: ModuleOp, path: Path, kept: Mapping[str, Buffer]) -> None:
    """Writes the weights that the signature of a lowered `@main` names beside `path`, and says so in the signature."""
    for op in module.ops:
        signature = op.attributes.get("aicc.signature")
        if not isinstance(signature, StringAttr):
            continue
        content = json.loads(signature.data)
        entries = [e for e in content.get("buffers", ()) if e.get("kind") == "weight" and e.get("name") in kept]
        if not entries:
            continue
        from aicc.dialects.graph.safetensors_file import write_tensors

        file = path.with_suffix(".safetensors")
        write_tensors(file, {entry["name"]: kept[entry["name"]].array() for entry in entries})
        for entry in entries:
            entry["file"] = file.name
        op.attributes["aicc.signature"] = StringAttr(json.dumps(content))
