"""
Places for blocks of memory that are needed over intervals of time: as little room as is cheaply found.

The problem (dynamic storage allocation, offline) is NP-hard. Blocks are placed one after the other at the lowest
fitting offset, in several orders (by size, by size times duration, by start); the best result is improved by moving
the blocks that reach highest to the front of the order. Lower bound: the most bytes alive at one time.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""

_IMPROVEMENTS = 40
_LARGE = 400
"""Above this number of blocks one order has to do, so that time stays near linear."""

_LONG = 32
"""Intervals longer than this are looked up in a list of their own."""


@dataclass(frozen=True)
class Block:
    """`size` bytes that are needed at the times `first` to `last`, both included."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Packing:
    """An offset per block, and the bytes used in all."""

    offsets: tuple[int, ...]
    total: int


def align(size: int) -> int:
    """The next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def largest_live_set(blocks: Sequence[Block]) -> int:
    """The most bytes alive at one time: no packing takes less."""
    events = [(block.first, 1, block.size) for block in blocks] + [(block.last, 2, -block.size) for block in blocks]
    alive = most = 0
    for _, _, change in sorted(events):
        alive += change
        most = max(most, alive)
    return most


def pack(blocks: Sequence[Block]) -> Packing:
    """
    Offsets such that no two blocks that are alive at one time overlap. Sizes must be multiples of `ALIGNMENT`.
    """
    bound = largest_live_set(blocks)
    orders: list[Callable[[int], tuple[int, ...]]] = [
        lambda i: (-blocks[i].size, blocks[i].first, i),
        lambda i: (-blocks[i].size * (blocks[i].last - blocks[i].first + 1), i),
        lambda i: (blocks[i].first, -blocks[i].size, i),
        lambda i: (blocks[i].first - blocks[i].last, -blocks[i].size, i),
    ]
    best: Packing | None = None
    best_order: list[int] = []
    for key in orders:
        order = sorted(range(len(blocks)), key=key)
        found = _place(blocks, order)
        if best is None or found.total < best.total:
            best, best_order = found, order
        if best.total <= bound or len(blocks) > _LARGE:
            break
    assert best is not None
    return best if best.total <= bound or len(blocks) > _LARGE else _improve(blocks, best, best_order, bound)


def _improve(blocks: Sequence[Block], best: Packing, order: Sequence[int], bound: int) -> Packing:
    """Retries with the blocks that reach highest placed first."""
    order = list(order)
    for _ in range(_IMPROVEMENTS):
        current = _place(blocks, order)
        if current.total < best.total:
            best = current
        if best.total <= bound:
            break
        highest = [i for i in order if current.offsets[i] + blocks[i].size == current.total]
        rest = [i for i in order if current.offsets[i] + blocks[i].size != current.total]
        if highest + rest == order:
            # They are in front already: rotate, so that another order is tried.
            order = rest[: len(rest) // 2] + highest + rest[len(rest) // 2 :]
        else:
            order = highest + rest
    return best


def _place(blocks: Sequence[Block], order: Sequence[int]) -> Packing:
    """Each block at the lowest offset that fits, in the given order."""
    offsets = [0] * len(blocks)
    at_time: dict[int, list[int]] = {}
    long: list[int] = []
    everything: list[int] = []
    total = 0
    for index in order:
        block = blocks[index]
        if not block.size:
            continue
        if block.last - block.first > _LONG:
            near = everything
        else:
            near = [*long, *(i for time in range(block.first, block.last + 1) for i in at_time.get(time, ()))]
        taken: list[tuple[int, int]] = []
        for other in set(near):
            placed = blocks[other]
            if placed.first <= block.last and block.first <= placed.last:
                insort(taken, (offsets[other], offsets[other] + placed.size))
        offset = 0
        for start, stop in taken:
            if start - offset >= block.size:
                break
            offset = max(offset, stop)
        offsets[index] = offset
        total = max(total, offset + block.size)
        everything.append(index)
        if block.last - block.first > _LONG:
            long.append(index)
        else:
            for time in range(block.first, block.last + 1):
                at_time.setdefault(time, []).append(index)
    return Packing(tuple(offsets), total)
