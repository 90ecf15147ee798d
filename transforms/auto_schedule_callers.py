"""Which inputs of kernels are constants wherever the kernel is called."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue

from aicc.dialects.loops import CallOp, ConstantOp, PreparedOp, ViewOp


def constant_buffers(module: ModuleOp) -> dict[str, frozenset[int]]:
    """
    Per kernel name: the positions, among its buffers, of inputs that only constants are passed for.

    A constant is a `loops.constant`, a prepared buffer, a view of one, or what a call fills from constants alone.
    """
    constants: set[SSAValue] = set()
    found: dict[str, frozenset[int]] = {}
    for op in module.walk():
        match op:
            case ConstantOp() | PreparedOp():
                constants.add(op.result)
            case ViewOp() if op.source in constants:
                constants.add(op.result)
            case CallOp():
                buffers = [value for value in op.arguments if isinstance(value.type, MemRefType)]
                inputs = len(buffers) - op.num_written(op.callee_function())
                here = frozenset(i for i, value in enumerate(buffers[:inputs]) if value in constants)
                found[op.callee_name] = found.get(op.callee_name, here) & here
                if len(here) == inputs:
                    constants.update(buffers[inputs:])
            case _:
                pass
    return found
