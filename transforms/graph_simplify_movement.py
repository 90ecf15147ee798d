"""Rules for ops that move elements: what does nothing is removed, what follows one another becomes one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.buffers import constant_array
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import Dim, dim_max, dim_prod, dims_of, rank_of
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.indexing import GatherNdOp, GatherOp
from aicc.dialects.graph.interfaces import FusionKind, OpBuilder, broadcast_dims
from aicc.dialects.graph.movement import (
    MOST_PARTS,
    ConcatOp,
    ExpandOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    SplitOp,
    TransposeOp,
)
from aicc.dialects.graph.reductions import (
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    ReductionOp,
)
from aicc.transforms.graph_facts import kind_of
from aicc.transforms.graph_rewrite import Rules
from aicc.transforms.graph_rule_helpers import dense_value, is_splat_of, sole_user, with_operands

Values = Sequence[SSAValue]

MOST_KNOWN_PLACES = 1 << 16
"""Indices that are looked at while compiling."""


def same_type(op: Operation, b: OpBuilder) -> Values | None:
    """An op that gives its operand another shape, which it has already."""
    return [op.operands[0]] if op.operands[0].type == op.results[0].type else None


def reshape_of_reshape(op: Operation, b: OpBuilder) -> Values | None:
    """The second shape is the one that counts."""
    assert isinstance(op, ReshapeOp)
    inner = op.x.owner
    return [b.add(ReshapeOp(inner.x, op.shape.data))] if isinstance(inner, ReshapeOp) else None


def expand_of_expand(op: Operation, b: OpBuilder) -> Values | None:
    """The second shape is the one that counts."""
    assert isinstance(op, ExpandOp)
    inner = op.x.owner
    return [b.add(ExpandOp(inner.x, op.shape.data))] if isinstance(inner, ExpandOp) else None


def broadcast_without_expand(op: Operation, b: OpBuilder) -> Values | None:
    """An elementwise op repeats its operands by itself, where the others still give the shape."""
    assert isinstance(op, ElementwiseOp)
    operands = list(op.operands)
    result = dims_of(op.results[0].type)
    changed = False
    for i, operand in enumerate(operands):
        inner = operand.owner
        if isinstance(inner, ExpandOp):
            shapes = [dims_of((inner.x if j == i else other).type) for j, other in enumerate(operands)]
            if broadcast_dims(shapes) == result:
                operands[i] = inner.x
                changed = True
    return [b.add(with_operands(op, operands))] if changed else None


def full_slice(op: Operation, b: OpBuilder) -> Values | None:
    """A slice of all elements in order."""
    assert isinstance(op, SliceOp)
    if any(start != 0 for start in op.starts.data) or any(step != 1 for step in op.step_list):
        return None
    return same_type(op, b)


def slice_of_slice(op: Operation, b: OpBuilder) -> Values | None:
    """Element `i` of the second is element `start2 + step2 * i` of the first."""
    assert isinstance(op, SliceOp)
    inner = op.x.owner
    if not isinstance(inner, SliceOp):
        return None
    first = zip(inner.starts.data, inner.step_list, op.starts.data, strict=True)
    starts = [start + step * offset for start, step, offset in first]
    steps = [a * c for a, c in zip(inner.step_list, op.step_list, strict=True)]
    return [b.add(SliceOp(inner.x, starts, op.sizes.data, steps))]


def no_padding(op: Operation, b: OpBuilder) -> Values | None:
    """A pad by nothing."""
    assert isinstance(op, PadOp)
    return same_type(op, b) if all(pad == 0 for pad in (*op.low.data, *op.high.data)) else None


def pad_into_conv(op: Operation, b: OpBuilder) -> Values | None:
    """A convolution pads with zeros itself; on space axes only, by amounts that are not negative."""
    assert isinstance(op, ConvOp)
    pad = op.x.owner
    if not isinstance(pad, PadOp) or pad.mode.data != "constant":
        return None
    if pad.value is not None and not is_splat_of(pad.value, 0.0):
        return None
    low, high = pad.low.data, pad.high.data
    if any(amount != 0 for amount in (*low[:2], *high[:2])):
        return None
    amounts = (*low[2:], *high[2:])
    if any(not isinstance(amount, int) or amount < 0 for amount in amounts):
        return None
    copy = with_operands(op, op.operands)
    copy.operands[0] = pad.x
    sums = [a + c for a, c in zip(amounts, op.pads.data, strict=True)]
    copy.properties["pads"] = type(op.pads)(sums)
    copy.set_inferred_types()
    return [b.add(copy)] if copy.results[0].type == op.result.type else None


def taps_in_padding(op: Operation, b: OpBuilder) -> Values | None:
    """
    First and last taps that lie in the padding of every window add nothing, where their weights are known to be finite.

    Dilation may be larger than the image, and the padding with it.
    """
    assert isinstance(op, ConvOp)
    axes = op.window_axes()
    fewer = [axis.without_outer_taps() for axis in axes]
    if [axis.kernel for axis in fewer] == [axis.kernel for axis in axes] or not isinstance(op.weight.owner, ConstantOp):
        return None
    low, high = [axis.low for axis in fewer], [dim_max(axis.high, 0) for axis in fewer]
    if any(isinstance(pad, int) and pad < 0 for pad in low):
        return None
    # The first tap that is left: padding is what the others took.
    starts: list[Dim] = [0, 0]
    for all_taps, kept in zip(axes, fewer, strict=True):
        moved = all_taps.low - kept.low
        starts.append(moved // all_taps.dilation if isinstance(moved, int) else 0)
    weights = constant_array(op.weight.owner)
    if not np.isfinite(weights).all():
        return None
    sizes = [*dims_of(op.weight.type)[:2], *(axis.kernel for axis in fewer)]
    part = b.add(SliceOp(op.weight, starts, sizes))
    copy = with_operands(op, op.operands)
    copy.operands[1] = part
    copy.properties["pads"] = type(op.pads)([*low, *high])
    copy.set_inferred_types()
    return [b.add(copy)] if copy.results[0].type == op.result.type else None


def single_concat(op: Operation, b: OpBuilder) -> Values | None:
    """One operand, or all others empty along the axis."""
    assert isinstance(op, ConcatOp)
    kept = [x for x in op.xs if dims_of(x.type)[op.axis_value] != 0]
    if len(kept) == 1:
        return [kept[0]] if kept[0].type == op.result.type else None
    if not kept or len(kept) == len(op.xs):
        return None
    copy = ConcatOp(kept, op.axis_value)
    return [b.add(copy)] if copy.result.type == op.result.type else None


def concat_of_concat(op: Operation, b: OpBuilder) -> Values | None:
    """One concat of all, for inner ones along the same axis that nothing else uses; at most `MOST_PARTS`."""
    assert isinstance(op, ConcatOp)
    flat: list[SSAValue] = []
    for x in op.xs:
        inner = x.owner
        if isinstance(inner, ConcatOp) and inner.axis_value == op.axis_value and x.has_one_use():
            flat += inner.xs
        else:
            flat.append(x)
    if len(flat) == len(op.xs) or len(flat) > MOST_PARTS:
        return None
    copy = ConcatOp(flat, op.axis_value)
    return [b.add(copy)] if copy.result.type == op.result.type else None


def concat_of_split(op: Operation, b: OpBuilder) -> Values | None:
    """All parts of a split in order, along the same axis."""
    assert isinstance(op, ConcatOp)
    split = op.xs[0].owner
    if not isinstance(split, SplitOp) or split.axis_value != op.axis_value:
        return None
    return [split.x] if list(op.xs) == list(split.results) and split.x.type == op.result.type else None


def single_split(op: Operation, b: OpBuilder) -> Values | None:
    """One part."""
    return same_type(op, b) if len(op.results) == 1 else None


def reduce_of_ones(op: Operation, b: OpBuilder) -> Values | None:
    """Over axes of size 1 (or none) these reductions give the one element."""
    assert isinstance(op, ReductionOp)
    dims = dims_of(op.x.type)
    if any(dims[axis] != 1 for axis in op.axis_list):
        return None
    return [b.add(ReshapeOp(op.x, dims_of(op.result.type)))]


def gather_one(op: Operation, b: OpBuilder) -> Values | None:
    """A constant index of rank 0 takes a slice: for a symbolic axis only its first or last element, which it has."""
    assert isinstance(op, GatherOp)
    index = dense_value(op.indices)
    if index is None or index.ndim != 0 or not isinstance(op.indices.owner, ConstantOp):
        return None
    dims, axis, place = dims_of(op.x.type), op.axis_value, int(index)
    size = dims[axis]
    if isinstance(size, int):
        start = min(max(place + size if place < 0 else place, 0), size - 1)
    elif place in (0, -1):
        start = 0 if place == 0 else size - 1
    else:
        return None
    starts = [start if i == axis else 0 for i in range(len(dims))]
    sizes = [1 if i == axis else dim for i, dim in enumerate(dims)]
    part = b.add(SliceOp(op.x, starts, sizes))
    return [b.add(ReshapeOp(part, dims_of(op.result.type)))]


def gather_at_moved_places(op: Operation, b: OpBuilder) -> Values | None:
    """Indices in another shape give a result in another shape: what moves the indices can be where they are read."""
    assert isinstance(op, GatherOp)
    inner = op.indices.owner
    if not isinstance(inner, ReshapeOp) or not isinstance(inner.x.owner, Operation):
        return None
    if kind_of(inner.x.owner) is not FusionKind.MOVEMENT:
        return None
    gathered = b.add(GatherOp(op.x, inner.x, op.axis_value))
    return [b.add(ReshapeOp(gathered, dims_of(op.result.type)))]


def gather_along_merged_axes(op: Operation, b: OpBuilder) -> Values | None:
    """
    Known indices into several axes that follow each other are indices into one axis, before a transpose that only
    brings these to the front: it is done on the result, where it often meets another that undoes it.
    """
    assert isinstance(op, GatherNdOp)
    shape, source = dims_of(op.indices.type), op.x
    if not isinstance(op.indices.owner, ConstantOp) or op.batch_rank or not isinstance(depth := shape[-1], int):
        return None
    order = tuple(range(rank_of(source.type)))
    if isinstance(inner := source.owner, TransposeOp) and sole_user(source) is op:
        source, order = inner.x, inner.axis_order
    dims, first = dims_of(source.type), order[0]
    merged, rest = dims[first : first + depth], order[depth:]
    if not depth or order[:depth] != tuple(range(first, first + depth)):
        return None
    indices = constant_array(op.indices.owner)
    if not all(isinstance(dim, int) and dim > 0 for dim in merged) or indices.size > MOST_KNOWN_PLACES:
        return None
    # As in the op: negative ones count from the end, and all are moved into bounds.
    places = np.zeros(indices.shape[:-1], np.int64)
    for axis, dim in enumerate(merged):
        assert isinstance(dim, int)
        place = indices[..., axis].astype(np.int64)
        places = places * dim + np.clip(np.where(place < 0, place + dim, place), 0, dim - 1)
    flat = b.add(ReshapeOp(source, [*dims[:first], dim_prod(merged), *dims[first + depth :]]))
    gathered = b.add(GatherOp(flat, b.add(ConstantOp.from_array(places)), first))
    # The axes before those of the indices, which are to come first, then those behind.
    count = places.ndim
    back = [axis if axis < first else axis - depth + count for axis in rest]
    return [b.add(TransposeOp(gathered, [*range(first, first + count), *back]))]


RULES: Rules = {
    ConcatOp: [single_concat, concat_of_concat, concat_of_split],
    ConvOp: [pad_into_conv, taps_in_padding],
    ElementwiseOp: [broadcast_without_expand],
    ExpandOp: [same_type, expand_of_expand],
    GatherNdOp: [gather_along_merged_axes],
    GatherOp: [gather_one, gather_at_moved_places],
    PadOp: [no_padding],
    ReduceMaxOp: [reduce_of_ones],
    ReduceMeanOp: [reduce_of_ones],
    ReduceMinOp: [reduce_of_ones],
    ReduceProdOp: [reduce_of_ones],
    ReduceSumOp: [reduce_of_ones],
    ReshapeOp: [same_type, reshape_of_reshape],
    SliceOp: [full_slice, slice_of_slice],
    SplitOp: [single_split],
}
