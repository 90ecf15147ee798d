"""
Windows that rows of a register tile share: in a convolution of each channel by itself, and in pooling, row `r` reads at
tap `t + 1` what row `r + 1` reads at tap `t`. With the taps unrolled each is loaded once.

    for %t = 0 to 3 { a0 += x[%t], a1 += x[%t + 1] }  ->  a0 += x[0], a0 += x[1], a0 += x[2]; a1 += x[1], ...
"""

from __future__ import annotations

from collections.abc import Sequence

from aicc.dialects.loops import LoadOp
from aicc.transforms.auto_schedule_common import is_free_reduction
from aicc.transforms.loops_cost import Window
from aicc.transforms.loops_facts import Access, Loop, Nest

MOST_TAPS = 8
"""Taps of a window up to which they are unrolled."""


def inside(access: Access, chain: Sequence[Loop]) -> bool:
    """Whether the access is in the body of the reduction."""
    return bool(chain) and access.op.parent is chain[-1].op.block


def overlaps(access: Access, chain: Sequence[Loop], row: Loop | None, lane: Loop) -> bool:
    """Whether rows or lanes read, some steps of the reduction later, what their neighbours read: windows."""
    moving = [loop for loop in (row, lane) if loop is not None]
    return any(any(loop in dim for loop in moving) and any(loop in dim for loop in chain) for dim in access.spans)


def shared_taps(
    nest: Nest, chain: Sequence[Loop], row: Loop | None, lane: Loop
) -> tuple[Loop, Window] | tuple[None, None]:
    """
    The loop of a reduction whose steps, unrolled, load vectors along `lane` for several rows at once.

    Nothing where there is none, or its steps are too many to be unrolled or must stay in order.
    """
    if row is None or not chain or not is_free_reduction(chain[0].op):
        return None, None
    for access in nest.loads:
        # Guards cost more than loads do.
        if inside(access, chain) and access.depends(lane) and isinstance(access.op, LoadOp) and access.op.fill is None:
            for spans in access.spans:
                for taps in chain:
                    if row in spans and taps in spans and isinstance(taps.extent, int) and taps.extent <= MOST_TAPS:
                        window = Window(taps.extent, spans[row], spans[taps])
                        if window.places(2) < 2 * window.taps:
                            return taps, window
    return None, None
