"""Pooling in boxes: of bilinear samples (`RoiAlign`), or of the elements (`MaxRoiPool`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, DivOp, MaxOp, MinOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import GeOp, GtOp, LeOp, LtOp
from aicc.dialects.graph.dims import Dim, dims_of, provably_different, shape_text
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.functions import AbsOp, CeilOp, FloorOp, NegOp
from aicc.dialects.graph.indexing import GatherNdOp, GatherOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ConcatOp, SliceOp
from aicc.dialects.graph.reductions import ReduceMaxOp, ReduceSumOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula


@dataclass(frozen=True)
class _Samples:
    """The samples along one axis: `[boxes, bins, samples]`, and what counts of them."""

    low: SSAValue
    high: SSAValue
    """Places of the two elements around a sample."""
    weight_low: SSAValue
    weight_high: SSAValue
    """Their weights: 0 for samples outside of the image, and beyond the number that a box has."""
    count: SSAValue
    """The number of samples of each bin: `[boxes]`."""
    valid: SSAValue
    """Which of the samples a box has."""
    inside: SSAValue
    """Which of those lie in the image; others count as 0, whatever the elements at its border are."""


def _samples(ctx: NodeContext, first: SSAValue, last: SSAValue, size: Dim, bins: int, wide: Attribute) -> _Samples:
    """Samples of boxes from `first` to `last` (`[boxes]`, in pixels) along an axis of `size` pixels."""
    f, (boxes,) = Formula(ctx), dims_of(first.type)
    length = f(SubOp, last, first)
    if ctx.version < 16 or ctx.attr_str("coordinate_transformation_mode", "half_pixel") == "output_half_pixel":
        length = f(MaxOp, length, 1.0)  # Boxes have at least one pixel then.
    bin_size = f(DivOp, length, float(bins))
    most: Dim = ctx.attr_int("sampling_ratio", 0)
    if most == 0:
        # As many as pixels in a bin, which differs from box to box.
        count = f(MaxOp, f(CeilOp, bin_size), 1.0)
        most = ctx.defined_size(f.cast(ctx.emit(ReduceMaxOp(f(MaxOp, count, 1.0), (0,))), i64), "samples")
    else:
        count = f.expand(ctx.scalar(float(most), wide), (boxes,))

    def box(x: SSAValue) -> SSAValue:
        return f.reshape(x, (boxes, 1, 1))

    step = f(DivOp, f(AddOp, f.places(most, 2, 3, wide), 0.5), box(count))
    places = f(AddOp, box(first), f(MulOp, f(AddOp, f.places(bins, 1, 3, wide), step), box(bin_size)))
    extent = f.size(size, wide)
    valid = f(LtOp, f.places(most, 2, 3, wide), box(count))
    inside = f(AndOp, valid, f(AndOp, f(GeOp, places, -1.0), f(LeOp, places, extent)))
    final = f(SubOp, extent, 1.0)
    places = f(MinOp, f(MaxOp, places, 0.0), final)
    low = f(FloorOp, places)
    behind = f(SubOp, places, low)
    high = f(MinOp, f(AddOp, low, 1.0), final)
    low_weight, high_weight = (f(WhereOp, inside, weight, 0.0) for weight in (f(SubOp, 1.0, behind), behind))
    return _Samples(f.cast(low, i64), f.cast(high, i64), low_weight, high_weight, count, valid, inside)


def _roi_align(ctx: NodeContext) -> SSAValue:
    """
    For each box, channel and bin the mean of its samples, or with `max` the largest of their four weighted elements.
    """
    f, dims, element = Formula(ctx), ctx.dims(0), ctx.element(0)
    if len(dims) != 4 or ctx.rank(1) != 2:
        ctx.fail(f"the inputs have shapes {shape_text(dims)} and {shape_text(ctx.dims(1))}, expected rank 4 and 2")
    wide, (boxes, _) = accumulator_type(element), ctx.dims(1)
    mode, shift = ctx.attr_str("mode", "avg"), 0.0
    if mode not in ("avg", "max"):
        ctx.fail(f"mode is '{mode}', expected avg or max")
    if ctx.version >= 16 and ctx.attr_str("coordinate_transformation_mode", "half_pixel") == "half_pixel":
        shift = 0.5
    corners = f(SubOp, f(MulOp, f.cast(ctx.ssa(1), wide), ctx.attr_float("spatial_scale", 1.0)), shift)
    left, top, right, bottom = (
        f.reshape(ctx.emit(SliceOp(corners, [0, i], [boxes, 1], [1, 1])), (boxes,)) for i in range(4)
    )
    height, width = ctx.attr_int("output_height", 1), ctx.attr_int("output_width", 1)
    rows = _samples(ctx, top, bottom, dims[2], height, wide)
    columns = _samples(ctx, left, right, dims[3], width, wide)
    down, across = dims_of(rows.valid.type)[2], dims_of(columns.valid.type)[2]
    space: tuple[Dim, ...] = (boxes, height, down, width, across)

    def of_row(x: SSAValue) -> SSAValue:
        return f.reshape(x, (*dims_of(x.type), 1, 1))

    def of_column(x: SSAValue) -> SSAValue:
        return f.reshape(x, (dims_of(x.type)[0], 1, 1, *dims_of(x.type)[1:]))

    image = f.cast(f.transpose(ctx.ssa(0), (0, 2, 3, 1)), wide)
    batch = f.reshape(f.cast(ctx.ssa(2), i64), (boxes, 1, 1, 1, 1))
    result: SSAValue | None = None
    for row, row_weight in ((rows.low, rows.weight_low), (rows.high, rows.weight_high)):
        for column, column_weight in ((columns.low, columns.weight_low), (columns.high, columns.weight_high)):
            index = [f.reshape(f.expand(x, space), (*space, 1)) for x in (batch, of_row(row), of_column(column))]
            picked = ctx.emit(GatherNdOp(image, ctx.emit(ConcatOp(index, 5))))
            weight = f.reshape(f(MulOp, of_row(row_weight), of_column(column_weight)), (*space, 1))
            part = f(MulOp, picked, weight)
            result = part if result is None else f(AddOp if mode == "avg" else MaxOp, result, part)
    assert result is not None
    inside = f(AndOp, of_row(rows.inside), of_column(columns.inside))
    result = f(WhereOp, f.reshape(inside, (*dims_of(inside.type), 1)), result, 0.0)
    if mode == "avg":
        number = f(MulOp, rows.count, columns.count)
        result = f(DivOp, ctx.emit(ReduceSumOp(result, (2, 4))), f.reshape(number, (boxes, 1, 1, 1)))
    else:
        valid = f(AndOp, of_row(rows.valid), of_column(columns.valid))
        valid = f.reshape(valid, (*dims_of(valid.type), 1))
        result = ctx.emit(ReduceMaxOp(f(WhereOp, valid, result, -np.inf), (2, 4)))
    return f.cast(f.transpose(result, (0, 3, 1, 2)), element)


def _rounded(f: Formula, x: SSAValue) -> SSAValue:
    """The nearest integer; of two the one further from 0."""
    size = f(AbsOp, x)
    whole = f(FloorOp, size)
    whole = f(WhereOp, f(GeOp, f(SubOp, size, whole), 0.5), f(AddOp, whole, 1.0), whole)
    return f(WhereOp, f(LtOp, x, 0.0), f(NegOp, whole), whole)


def _bins(f: Formula, first: SSAValue, last: SSAValue, size: Dim, bins: int) -> SSAValue:
    """
    Which of `size` elements of an axis belong to each bin of boxes from element `first` to `last` (`[boxes]`), as
    `[boxes, bins, size]`: bins are equally large, and take in every element that they touch.
    """
    (boxes,), wide = dims_of(first.type), element_type_of(first)
    extent = f(DivOp, f(MaxOp, f(AddOp, f(SubOp, last, first), 1.0), 1.0), float(bins))
    extent, first = (f.reshape(x, (boxes, 1, 1)) for x in (extent, first))
    bin_ = f.places(bins, 1, 3, wide)
    begin = f(AddOp, f(FloorOp, f(MulOp, bin_, extent)), first)
    end = f(AddOp, f(CeilOp, f(MulOp, f(AddOp, bin_, 1.0), extent)), first)
    places = f.places(size, 2, 3, wide)
    return f(AndOp, f(GeOp, places, begin), f(LtOp, places, end))


def _max_roi_pool(ctx: NodeContext) -> SSAValue:
    """
    The largest element of each bin of each box (`[image, x1, y1, x2, y2]`, both ends included), 0 where a bin is
    empty. The standard leaves open what a bin is; this is what Caffe and onnxruntime do.
    """
    f, dims, element = Formula(ctx), ctx.dims(0), ctx.element(0)
    if len(dims) != 4 or ctx.rank(1) != 2 or provably_different(ctx.dims(1)[1], 5):
        ctx.fail(f"the inputs have shapes {shape_text(dims)} and {shape_text(ctx.dims(1))}, expected rank 4 and [N, 5]")
    if (numbers := ctx.dims(1)[1]) != 5:
        ctx.check_sizes(numbers, 5, f"node '{ctx.name}': a box has {numbers} numbers, expected 5")
    shape = ctx.attr_ints("pooled_shape")
    if len(shape) != 2 or min(shape) < 1:
        ctx.fail(f"pooled_shape is {list(shape)}, expected two positive numbers")
    (boxes, _), (_, channels, height, width), (down, across) = ctx.dims(1), dims, shape
    columns = [f.reshape(ctx.emit(SliceOp(ctx.ssa(1), [0, i], [boxes, 1], [1, 1])), (boxes,)) for i in range(5)]
    wide, scale = accumulator_type(element), ctx.attr_float("spatial_scale", 1.0)
    left, top, right, bottom = (_rounded(f, f(MulOp, f.cast(x, wide), scale)) for x in columns[1:])
    rows = f.reshape(_bins(f, top, bottom, height, down), (boxes, 1, down, height, 1))
    sides = f.reshape(_bins(f, left, right, width, across), (boxes, 1, 1, across, width))
    images = ctx.emit(GatherOp(ctx.ssa(0), f.cast(columns[0], i64), 0))
    images = f.reshape(images, (boxes, channels, 1, height, width))
    result = ctx.emit(ReduceMaxOp(f(WhereOp, rows, images, -np.inf), (3,)))
    result = f.reshape(result, (boxes, channels, down, 1, width))
    result = ctx.emit(ReduceMaxOp(f(WhereOp, sides, result, -np.inf), (4,)))
    has_rows = f.reshape(ctx.emit(ReduceMaxOp(f.cast(rows, i64), (3,))), (boxes, 1, down, 1))
    has_sides = f.reshape(ctx.emit(ReduceMaxOp(f.cast(sides, i64), (4,))), (boxes, 1, 1, across))
    filled = f(GtOp, f(MulOp, has_rows, has_sides), 0)
    return f(WhereOp, filled, f.reshape(result, (boxes, channels, down, across)), 0.0)


HANDLERS: Mapping[str, Handler] = {"MaxRoiPool": _max_roi_pool, "RoiAlign": _roi_align}
