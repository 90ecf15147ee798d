"""
The `llvm` dialect, extended: xDSL's ops and types, with what they lack, under upstream MLIR's names and syntax.

It holds machine code in LLVM's terms and nothing of our own but the string attribute `aicc.signature` on `@main`; what
is printed is accepted by upstream's `mlir-translate --mlir-to-llvmir`. The back end writes it out as LLVM IR text.
Ops that xDSL restricts to scalars or to floats (`fcmp`, `select`, `getelementptr`, masked stores, `cond_br`,
reductions) are replaced by forms without the restriction.
"""

from typing import TypeVar

from xdsl.dialects.llvm import LLVM as BASE
from xdsl.ir import Attribute, Dialect, Operation

from aicc.dialects.llvm import atomics, attrs, control, elementwise, intrinsics, memory, vectors

_T = TypeVar("_T")


def _declared(module: object, base: type[_T]) -> list[type[_T]]:
    """Concrete IRDL classes that `module` itself declares, in order."""
    return [
        item
        for item in vars(module).values()
        if isinstance(item, type)
        and base in item.__mro__  # not `issubclass`, which is slow for abstract classes
        and item.__module__ == getattr(module, "__name__", None)
        and "name" in vars(item)
    ]


_MODULES = (atomics, control, elementwise, intrinsics, memory, vectors)
_OPS: dict[str, type[Operation]] = {op.name: op for op in BASE.operations}
_OPS.update({op.name: op for module in _MODULES for op in _declared(module, Operation)})

LLVM = Dialect(
    "llvm",
    [_OPS[name] for name in sorted(_OPS)],
    [*BASE.attributes, *_declared(attrs, Attribute)],
)
