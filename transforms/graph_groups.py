"""
Groups of ops that become one kernel each, found in one walk over a block without ever making a cycle between groups.

Every op of a block belongs to one group. An op may join the groups that make its operands; the questions are whether
it may (`Rules`, by what the ops are) and whether the graph of groups stays free of cycles (`Grouping`, by depth).

Depth: along each edge between groups it increases. A group that no processed op outside of it reads is *open*. What
joins an open group cannot depend on it by way of others, so anything may join, and its depth may grow. A group that
others read is closed: only what depends on groups of lower depth may join, as these cannot depend on it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from aicc.transforms.symbol_order import SymbolOrder


@dataclass(eq=False)
class Group:
    """Ops that are to run together."""

    ops: list[Operation]
    depth: int = 0
    open: bool = True
    fusible: bool = True
    inputs: set[Group] = field(default_factory=set["Group"])
    """Groups whose values its ops read; may name groups that were merged since (`Grouping.current`)."""

    merged_into: Group | None = None


class Rules(Protocol):
    """Which ops may share a group."""

    def is_fusible(self, op: Operation) -> bool:
        """Whether `op` can be in a kernel at all."""
        ...

    def required(self, op: Operation) -> Operation | None:
        """An op before `op` whose group `op` must be in: nothing that depends on that group is outside of it yet."""
        ...

    def may_join(self, op: Operation, groups: Sequence[Group]) -> bool:
        """Whether `op` and all of `groups`, which make operands of it, may become one kernel."""
        ...

    def preference(self, op: Operation, group: Group) -> int:
        """The larger, the sooner `op` is to join this group."""
        ...


class Grouping:
    """The groups of one block."""

    def __init__(self, block: Block, rules: Rules):
        self.block = block
        self.rules = rules
        self.group_of: dict[Operation, Group] = {}
        self._symbols = SymbolOrder()
        for op in block.ops:
            self._place(op)

    def current(self, group: Group) -> Group:
        """The group that `group` is part of by now."""
        root = group
        while root.merged_into is not None:
            root = root.merged_into
        while group is not root:
            following = group.merged_into
            assert following is not None
            group.merged_into, group = root, following
        return root

    def find(self, op: Operation) -> Group:
        """The group of an op of the block."""
        return self.current(self.group_of[op])

    def _place(self, op: Operation) -> None:
        producers = self._producers(op)
        fusible = self.rules.is_fusible(op)
        required = self.rules.required(op)
        joined: list[Group] = [] if required is None else [self.find(required)]
        if fusible:
            candidates = [group for group in producers if group.fusible and group not in joined]
            candidates.sort(key=lambda group: self.rules.preference(op, group), reverse=True)
            for group in candidates:
                if self.rules.may_join(op, [*joined, group]) and self._stays_acyclic(producers, joined, group):
                    joined.append(group)
        home = self._merge(joined) if joined else Group([], fusible=fusible)
        home.ops.append(op)
        self.group_of[op] = home
        for group in producers:
            if group not in joined:
                home.inputs.add(group)
                home.depth = max(home.depth, group.depth + 1)
                group.open = False

    def _producers(self, op: Operation) -> list[Group]:
        """The groups that make what `op` and the ops in its regions read, each once."""
        found: dict[Group, None] = {}
        for inner in op.walk():
            for operand in inner.operands:
                owner = operand.owner
                if isinstance(owner, Operation) and owner in self.group_of:
                    found[self.find(owner)] = None
        for definer in self._symbols.visit(op):
            found[self.find(definer)] = None
        return list(found)

    def _stays_acyclic(self, producers: Sequence[Group], joined: Sequence[Group], group: Group) -> bool:
        """Whether `op` (which reads `producers`), the groups it joined and `group` can be one."""
        members = [*joined, group]
        closed = [member for member in members if not member.open]
        if not closed:
            return True
        if len(closed) > 1:
            return False
        # All else that the new group reads must not depend on the closed member.
        others = {other for other in producers if other not in members}
        for member in members:
            if member is not closed[0]:
                others |= {self.current(other) for other in member.inputs}
        limit = closed[0].depth
        return all(other.depth < limit for other in others if other not in members)

    def _merge(self, groups: Sequence[Group]) -> Group:
        home = groups[0]
        for other in groups[1:]:
            # The smaller one is moved, so that all moves together stay within n log n.
            if len(other.ops) > len(home.ops):
                home, other = other, home
            home.ops += other.ops
            home.inputs |= other.inputs
            home.depth = _merged_depth(home, other)
            home.open = home.open and other.open
            other.merged_into = home
        home.inputs = {self.current(group) for group in home.inputs} - {home}
        return home

    def groups_in_order(self) -> list[Group]:
        """All groups, each after those it reads, otherwise by the place of their last ops; ops in block order."""
        position = {op: i for i, op in enumerate(self.block.ops)}
        members: dict[Group, list[Operation]] = {}
        for op in position:
            members.setdefault(self.find(op), []).append(op)
        for group, ops in members.items():
            group.ops = ops
        readers: dict[Group, set[Group]] = {group: set() for group in members}
        waiting: dict[Group, int] = {}
        for group in members:
            inputs = {self.current(other) for other in group.inputs} - {group}
            waiting[group] = len(inputs)
            for other in inputs:
                readers[other].add(group)
        ready = [(position[group.ops[-1]], i, group) for i, group in enumerate(members) if not waiting[group]]
        heapq.heapify(ready)
        ordered: list[Group] = []
        while ready:
            _, i, group = heapq.heappop(ready)
            ordered.append(group)
            for reader in readers[group]:
                waiting[reader] -= 1
                if not waiting[reader]:
                    heapq.heappush(ready, (position[reader.ops[-1]], len(members) + i, reader))
        assert len(ordered) == len(members), "groups depend on each other in a cycle"
        return ordered


def _merged_depth(a: Group, b: Group) -> int:
    """Of two groups of which at most one is closed: the closed one's depth is fixed by its readers."""
    if a.open == b.open:
        return max(a.depth, b.depth)
    return b.depth if a.open else a.depth


def values_read(ops: Iterable[Operation]) -> list[SSAValue]:
    """The values from outside that `ops` and the ops in their regions read, each once, in order."""
    inside = set[Operation]()
    blocks = set[Block]()
    found: dict[SSAValue, None] = {}
    for top in ops:
        for op in top.walk():
            inside.add(op)
            blocks.update(block for region in op.regions for block in region.blocks)
            for operand in op.operands:
                match operand:
                    case OpResult(op=owner) if owner in inside:
                        continue
                    case BlockArgument(block=owner) if owner in blocks:
                        continue
                    case _:
                        found[operand] = None
    return list(found)


def values_used_outside(ops: Sequence[Operation]) -> list[SSAValue]:
    """The results of `ops` (which have no regions) that other ops use, in order."""
    inside = set(ops)
    return [result for op in ops for result in op.results if any(use.operation not in inside for use in result.uses)]
