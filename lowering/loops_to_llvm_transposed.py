"""
Blocks of memory that are transposed while they are loaded.

The rows of such an access lie next to each other in memory, element by element, and its lanes far apart: what is
contiguous runs across the rows. The columns are loaded in its place and transposed in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from aicc.lowering.loops_to_llvm_masks import joined
from aicc.lowering.loops_to_llvm_values import FunctionLowering

REGISTER_PART = 16
"""Bytes within which lanes change places in one instruction."""


def block_parts(rows: int, lanes: int, element_bytes: int) -> int:
    """
    Parts of a register that elements are loaded to and transposed in side by side, to transpose `rows` x `lanes` of
    them; 0 if they cannot be: a part of each column, and one of a row in each part, must be whole.
    """
    part = REGISTER_PART // element_bytes
    if part < 2 or rows % part:
        return 0
    # Two parts of small elements would be more rows than there are registers.
    choices = (2, 1) if element_bytes >= 4 else (1,)
    return next((parts for parts in choices if lanes % (parts * part) == 0), 0)


def load_transposed(
    fn: FunctionLowering, rows: int, lanes: int, element_bytes: int, load: Callable[[int, int, int], SSAValue]
) -> list[SSAValue]:
    """
    Rows of an access whose elements are contiguous from row to row.

    `load(lane, row, count)` reads the elements of one lane from `row` on. Before: columns `c0 = [a0 b0 ..]`,
    `c1 = [a1 b1 ..]`; after: rows `[a0 a1 ..]`, `[b0 b1 ..]`.
    """
    part = REGISTER_PART // element_bytes
    groups = block_parts(rows, lanes, element_bytes)
    found: list[list[SSAValue]] = [[] for _ in range(rows)]
    for lane in range(0, lanes, groups * part):
        for row in range(0, rows, part):
            columns = [
                joined(fn, [load(lane + group * part + place, row, part) for group in range(groups)])
                for place in range(part)
            ]
            for at, block in enumerate(interleave(fn, columns, groups)):
                found[row + at].append(block)
    return [_row(fn, blocks) for blocks in found]


def _row(fn: FunctionLowering, blocks: Sequence[SSAValue]) -> SSAValue:
    """The blocks of a row side by side, joined in pairs."""
    while len(blocks) > 1:
        blocks = [joined(fn, blocks[i : i + 2]) for i in range(0, len(blocks), 2)]
    return blocks[0]


def interleave(fn: FunctionLowering, rows: list[SSAValue], groups: int = 1) -> list[SSAValue]:
    """
    The transposes of `n` rows of `groups` times `n` lanes, group by group; `n` is a power of two.

    log2(n) rounds of interleaving row `i` with row `i + n/2` within each group, which machines do lane by lane within
    16 bytes at the cost of one instruction.
    """
    n = len(rows)
    total = n * groups
    low = [group * n + lane // 2 + (total if lane % 2 else 0) for group in range(groups) for lane in range(n)]
    high = [lane + n // 2 for lane in low]
    rounds = n.bit_length() - 1
    for _ in range(rounds):
        halves = zip(rows[: n // 2], rows[n // 2 :], strict=True)
        rows = [fn.shuffle(a, b, lanes) for a, b in halves for lanes in (low, high)]
    return rows
