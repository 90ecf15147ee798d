"""
`graph-merge-equal`: what is computed twice from the same operands is computed once.

Before: %a = graph.exp %x                After: %a = graph.exp %x
        %b = graph.exp %x                       %r = graph.add %a, %a
        %r = graph.add %a, %b

It is xDSL's `cse` for modules with many ops that have regions: what an op is looked up by tells of its regions and of
the values that they read, and entering a region copies nothing. A model of thousands of `If` nodes takes time in
proportion to their number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CSEDriver, KnownOps, OperationInfo


class GraphMergeEqualPass(ModulePass):
    """Keeps the first of equal ops."""

    name = "graph-merge-equal"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Driver().simplify(op)


class _Key(OperationInfo):
    """What equal ops share."""

    def __init__(self, op: Operation) -> None:
        super().__init__(op)
        self._hash = super().__hash__()
        if op.regions:
            self._hash = hash((self._hash, *map(_hash_of, op.regions)))

    def __hash__(self) -> int:
        return self._hash


def _hash_of(region: Region) -> int:
    """Of the ops in `region`, and of the values from outside that they read."""
    inside: set[SSAValue] = {argument for block in region.blocks for argument in block.args}
    parts: list[Any] = []
    for op in region.walk():
        for inner in op.regions:
            inside.update(argument for block in inner.blocks for argument in block.args)
        read: list[SSAValue | None] = [None if operand in inside else operand for operand in op.operands]
        parts.append((op.name, tuple(read), tuple(op.result_types), frozenset(op.properties.items())))
        inside.update(op.results)
    return hash(tuple(parts))


class _Known(KnownOps):
    """The ops met so far in a region, and in those around it."""

    def __init__(self, around: _Known | None = None) -> None:
        super().__init__()
        self._around = around

    def _find(self, op: Operation) -> Operation | None:
        key = _Key(op)
        scope: _Known | None = self
        while scope is not None:
            if (found := scope._known_ops.get(key)) is not None:
                return found
            scope = scope._around
        return None

    def __setitem__(self, k: Operation, v: Operation) -> None:
        self._known_ops[_Key(k)] = v

    def __contains__(self, k: Operation) -> bool:
        return self._find(k) is not None

    def get(self, k: Operation, default: Any = None) -> Any:
        found = self._find(k)
        return default if found is None else found


@dataclass
class _Driver(CSEDriver):
    _known_ops: KnownOps = field(default_factory=_Known)

    def _simplify_region(self, region: Region) -> None:
        if len(region.blocks) != 1:
            return
        around = self._known_ops
        # Of an op that is isolated from what is around it, another kind, which is empty.
        self._known_ops = _Known(around if isinstance(around, _Known) else None)
        self._simplify_block(region.block)
        self._known_ops = around
