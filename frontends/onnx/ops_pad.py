"""`Pad`: by sizes, and by pads and axes that data tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import ModOp, SubOp
from aicc.dialects.graph.dims import MAX_RANK, Dim
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import PadOp, ReshapeOp, SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.numbers import Number, Numbers, all_known


def _pad(ctx: NodeContext) -> Result:
    """Pads are an attribute up to opset 10; axes are an input from 18 on. Negative pads cut off."""
    mode = ctx.attr_str("mode", "constant")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        ctx.fail(f"mode is '{mode}', expected constant, reflect, edge or wrap")
    low, high = _pads(ctx)
    if not any(low) and not any(high):
        return ctx.value(0)
    if mode == "wrap":
        return _wrapped(ctx, low, high)
    fill: SSAValue | None = None
    if mode == "constant":
        if ctx.version < 11 and ctx.attr_float("value", 0.0):
            fill = ctx.scalar(ctx.attr_float("value"), ctx.element(0))
        elif ctx.has(2):
            fill = ctx.ssa(2)
            if ctx.rank(2):
                fill = ctx.emit(ReshapeOp(fill, ()))
    before, after = _sizes(low), _sizes(high)
    if before is not None and after is not None:
        return ctx.emit(PadOp(ctx.ssa(0), before, after, value=fill, mode=mode))
    return _padded_by_data(ctx, low, high, fill, mode)


def _pads(ctx: NodeContext) -> tuple[list[Number], list[Number]]:
    """What comes before and after each axis."""
    numbers, rank = Numbers(ctx), ctx.rank(0)
    pads: Sequence[Number] = ctx.attr_ints("pads") if ctx.version < 11 else numbers.of(1, "pads", most=2 * MAX_RANK)
    axes: Sequence[Number] = numbers.of(3, "axes") if ctx.has(3) else range(rank)
    if len(pads) != 2 * len(axes):
        ctx.fail(f"pads has {len(pads)} entries, expected {2 * len(axes)}")
    if all_known(axes):
        axes = ctx.axes(ctx.numbers(3, "axes"), rank) if ctx.has(3) else axes
    low: list[Number] = [0] * rank
    high: list[Number] = [0] * rank
    for name, first, last in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        place = numbers.from_end(name, rank)
        for axis in range(rank):
            found = numbers.equal(place, axis)
            low[axis] = numbers.select(found, first, low[axis])
            high[axis] = numbers.select(found, last, high[axis])
    return low, high


def _sizes(numbers: Sequence[Number]) -> list[Dim] | None:
    """The numbers, if none is data."""
    sizes = [number for number in numbers if not isinstance(number, SSAValue)]
    return sizes if len(sizes) == len(numbers) else None


def _padded_by_data(
    ctx: NodeContext, low: Sequence[Number], high: Sequence[Number], fill: SSAValue | None, mode: str
) -> SSAValue:
    """All that comes before and after, and then a part of that: elements that are cut off may be mirrored before."""
    numbers, dims = Numbers(ctx), ctx.dims(0)
    added: tuple[list[Dim], list[Dim]] = ([], [])
    first: list[Dim] = []
    sizes: list[Dim] = []
    for axis, (dim, before, after) in enumerate(zip(dims, low, high, strict=True)):
        most = dim - 1 if mode == "reflect" else None
        for pad, side, sums in zip((before, after), ("before", "after"), added, strict=True):
            known = not isinstance(pad, SSAValue)
            sums.append(numbers.size(numbers.max(pad, 0), f"pad {side} axis {axis}", None if known else most))
        first.append(numbers.size(numbers.max(numbers.sub(0, before), 0), f"cut from axis {axis}"))
        size = numbers.add(numbers.add(dim, before), after)
        sizes.append(numbers.size(size, f"size of axis {axis}"))
    padded = ctx.emit(PadOp(ctx.ssa(0), *added, value=fill, mode=mode))
    return ctx.emit(SliceOp(padded, first, sizes))


def _wrapped(ctx: NodeContext, low: Sequence[Number], high: Sequence[Number]) -> SSAValue:
    """Padding with what comes next when the axis is walked around, as often as needed: `y[i] = x[(i - low) mod n]`."""
    f, numbers, x = Formula(ctx), Numbers(ctx), ctx.ssa(0)
    for axis, (size, before, after) in enumerate(zip(ctx.dims(0), low, high, strict=True)):
        if before == 0 and after == 0:
            continue
        if size == 0:
            ctx.fail(f"mode is 'wrap', and axis {axis} has no elements")
        count = numbers.size(numbers.add(numbers.add(size, before), after), f"size of axis {axis}")
        index = f(SubOp, f.places(count, 0, 1), numbers.tensor(before))
        x = ctx.emit(GatherOp(x, f(ModOp, index, f.size(size)), axis))
    return x


HANDLERS: Mapping[str, Handler] = {"Pad": _pad}
