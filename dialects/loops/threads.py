"""
What a loop with `threads` says of how its iterations are shared out, in attributes that lowering reads.

- `grain`: consecutive iterations that one thread takes at a time, at least; what it takes is a multiple of that.
- `work`, `part`: where sizes decide how much an iteration does, what all iterations do together, as a size, and how
  much of that is worth a thread. They then say the grain, for the sizes of the run: `part * iterations / work`,
  rounded, at least 1.
- `least`: iterations per thread below which the loop stays on one thread; loops inside of it may be shared out then.
- `nested`: how many loops, perfectly nested but for index arithmetic and views, are counted as one; itself included.
- `within`: each loop in the body runs once for all iterations that a thread takes in one go, around them.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Block

from aicc.dialects.graph.dims import Dim, ShapeAttr
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.memory import AllocOp
from aicc.dialects.loops.prefetch import leaves_memory_alone

GRAIN = "grain"
LEAST = "least"
WORK = "work"
PART = "part"
NESTED = "nested"
WITHIN = "within"


def grain_of(loop: ForOp) -> int:
    """The least number of iterations of a chunk, all `nested` loops counted together."""
    grain = loop.attributes.get(GRAIN)
    return grain.value.data if isinstance(grain, IntegerAttr) else 1


def set_work(loop: ForOp, work: Dim, part: int) -> None:
    """States what all iterations do together, and how much of it is worth a thread."""
    loop.attributes[WORK] = ShapeAttr((work,))
    loop.attributes[PART] = IntegerAttr(part, i64)


def work_of(loop: ForOp) -> tuple[Dim, int] | None:
    """What all iterations do together, and how much of it is worth a thread; `None`: `grain` iterations are."""
    work, part = loop.attributes.get(WORK), loop.attributes.get(PART)
    if isinstance(work, ShapeAttr) and len(work.data) == 1 and isinstance(part, IntegerAttr):
        return work.data[0], part.value.data
    return None


def forget_work(loop: ForOp) -> None:
    """Makes the grain a number."""
    loop.attributes.pop(WORK, None)
    loop.attributes.pop(PART, None)


def least_of(loop: ForOp) -> int:
    """The iterations per thread, `nested` loops counted together, below which it stays on one; 0: no such number."""
    least = loop.attributes.get(LEAST)
    return least.value.data if isinstance(least, IntegerAttr) else 0


def spread_loops(loop: ForOp) -> list[ForOp]:
    """The loops whose iterations are shared out together, outermost first."""
    nested = loop.attributes.get(NESTED)
    wanted = nested.value.data if isinstance(nested, IntegerAttr) else 1
    loops = [loop]
    while len(loops) < wanted:
        inner = [op for op in loops[-1].block.ops if isinstance(op, ForOp)]
        if len(inner) != 1 or not inner[0].is_parallel or _depends(inner[0], loops):
            break
        loops += inner
    return loops


def runs_within(loop: ForOp) -> bool:
    """Whether iterations taken in one go run within the loops in the body."""
    return WITHIN in loop.attributes and can_run_within(loop)


def can_run_within(loop: ForOp) -> bool:
    """
    Whether iterations of a parallel loop may run within the loops in its body: the body has these and index arithmetic
    alone, they run as often for all iterations and carry no values, and no memory belongs to an iteration.
    """
    inside = [op for op in loop.block.ops if not isinstance(op, YieldOp)]
    inner = [op for op in inside if isinstance(op, ForOp)]
    plain = all(isinstance(op, ForOp) or (not op.regions and leaves_memory_alone(op)) for op in inside)
    if not inner or not plain or any(op.inits or op.threads or _depends(op, [loop]) for op in inner):
        return False
    return not any(isinstance(op, AllocOp) for op in loop.walk())


def _depends(loop: ForOp, outer: list[ForOp]) -> bool:
    """Whether the bounds are computed inside of the loops around it."""
    blocks = {around.block for around in outer}
    owners = [operand.owner for operand in (*loop.lower_operands, *loop.upper_operands)]
    return any((owner if isinstance(owner, Block) else owner.parent) in blocks for owner in owners)
