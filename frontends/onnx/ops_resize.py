"""
Resizing by nearest neighbours, linear and cubic interpolation, one axis after the other.

An axis that grows by an integer factor with each element repeated is an expansion; else elements are gathered at the
places that `resize_places` works out. Between axes, interpolated numbers are f32 (f64 for f64).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from xdsl.dialects.builtin import f32, f64, i64
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MaxOp, MinOp, MulOp, OrOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.dtypes import is_float
from aicc.dialects.graph.functions import FloorOp, RoundOp
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp, SliceOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import FoldedFormula
from aicc.frontends.onnx.resize_places import COORDINATES, MOST_KNOWN, NEAREST, OUTWARD, Axis, Kernel, Numbers, Places

_FEW_TERMS = 4
"""Sums of up to so many terms are written out."""


@dataclass(frozen=True)
class _Method:
    """The attributes of a node."""

    mode: str
    coordinates: str
    rounding: str
    antialias: bool = False
    exclude_outside: bool = False
    cubic: float = -0.75
    fill: float | None = None
    """What stands for places outside of the input (`tf_crop_and_resize`)."""

    def kernel(self, f: FoldedFormula, scale: Numbers) -> Kernel:
        """The weights of neighbours, for a mode other than nearest."""
        stretch = f.fold(MinOp, scale, 1.0) if self.antialias else np.array(1.0)
        return Kernel(f, self.cubic if self.mode == "cubic" else None, stretch)


def _method(ctx: NodeContext) -> _Method:
    modern = ctx.version >= 11
    method = _Method(
        ctx.attr_str("mode", "nearest"),
        ctx.attr_str("coordinate_transformation_mode", "half_pixel" if modern else "asymmetric"),
        ctx.attr_str("nearest_mode", "round_prefer_floor" if modern else OUTWARD),
        bool(ctx.attr_int("antialias", 0)),
        bool(ctx.attr_int("exclude_outside", 0)),
        ctx.attr_float("cubic_coeff_a", -0.75),
    )
    if method.mode not in ("nearest", "linear", "cubic"):
        ctx.fail(f"mode is '{method.mode}', expected nearest, linear or cubic")
    if method.coordinates not in COORDINATES or method.rounding not in ((*NEAREST,) if modern else (OUTWARD,)):
        ctx.fail(f"coordinates '{method.coordinates}' with rounding '{method.rounding}' are not known")
    if method.coordinates == "tf_crop_and_resize":
        fill = ctx.attr_float("extrapolation_value", 0.0)
        return _Method(method.mode, method.coordinates, method.rounding, fill=fill, cubic=method.cubic)
    return method


def _resize(ctx: NodeContext) -> Result:
    f, method = FoldedFormula(ctx), _method(ctx)
    first = 1 if ctx.version < 11 else 2
    rank = ctx.rank(0)
    axes = ctx.axes(ctx.attr_ints("axes", tuple(range(rank))), rank)
    given = _scales(f, first, len(axes)) if _has_elements(ctx, first) else None
    if given is None and not ctx.has(3):
        ctx.fail("neither scales nor sizes are given")
    sizes = ctx.sizes(3, "sizes") if given is None else [None] * len(axes)
    if len(sizes) != len(axes):
        ctx.fail(f"there are {len(sizes)} sizes for {len(axes)} axes")
    crop: Sequence[Numbers | None] = [None] * 2 * len(axes)
    if method.fill is not None:
        crop = _entries(f, 1, 2 * len(axes), "roi")
    policy = ctx.attr_str("keep_aspect_ratio_policy", "stretch")
    if policy not in ("stretch", "not_larger", "not_smaller"):
        ctx.fail(f"keep_aspect_ratio_policy is '{policy}', expected stretch, not_larger or not_smaller")
    changes: dict[int, Axis] = {}
    for i, axis in enumerate(axes):
        size, start, end = ctx.dims(0)[axis], crop[i], crop[len(axes) + i]
        if given is not None:
            count = _scaled(f, size, given[i], start, end)
            changes[axis] = Axis(size, count, given[i], start, end)
        elif (wanted := sizes[i]) is not None:
            changes[axis] = Axis(size, wanted, _ratio(f, wanted, size), start, end)
    if given is None and policy != "stretch":
        changes = _with_ratio_kept(f, changes, MinOp if policy == "not_larger" else MaxOp)
    return _all_axes(f, changes, method)


def _has_elements(ctx: NodeContext, position: int) -> bool:
    """Whether an optional input is given; an empty one stands for none."""
    return ctx.has(position) and ctx.dims(position) != (0,)


def _upsample(ctx: NodeContext) -> Result:
    """The predecessor of `Resize`: places are `i / scale`, rounded down."""
    f, mode, rank = FoldedFormula(ctx), ctx.attr_str("mode", "nearest"), ctx.rank(0)
    if mode not in ("nearest", "linear", "bilinear"):
        ctx.fail(f"mode '{mode}' is not supported")
    if ctx.version < 9:
        if ctx.version < 7:
            scales: Sequence[float] = (1.0, 1.0, ctx.attr_float("height_scale"), ctx.attr_float("width_scale"))
        else:
            scales = ctx.attr_floats("scales")
        given: Sequence[Numbers] = [np.array(float(scale)) for scale in scales]
        if len(given) != rank:
            ctx.fail(f"there are {len(given)} scales for {rank} axes")
        _check_positive(ctx, given)
    else:
        given = _scales(f, 1, rank)
    sizes = ctx.dims(0)
    changes = {i: Axis(sizes[i], _scaled(f, sizes[i], given[i]), given[i]) for i in range(rank)}
    return _all_axes(f, changes, _Method("nearest" if mode == "nearest" else "linear", "asymmetric", "floor"))


def _entries(f: FoldedFormula, position: int, count: int, what: str) -> list[Numbers]:
    """The elements of a list of floats, as f64."""
    ctx = f.ctx
    if ctx.dims(position) != (count,):
        ctx.fail(f"{what} (input {position}) has shape {list(ctx.dims(position))}, expected [{count}]")
    content = ctx.value(position).content
    if content is not None and content.dtype != object:
        return [np.array(float(entry)) for entry in content]
    values = f.cast(ctx.ssa(position), f64)
    return [ctx.emit(ReshapeOp(ctx.emit(SliceOp(values, [i], [1])), ())) for i in range(count)]


def _scales(f: FoldedFormula, position: int, count: int) -> list[Numbers]:
    """One for each of so many axes, as f64."""
    scales = _entries(f, position, count, "scales")
    _check_positive(f.ctx, scales)
    return scales


def _check_positive(ctx: NodeContext, scales: Sequence[Numbers]) -> None:
    """Fails for a constant that makes no image, or no finite one."""
    for i, scale in enumerate(scales):
        if isinstance(scale, np.ndarray) and not 0 < float(scale) < np.inf:
            ctx.fail(f"scale {i} is {float(scale)}, expected a finite number above 0")


def _scaled(
    f: FoldedFormula, size: Dim, scale: Numbers, start: Numbers | None = None, end: Numbers | None = None
) -> Dim:
    """`floor(size * (end - start) * scale)`, in f32 like the scale, so that 0.7 times 10 is 7."""
    if isinstance(scale, np.ndarray) and float(scale).is_integer() and start is None:
        return size * int(scale)
    number = f.number(size)
    if start is not None and end is not None:
        number = f.fold(MulOp, number, f.fold(SubOp, end, start))
    return f.count(f.fold(FloorOp, f.fold(MulOp, f.converted(number, f32), f.converted(scale, f32))), "size")


def _ratio(f: FoldedFormula, count: Dim, size: Dim) -> Numbers:
    return np.array(1.0) if size == 0 else f.fold(DivOp, f.number(count), f.number(size))


def _with_ratio_kept(f: FoldedFormula, changes: Mapping[int, Axis], choose: type[Operation]) -> dict[int, Axis]:
    """All axes by the smallest or largest of their scales; sizes are rounded half up."""
    common = reduce(lambda a, b: f.fold(choose, a, b), (axis.scale for axis in changes.values()))
    result: dict[int, Axis] = {}
    for position, axis in changes.items():
        rounded = f.fold(FloorOp, f.fold(AddOp, f.fold(MulOp, f.number(axis.size), common), 0.5))
        result[position] = Axis(axis.size, f.count(rounded, "size"), common, axis.start, axis.end)
    return result


def _all_axes(f: FoldedFormula, changes: Mapping[int, Axis], method: _Method) -> Result:
    ctx, element = f.ctx, f.ctx.element(0)
    for position, axis in changes.items():
        if axis.size == 0 and axis.count != 0:
            ctx.fail(f"axis {position} of size 0 is resized to {axis.count}")
        if isinstance(axis.count, int) and axis.count < 0:
            ctx.fail(f"axis {position} is resized to {axis.count}, expected at least 0")
    changes = {position: axis for position, axis in changes.items() if not _stays(axis)}
    if not changes:
        return ctx.value(0)
    x = ctx.ssa(0)
    if method.mode == "nearest":
        repeats = {position: _repeats(f, axis, method) for position, axis in changes.items()}
        x = _repeat(ctx, x, {position: factor for position, factor in repeats.items() if factor})
        changes = {position: axis for position, axis in changes.items() if not repeats[position]}
    elif element != f64:
        x = f.cast(x, f32)
    outside: SSAValue | None = None
    for position, axis in changes.items():
        places = Places(f, axis, method.coordinates)
        if method.mode == "nearest":
            x = _gathered(f, x, position, places.nearest(method.rounding))
        else:
            kernel = method.kernel(f, axis.scale)
            x = _interpolated(f, x, position, *places.taps(kernel, exclude_outside=method.exclude_outside))
        if method.fill is not None:
            here = f.tensor(places.is_outside(places.where))
            here = f.reshape(here, (axis.count, *[1] * (ctx.rank(0) - 1 - position)))
            outside = here if outside is None else f(OrOp, outside, here)
    if outside is not None and method.fill is not None:
        x = f(WhereOp, outside, ctx.scalar(method.fill, element_type_of(x)), x)
    if element_type_of(x) != element and not is_float(element):
        x = f(RoundOp, x)
    return f.cast(x, element)


def _stays(axis: Axis) -> bool:
    """Whether resizing changes nothing."""
    cropped = axis.start is not None and not (_is(axis.start, 0.0) and axis.end is not None and _is(axis.end, 1.0))
    return not cropped and axis.count == axis.size and (isinstance(axis.count, int) or _is(axis.scale, 1.0))


def _is(number: Numbers, value: float) -> bool:
    return isinstance(number, np.ndarray) and float(number) == value


def _repeats(f: FoldedFormula, axis: Axis, method: _Method) -> int:
    """How often resizing repeats each element, whatever the size; 0 if that is not what it does."""
    if isinstance(axis.scale, SSAValue) or method.coordinates in ("align_corners", "tf_crop_and_resize"):
        return 0
    factor, size = int(axis.scale), 5  # Five elements show it.
    if factor != axis.scale or factor < 1 or size * factor > MOST_KNOWN:
        return 0
    found = Places(f, Axis(size, size * factor, axis.scale), method.coordinates).nearest(method.rounding)
    assert isinstance(found, np.ndarray)
    return factor if bool((found == np.arange(size * factor) // factor).all()) else 0


def _repeat(ctx: NodeContext, x: SSAValue, factors: Mapping[int, int]) -> SSAValue:
    """Each element as often as its axes say: one copy, whatever the number of axes."""
    if not factors:
        return x
    apart: list[Dim] = []
    repeated: list[Dim] = []
    merged: list[Dim] = []
    for axis, size in enumerate(dims_of(x.type)):
        factor = factors.get(axis, 1)
        apart += [size] if factor == 1 else [size, 1]
        repeated += [size] if factor == 1 else [size, factor]
        merged.append(size * factor)
    wide = ctx.emit(ExpandOp(ctx.emit(ReshapeOp(x, apart)), repeated))
    return ctx.emit(ReshapeOp(wide, merged))


def _gathered(f: FoldedFormula, x: SSAValue, axis: int, places: Numbers) -> SSAValue:
    return f.ctx.emit(GatherOp(x, f.tensor(f.converted(places, i64)), axis))


def _interpolated(f: FoldedFormula, x: SSAValue, axis: int, places: Numbers, weights: Numbers) -> SSAValue:
    """`sum(weights[.., t] * x[.., places[.., t], ..], t)`; few terms one by one."""
    element, (count, taps) = element_type_of(x), _shape(weights)
    behind = [1] * (len(dims_of(x.type)) - 1 - axis)
    weights = f.converted(weights, element)
    if not isinstance(taps, int) or taps > _FEW_TERMS:
        products = f(MulOp, _gathered(f, x, axis, places), f.reshape(f.tensor(weights), (count, taps, *behind)))
        return f.ctx.emit(ReduceSumOp(products, (axis + 1,)))
    total: SSAValue | None = None
    for tap in range(taps):
        place, weight = (_column(f, numbers, count, tap) for numbers in (places, weights))
        term = f(MulOp, _gathered(f, x, axis, place), f.reshape(f.tensor(weight), (count, *behind)))
        total = term if total is None else f(AddOp, total, term)
    assert total is not None
    return total


def _shape(numbers: Numbers) -> tuple[Dim, ...]:
    return numbers.shape if isinstance(numbers, np.ndarray) else dims_of(numbers.type)


def _column(f: FoldedFormula, numbers: Numbers, count: Dim, tap: int) -> Numbers:
    if isinstance(numbers, np.ndarray):
        return numbers[:, tap]
    return f.reshape(f.ctx.emit(SliceOp(numbers, [0, tap], [count, 1], [1, 1])), (count,))


HANDLERS: Mapping[str, Handler] = {"Resize": _resize, "Upsample": _upsample}
"""Operators that resize by name."""
