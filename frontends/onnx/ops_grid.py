"""AffineGrid: places to sample an image at."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MaxOp, MulOp, SubOp
from aicc.dialects.graph.dims import Dim, shape_text
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.movement import SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext
from aicc.frontends.onnx.formulas import Formula


def _affine_grid(ctx: NodeContext) -> SSAValue:
    """
    `grid[n, .., :] = theta[n] @ (x, y, .., 1)` at each place of an image of shape `size[2:]`, with axes from -1 to 1.
    """
    f, element = Formula(ctx), ctx.element(0)
    wide = accumulator_type(element)
    batch, *space = _shape(ctx)
    rank = len(space)
    theta = f.cast(ctx.ssa(0), wide)
    ones: list[Dim] = [1] * rank

    def column(place: int) -> SSAValue:
        part = ctx.emit(SliceOp(theta, [0, 0, place], [batch, rank, 1]))
        return f.reshape(part, (batch, *ones, rank))

    result = column(rank)
    aligned = bool(ctx.attr_int("align_corners", 0))
    for place, axis in enumerate(reversed(range(rank))):
        shape: list[Dim] = [1] * (rank + 2)
        shape[1 + axis] = space[axis]
        points = f.reshape(_points(f, space[axis], wide, aligned=aligned), shape)
        result = f(AddOp, f(MulOp, column(place), points), result)
    return f.cast(f.expand(result, (batch, *space, rank)), element)


def _shape(ctx: NodeContext) -> tuple[Dim, ...]:
    """The sizes of the batch and of the axes of the image; the channels are of no interest."""
    theta, size = ctx.dims(0), ctx.sizes(1, "size")
    rank = len(size) - 2
    if rank not in (2, 3):
        ctx.fail(f"size (input 1) has {len(size)} entries, expected 4 or 5")
    if len(theta) != 3 or any(isinstance(a, int) and a != b for a, b in zip(theta[1:], (rank, rank + 1), strict=True)):
        ctx.fail(f"theta (input 0) has shape {shape_text(theta)}, expected [N, {rank}, {rank + 1}]")
    wanted = (size[0], rank, rank + 1)
    for axis, (found, expected) in enumerate(zip(theta, wanted, strict=True)):
        if found != expected:
            text = f"node '{ctx.name}': size {found} of axis {axis} of theta does not match size (input 1)"
            ctx.check_sizes(found, expected, text)
    return theta[0], *size[2:]


def _points(f: Formula, size: Dim, element: Attribute, *, aligned: bool) -> SSAValue:
    """Places of pixels: at -1 and 1 are the centres of the outermost ones if they are aligned, else their edges."""
    places, count = f.places(size, 0, 1, element), f.size(size, element)
    if aligned:
        # The only pixel is at -1.
        step = f(DivOp, 2.0, f(MaxOp, f(SubOp, count, 1.0), 1.0))
        return f(AddOp, f(MulOp, places, step), -1.0)
    return f(SubOp, f(DivOp, f(AddOp, f(MulOp, places, 2.0), 1.0), count), 1.0)


HANDLERS: Mapping[str, Handler] = {"AffineGrid": _affine_grid}
