"""Whether loops may be reordered or run at once, with the reason where they may not."""

from __future__ import annotations

from collections.abc import Sequence

from aicc.dialects.loops import ForOp, StoreOp
from aicc.transforms.loops_dependence import Dependence
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_reduction import reductions_of

NOT_FREE = "carries a value that is not a free reduction (one associative op, floats with reassoc)"


def check_parallel(step: str, loop: ForOp) -> None:
    """
    Checks that the iterations of `loop` are independent.

    Raises:
        StepError: if they are not known to be.
    """
    if loop.inits:
        raise StepError(step, loop, "carries a value from one iteration to the next")
    if not loop.is_parallel and (reason := Dependence().carried(loop)) is not None:
        raise StepError(step, loop, f"its iterations depend on each other: {reason}")


def check_reorderable(step: str, loops: Sequence[ForOp]) -> None:
    """
    Checks that the iterations of perfectly nested loops may be taken in any order.

    Raises:
        StepError: if they may not.
    """
    for loop in loops:
        if not loop.inits:
            check_parallel(step, loop)
        elif reductions_of(loop) is None:
            raise StepError(step, loop, NOT_FREE)
        elif _stores(loop) and (reason := Dependence().carried_in_memory(loop)) is not None:
            raise StepError(step, loop, f"its iterations depend on each other: {reason}")


def _stores(loop: ForOp) -> bool:
    return any(isinstance(op, StoreOp) for op in loop.walk())
