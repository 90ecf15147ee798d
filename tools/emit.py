"""The module as the output that `--emit` asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from aicc.tools.options import Options
from aicc.tools.printing import op_text
from aicc.tools.weights import settle_weights

if TYPE_CHECKING:
    from aicc.dialects.graph.buffers import Buffer


def emit(
    module: ModuleOp, options: Options, context: Context, weights: Mapping[str, Buffer] | None = None
) -> str | bytes:
    """
    The output for `options.emit`: text for `mlir`, `llvm` and `asm`, an object file for `obj`.

    `weights` are buffers that the signature of a lowered module may name.

    Raises:
        PassFailedException: if `module` is not in the llvm dialect and the output needs it to be.
    """
    if options.inline_constants:
        from aicc.dialects.graph.buffers import inline_constants

        inline_constants(module)
    if options.emit == "mlir":
        settle_weights(module, options.output_file, weights or {})
        return op_text(module, options, context)
    check_lowered(module, options.emit)

    from aicc.backends.llvm.writer import module_to_llvm_text

    text = module_to_llvm_text(module)
    if options.emit == "llvm":
        return text

    from aicc.backends.llvm.objects import emit_assembly, emit_object
    from aicc.backends.llvm.targets import target_by_name

    target = target_by_name(options.target)
    return emit_assembly(text, target) if options.emit == "asm" else emit_object(text, target)


def check_lowered(module: ModuleOp, what: str) -> None:
    """Raises unless all ops in `module` are of the llvm dialect; names those that are not."""
    left = Counter(op.name for op in module.walk() if op is not module and not op.name.startswith("llvm."))
    if left:
        listed = ", ".join(f"{name} (x{count})" for name, count in sorted(left.items())[:12])
        more = f" and {len(left) - 12} more kinds" if len(left) > 12 else ""
        raise PassFailedException(
            f"--emit={what} needs IR in the llvm dialect, found {listed}{more} (lower it first, for example with -O2)"
        )
