"""
`loops-load-schedules{file=my.mlir}`: gives kernels the schedules that a file holds for them.

Before: func.func private @k(...) attributes {aicc.kernel} { plain nests }
After:  the same, and transform.named_sequence @k_schedule(%kernel: !transform.any_op) { the steps in the file }

The file is textual IR, as `aicc schedules` prints it; all but its sequences is passed over. A schedule replaces one
that the kernel has, and each of its steps must be possible, even if the automatic scheduler once made it. It lies in
`lowering` since it needs the parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.transform import NamedSequenceOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops.functions import kernels
from aicc.lowering.parse import nearest, parse_module
from aicc.transforms.diagnostics import fail
from aicc.transforms.schedule_writer import ATTRIBUTE, AUTOMATIC, SUFFIX
from aicc.transforms.verify import verify


def read_schedules(file: str, ctx: Context) -> dict[str, NamedSequenceOp]:
    """
    The schedules in the IR in `file`, by the names of their kernels, in the order of the file.

    Raises:
        PassFailedException: for a file that cannot be read or has no schedule.
        DiagnosticException, ParseError: for text that is no valid IR, or two schedules of one kernel.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise PassFailedException(f"cannot read the schedules in '{file}': {reason}") from error
    module = parse_module(text, file, context=ctx)
    verify(module)
    found: dict[str, NamedSequenceOp] = {}
    for op in list(module.ops):
        if isinstance(op, NamedSequenceOp):
            name = op.sym_name.data
            if not name.endswith(SUFFIX):
                fail(op, f"'@{name}' belongs to no kernel; expected the name of one and '{SUFFIX}'")
            op.detach()
            found[name.removesuffix(SUFFIX)] = op
    if not found:
        raise PassFailedException(f"'{file}' holds no schedule; expected transform.named_sequence @<kernel>{SUFFIX}")
    return found


@dataclass(frozen=True)
class LoopsLoadSchedulesPass(ModulePass):
    """Gives kernels the schedules that a file holds for them."""

    name = "loops-load-schedules"

    file: str
    """A file of textual IR."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        schedules = read_schedules(self.file, ctx)
        block = op.body.block
        have = {other.sym_name.data: other for other in block.ops if isinstance(other, NamedSequenceOp)}
        by_name = {kernel.sym_name.data: kernel for kernel in kernels(op)}
        for name, schedule in schedules.items():
            if name not in by_name:
                fail(schedule, f"there is no kernel '@{name}'{nearest(name, by_name)}")
            if (old := have.get(name + SUFFIX)) is not None:
                old.detach()
                old.erase()
            schedule.attributes.pop(AUTOMATIC, None)
            block.insert_op_after(schedule, by_name[name])
        op.attributes[ATTRIBUTE] = UnitAttr()
