"""
Reductions with few results, as the sum of a whole tensor, are computed in parts for threads to share.

How many parts depends on sizes alone, not on the number of threads or cores: results are the same bits everywhere.
"""

from __future__ import annotations

from math import prod

from aicc.transforms.auto_schedule_common import Kernel, is_free_reduction
from aicc.transforms.auto_schedule_threads import CHUNK_REGIONS
from aicc.transforms.loops_facts import Loop, Nest, analyse_nest
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_partial_results import partial_results

FEW_RESULTS = 4
"""Results up to which threads don't have one each, or not evenly."""

FEWEST_PARTS, MOST_PARTS = 4, 64
"""Parts of a reduction: enough to be shared evenly, and few to combine."""


def in_parts(kernel: Kernel, nest: Nest, cycles: float) -> Nest | None:
    """
    Computes the reduction of a nest that takes so many `cycles` in parts, in the kernel and in its schedule.

    Returns the nest of one loop over parts; `None` where threads would not share it, or what it reads is not
    contiguous along the reduction.
    """
    results = prod(loop.trips for loop in nest.parallel)
    if kernel.spread or len(nest.chains) != 1 or results > FEW_RESULTS:
        return None
    chain = nest.chains[0]
    if not all(isinstance(loop.extent, int) for loop in (*nest.parallel, *chain)) or not is_free_reduction(chain[0].op):
        return None
    if any(access.moves[chain[-1]].stride not in (0, 1) for access in nest.loads):
        return None
    size = _part(chain[0], cycles / results / (CHUNK_REGIONS * kernel.facts.region_cycles))
    if not size:
        return None
    label = chain[0].label
    try:
        parts, _ = partial_results(chain[0].op, size)
    except StepError:
        return None
    kernel.writer.partial_results(kernel.writer.loop(label), size, "threads share the parts")
    return analyse_nest(parts)


def _part(loop: Loop, most: float) -> int:
    """Steps of a part if there are to be at most so many parts, all of one size; 0 if there are none such."""
    counts = range(min(MOST_PARTS, int(most)), FEWEST_PARTS - 1, -1)
    return next((loop.trips // count for count in counts if loop.trips % count == 0 and loop.trips > count), 0)
