"""
How layouts go through single ops of `tensor_ops`.

A layout is the order of the axes in memory: stored axis `k` is logical axis `layout[k]`. A value with another layout
than `0, 1, 2, ..` has the permuted type; whoever reads it has the permutation in its index map.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.packed import DotOp
from aicc.dialects.tensor_ops import StructuredOp
from aicc.dialects.tensor_ops.affine import linear_form, used_dims
from aicc.dialects.tensor_ops.evaluation import combinations
from aicc.transforms.tensor_ops_editing import Operand, operands_of
from aicc.transforms.tensor_ops_inline import positions_of, view_groups

Layout = tuple[int, ...]

LEAST_TAPS = 4
"""A sum of fewer products per element is not worth a transposed copy of its input."""


def plain(rank: int) -> Layout:
    """The row-major order."""
    return tuple(range(rank))


def is_plain(layout: Layout) -> bool:
    """Whether the axes are in their logical order."""
    return layout == plain(len(layout))


def stored(dims: Sequence[Dim], layout: Layout) -> tuple[Dim, ...]:
    """Logical sizes in the order of memory."""
    return tuple(dims[axis] for axis in layout)


def same_memory(dims: Sequence[Dim], a: Layout, b: Layout) -> bool:
    """Whether two layouts of one shape differ in the place of axes of size 1 alone."""
    return [axis for axis in a if dims[axis] != 1] == [axis for axis in b if dims[axis] != 1]


def window_axes(operand: Operand, parallel: int) -> list[int]:
    """The axes along which the operand is read at `stride * window + dilation * tap`."""
    found: list[int] = []
    for axis, result in enumerate(operand.map.results):
        dims = {atom.position for atom in linear_form(result).terms if isinstance(atom, AffineDimExpr)}
        if any(d < parallel for d in dims) and any(d >= parallel for d in dims):
            found.append(axis)
    return found


def is_contraction(op: StructuredOp) -> bool:
    """Whether the op sums products."""
    if not op.is_reduction or len(op.inits.data) != 1:
        return False
    found = combinations(op.body.block, len(op.inputs))
    if found is None or not isinstance(op.body_yield.values[0].owner, arith.AddfOp | arith.AddiOp):
        return False
    return isinstance(found[0].contribution.owner, arith.MulfOp | arith.MuliOp | DotOp)


def wanted_layout(op: StructuredOp, position: int, followed: bool = False) -> Layout | None:
    """
    The layout in which `op`, a convolution, wants to read input `position`: space before channels.

    `None` for every other op and input, and for windows of few taps. A convolution that keeps channels apart does as
    well with rows of pixels: it wants what the convolutions want that it is `followed` by.
    """
    if not is_contraction(op):
        return None
    taps = 1
    for extent in op.reduction_dims:
        taps *= extent if isinstance(extent, int) else LEAST_TAPS
    inputs, _ = operands_of(op)
    operand = inputs[position]
    rank = len(operand.map.results)
    space = window_axes(operand, op.parallel_count)
    if taps < LEAST_TAPS or not space or rank != len(space) + 2:
        return None
    batch, channel = (axis for axis in range(rank) if axis not in space)
    if not followed and all(d < op.parallel_count for d in used_dims([operand.map.results[channel]])):
        return None
    return (batch, *space, channel)


def result_layout(op: StructuredOp, operands: Sequence[tuple[Operand, Layout]]) -> Layout:
    """
    The order of the parallel dimensions of `op` that follows how its operands are stored.

    The first operand of most dimensions that is not stored plainly decides; where its axes are summed over, the
    dimensions that it has not stand.
    """
    rank = op.parallel_count
    best: tuple[int, Layout] | None = None
    for operand, layout in operands:
        if is_plain(layout):
            continue
        order = _order_of(operand, layout, rank)
        if not op.is_reduction:
            order = _in_logical_order(operand, layout, order)
        covered = len({d for d in used_dims(operand.map.results) if d < rank and op.dims[d] != 1})
        if best is None or covered > best[0]:
            best = covered, order
    return plain(rank) if best is None else best[1]


def _order_of(operand: Operand, layout: Layout, rank: int) -> Layout:
    order: list[int | None] = []
    for axis in layout:
        dims = sorted(d for d in used_dims([operand.map.results[axis]]) if d < rank and d not in order)
        order += dims or [None]
    missing = [d for d in range(rank) if d not in order]
    filled = [missing.pop(0) if d is None and missing else d for d in order]
    result = [d for d in filled if d is not None]
    for d in missing:
        result.insert(result.index(d - 1) + 1 if d else 0, d)
    return tuple(result)


def _in_logical_order(operand: Operand, layout: Layout, order: Layout) -> Layout:
    """
    Axes that are neighbours both in memory and logically, and that the op puts in another order, in that order.

    They move in any case; stored in their logical order they can be joined by a view. (Shuffled channels.)
    """
    dims = [r.position if isinstance(r, AffineDimExpr) else None for r in operand.map.results]
    result = list(order)
    run: list[int] = []
    for k, axis in enumerate(layout):
        run = [*run, axis] if run and axis == run[-1] + 1 else [axis]
        following = layout[k + 1] if k + 1 < len(layout) else None
        moved = [d for a in run if (d := dims[a]) is not None]
        if following != axis + 1 and len(moved) == len(run) and set(moved) <= set(result):
            places = sorted(result.index(d) for d in moved)
            for place, d in zip(places, sorted(moved), strict=True):
                result[place] = d
    return tuple(result)


def reduction_order(op: StructuredOp, operands: Sequence[tuple[Operand, Layout]]) -> list[int] | None:
    """
    The order of the reduction dimensions that follows how the first input is stored, so that the innermost one is
    contiguous; `None` if the order counts or no input decides.
    """
    if not is_contraction(op) or not may_reassociate(op):
        return None
    for operand, layout in operands:
        if is_plain(layout):
            continue
        order: list[int] = []
        for axis in layout:
            order += sorted(
                d for d in used_dims([operand.map.results[axis]]) if d >= op.parallel_count and d not in order
            )
        if len(order) == len(op.reduction_dims):
            return [d - op.parallel_count for d in order]
    return None


def may_reassociate(op: StructuredOp) -> bool:
    """Whether the accumulation may be done in any order."""
    for value in op.body_yield.values:
        last = value.owner
        if isinstance(last, arith.AddfOp | arith.MulfOp) and "reassoc" not in str(last.fastmath):
            return False
    return combinations(op.body.block, len(op.inputs)) is not None


def read_stored(operand: Operand, layout: Layout) -> Operand:
    """The operand as read from its stored form."""
    m = operand.map
    results = tuple(m.results[axis] for axis in layout)
    return Operand(operand.value, AffineMap(m.num_dims, m.num_symbols, results), operand.fill)


def view_layout(before: Sequence[Dim], after: Sequence[Dim], layout: Layout) -> Layout | None:
    """
    The layout of a view's result when its input, of logical sizes `before`, is stored as `layout`; `None` if the view
    is then more than a change of shape.

    It is one where each group of axes that the view splits or joins is stored together and in order; axes of size 1
    may lie anywhere. New axes of size 1 come after the axis before them, as they may be widened and joined with it.
    """
    if is_plain(layout):
        return plain(len(after))
    groups = view_groups(before, after)
    if groups is None:
        return None
    place = {axis: k for k, axis in enumerate(axis for axis in layout if before[axis] != 1)}
    order: list[tuple[int, tuple[int, ...]]] = []
    previous = -1
    for (first, last), (new_first, new_last) in groups:
        places = [place[axis] for axis in range(first, last) if axis in place]
        if places and places != list(range(places[0], places[0] + len(places))):
            return None
        previous = places[0] if places else previous
        order.append((previous, tuple(range(new_first, new_last))))
    return tuple(axis for _, new in sorted(order, key=lambda entry: entry[0]) for axis in new)


def layout_for_view(before: Sequence[Dim], after: Sequence[Dim], layout: Layout) -> Layout:
    """
    The layout closest to `layout` in which a view from `before` to `after` is a change of shape alone: each group of
    axes that it splits or joins lies in order where the first of them lay. (Channels that become pixels.)
    """
    groups = view_groups(before, after)
    if groups is None:
        return plain(len(layout))
    place = {axis: k for k, axis in enumerate(layout)}
    spans = [range(first, last) for (first, last), _ in groups if last > first]
    spans.sort(key=lambda span: min([place[axis] for axis in span if before[axis] != 1] or [place[span[0]]]))
    return tuple(axis for span in spans for axis in span)


def elementwise_sources(op: StructuredOp) -> list[SSAValue]:
    """The inputs that an op without reduction reads at its own index."""
    if op.is_reduction:
        return []
    inputs, _ = operands_of(op)
    own = plain(op.parallel_count)
    return [i.value for i in inputs if i.fill is None and positions_of(i.map, op.dims) == own]


def size_of(value: SSAValue) -> tuple[Dim, ...]:
    """The sizes of a tensor value."""
    return dims_of(value.type)
