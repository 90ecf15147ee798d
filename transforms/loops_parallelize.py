"""
`loops-parallelize`: spreads the iterations of a loop over threads.

Before: for %i = 0 to %n parallel { ... }     After: for %i = 0 to %n parallel threads attributes {grain = 4} { ... }

A thread takes `grain` consecutive iterations at a time, so what is computed together never depends on the number of
threads, and neither does any result.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ForOp
from aicc.dialects.loops.attrs import LoopKind
from aicc.transforms.loops_legality import check_parallel
from aicc.transforms.loops_nest import StepError, kernels_with, labelled

STEP = "parallelize"


def parallelize_loop(loop: ForOp, grain: int = 1) -> None:
    """
    Marks `loop` to be run on several threads, `grain` iterations at a time.

    Raises:
        StepError: if its iterations are not independent, or a loop around it runs on threads already.
    """
    check_parallel(STEP, loop)
    parent = loop.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp) and parent.threads is not None:
            raise StepError(STEP, loop, f"loop '{parent.label.data}' around it runs on threads already")
        parent = parent.parent_op()
    loop.kind = StringAttr(LoopKind.PARALLEL)
    loop.threads = UnitAttr()
    if grain > 1:
        loop.attributes["grain"] = IntegerAttr(grain, i64)


@dataclass(frozen=True)
class LoopsParallelizePass(ModulePass):
    """Spreads the loops that have a label over threads, in all kernels."""

    name = "loops-parallelize"

    label: str
    """Label of the loops."""

    grain: int = 1
    """Consecutive iterations that one thread takes at a time; at least 1."""

    def __post_init__(self) -> None:
        if self.grain < 1:
            raise PassFailedException(f"{self.name}: grain must be at least 1, got {self.grain}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                parallelize_loop(loop, self.grain)
