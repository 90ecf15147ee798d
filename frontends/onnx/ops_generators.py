"""Tensors from attributes and shapes: constants and sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.arithmetic import AddOp
from aicc.dialects.graph.choice import CastOp, WhereOp
from aicc.dialects.graph.comparison import EqOp, LtOp
from aicc.dialects.graph.constants import IotaOp
from aicc.dialects.graph.dims import Dim, dim_prod, tensor_type
from aicc.dialects.graph.dtypes import is_float
from aicc.dialects.graph.movement import ExpandOp, SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.values import Value, constant_value, object_array, sizes_value


def _constant(ctx: NodeContext) -> Value:
    given = [name for name in _CONSTANT_KINDS if ctx.has_attr(name)]
    if len(given) != 1:
        ctx.fail("it has no value of a supported kind (a tensor, numbers or a list of numbers)")
    return constant_value(_CONSTANT_KINDS[given[0]](ctx), ctx.node.output[0])


_CONSTANT_KINDS: Mapping[str, Callable[[NodeContext], np.ndarray]] = {
    "value": lambda ctx: ctx.attr_tensor("value"),
    "value_float": lambda ctx: np.array(ctx.attr_float("value_float"), np.float32),
    "value_floats": lambda ctx: np.array(ctx.attr_floats("value_floats"), np.float32),
    "value_int": lambda ctx: np.array(ctx.attr_int("value_int"), np.int64),
    "value_ints": lambda ctx: np.array(ctx.attr_ints("value_ints"), np.int64),
}


def _constant_of_shape(ctx: NodeContext) -> Result:
    """A constant of one repeated element takes no memory: it is a view of that element."""
    fill = ctx.attr_tensor("value") if ctx.has_attr("value") else np.zeros(1, np.float32)
    if fill.size != 1:
        ctx.fail(f"attribute 'value' has {fill.size} elements, expected 1")
    shape = ctx.sizes(0, "shape")
    sizes = [size for size in shape if isinstance(size, int)]
    if any(size < 0 for size in sizes):
        ctx.fail(f"shape {sizes} has a negative size")
    element = fill.reshape(())
    if len(sizes) == len(shape):
        tensor_type(sizes, i64)  # refuses what cannot be addressed
        return constant_value(np.broadcast_to(element, sizes), ctx.node.output[0])
    return ctx.emit(ExpandOp(ctx.constant(element), shape))


def _shape(ctx: NodeContext) -> Value:
    dims = ctx.dims(0)
    start, end = ctx.attr_int("start", 0), ctx.attr_int("end", len(dims))
    return sizes_value(object_array(list(dims[start:end])), np.dtype(np.int64), ctx.node.output[0])


def _size(ctx: NodeContext) -> Value:
    return sizes_value(object_array([dim_prod(ctx.dims(0))], ()), np.dtype(np.int64), ctx.node.output[0])


def _eye_like(ctx: NodeContext) -> SSAValue:
    """1 where `column - row == k`, else 0."""
    if ctx.rank(0) != 2:
        ctx.fail(f"the input has rank {ctx.rank(0)}, expected 2")
    rows, columns = ctx.dims(0)
    element = ctx.attr_element("dtype") if ctx.has_attr("dtype") else ctx.element(0)
    row, column = ctx.emit(IotaOp(tensor_type([rows, 1], i64), 0)), ctx.emit(IotaOp(tensor_type([1, columns], i64), 1))
    shifted = ctx.emit(AddOp(row, ctx.scalar(ctx.attr_int("k", 0), i64)))
    return ctx.emit(CastOp(ctx.emit(EqOp(column, shifted)), element))


def _depth(ctx: NodeContext) -> Dim:
    """Input 1, which may be a float, of rank 0 or 1."""
    f = Formula(ctx)
    if not is_float(ctx.element(1)):
        return ctx.size(1, "depth")
    ctx.expect_one(1, "depth")
    if ctx.is_known(1):
        return ctx.whole(float(ctx.constant_input(1, "depth").reshape(())), "depth")
    return ctx.defined_size(f.reshape(f.cast(ctx.ssa(1), i64), ()), "depth")


def _one_hot(ctx: NodeContext) -> SSAValue:
    """`values[1]` where the index along a new axis is that in `indices` (negative: from the end), else `values[0]`."""
    f, depth, dims = Formula(ctx), _depth(ctx), ctx.dims(0)
    axis = ctx.axis(ctx.attr_int("axis", -1), len(dims) + 1)
    indices = f.reshape(f.cast(ctx.ssa(0), i64), (*dims[:axis], 1, *dims[axis:]))
    indices = f(WhereOp, f(LtOp, indices, 0), f(AddOp, indices, f.size(depth)), indices)
    places = f.places(depth, 0, 1 + len(dims) - axis)
    off, on = (f.reshape(ctx.emit(SliceOp(ctx.ssa(2), [i], [1])), ()) for i in (0, 1))
    return f(WhereOp, f(EqOp, indices, places), on, off)


HANDLERS: Mapping[str, Handler] = {
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "EyeLike": _eye_like,
    "OneHot": _one_hot,
    "Shape": _shape,
    "Size": _size,
}
