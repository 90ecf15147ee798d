"""`Slice`: by bounds that are sizes, and by bounds, axes and steps that data tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, MulOp
from aicc.dialects.graph.constants import IotaOp
from aicc.dialects.graph.dims import MAX_ELEMENTS, Dim, ceildiv, dim_max, tensor_type
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.numbers import Number, Numbers, all_known


def _first_of_slice(start: Dim, dim: Dim, step: int) -> Dim:
    """
    `start` for Python's rules, where a start before the axis leaves nothing to walk back over.

    ONNX clamps it to the first element instead: `starts[i]` is "clamped to `[0, dims[axes[i]]-1]`" for negative steps.
    """
    if step > 0 or not isinstance(start, int) or start >= -1:
        return start
    return 0 if start < -MAX_ELEMENTS else dim_max(0, start + dim)


def _slice(ctx: NodeContext) -> Result:
    dims = ctx.dims(0)
    if ctx.version < 10:
        starts: Sequence[Dim] = ctx.attr_ints("starts")
        ends: Sequence[Dim] = ctx.attr_ints("ends")
        axes = ctx.attr_ints("axes", tuple(range(len(starts))))
        steps: Sequence[int] = [1] * len(starts)
    else:
        if not all(ctx.is_known(position) for position in range(1, 5) if ctx.has(position)):
            return _slice_by_data(ctx)
        starts, ends = ctx.sizes(1, "starts"), ctx.sizes(2, "ends")
        axes = ctx.numbers(3, "axes") if ctx.has(3) else tuple(range(len(starts)))
        steps = ctx.numbers(4, "steps") if ctx.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        ctx.fail(f"starts, ends, axes and steps have {len(starts)}, {len(ends)}, {len(axes)} and {len(steps)} entries")
    low: list[Dim] = [0] * len(dims)
    high, strides = list(dims), [1] * len(dims)
    for axis, start, end, step in zip(ctx.axes(axes, len(dims)), starts, ends, steps, strict=True):
        low[axis], high[axis], strides[axis] = _first_of_slice(start, dims[axis], step), end, step
    result = SliceOp.from_bounds(ctx.ssa(0), low, high, strides)
    if result.sizes.data == dims and all(step == 1 for step in strides):
        return ctx.value(0)
    return ctx.emit(result)


def _slice_by_data(ctx: NodeContext) -> Result:
    """Bounds are brought into the axis as the operator says; what they come to are a first index and a size."""
    numbers, dims = Numbers(ctx), ctx.dims(0)
    starts, ends = numbers.of(1, "starts"), numbers.of(2, "ends")
    axes = numbers.of(3, "axes") if ctx.has(3) else list(range(len(starts)))
    steps = numbers.of(4, "steps") if ctx.has(4) else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        ctx.fail(f"starts, ends, axes and steps have {len(starts)}, {len(ends)}, {len(axes)} and {len(steps)} entries")
    if all_known(axes):
        ctx.axes([axis for axis in axes if isinstance(axis, int)], len(dims))
    firsts: list[Dim] = []
    sizes: list[Dim] = []
    strides: list[int] = []
    indices: dict[int, SSAValue] = {}
    for axis, dim in enumerate(dims):
        start, end, step = _bounds_of_axis(numbers, axis, dims, list(zip(axes, starts, ends, steps, strict=True)))
        if isinstance(step, int) and step == 0:
            ctx.fail(f"step of axis {axis} is 0")
        if not isinstance(step, int):
            step = numbers.tensor(step)
        first, count = _range_in_axis(numbers, start, end, step, dim)
        most = dim if isinstance(step, SSAValue) else ceildiv(dim, abs(step))
        size = numbers.size(count, f"size of axis {axis}", most)
        if isinstance(step, SSAValue):
            places = ctx.emit(MulOp(ctx.emit(IotaOp(tensor_type([size], i64))), step))
            indices[axis] = ctx.emit(AddOp(places, numbers.tensor(first)))
            first, size, step = 0, dim, 1
        firsts.append(numbers.size(first, f"start of axis {axis}", dim))
        sizes.append(size)
        strides.append(step)
    x = ctx.ssa(0)
    if tuple(sizes) != dims or any(step != 1 for step in strides):
        x = ctx.emit(SliceOp(x, firsts, sizes, strides))
    for axis, places in indices.items():
        x = ctx.emit(GatherOp(x, places, axis))
    return x if x is not ctx.ssa(0) else ctx.value(0)


def _bounds_of_axis(
    numbers: Numbers, axis: int, dims: Sequence[Dim], entries: Sequence[tuple[Number, Number, Number, Number]]
) -> tuple[Number, Number, Number]:
    """Start, end and step of one axis: those of the entry that names it, if there is one."""
    start, end, step = 0, dims[axis], 1
    for name, first, last, stride in entries:
        found = numbers.equal(numbers.from_end(name, len(dims)), axis)
        start = numbers.select(found, first, start)
        end = numbers.select(found, last, end)
        step = numbers.select(found, stride, step)
    return start, end, step


def _range_in_axis(
    numbers: Numbers, start: Number, end: Number, step: int | SSAValue, size: Dim
) -> tuple[Number, Number]:
    """The first index and the number of indices."""
    start, end = numbers.from_end(start, size), numbers.from_end(end, size)
    last = size - 1
    up = numbers.clamp(start, 0, size), numbers.clamp(end, 0, size)
    if isinstance(step, int) and step > 0:
        first, stop = up
    else:
        down = numbers.min(numbers.max(start, 0), last), numbers.clamp(end, -1, last)
        falling = True if isinstance(step, int) else numbers.less(step, 0)
        first, stop = (numbers.select(falling, a, b) for a, b in zip(down, up, strict=True))
    count = numbers.max(numbers.ceildiv(numbers.sub(stop, first), step), 0)
    # Of an empty axis there is no index, and none is read.
    return numbers.max(first, 0), count


HANDLERS: Mapping[str, Handler] = {"Slice": _slice}
