"""
`loops-unroll`: repeats the body of a loop.

Before: for %i = 0 to 10 { body(%i) }     After, `factor=4`: for "i.o" %o = 0 to 2 {
                                                               body(4*%o) body(4*%o+1) body(4*%o+2) body(4*%o+3) }
                                                             body(8) body(9)

A remainder that is known is unrolled too; one that is not stays a loop. A loop of at most `factor` iterations, known as
a number, disappears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ForOp
from aicc.transforms.loops_index import fold_index_ops
from aicc.transforms.loops_nest import kernels_with, labelled, normalize_loop
from aicc.transforms.loops_tile import tile_loops

STEP = "unroll"
MOST_COPIES = 256
"""Bodies that one loop is unrolled to, at most."""


def unroll_loop(loop: ForOp, factor: int) -> list[Operation]:
    """
    Unrolls `loop` by `factor` and returns the ops that now stand in its place.

    Raises:
        StepError: if the loop starts at the maximum, or ends at the minimum, of several bounds and cannot be split.
    """
    trips = loop.trip_count
    if trips is not None and trips <= factor:
        return unroll_fully(loop)
    if factor == 1:
        return [loop]
    normalize_loop(STEP, loop)
    tiled = tile_loops([loop], [factor], ["peel"])
    made: list[Operation] = []
    for outer, inner in zip(tiled.outers[0], tiled.inners[0], strict=True):
        if inner.trip_count is not None:
            unroll_fully(inner)
        made += unroll_fully(outer) if outer.trip_count == 1 else [outer]
    return made


def unroll_fully(loop: ForOp) -> list[Operation]:
    """The iterations of a loop with a known trip count, one after the other, in its place."""
    trips, lower = loop.trip_count, loop.constant_bound(upper=False)
    assert trips is not None and lower is not None
    block = loop.parent
    assert block is not None
    values: Sequence[SSAValue] = tuple(loop.inits)
    made: list[Operation] = []

    def put(op: Operation) -> None:
        block.insert_op_before(op, loop)
        made.append(op)

    yielded = tuple(loop.yielded)
    for trip in range(trips):
        index = arith.ConstantOp.from_int_and_width(lower + trip * loop.step_value, IndexType())
        put(index)
        mapping: dict[SSAValue, SSAValue] = {loop.induction: index.result}
        mapping.update(zip(loop.iter_args, values, strict=True))
        for op in loop.block.ops:
            if op is not loop.block.last_op:
                put(op.clone(mapping))
        values = [mapping.get(value, value) for value in yielded]
    for result, value in zip(loop.results, values, strict=True):
        result.replace_all_uses_with(value)
    loop.detach()
    loop.erase()
    fold_index_ops(made)
    kept: list[Operation] = []
    for op in made:
        if isinstance(op, arith.ConstantOp) and not op.result.uses:
            op.detach()
            op.erase()
        elif op.parent is not None:
            kept.append(op)
    return kept


@dataclass(frozen=True)
class LoopsUnrollPass(ModulePass):
    """Unrolls the loops that have a label, in all kernels."""

    name = "loops-unroll"

    label: str
    """Label of the loops."""

    factor: int
    """Copies of the body per iteration; 1 to 256."""

    def __post_init__(self) -> None:
        if not 1 <= self.factor <= MOST_COPIES:
            raise PassFailedException(f"{self.name}: factor must be from 1 to {MOST_COPIES}, got {self.factor}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                unroll_loop(loop, self.factor)
