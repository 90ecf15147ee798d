"""
`loops-parallelize`: shares out the iterations of loops among threads.

Before: for %i = 0 to %n parallel {
          for %j = 0 to 8 parallel { ... }
After:  for %i = 0 to %n parallel threads attributes {grain = 4, nested = 2} {
          for %j = 0 to 8 parallel { ... }

A thread takes at least `grain` consecutive iterations at a time, those of perfectly nested loops counted as one
sequence: a batch of one image still has rows to share. Iterations are independent, so no result depends on who runs
what.

Where sizes decide how much an iteration does, `work` and `part` say what all do together and how much of it is worth a
thread: that many iterations are the grain then, for the sizes of the run.

Iterations taken in one go may run `within` the loops in the body, where these are all it has: parts of rows of a matrix
that a thread reads anyway are then read as whole rows.

With fewer than `least` iterations per thread, a loop stays on one thread. Then loops inside of it may be shared out:
that is the only case in which loops with `threads` stand in each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, i64
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import Dim
from aicc.dialects.loops import ForOp
from aicc.dialects.loops.attrs import LoopKind
from aicc.dialects.loops.threads import GRAIN, LEAST, NESTED, WITHIN, can_run_within, least_of, set_work
from aicc.transforms.loops_legality import check_parallel
from aicc.transforms.loops_nest import (
    StepError,
    check_perfect,
    check_rectangular,
    kernels_with,
    labelled,
    nest_by_labels,
)

STEP = "parallelize"


def parallelize_loops(
    loops: Sequence[ForOp],
    grain: int = 1,
    least: int = 0,
    worth: tuple[Dim, int] | None = None,
    within: bool = False,
) -> None:
    """
    Marks perfectly nested loops, outermost first, to be run on several threads, at least `grain` iterations at a time,
    if there are `least` for each thread; or as many iterations as make a part of their work that is `worth` a thread.
    With `within`, iterations of the innermost one that a thread takes in one go run within the loops in its body.

    Raises:
        StepError: if iterations are not independent, the nest is not perfect and rectangular, or a loop around it runs
            on threads already, however few iterations it has; if they are to run within loops and there is something
            else in the body, or loops that differ from iteration to iteration.
    """
    check_perfect(STEP, loops)
    check_rectangular(STEP, loops)
    for loop in loops:
        check_parallel(STEP, loop)
    outermost = loops[0]
    if within and not can_run_within(loops[-1]):
        raise StepError(
            STEP,
            loops[-1],
            "its iterations are to run within the loops in it; expected nothing there but loops with the same bounds "
            "for all iterations that carry no values, and index arithmetic",
        )
    parent = outermost.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp) and parent.threads is not None and not least_of(parent):
            raise StepError(STEP, outermost, f"loop '{parent.label.data}' around it runs on threads already")
        parent = parent.parent_op()
    for loop in loops:
        loop.kind = StringAttr(LoopKind.PARALLEL)
    outermost.threads = UnitAttr()
    if grain > 1:
        outermost.attributes[GRAIN] = IntegerAttr(grain, i64)
    if least:
        outermost.attributes[LEAST] = IntegerAttr(least, i64)
    if worth is not None:
        set_work(outermost, *worth)
    if len(loops) > 1:
        outermost.attributes[NESTED] = IntegerAttr(len(loops), i64)
    if within:
        loops[-1].attributes[WITHIN] = UnitAttr()


@dataclass(frozen=True)
class LoopsParallelizePass(ModulePass):
    """Shares out the iterations of the loops that have these labels among threads, in all kernels."""

    name = "loops-parallelize"

    label: tuple[str, ...]
    """Labels of perfectly nested loops, outermost first."""

    grain: int = 1
    """Consecutive iterations that one thread takes at a time, at least; at least 1."""

    least: int = 0
    """Iterations per thread below which the loops stay on one thread."""

    within: bool = False
    """Whether iterations that a thread takes in one go run within the loops in the body."""

    def __post_init__(self) -> None:
        if self.grain < 1:
            raise PassFailedException(f"{self.name}: grain must be at least 1, got {self.grain}")
        if self.least < 0:
            raise PassFailedException(f"{self.name}: least must be at least 0, got {self.least}")
        if not self.label:
            raise PassFailedException(f"{self.name}: got no labels, expected at least one")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label[0], self.name):
            for loop in labelled(kernel, self.label[0], self.name):
                parallelize_loops(nest_by_labels(STEP, loop, self.label), self.grain, self.least, within=self.within)
