"""
`loops-collapse`: makes one loop of two perfectly nested ones.

Before: for %i = 0 to 6 { for %j = 0 to 7 {              After: %v = view %m : memref<6x7xf32> to memref<42xf32>
          load %m[%i, %j] : memref<6x7xf32> ... } }             for %c = 0 to 42 { load %v[%c] ... }

Where a memref is walked contiguously by the two loops, in all its loads and stores inside, its two dimensions are
merged by a view and the index becomes the new loop's own; anywhere else the old indices are `%c floordiv 7` and
`%c mod 7`. Once all nests see an allocation by one view, it has the type of the view.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import Dim, provably_equal
from aicc.dialects.loops import AllocOp, ApplyOp, ForOp, LoadOp, SizeOp, StoreOp, ViewOp
from aicc.dialects.loops.affine_text import canonical_access
from aicc.dialects.loops.attrs import AnyMemRef, LoopKind, memref_dims, memref_of, memref_type
from aicc.dialects.loops.call import size_of_value
from aicc.dialects.tensor_ops.affine import linear_form
from aicc.transforms.loops_index import bound_expressions, fold_index_ops, set_operands
from aicc.transforms.loops_legality import check_parallel
from aicc.transforms.loops_nest import (
    StepError,
    check_perfect,
    check_rectangular,
    insert_early,
    kernels_with,
    labelled,
    loop_contains,
    nest_by_labels,
    normalize_loop,
    perfect_nest,
)
from aicc.transforms.loops_unroll import unroll_fully

STEP = "collapse"


def extent_of(loop: ForOp) -> Dim | None:
    """The trip count of a loop from 0 with step 1, as a symbolic dimension; `None` if it is not known as one."""
    if loop.step_value != 1 or loop.constant_bound(upper=False) != 0 or len(loop.upper_map.data.results) != 1:
        return None
    ((expr, operands),) = bound_expressions(loop, upper=True)
    form = linear_form(expr)
    total: Dim = form.constant
    for atom, factor in form.terms.items():
        if not isinstance(atom, AffineDimExpr) or (dim := size_of_value(operands[atom.position])) is None:
            return None
        total = total + dim * factor
    return total


def collapse_loops(outer: ForOp, inner: ForOp) -> ForOp:
    """
    Collapses `inner`, perfectly nested in `outer`, and returns the new loop; the old ones are gone.

    Raises:
        StepError: if the nest is not perfect and rectangular, a trip count is not a symbolic dimension, or the inner
            one is not a number and an old index is needed by itself.
    """
    loops = (outer, inner)
    check_perfect(STEP, loops)
    check_rectangular(STEP, loops)
    for loop in loops:
        normalize_loop(STEP, loop)
    fold_index_ops([outer])
    if outer.trip_count == 1 or inner.trip_count == 1:
        return _drop_trivial(outer, inner)
    extents: list[Dim] = []
    for loop in loops:
        if (extent := extent_of(loop)) is None:
            raise StepError(STEP, loop, "its number of iterations is not a symbolic dimension")
        extents.append(extent)
    accesses: dict[SSAValue, list[LoadOp | StoreOp]] = {}
    for op in _accesses(outer):
        accesses.setdefault(op.memref, []).append(op)
    merged = {
        memref: position
        for memref, ops in accesses.items()
        if (position := merge_position(loops, memref, ops)) is not None
    }
    if not isinstance(extents[1], int):
        _check_all_merged(loops, merged)
    new = _new_loop(outer, inner, extents)
    _use_views(outer, new, merged)
    block = outer.parent
    assert block is not None
    for op in list(inner.block.ops):
        op.detach()
        new.block.add_op(op)
    for old, value in zip(inner.iter_args, new.iter_args, strict=True):
        old.replace_all_uses_with(value)
    if isinstance(extents[1], int):
        _replace_indices(loops, new, extents[1])
    block.insert_op_before(new, outer)
    for old, result in zip(outer.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    outer.detach()
    outer.erase()
    fold_index_ops([new])
    return new


def _drop_trivial(outer: ForOp, inner: ForOp) -> ForOp:
    """The other loop, where one has a single iteration."""
    label = _label(outer, inner)
    if inner.trip_count == 1:
        unroll_fully(inner)
        kept = outer
    else:
        kept = next(op for op in unroll_fully(outer) if isinstance(op, ForOp))
    kept.label = StringAttr(label)
    return kept


def _label(outer: ForOp, inner: ForOp) -> str:
    return f"{outer.label.data}*{inner.label.data}"


def _accesses(loop: ForOp) -> list[LoadOp | StoreOp]:
    return [op for op in loop.walk() if isinstance(op, LoadOp | StoreOp)]


def merge_position(
    loops: tuple[ForOp, ForOp], memref: SSAValue, accesses: Sequence[LoadOp | StoreOp] | None = None
) -> tuple[int, int] | None:
    """
    The dimensions `(p, q)` of `memref` such that every access to it inside the loops has the two loops' indices as its
    indices `p` and `q`, uses them nowhere else, and dimension `q` is as long as the inner loop; those between are 1.

    `accesses` are those to it inside the loops, where they are at hand.
    """
    outer, inner = loops
    if isinstance(memref.owner, Operation) and loop_contains(outer, memref.owner):
        return None
    extent = extent_of(inner)
    dims = memref_dims(memref_of(memref))
    positions: set[tuple[int, int]] = set()
    for op in [op for op in _accesses(outer) if op.memref is memref] if accesses is None else accesses:
        operands = list(op.indices)
        if outer.induction not in operands or inner.induction not in operands:
            return None
        i, j = AffineDimExpr(operands.index(outer.induction)), AffineDimExpr(operands.index(inner.induction))
        results = op.map.data.results
        at = [position for position, expr in enumerate(results) if i in expr.dfs() or j in expr.dfs()]
        if len(at) != 2 or results[at[0]] != i or results[at[1]] != j:
            return None
        if any(dim != 1 for dim in dims[at[0] + 1 : at[1]]):
            return None
        if (op.fill if isinstance(op, LoadOp) else op.inside) is not None:
            return None
        positions.add((at[0], at[1]))
    if len(positions) != 1:
        return None
    position = positions.pop()
    return position if extent is not None and provably_equal(dims[position[1]], extent) else None


def needed_alone(loop: ForOp, merged: Container[SSAValue]) -> bool:
    """Whether the loop's index is used anywhere but in accesses to the memrefs `merged`."""
    return any(
        not isinstance(op := use.operation, LoadOp | StoreOp) or op.memref not in merged for use in loop.induction.uses
    )


def _check_all_merged(loops: tuple[ForOp, ForOp], merged: dict[SSAValue, tuple[int, int]]) -> None:
    """With a symbolic inner trip count, the old indices may only be used where they merge."""
    for loop in loops:
        if needed_alone(loop, merged):
            raise StepError(
                STEP,
                loop,
                "its index is needed by itself, which takes a trip count of the inner loop that is a number",
            )


def _kind(outer: ForOp, inner: ForOp) -> str:
    """Of one loop for both: the order stays as it is, so it needs only be kept where one of them does."""
    if outer.is_parallel and not inner.is_parallel:
        try:
            check_parallel(STEP, inner)
        except StepError:
            return LoopKind.SEQUENTIAL
    return outer.kind.data


def _new_loop(outer: ForOp, inner: ForOp, extents: Sequence[Dim]) -> ForOp:
    total = extents[0] * extents[1]
    end: int | SSAValue
    if isinstance(total, int):
        end = total
    else:
        size = SizeOp(total)
        insert_early(size, None, outer)
        end = size.result
    new = ForOp(
        0,
        (),
        end,
        (),
        1,
        None,
        tuple(outer.inits),
        _kind(outer, inner),
        _label(outer, inner),
        dict(outer.attributes),
    )
    new.location = outer.location
    new.induction.name_hint = outer.induction.name_hint
    return new


def _use_views(outer: ForOp, new: ForOp, merged: dict[SSAValue, tuple[int, int]]) -> None:
    """Makes the accesses to merged memrefs go through views, by the new loop's index."""
    views: dict[SSAValue, SSAValue] = {}
    for memref, (first, last) in merged.items():
        type = memref_of(memref)
        dims = list(memref_dims(type))
        dims[first : last + 1] = [dims[first] * dims[last]]
        views[memref] = _view(memref, memref_type(dims, type.element_type), outer)
    for op in _accesses(outer):
        if (position := merged.get(op.memref)) is None:
            continue
        old = op.map.data
        results = list(old.results)
        results[position[0] : position[1] + 1] = [AffineDimExpr(old.num_dims)]
        rank = old.num_dims - len(op.indices)
        assert rank == 0, "vectors are made after collapsing"
        access, operands = canonical_access(
            AffineMap(old.num_dims + 1, 0, tuple(results)), [*op.indices, new.induction]
        )
        op.map = AffineMapAttr(access)
        view = views[op.memref]
        if isinstance(op, LoadOp):
            set_operands(op, (view, *operands), (1, len(operands), 0))
        else:
            set_operands(op, (op.value, view, *operands), (1, 1, len(operands), 0))
    for memref, view in views.items():
        _allocate_as(memref, view)


def _view(memref: SSAValue, type: AnyMemRef, outer: ForOp) -> SSAValue:
    """`memref` seen as another type: by the view that another nest has of it already, if there is one."""
    for use in memref.uses:
        if isinstance(use.operation, ViewOp) and use.operation.offset is None and use.operation.result.type == type:
            return use.operation.result
    view = ViewOp(memref, type)
    view.result.name_hint = memref.name_hint
    insert_early(view, memref, outer)
    return view.result


def _allocate_as(memref: SSAValue, view: SSAValue) -> None:
    """Makes an allocation one of the view's type, once all nests see it so."""
    alloc, seen = memref.owner, view.owner
    if not isinstance(alloc, AllocOp) or not isinstance(seen, ViewOp) or len(list(memref.uses)) != 1:
        return
    new = AllocOp(memref_of(view))
    new.location = alloc.location
    new.attributes = dict(alloc.attributes)
    new.result.name_hint = memref.name_hint
    block = alloc.parent
    assert block is not None
    block.insert_op_before(new, alloc)
    view.replace_all_uses_with(new.result)
    for op in (seen, alloc):
        op.detach()
        op.erase()


def _replace_indices(loops: tuple[ForOp, ForOp], new: ForOp, inner_extent: int) -> None:
    """The old indices, computed within the loops nested in the new one as far as can be: these stay perfect."""
    index = AffineDimExpr(0)
    block, old = new.block, {loop.induction for loop in loops}
    for deeper in perfect_nest(new)[1:]:
        if deeper.inits or old.intersection(deeper.operands):
            break
        block = deeper.block
    first = block.first_op
    assert first is not None
    for loop, expr in zip(loops, (index // inner_extent, index % inner_extent), strict=True):
        apply = ApplyOp(AffineMap(1, 0, (expr,)), [new.induction])
        apply.result.name_hint = loop.induction.name_hint
        block.insert_op_before(apply, first)
        loop.induction.replace_all_uses_with(apply.result)


@dataclass(frozen=True)
class LoopsCollapsePass(ModulePass):
    """Collapses two perfectly nested loops that have these labels, in all kernels."""

    name = "loops-collapse"

    label: tuple[str, ...]
    """Labels of the outer and the inner loop."""

    def __post_init__(self) -> None:
        if len(self.label) != 2:
            raise PassFailedException(f"{self.name}: got {len(self.label)} labels, expected two")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label[0], self.name):
            for top in labelled(kernel, self.label[0], self.name):
                outer, inner = nest_by_labels(STEP, top, self.label)
                collapse_loops(outer, inner)
