"""
`loops-split`: makes two perfectly nested loops of one, and splits the dimensions that it walks.

Before: for %m = 0 to 272 {                        After, `size=68`: %v = view %o : memref<272xf32> to memref<4x68xf32>
          load %x[%m floordiv 68]                                    for %g = 0 to 4 { for %k = 0 to 68 {
          store %o[%m] : memref<272xf32> ... }                         load %x[%g]
                                                                       store %v[%g, %k] ... } }

The inverse of `loops-collapse`: quotients and remainders by `size` disappear, so that what is computed group by group
(a grouped convolution) has loops over groups and within groups.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ApplyOp, ForOp, LoadOp, StoreOp, ViewOp, YieldOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.attrs import memref_dims, memref_of, memref_type
from aicc.transforms.loops_index import fold_index_ops, set_operands
from aicc.transforms.loops_nest import (
    StepError,
    insert_early,
    kernels_with,
    labelled,
    loop_contains,
    normalize_loop,
)

STEP = "split"


def split_loop(loop: ForOp, size: int) -> tuple[ForOp, ForOp]:
    """
    Splits `loop` into an outer loop and an inner one of `size` iterations, and returns them; the old one is gone.

    Raises:
        StepError: if the trip count is not a number that `size` divides.
    """
    trips = loop.trip_count
    if trips is None or trips % size:
        count = "not a known number" if trips is None else str(trips)
        raise StepError(STEP, loop, f"its number of iterations is {count}, expected a multiple of {size}")
    normalize_loop(STEP, loop)
    fold_index_ops([loop])
    outer = _loop(loop, trips // size, ".g", tuple(loop.inits))
    inner = _loop(loop, size, ".m", outer.iter_args)
    outer.block.add_ops([inner, YieldOp(*inner.results)])
    _split_memrefs(loop, outer, inner, trips, size)
    index = ApplyOp(AffineMap(2, 0, (AffineDimExpr(0) * size + AffineDimExpr(1),)), [outer.induction, inner.induction])
    index.result.name_hint = loop.induction.name_hint
    inner.block.add_op(index)
    loop.induction.replace_all_uses_with(index.result)
    for old, new in zip(loop.iter_args, inner.iter_args, strict=True):
        old.replace_all_uses_with(new)
    for op in list(loop.block.ops):
        op.detach()
        inner.block.add_op(op)
    block = loop.parent
    assert block is not None
    block.insert_op_before(outer, loop)
    for old, new in zip(loop.results, outer.results, strict=True):
        old.replace_all_uses_with(new)
    loop.detach()
    loop.erase()
    fold_index_ops([outer])
    _sink(index)
    return outer, inner


def _sink(index: ApplyOp) -> None:
    """Moves an index into the loops of which there is nothing else in a body, so that a perfect nest stays one."""
    while index.parent is not None and isinstance(loop := index.next_op, ForOp) and isinstance(loop.next_op, YieldOp):
        if index.prev_op is not None:
            return
        index.detach()
        first = loop.block.first_op
        assert first is not None
        loop.block.insert_op_before(index, first)


def _loop(old: ForOp, trips: int, suffix: str, inits: tuple[SSAValue, ...]) -> ForOp:
    new = ForOp(0, (), trips, (), 1, None, inits, old.kind.data, old.label.data + suffix)
    new.location = old.location
    for before, after in zip(old.block.args, new.block.args, strict=True):
        after.name_hint = before.name_hint
    return new


def _accesses(loop: ForOp, memref: SSAValue) -> list[LoadOp | StoreOp]:
    return [op for op in loop.walk() if isinstance(op, LoadOp | StoreOp) and op.memref is memref]


def split_dimension(loop: ForOp, memref: SSAValue, trips: int) -> int | None:
    """The dimension that all accesses to `memref` in the loop index by the loop's variable alone, and nowhere else."""
    if isinstance(memref.owner, Operation) and loop_contains(loop, memref.owner):
        return None
    dims = memref_dims(memref_of(memref))
    positions: set[int] = set()
    for op in _accesses(loop, memref):
        operands = list(op.indices)
        value = op.result if isinstance(op, LoadOp) else op.value
        if loop.induction not in operands or lanes_of(value.type) or _is_guarded(op):
            return None
        index = AffineDimExpr(operands.index(loop.induction))
        at = [position for position, expr in enumerate(op.map.data.results) if index in expr.dfs()]
        if len(at) != 1 or op.map.data.results[at[0]] != index or dims[at[0]] != trips:
            return None
        positions.add(at[0])
    return positions.pop() if len(positions) == 1 else None


def _is_guarded(op: LoadOp | StoreOp) -> bool:
    """Whether the access may be out of bounds."""
    return (op.fill if isinstance(op, LoadOp) else op.inside) is not None


def _split_memrefs(loop: ForOp, outer: ForOp, inner: ForOp, trips: int, size: int) -> None:
    memrefs = dict.fromkeys(op.memref for op in loop.walk() if isinstance(op, LoadOp | StoreOp))
    for memref in memrefs:
        if (position := split_dimension(loop, memref, trips)) is None:
            continue
        type = memref_of(memref)
        dims = list(memref_dims(type))
        dims[position : position + 1] = [trips // size, size]
        view = ViewOp(memref, memref_type(dims, type.element_type))
        view.result.name_hint = memref.name_hint
        accesses = _accesses(loop, memref)
        insert_early(view, memref, loop)
        for op in accesses:
            results = list(op.map.data.results)
            count = op.map.data.num_dims
            results[position : position + 1] = [AffineDimExpr(count), AffineDimExpr(count + 1)]
            indices = [*op.indices, outer.induction, inner.induction]
            access, operands = canonical_access(AffineMap(count + 2, 0, tuple(results)), indices)
            op.map = AffineMapAttr(access)
            if isinstance(op, LoadOp):
                set_operands(op, (view.result, *operands), (1, len(operands), 0))
            else:
                set_operands(op, (op.value, view.result, *operands), (1, 1, len(operands), 0))


@dataclass(frozen=True)
class LoopsSplitPass(ModulePass):
    """Splits the loops that have a label, in all kernels."""

    name = "loops-split"

    label: str
    """Label of the loops."""

    size: int
    """Iterations of the inner loop; at least 1, and a divisor of the trip count."""

    def __post_init__(self) -> None:
        if self.size < 1:
            raise PassFailedException(f"{self.name}: size must be at least 1, got {self.size}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label, self.name):
            for loop in labelled(kernel, self.label, self.name):
                split_loop(loop, self.size)
