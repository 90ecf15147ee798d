"""Tells at which level of the road a module stands."""

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from aicc.lowering.pipelines import LEVELS


def level_of(module: ModuleOp) -> str:
    """
    The earliest level that any op of `module` belongs to; ops of upstream dialects belong to every level.

    A module with upstream ops alone counts as `graph` if a function takes or gives a tensor, else as `loops`, the last
    level whose exit lowers them, unless all of its functions are `llvm.func`.
    """
    found = {operation.name.partition(".")[0] for operation in module.walk() if operation is not module}
    for level in LEVELS[:-1]:
        if level in found:
            return level
    if any(_has_tensors(operation) for operation in module.body.ops):
        return LEVELS[0]
    return "llvm" if found <= {"llvm"} and found else "loops"


def _has_tensors(operation: Operation) -> bool:
    """Whether it is a function on tensors, such as one that only returns its argument."""
    if not isinstance(operation, FuncOp):
        return False
    function = operation.function_type
    return any(isinstance(type, TensorType) for type in (*function.inputs, *function.outputs))
