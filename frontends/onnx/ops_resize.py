"""
Resizing by nearest neighbours and by linear interpolation, one axis after the other.

Each result index has a place in the input (`coordinate_transformation_mode`); places are worked out here, in f64, so
the sizes of axes that change must be constants. An axis that grows by an integer factor with each element repeated is
an expansion and may be symbolic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, MulOp
from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.dtypes import is_float, numpy_dtype
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result

Places = Callable[[int, int, float], np.ndarray]
"""(input size, result size, scale) -> place in the input of each result index."""


def _indices(count: int) -> np.ndarray:
    return np.arange(count, dtype=np.float64)


def _half_pixel(size: int, count: int, scale: float) -> np.ndarray:
    return (_indices(count) + 0.5) / scale - 0.5


def _half_pixel_symmetric(size: int, count: int, scale: float) -> np.ndarray:
    offset = size / 2 * (1 - count / (size * scale))
    return offset + (_indices(count) + 0.5) / scale - 0.5


def _pytorch_half_pixel(size: int, count: int, scale: float) -> np.ndarray:
    return _half_pixel(size, count, scale) if count > 1 else np.zeros(count)


def _align_corners(size: int, count: int, scale: float) -> np.ndarray:
    """The length of the result is not rounded here where a scale is given."""
    return _indices(count) * (size - 1) / (size * scale - 1) if count > 1 else np.zeros(count)


def _asymmetric(size: int, count: int, scale: float) -> np.ndarray:
    return _indices(count) / scale


_PLACES: Mapping[str, Places] = {
    "align_corners": _align_corners,
    "asymmetric": _asymmetric,
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
}

_NEAREST: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "ceil": np.ceil,
    "floor": np.floor,
    "round_prefer_ceil": lambda places: np.floor(places + 0.5),
    "round_prefer_floor": lambda places: np.ceil(places - 0.5),
}


def _resize(ctx: NodeContext) -> Result:
    mode = ctx.attr_str("mode", "nearest")
    places = ctx.attr_str("coordinate_transformation_mode", "half_pixel" if ctx.version >= 11 else "asymmetric")
    rounding = ctx.attr_str("nearest_mode", "round_prefer_floor" if ctx.version >= 11 else "floor")
    if mode not in ("nearest", "linear") or places not in _PLACES or rounding not in _NEAREST:
        ctx.fail(f"mode '{mode}' with coordinates '{places}' and rounding '{rounding}' is not supported")
    if ctx.attr_int("antialias", 0):
        ctx.fail("antialiasing is not supported")
    if ctx.attr_str("keep_aspect_ratio_policy", "stretch") != "stretch":
        ctx.fail("keeping the aspect ratio is not supported")
    first = 1 if ctx.version < 11 else 2
    rank = ctx.rank(0)
    axes = ctx.axes(ctx.attr_ints("axes", tuple(range(rank))), rank)
    scales: Sequence[float | None] = [None] * len(axes)
    sizes: Sequence[Dim | None] = [None] * len(axes)
    if ctx.has(3):
        sizes = ctx.sizes(3, "sizes")
    else:
        scales = ctx.constant_input(first, "scales").ravel().astype(np.float64).tolist()
    if len(scales) != len(axes) or len(sizes) != len(axes):
        ctx.fail(f"there are {len(scales)} scales and {len(sizes)} sizes for {len(axes)} axes")
    return _all_axes(ctx, axes, scales, sizes, mode, _PLACES[places], _NEAREST[rounding])


def _upsample(ctx: NodeContext) -> Result:
    """The predecessor of `Resize`: places are `i / scale`, rounded down."""
    mode = ctx.attr_str("mode", "nearest")
    if mode not in ("nearest", "linear", "bilinear"):
        ctx.fail(f"mode '{mode}' is not supported")
    given = ctx.attr_floats("scales") if ctx.version < 9 else ctx.constant_input(1, "scales").ravel().tolist()
    axes, scales = range(ctx.rank(0)), [float(scale) for scale in given]
    if len(scales) != len(axes):
        ctx.fail(f"there are {len(scales)} scales for {len(axes)} axes")
    mode = "nearest" if mode == "nearest" else "linear"
    return _all_axes(ctx, axes, scales, [None] * len(axes), mode, _asymmetric, np.floor)


def _all_axes(
    ctx: NodeContext,
    axes: Sequence[int],
    scales: Sequence[float | None],
    sizes: Sequence[Dim | None],
    mode: str,
    places: Places,
    rounding: Callable[[np.ndarray], np.ndarray],
) -> Result:
    if mode == "linear" and not is_float(ctx.element(0)):
        ctx.fail(f"linear interpolation of {ctx.element(0)} is not supported")
    repeats = {
        axis: int(scale)
        for axis, scale in zip(axes, scales, strict=True)
        if mode == "nearest" and scale is not None and _repeats(int(scale), scale, places, rounding)
    }
    x = _repeat(ctx, ctx.ssa(0), repeats) if any(factor > 1 for factor in repeats.values()) else ctx.ssa(0)
    for axis, scale, wanted in zip(axes, scales, sizes, strict=True):
        size = dims_of(x.type)[axis]
        if scale == 1 or wanted == size or axis in repeats:
            continue
        if not isinstance(size, int) or not isinstance(wanted, int | None):
            ctx.fail(f"axis {axis} of size {size} is resized to {wanted or f'{scale} times that'}; expected constants")
        count = wanted if wanted is not None else int(np.floor(size * (scale or 0)))
        factor = scale if scale is not None else count / size if size else 1.0
        if factor <= 0 or not size:
            ctx.fail(f"axis {axis} of size {size} is resized to {count}, expected at least 1")
        where = places(size, count, factor)
        if mode == "nearest":
            x = _gathered(ctx, x, axis, np.clip(rounding(where), 0, size - 1))
        else:
            x = _interpolated(ctx, x, axis, where, size)
    return ctx.value(0) if x is ctx.ssa(0) else x


def _repeats(factor: int, scale: float, places: Places, rounding: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether resizing by an integer factor repeats each element, whatever the size; tried on one that shows it."""
    if factor != scale or factor < 1:
        return False
    size = 5
    found = np.clip(rounding(places(size, size * factor, scale)), 0, size - 1)
    return bool((found == np.arange(size * factor) // factor).all()) and places is not _align_corners


def _repeat(ctx: NodeContext, x: SSAValue, factors: Mapping[int, int]) -> SSAValue:
    """Each element as often as its axes say: one copy, whatever the number of axes."""
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


def _gathered(ctx: NodeContext, x: SSAValue, axis: int, indices: np.ndarray) -> SSAValue:
    return ctx.emit(GatherOp(x, ctx.constant(indices.astype(np.int64)), axis))


def _interpolated(ctx: NodeContext, x: SSAValue, axis: int, where: np.ndarray, size: int) -> SSAValue:
    """`(1 - w) * x[floor(p)] + w * x[floor(p) + 1]` with `w = p - floor(p)`, beyond the ends the element there."""
    low = np.floor(where)
    weight = (where - low).astype(numpy_dtype(ctx.element(0)))
    shape = (-1, *[1] * (len(dims_of(x.type)) - 1 - axis))
    left = _gathered(ctx, x, axis, np.clip(low, 0, size - 1))
    right = _gathered(ctx, x, axis, np.clip(low + 1, 0, size - 1))
    a = ctx.emit(MulOp(left, ctx.constant((weight.dtype.type(1) - weight).reshape(shape))))
    return ctx.emit(AddOp(a, ctx.emit(MulOp(right, ctx.constant(weight.reshape(shape))))))


HANDLERS: Mapping[str, Handler] = {"Resize": _resize, "Upsample": _upsample}
"""Operators that resize by name."""
