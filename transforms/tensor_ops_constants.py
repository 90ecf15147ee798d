"""Which arguments of kernels are constants in every call, at the level of `tensor_ops`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from aicc.dialects.tensor_ops import CallOp, ConstantOp, ViewOp


def constant_arguments(module: ModuleOp) -> dict[str, frozenset[int]]:
    """
    Per name of a called kernel: the positions of the arguments that only constants are passed for.

    A constant is a `tensor_ops.constant`, a view of one, or what a call makes of constants alone.
    """
    constants: set[SSAValue] = set()
    found: dict[str, frozenset[int]] = {}
    for op in module.walk():
        match op:
            case ConstantOp():
                constants.add(op.result)
            case ViewOp() if op.input in constants:
                constants.add(op.result)
            case CallOp():
                here = frozenset(i for i, value in enumerate(op.arguments) if value in constants)
                found[op.callee_name] = found.get(op.callee_name, here) & here
                if len(here) == len(op.arguments):
                    constants.update(op.res)
            case _:
                pass
    return found
