"""Operators that move elements by their index alone: reshaping, slicing, padding, repeating, joining."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import GeOp, LeOp
from aicc.dialects.graph.dims import (
    Dim,
    SymExpr,
    ceildiv,
    dim_max,
    dim_min,
    dim_prod,
    floordiv,
    provably_different,
    shape_text,
)
from aicc.dialects.graph.movement import ConcatOp, ExpandOp, ReshapeOp, SplitOp, TransposeOp
from aicc.frontends.onnx import shapes_from_data
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.run_time_axes import RunTimeAxes


def _reshaped(ctx: NodeContext, shape: Sequence[Dim]) -> Result:
    """Input 0 in another shape; no op if it has that already."""
    if tuple(shape) == ctx.dims(0):
        return ctx.value(0)
    return ctx.emit(ReshapeOp(ctx.ssa(0), tuple(shape)))


def _reshape(ctx: NodeContext) -> Result:
    """0 stands for the size in the same place (unless `allowzero`), -1 for what is left."""
    dims, allow_zero = ctx.dims(0), bool(ctx.attr_int("allowzero", 0))
    if not ctx.is_known(1):
        return shapes_from_data.reshape(ctx)
    wanted = list(ctx.sizes(1, "shape"))
    for i, size in enumerate(wanted):
        if isinstance(size, int) and size < -1:
            ctx.fail(f"shape {shape_text(wanted)} has a negative size")
        if size == 0 and not allow_zero:
            if i >= len(dims):
                ctx.fail(f"shape {shape_text(wanted)} has 0 at place {i}, but the input has rank {len(dims)}")
            wanted[i] = dims[i]
    if wanted.count(-1) > 1:
        ctx.fail(f"shape {shape_text(wanted)} has -1 twice")
    if -1 in wanted:
        if allow_zero and 0 in wanted:
            ctx.fail(f"shape {shape_text(wanted)} has 0 and -1, so that -1 cannot be inferred")
        wanted[wanted.index(-1)] = _rest(ctx, dims, [size for size in wanted if size != -1])
    return _reshaped(ctx, wanted)


def _rest(ctx: NodeContext, dims: Sequence[Dim], given: Sequence[Dim]) -> Dim:
    """`prod(dims) / prod(given)`; equal sizes are struck out first, as the sizes might be 0."""
    left, right = list(dims), list(given)
    for size in dims:
        if size in right:
            left.remove(size)
            right.remove(size)
    total, divisor = dim_prod(left), dim_prod(right)
    if divisor == 0:
        ctx.fail(f"-1 cannot be inferred for an input of shape {shape_text(dims)} and sizes {shape_text(given)}")
    if isinstance(total, int) and isinstance(divisor, int) and total % divisor:
        ctx.fail(f"an input of shape {shape_text(dims)} cannot have sizes {shape_text([*given, -1])}")
    return floordiv(total, divisor)


def _flatten(ctx: NodeContext) -> Result:
    dims = ctx.dims(0)
    axis = ctx.axis(ctx.attr_int("axis", 1), len(dims), past_end=True)
    return _reshaped(ctx, (dim_prod(dims[:axis]), dim_prod(dims[axis:])))


def _given_axes(ctx: NodeContext, rank: int) -> tuple[int, ...] | None:
    """Axes from the attribute (opset < 13) or input 1."""
    if ctx.has(1):
        return ctx.axes(ctx.numbers(1, "axes"), rank)
    return ctx.axes(ctx.attr_ints("axes"), rank) if ctx.has_attr("axes") else None


def _axes_at_run_time(ctx: NodeContext) -> bool:
    return ctx.has(1) and not ctx.is_known(1)


def _squeeze(ctx: NodeContext) -> Result:
    dims = ctx.dims(0)
    if _axes_at_run_time(ctx):
        return _reshaped(ctx, RunTimeAxes(ctx, 1, len(dims)).without(dims))
    axes = _given_axes(ctx, len(dims))
    if axes is None:
        axes = _axes_of_size_one(ctx, dims)
    for axis in axes:
        if isinstance(dims[axis], int) and dims[axis] != 1:
            ctx.fail(f"axis {axis} has size {dims[axis]}, expected 1")
    return _reshaped(ctx, [size for i, size in enumerate(dims) if i not in axes])


def _axes_of_size_one(ctx: NodeContext, dims: Sequence[Dim]) -> tuple[int, ...]:
    """
    Axes of which only a run tells the size count as well if the rank that the model declares of the result needs all of
    them, else none does. The run is ended if that is not so.
    """
    known = tuple(i for i, size in enumerate(dims) if size == 1)
    open_axes = tuple(i for i, size in enumerate(dims) if isinstance(size, SymExpr))
    rank = ctx.scope.declared_rank(ctx.node.output[0])
    wanted = len(known) if rank is None else len(dims) - rank
    if wanted not in (len(known), len(known) + len(open_axes)):
        found = f"the sizes {shape_text(dims)}"
        ctx.fail(
            f"axes are not given, and which of {found} are 1 for a result of rank {rank} is only known at run time"
        )
    if wanted != len(known):
        return tuple(sorted((*known, *open_axes)))  # The new shape has as many elements only if they are 1.
    for i in open_axes:
        size = dims[i]
        if not provably_different(size, 1):
            apart = dim_min(1, dim_max(size - 1, 1 - size))
            text = f"node '{ctx.name}': axes are not given, and size {size} of axis {i} is taken not to be 1"
            ctx.check_sizes(apart, 1, text)
    return known


def _unsqueeze(ctx: NodeContext) -> Result:
    dims = list(ctx.dims(0))
    if _axes_at_run_time(ctx):
        ctx.expect_rank(1, 0, 1)
        (count,) = ctx.dims(1) or (1,)
        if not isinstance(count, int):
            ctx.fail(f"there are {count} axes, so the rank of the result is not known")
        return _reshaped(ctx, RunTimeAxes(ctx, 1, len(dims) + count).inserted(dims))
    count = len(ctx.numbers(1, "axes") if ctx.has(1) else ctx.attr_ints("axes"))
    axes = _given_axes(ctx, len(dims) + count)
    for axis in sorted(axes or ()):
        dims.insert(axis, 1)
    return _reshaped(ctx, dims)


def _transpose(ctx: NodeContext) -> Result:
    rank = ctx.rank(0)
    perm = ctx.attr_ints("perm", tuple(reversed(range(rank))))
    if perm == tuple(range(rank)):
        return ctx.value(0)
    return ctx.emit(TransposeOp(ctx.ssa(0), perm))


def _concat(ctx: NodeContext) -> Result:
    if len(ctx.inputs) == 1:
        return ctx.value(0)
    values = ctx.every()
    return ctx.emit(ConcatOp(values, ctx.axis(ctx.attr_int("axis"), ctx.rank(0))))


def _split(ctx: NodeContext) -> Sequence[Result]:
    axis = ctx.axis(ctx.attr_int("axis", 0), ctx.rank(0))
    size, count = ctx.dims(0)[axis], len(ctx.node.output)
    if ctx.has(1):
        sizes = ctx.sizes(1, "split", most=count)
    elif ctx.has_attr("split"):
        sizes = ctx.attr_ints("split")
    else:
        # Equal parts; from opset 18 on the last one may be smaller.
        wanted = ctx.attr_int("num_outputs", count)
        if wanted != count:
            ctx.fail(f"num_outputs is {wanted}, but it has {count} outputs")
        part = ceildiv(size, count)
        if ctx.version < 18 and isinstance(size, int) and size % count:
            ctx.fail(f"size {size} of axis {axis} cannot be split into {count} equal parts")
        sizes = (*[part] * (count - 1), size - part * (count - 1))
    if len(sizes) != len(ctx.node.output):
        ctx.fail(f"it has {len(ctx.node.output)} outputs for {len(sizes)} parts")
    if len(sizes) == 1:
        return [ctx.value(0)]
    return ctx.emit_all(SplitOp(ctx.ssa(0), axis, sizes))


def _expand(ctx: NodeContext) -> Result:
    """A size of the input that is not 1 stays; one that only may be 1 is taken to be what is asked for."""
    if not ctx.is_known(1):
        return shapes_from_data.expand(ctx)
    wanted, dims = list(ctx.sizes(1, "shape")), list(ctx.dims(0))
    rank = max(len(wanted), len(dims))
    wanted, dims = [1] * (rank - len(wanted)) + wanted, [1] * (rank - len(dims)) + dims
    result: list[Dim] = []
    for size, target in zip(dims, wanted, strict=True):
        if isinstance(target, int) and target < 0:
            ctx.fail(f"shape {shape_text(wanted)} has a negative size")
        fixed = isinstance(size, int) and size != 1
        if fixed and isinstance(target, int) and target not in (1, size):
            ctx.fail(f"an input of shape {shape_text(dims)} cannot be expanded to {shape_text(wanted)}")
        result.append(size if target == 1 or fixed else target)
    if tuple(result) == ctx.dims(0):
        return ctx.value(0)
    return ctx.emit(ExpandOp(ctx.ssa(0), result))


def _tile(ctx: NodeContext) -> Result:
    """Repeats along an axis become an axis of their own before it, and are merged with it afterwards."""
    dims, repeats = ctx.dims(0), ctx.sizes(1, "repeats")
    if len(repeats) != len(dims):
        ctx.fail(f"repeats has {len(repeats)} entries for an input of rank {len(dims)}")
    if all(count == 1 for count in repeats):
        return ctx.value(0)
    x, before, expanded = ctx.ssa(0), list[Dim](), list[Dim]()
    for size, count in zip(dims, repeats, strict=True):
        if isinstance(count, int) and count < 0:
            ctx.fail(f"repeats {shape_text(repeats)} has a negative entry")
        before += [size] if count == 1 or size == 1 else [1, size]
        expanded += [count] if size == 1 else [size] if count == 1 else [count, size]
    if len(before) != len(dims):
        x = ctx.emit(ReshapeOp(x, before))
    x = ctx.emit(ExpandOp(x, expanded))
    result = [size * count for size, count in zip(dims, repeats, strict=True)]
    return ctx.emit(ReshapeOp(x, result)) if len(before) != len(dims) else x


def _blocks(ctx: NodeContext) -> tuple[int, tuple[Dim, ...]]:
    size, dims = ctx.attr_int("blocksize"), ctx.dims(0)
    if len(dims) != 4 or size < 1:
        ctx.fail(f"blocksize is {size} and the input has rank {len(dims)}, expected at least 1 and rank 4")
    return size, dims


def _depth_to_space(ctx: NodeContext) -> SSAValue:
    block, (n, c, h, w) = _blocks(ctx)
    if isinstance(c, int) and c % (block * block):
        ctx.fail(f"{c} channels are no multiple of the squared blocksize {block}")
    depth = floordiv(c, block * block)
    match ctx.attr_str("mode", "DCR"):
        case "DCR":
            shape, perm = (n, block, block, depth, h, w), (0, 3, 4, 1, 5, 2)
        case "CRD":
            shape, perm = (n, depth, block, block, h, w), (0, 1, 4, 2, 5, 3)
        case mode:
            ctx.fail(f"mode is '{mode}', expected DCR or CRD")
    x = ctx.emit(TransposeOp(ctx.emit(ReshapeOp(ctx.ssa(0), shape)), perm))
    return ctx.emit(ReshapeOp(x, (n, depth, h * block, w * block)))


def _space_to_depth(ctx: NodeContext) -> SSAValue:
    block, (n, c, h, w) = _blocks(ctx)
    for size in (h, w):
        if isinstance(size, int) and size % block:
            ctx.fail(f"size {size} is no multiple of the blocksize {block}")
    rows, columns = floordiv(h, block), floordiv(w, block)
    match ctx.attr_str("mode", "DCR"):
        case "DCR":
            perm = (0, 3, 5, 1, 2, 4)
        case "CRD":
            perm = (0, 1, 3, 5, 2, 4)
        case mode:
            ctx.fail(f"mode is '{mode}', expected DCR or CRD")
    x = ctx.emit(ReshapeOp(ctx.ssa(0), (n, c, rows, block, columns, block)))
    x = ctx.emit(TransposeOp(x, perm))
    return ctx.emit(ReshapeOp(x, (n, c * block * block, rows, columns)))


def _trilu(ctx: NodeContext) -> SSAValue:
    """Keeps the elements with `column - row >= k` (upper) or `<= k` (lower)."""
    dims = ctx.dims(0)
    if len(dims) < 2:
        ctx.fail(f"the input has rank {len(dims)}, expected at least 2")
    f = Formula(ctx)
    row, column = f.places(dims[-2], 0, 2), f.places(dims[-1], 1, 2)
    if ctx.has(1):
        row = f(AddOp, row, f.reshape(f.cast(ctx.ssa(1), i64), ()))
    compare = GeOp if ctx.attr_int("upper", 1) else LeOp
    return f(WhereOp, f(compare, column, row), ctx.ssa(0), 0)


HANDLERS: Mapping[str, Handler] = {
    "Concat": _concat,
    "DepthToSpace": _depth_to_space,
    "Expand": _expand,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Trilu": _trilu,
    "Unsqueeze": _unsqueeze,
}
