"""Operators that read between elements, or put overlapping blocks back: grids, deformable convolution, `Col2Im`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import f32, i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, DivOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import GeOp, LtOp
from aicc.dialects.graph.dims import Dim, dim_prod, floordiv, provably_different, shape_text
from aicc.dialects.graph.dtypes import accumulator_type, is_float
from aicc.dialects.graph.indexing import ScatterElementsOp
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.windows import WindowAxis, window_axes
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.ops_nn import image_rank
from aicc.frontends.onnx.sampling import Border, Method, Sampling, part

_METHODS: Mapping[str, Method] = {
    "linear": "linear",
    "bilinear": "linear",
    "nearest": "nearest",
    "cubic": "cubic",
    "bicubic": "cubic",
}
_BORDERS: Mapping[str, Border] = {"zeros": "zeros", "border": "border", "reflection": "reflection"}


def _grid_sample(ctx: NodeContext) -> SSAValue:
    """
    Positions are in the last axis of the grid, those of the last axis of space first; -1 and 1 are the ends of an axis:
    with `align_corners` its outermost elements, else the edges of these.
    """
    rank = image_rank(ctx)
    mode, padding = ctx.attr_str("mode", "linear"), ctx.attr_str("padding_mode", "zeros")
    if mode not in _METHODS or padding not in _BORDERS:
        modes, borders = ", ".join(_METHODS), ", ".join(_BORDERS)
        ctx.fail(f"mode is '{mode}' and padding_mode '{padding}', expected one of {modes} and one of {borders}")
    batch, channels, *space = ctx.dims(0)
    grid = ctx.dims(1)
    if len(grid) != rank or grid[-1] != rank - 2:
        ctx.fail(f"the grid has shape {shape_text(grid)}, expected [{batch}, .., {rank - 2}] with {rank} axes")
    f, element = Formula(ctx), ctx.element(0)
    wide = accumulator_type(element) if is_float(element) else f32
    corners = bool(ctx.attr_int("align_corners", 0))
    points = dim_prod(grid[1:-1])
    places = f.cast(f.reshape(ctx.ssa(1), (batch, points, rank - 2)), wide)
    positions: list[SSAValue] = []
    for axis, size in enumerate(space):
        place, extent = f(AddOp, part(f, places, 2, rank - 3 - axis), 1), f.size(size, wide)
        if corners:
            positions.append(f(MulOp, f(DivOp, place, 2), f(SubOp, extent, 1)))
        else:
            positions.append(f(DivOp, f(SubOp, f(MulOp, place, extent), 1), 2))
    sampling = Sampling(_METHODS[mode], _BORDERS[padding], corners)
    result = sampling(f, f.cast(ctx.ssa(0), wide), positions)
    return f.cast(f.reshape(result, (batch, channels, *grid[1:-1])), element)


def _window(ctx: NodeContext, sizes: Sequence[Dim], kernel: Sequence[Dim]) -> tuple[WindowAxis, ...]:
    space = len(sizes)
    strides, dilations = ctx.attr_ints("strides", (1,) * space), ctx.attr_ints("dilations", (1,) * space)
    return window_axes(sizes, kernel, strides, ctx.attr_ints("pads", (0,) * 2 * space), dilations)


def _tap_positions(f: Formula, axes: Sequence[WindowAxis]) -> list[SSAValue]:
    """For each axis, the position of tap `k` of window `o`: `o * stride + k * dilation - low`, `[k.., o..]`."""
    rank = len(axes)
    positions: list[SSAValue] = []
    for i, axis in enumerate(axes):
        windows = f(MulOp, f.places(axis.count(), rank + i, 2 * rank), axis.stride)
        taps = f(MulOp, f.places(axis.kernel, i, 2 * rank), axis.dilation)
        positions.append(f(SubOp, f(AddOp, windows, taps), f.size(axis.low)))
    return positions


def _deform_conv(ctx: NodeContext) -> SSAValue:
    """
    A convolution whose taps are moved by `offset` and weighted by `mask`; between elements they are interpolated
    linearly.

    Everything is laid out as the matrix product of weights and columns of taps.
    """
    image_rank(ctx)
    f, element = Formula(ctx), ctx.element(0)
    wide = accumulator_type(element)
    ctx.expect_rank(1, ctx.rank(0))
    batch, channels, *space = ctx.dims(0)
    outputs, inner, *kernel = ctx.dims(1)
    groups, offset_groups = ctx.attr_int("group", 1), ctx.attr_int("offset_group", 1)
    if not isinstance(channels, int) or not isinstance(outputs, int) or len(kernel) != len(space):
        ctx.fail(f"input and weight have shapes {shape_text(ctx.dims(0))} and {shape_text(ctx.dims(1))}")
    if min(groups, offset_groups) < 1 or channels % offset_groups or channels % groups or outputs % groups:
        ctx.fail(f"group {groups} and offset_group {offset_groups} do not divide {channels} and {outputs} channels")
    axes = _window(ctx, space, kernel)
    counts, taps = [axis.count() for axis in axes], dim_prod(kernel)
    points = dim_prod(counts)
    sets = batch * offset_groups
    offset = f.cast(f.reshape(ctx.ssa(2), (sets, taps, len(space), points)), wide)
    positions: list[SSAValue] = []
    for i, place in enumerate(_tap_positions(f, axes)):
        place = f.cast(f.reshape(f.expand(place, [*kernel, *counts]), (taps, points)), wide)
        positions.append(f.reshape(f(AddOp, part(f, offset, 2, i), place), (sets, taps * points)))
    image = f.reshape(f.cast(ctx.ssa(0), wide), (sets, channels // offset_groups, *space))
    columns = Sampling("linear", "zeros")(f, image, positions)
    if ctx.has(4):
        mask = f.cast(f.reshape(ctx.ssa(4), (sets, 1, taps * points)), wide)
        columns = f(MulOp, columns, mask)
    columns = f.reshape(columns, (batch, groups, channels // groups * taps, points))
    weights = f.reshape(f.cast(ctx.ssa(1), wide), (groups, outputs // groups, inner * taps))
    result = f.reshape(ctx.emit(MatmulOp(weights, columns)), (batch, outputs, *counts))
    if ctx.has(3):
        result = f(AddOp, result, f.reshape(f.cast(ctx.ssa(3), wide), (outputs, *[1] * len(counts))))
    return f.cast(result, element)


def _col2im(ctx: NodeContext) -> SSAValue:
    """Adds the elements of each block where the block lies in the image; what lies in the padding is dropped."""
    f, element = Formula(ctx), ctx.element(0)
    image, block = ctx.sizes(1, "image_shape"), ctx.sizes(2, "block_shape")
    if ctx.rank(0) != 3 or len(image) != len(block):
        ctx.fail(f"shapes are {shape_text(ctx.dims(0))}, image {shape_text(image)} and block {shape_text(block)}")
    batch, rows, blocks = ctx.dims(0)
    axes = _window(ctx, image, block)
    counts, taps = [axis.count() for axis in axes], dim_prod(block)
    if provably_different(dim_prod(counts), blocks):
        ctx.fail(f"there are {dim_prod(counts)} blocks in the image, but the input has {blocks}")
    channels = floordiv(rows, taps)
    whole: list[Dim] = [*block, *counts]
    index: SSAValue | None = None
    inside: SSAValue | None = None
    for place, size in zip(_tap_positions(f, axes), image, strict=True):
        extent = f.size(size)
        within = f(AndOp, f(GeOp, place, 0), f(LtOp, place, extent))
        inside = within if inside is None else f(AndOp, inside, within)
        index = place if index is None else f(AddOp, f(MulOp, index, extent), place)
    assert index is not None and inside is not None
    index = f.reshape(f.expand(f(WhereOp, inside, index, 0), whole), (1, taps * blocks))
    inside = f.reshape(f.expand(inside, whole), (1, taps * blocks))
    planes = batch * channels
    values = f(WhereOp, inside, f.reshape(ctx.ssa(0), (planes, taps * blocks)), 0)
    zeros = f.expand(ctx.scalar(0, element), (planes, dim_prod(image)))
    index = f.expand(f.cast(index, i64), (planes, taps * blocks))
    result = ctx.emit(ScatterElementsOp(zeros, index, values, 1, reduction="add"))
    return f.reshape(result, (batch, channels, *image))


HANDLERS: Mapping[str, Handler] = {
    "Col2Im": _col2im,
    "DeformConv": _deform_conv,
    "GridSample": _grid_sample,
}
