"""Shapes that data tells: what `Reshape` and `Expand` make of them."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.constants import IotaOp
from aicc.dialects.graph.dims import Dim, SymExpr, tensor_type
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp
from aicc.frontends.onnx.context import NodeContext
from aicc.frontends.onnx.numbers import Number, Numbers


def reshape(ctx: NodeContext) -> SSAValue:
    """0 stands for the size in the same place (unless `allowzero`), -1 for what is left."""
    numbers, dims = Numbers(ctx), ctx.dims(0)
    wanted = numbers.of(1, "shape")
    if not ctx.attr_int("allowzero", 0):
        wanted = [
            numbers.select(numbers.equal(size, 0), dims[axis], size) if axis < len(dims) else size
            for axis, size in enumerate(wanted)
        ]
    left = [numbers.equal(size, -1) for size in wanted]
    given = [numbers.select(is_rest, 1, size) for is_rest, size in zip(left, wanted, strict=True)]
    rest = numbers.floordiv(numbers.product(dims), numbers.product(given))
    shape = [
        numbers.size(numbers.select(is_rest, rest, size), f"size {axis} of the shape")
        for axis, (is_rest, size) in enumerate(zip(left, wanted, strict=True))
    ]
    return ctx.emit(ReshapeOp(ctx.ssa(0), shape))


def expand(ctx: NodeContext) -> SSAValue:
    """A size of the input that is 1 becomes the one asked for, any other stays, and must be it or asked to be 1."""
    numbers, dims = Numbers(ctx), list(ctx.dims(0))
    wanted = numbers.of(1, "shape")
    rank = max(len(wanted), len(dims))
    wanted = [*[1] * (rank - len(wanted)), *wanted]
    dims = [*[1] * (rank - len(dims)), *dims]
    x = ctx.emit(ReshapeOp(ctx.ssa(0), dims)) if len(dims) != ctx.rank(0) else ctx.ssa(0)
    shape: list[Dim] = []
    for axis, (dim, target) in enumerate(zip(dims, wanted, strict=True)):
        size = _expanded(numbers, axis, dim, target)
        if isinstance(dim, SymExpr) and size != dim:
            # Whether the axis is repeated is data as well.
            places = ctx.emit(IotaOp(tensor_type([size], i64)))
            x = ctx.emit(GatherOp(x, numbers.tensor(numbers.min(places, dim - 1)), axis))
        shape.append(size)
    return ctx.emit(ExpandOp(x, shape))


def _expanded(numbers: Numbers, axis: int, dim: Dim, target: Number) -> Dim:
    """The size of an axis of the result."""
    if isinstance(target, int) and target == 1:
        return dim
    size = numbers.select(numbers.equal(dim, 1), target, dim)
    if isinstance(target, SSAValue) and dim != 1:
        asked = numbers.select(numbers.equal(target, 1), size, target)
        found = numbers.size(asked, f"size {axis} of the shape")
        result = dim if isinstance(dim, int) else numbers.size(size, f"size {axis} of the result")
        numbers.ctx.check_sizes(found, result, f"size {axis} of the shape does not go with the input")
        return result
    return numbers.size(size, f"size {axis} of the shape")
