"""
`loops-partial-results`: computes a reduction in parts, which are independent of each other.

Before: %s = for %k = 0 to 4096 iter_args(%acc = %z) { ... addf %acc, %x }

After, `size=1024`: %t = loops.alloc : memref<4xf32>
                    for "k.p" %p = 0 to 4 parallel {
                      %u = for "k" %k = 0 to 1024 iter_args(%acc = 0.0) { ... addf %acc, %x }  // of 1024 * %p + %k
                      store %u, %t[%p] }
                    %s = for "k.c" %p = 0 to 4 iter_args(%acc = %z) { addf %acc, %t[%p] }

Threads can share the parts out. How many there are is in the schedule, and they are combined in order: results do not
depend on who computes what. The last part may be shorter.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import AllocOp, ApplyOp, ForOp, LoadOp, StoreOp, YieldOp
from aicc.dialects.loops.attrs import LoopKind, memref_type
from aicc.transforms.loops_index import fold_index_ops, set_bounds
from aicc.transforms.loops_nest import StepError, kernels_with, labelled, normalize_loop
from aicc.transforms.loops_reduction import Reduction, identity_of, reductions_of

STEP = "partial-results"


def partial_results(loop: ForOp, size: int) -> tuple[ForOp, ForOp]:
    """
    Computes `loop`, a reduction, `size` steps at a time; returns the loop over parts and the one that combines them.

    Raises:
        StepError: if the loop carries anything but free reductions of scalars, stores something, its number of
            iterations is not known, or they are not more than `size`.
    """
    reductions = reductions_of(loop)
    if not loop.inits or reductions is None:
        raise StepError(STEP, loop, "does not carry reductions of free order alone")
    if any(isinstance(value.type, VectorType | IndexType) for value in loop.inits):
        raise StepError(STEP, loop, "carries vectors or indices, expected numbers")
    if any(isinstance(op, StoreOp) for op in loop.walk()):
        raise StepError(STEP, loop, "stores something in each step")
    trips = loop.trip_count
    if trips is None or trips <= size:
        found = "a number of iterations that is not known" if trips is None else f"{trips} iterations"
        raise StepError(STEP, loop, f"has {found}, expected more than the {size} of one part")
    normalize_loop(STEP, loop)
    count = -(-trips // size)
    block = loop.parent
    assert block is not None
    buffers = [AllocOp(memref_type([count], value.type)) for value in loop.inits]
    parts = ForOp(0, (), count, (), kind=LoopKind.PARALLEL, label=loop.label.data + ".p")
    parts.induction.name_hint = "part"
    block.insert_ops_before([*buffers, parts], loop)
    combine = _combine(loop, reductions, buffers, count)
    block.insert_op_after(combine, loop)
    for old, new in zip(loop.results, combine.results, strict=True):
        old.replace_all_uses_with(new)
    loop.detach()
    _run_parts(parts, loop, reductions, buffers, size, trips)
    for op in (*buffers, parts, combine):
        op.location = loop.location
    fold_index_ops([parts, combine])
    return parts, combine


def _run_parts(
    parts: ForOp, loop: ForOp, reductions: list[Reduction], buffers: list[AllocOp], size: int, trips: int
) -> None:
    """Puts the loop into that over parts, with the steps of a part."""
    part = AffineDimExpr(0)
    ends: list[AffineExpr] = [AffineConstantExpr(size)]
    if trips % size:
        ends.append(part * -size + trips)
    upper = AffineMap(1, 0, tuple(ends)), (parts.induction,)
    set_bounds(loop, (AffineMap.constant_map(0), ()), upper if trips % size else (AffineMap.constant_map(size), ()))
    index = ApplyOp(AffineMap(2, 0, (part * size + AffineDimExpr(1),)), (parts.induction, loop.induction))
    index.result.name_hint = loop.induction.name_hint
    loop.induction.replace_uses_with_if(index.result, lambda use: use.operation is not index)
    first = loop.block.first_op
    assert first is not None
    loop.block.insert_op_before(index, first)
    starts = [
        arith.ConstantOp(identity_of(reduction.kind, value.type))
        for reduction, value in zip(reductions, loop.inits, strict=True)
    ]
    at = len(loop.operands) - len(starts)
    for position, start in enumerate(starts):
        loop.operands[at + position] = start.result
    stores = [
        StoreOp.at(value, buffer.result, [parts.induction]) for value, buffer in zip(loop.results, buffers, strict=True)
    ]
    inside: list[Operation] = [*starts, loop, *stores, YieldOp()]
    for op in (index, *starts, *stores):
        op.location = loop.location
    parts.block.add_ops(inside)


def _combine(loop: ForOp, reductions: list[Reduction], buffers: list[AllocOp], count: int) -> ForOp:
    """The loop over the parts' results, from what the reduction started with."""
    combine = ForOp(0, (), count, (), iter_args=list(loop.inits), label=loop.label.data + ".c")
    combine.induction.name_hint = "part"
    totals: list[SSAValue] = []
    for carried, reduction, buffer in zip(combine.iter_args, reductions, buffers, strict=True):
        load = LoadOp.at(buffer.result, [combine.induction])
        model = reduction.combines[0][0]
        total = type(model).create(
            operands=[carried, load.result], result_types=[carried.type], properties=dict(model.properties)
        )
        for op in (load, total):
            op.location = loop.location
        combine.block.add_ops([load, total])
        totals.append(total.results[0])
    combine.block.add_op(YieldOp(*totals))
    return combine


@dataclass(frozen=True)
class LoopsPartialResultsPass(ModulePass):
    """Computes the reductions that have a label in parts that are independent of each other."""

    name = "loops-partial-results"

    label: str
    """Label of the reductions."""

    size: int
    """Steps per part; at least 1."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PassFailedException(f"{self.name}: size must be at least 1, got {self.size}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                partial_results(loop, self.size)
