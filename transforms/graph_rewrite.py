"""
Rewriting at the graph level by rules: functions that say what an op is to be replaced with.

Each op is looked at when the walk starts, and again when something it depends on was replaced; ops that nothing uses
any more are removed. New ops get the location of the op they replace. Time is linear in the number of rewrites.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.interfaces import OpBuilder, TypedOp
from aicc.transforms.graph_unused import erase_unused, is_unused

Rule: TypeAlias = Callable[[Operation, OpBuilder], Sequence[SSAValue] | None]
"""
Gets an op and a builder that inserts before it. Returns the values that replace the results of the op, or None for no
change. Values of other types than the results are no replacement either; what was inserted is then removed.
"""

Rules: TypeAlias = Mapping[type[Operation], Sequence[Rule]]
"""Rules by the class of op that they are for; those of base classes count too."""

_MOST_REWRITES_PER_OP = 100
"""Far more than any chain of rules needs; reaching it means that two rules undo each other."""


def merged_rules(*tables: Rules) -> dict[type[Operation], list[Rule]]:
    """All rules of several tables."""
    merged: dict[type[Operation], list[Rule]] = {}
    for table in tables:
        for cls, rules in table.items():
            merged.setdefault(cls, []).extend(rules)
    return merged


class _Rewriter:
    def __init__(self, rules: Rules):
        self._rules = rules
        self._by_class: dict[type[Operation], list[Rule]] = {}
        self._queue: deque[Operation] = deque()
        self._queued = set[Operation]()

    def rules_for(self, cls: type[Operation]) -> list[Rule]:
        found = self._by_class.get(cls)
        if found is None:
            found = self._by_class[cls] = [rule for base in cls.__mro__ for rule in self._rules.get(base, ())]
        return found

    def push(self, ops: Iterable[object]) -> None:
        for op in ops:
            if isinstance(op, TypedOp) and op not in self._queued:
                self._queued.add(op)
                self._queue.append(op)

    def run(self, root: Operation) -> int:
        self.push(root.walk())
        limit = _MOST_REWRITES_PER_OP * len(self._queue) + 1000
        count = 0
        while self._queue:
            op = self._queue.popleft()
            self._queued.discard(op)
            if op.parent is None:
                continue
            if op.results and is_unused(op):
                self._erase(op)
            elif self._rewrite(op):
                count += 1
                if count > limit:
                    raise PassFailedException(f"rules do not come to an end; the last one was for {op.name}")
        return count

    def _rewrite(self, op: Operation) -> bool:
        before = op.prev_op
        for rule in self.rules_for(type(op)):
            values = rule(op, OpBuilder.before(op))
            self._push_new(before, op)
            if values is None or any(a.type != b.type for a, b in zip(op.results, values, strict=True)):
                continue
            for result, value in zip(op.results, values, strict=True):
                self.push(use.operation for use in result.uses)
                if value.name_hint is None:
                    value.name_hint = result.name_hint
                result.replace_all_uses_with(value)
            self._erase(op)
            return True
        return False

    def _push_new(self, before: Operation | None, op: Operation) -> None:
        new = op.prev_op
        while new is not None and new is not before:
            self.push((new,))
            new = new.prev_op

    def _erase(self, op: Operation) -> None:
        self.push(operand.owner for inner in op.walk() for operand in inner.operands)
        erase_unused(op)


def rewrite(root: Operation, rules: Rules) -> int:
    """Applies `rules` to the ops in `root` until none applies any more; how many replacements were made."""
    return _Rewriter(rules).run(root)
