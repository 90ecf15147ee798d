"""Weights beside the IR that is written: no output may refer to data that is not there."""

from __future__ import annotations

import sys
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

_BUFFERS = "aicc.dialects.graph.buffers"


def settle_weights(module: ModuleOp, output: str) -> None:
    """
    Makes the buffers of `module` readable from the file `output`.

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
    if any(
        (buffer.file is None and buffer.is_loaded)
        or (buffer.folder is not None and buffer.file is not None and buffer.folder.resolve() != folder)
        for buffer in buffers
    ):
        save_buffers(module, path.with_suffix(".safetensors"))
