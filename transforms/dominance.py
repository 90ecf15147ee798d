"""
Which blocks of a region dominate which, by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).

xDSL's `DominanceInfo` keeps a set of blocks per block, and takes predecessors that cannot be reached into account.
"""

from __future__ import annotations

from xdsl.ir import Block, Region


class Dominance:
    """The dominator tree of the blocks that can be reached from the entry of `region`."""

    def __init__(self, region: Region):
        order = _reverse_postorder(region)
        number = {block: index for index, block in enumerate(order)}
        predecessors: list[list[int]] = [[] for _ in order]
        for index, block in enumerate(order):
            for successor in _successors(block):
                predecessors[number[successor]].append(index)
        # The entry is its own dominator; a number not yet known is -1. Dominators have smaller numbers.
        dominator = [0] + [-1] * (len(order) - 1)
        changed = True
        while changed:
            changed = False
            for index in range(1, len(order)):
                found = -1
                for predecessor in predecessors[index]:
                    if dominator[predecessor] < 0:
                        continue
                    found = predecessor if found < 0 else _common(dominator, found, predecessor)
                if dominator[index] != found:
                    dominator[index] = found
                    changed = True
        self._number = number
        self._dominator = dominator

    def is_reachable(self, block: Block) -> bool:
        """Whether control can get from the entry to `block`."""
        return block in self._number

    def dominates(self, first: Block, second: Block) -> bool:
        """Whether every way from the entry to `second` goes through `first`; True if there is no way to `second`."""
        if second not in self._number:
            return True
        if first not in self._number:
            return False
        target, current = self._number[first], self._number[second]
        while current > target:
            current = self._dominator[current]
        return current == target


def _common(dominator: list[int], first: int, second: int) -> int:
    while first != second:
        while first > second:
            first = dominator[first]
        while second > first:
            second = dominator[second]
    return first


def _successors(block: Block) -> tuple[Block, ...]:
    last = block.last_op
    return () if last is None else tuple(last.successors)


def _reverse_postorder(region: Region) -> list[Block]:
    entry = region.first_block
    if entry is None:
        return []
    finished: list[Block] = []
    seen = {entry}
    open_blocks = [(entry, iter(_successors(entry)))]
    while open_blocks:
        block, rest = open_blocks[-1]
        following = next((successor for successor in rest if successor not in seen), None)
        if following is None:
            finished.append(block)
            open_blocks.pop()
        else:
            seen.add(following)
            open_blocks.append((following, iter(_successors(following))))
    finished.reverse()
    return finished
