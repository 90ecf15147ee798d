"""What to do when a pass ends in an exception that is no diagnostic: say so, and leave behind what reproduces it."""

import tempfile
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from aicc.dialects.graph.buffers import save_buffers
from aicc.tools.runner import InternalFault


class CompilerFault(RuntimeError):
    """A fault in aicc itself; the message names the pass and the command that shows it again."""


def reproduced(fault: InternalFault, module: ModuleOp, pipeline: str, target: str) -> CompilerFault:
    """
    The error to raise for `fault`, which `pipeline` ran into on `module`.

    Writes `module`, as it was before the pipeline, and its weights to a new folder for `aicc-opt --run-reproducer`.
    """
    folder = Path(tempfile.mkdtemp(prefix="aicc-"))
    save_buffers(module, folder / "model.safetensors")
    path = folder / "model.mlir"
    with path.open("w", encoding="utf-8") as file:
        file.write(f"// configuration: --pass-pipeline={pipeline} --target={target} --weights-folder={folder}\n")
        Printer(file).print_op(module)
        file.write("\n")
    cause = fault.__cause__
    return CompilerFault(
        f"internal fault in {fault.what}: {type(cause).__name__}: {cause}; this is a fault in aicc, not in the model; "
        f"to see it: aicc-opt {path} --run-reproducer"
    )
