"""Tells at which level of the road a module stands."""

from xdsl.dialects.builtin import ModuleOp

from aicc.lowering.pipelines import LEVELS


def level_of(module: ModuleOp) -> str:
    """
    The earliest level that any op of `module` belongs to; ops of upstream dialects belong to every level.

    A module with upstream ops alone counts as `loops`, the last level whose exit lowers them, unless all of its
    functions are `llvm.func`.
    """
    found = {operation.name.partition(".")[0] for operation in module.walk() if operation is not module}
    for level in LEVELS[:-1]:
        if level in found:
            return level
    return "llvm" if found <= {"llvm"} and found else "loops"
