"""
Whether an op of the graph level is needed: also one whose results nothing reads may define sizes that others name.

A check of such sizes alone is no need: it speaks of what nothing reads.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import IsTerminator, Pure

from aicc.dialects.graph.defined_sizes import CheckSizesOp, DefinesSymbols
from aicc.transforms.symbols import symbols_in_attribute


def is_unused(op: Operation) -> bool:
    """Whether nothing reads a result of `op` or names a size that it defines, but for checks."""
    if any(result.first_use is not None for result in op.results):
        return False
    return _naming_checks(op) is not None


def erase_unused(op: Operation) -> None:
    """Removes an op that `is_unused`, and the checks of the sizes that it defines."""
    for check in _naming_checks(op) or ():
        check.detach()
        check.erase()
    op.detach()
    op.erase()


def is_pure(op: Operation) -> bool:
    """Whether nothing but its results tells that an op, with what is in its regions, was run."""
    if isinstance(op, DefinesSymbols) and op.defined_symbols():
        return False
    return all(inner.has_trait(Pure) or inner.has_trait(IsTerminator) for inner in op.walk())


def _naming_checks(op: Operation) -> list[CheckSizesOp] | None:
    """The checks that name a size that `op` defines; None if something else does."""
    if not isinstance(op, DefinesSymbols) or not (defined := op.defined_symbols().keys()):
        return []
    root: Operation = op
    while (parent := root.parent_op()) is not None and not isinstance(root, FuncOp):
        root = parent
    inside = set(op.walk())
    checks: list[CheckSizesOp] = []
    for other in root.walk():
        if other in inside or defined.isdisjoint(_named_by(other)):
            continue
        if not isinstance(other, CheckSizesOp):
            return None
        checks.append(other)
    return checks


def _named_by(op: Operation) -> dict[str, None]:
    """The symbols in the types of what an op defines, and in its properties."""
    found: dict[str, None] = {}
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.args]
    attributes: list[Attribute] = [value.type for value in (*op.results, *arguments)]
    for attribute in (*attributes, *op.properties.values()):
        symbols_in_attribute(attribute, found)
    return found
