"""Formulas of several ops, written with less noise: numbers stand for constants of the other operand's element type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp, IotaOp
from aicc.dialects.graph.dims import Dim, dims_of, tensor_type
from aicc.dialects.graph.dtypes import element_type, numpy_dtype
from aicc.dialects.graph.interfaces import ExecutableOp, element_type_of
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp, TransposeOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.onnx.context import NodeContext


class Formula:
    """Adds ops for one node."""

    def __init__(self, ctx: NodeContext):
        self.ctx = ctx

    def __call__(self, op: Callable[..., Operation], *operands: SSAValue | float) -> SSAValue:
        """An op on tensors and numbers; these have the element type of the last tensor."""
        element = next(element_type_of(operand) for operand in operands[::-1] if isinstance(operand, SSAValue))
        return self.ctx.emit(op(*(self._tensor(operand, element) for operand in operands)))

    def _tensor(self, operand: SSAValue | float, element: Attribute) -> SSAValue:
        return operand if isinstance(operand, SSAValue) else self.ctx.scalar(operand, element)

    def cast(self, x: SSAValue, element: Attribute) -> SSAValue:
        """`x` with another element type; no op if it has that already."""
        return x if element_type_of(x) == element else self.ctx.emit(CastOp(x, element))

    def reshape(self, x: SSAValue, shape: Sequence[Dim]) -> SSAValue:
        """`x` in another shape; no op if it has that already."""
        return x if dims_of(x.type) == tuple(shape) else self.ctx.emit(ReshapeOp(x, tuple(shape)))

    def expand(self, x: SSAValue, shape: Sequence[Dim]) -> SSAValue:
        """`x` repeated along axes of size 1; no op if it has the shape already."""
        return x if dims_of(x.type) == tuple(shape) else self.ctx.emit(ExpandOp(x, tuple(shape)))

    def transpose(self, x: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """`x` with its axes in another order; no op if that is the one they have."""
        if list(permutation) == list(range(len(permutation))):
            return x
        return self.ctx.emit(TransposeOp(x, tuple(permutation)))

    def places(self, size: Dim, axis: int, rank: int, element: Attribute = i64) -> SSAValue:
        """`0 .. size - 1` along one of `rank` axes; the others have size 1."""
        shape: list[Dim] = [1] * rank
        shape[axis] = size
        return self.cast(self.ctx.emit(IotaOp(tensor_type(shape, i64), axis)), element)

    def size(self, size: Dim, element: Attribute = i64) -> SSAValue:
        """A size as a tensor of rank 0."""
        if isinstance(size, int):
            return self.ctx.scalar(size, element)
        return self.cast(self.reshape(self.ctx.emit(SizesOp([size])), ()), element)


Array = np.ndarray[Any, np.dtype[Any]]


class FoldedFormula(Formula):
    """A formula that is worked out at once, by the numpy meaning of its ops, as far as its operands are arrays."""

    def tensor(self, value: SSAValue | Array) -> SSAValue:
        """A tensor for a value."""
        return value if isinstance(value, SSAValue) else self.ctx.constant(value)

    def number(self, size: Dim) -> SSAValue | Array:
        """A size in f64, of rank 0."""
        return np.array(float(size)) if isinstance(size, int) else self.size(size, f64)

    def count(self, value: SSAValue | Array, what: str) -> Dim:
        """A number as a size: a symbol where only data tells it."""
        if isinstance(value, SSAValue):
            return self.ctx.defined_size(self.cast(value, i64), what)
        return self.ctx.whole(float(value), what)

    def converted(self, value: SSAValue | Array, element: Attribute) -> SSAValue | Array:
        """A value with another element type."""
        return self.cast(value, element) if isinstance(value, SSAValue) else value.astype(numpy_dtype(element))

    def fold(self, op: Callable[..., Operation], *operands: SSAValue | Array | float) -> SSAValue | Array:
        """An op on tensors, arrays and numbers; these have the element type of the last tensor or array."""
        element = next(_element(operand) for operand in operands[::-1] if isinstance(operand, SSAValue | np.ndarray))
        arrays = [
            np.array(operand, numpy_dtype(element)) if isinstance(operand, float | int) else operand
            for operand in operands
        ]
        known = [array for array in arrays if isinstance(array, np.ndarray)]
        if len(known) == len(arrays):
            made = op(*(ConstantOp.from_array(array, "") for array in known))
            assert isinstance(made, ExecutableOp)
            return np.asarray(made.evaluate(known, {})[0])
        return self.ctx.emit(op(*(self.tensor(array) for array in arrays)))


def _element(value: SSAValue | Array) -> Attribute:
    return element_type_of(value) if isinstance(value, SSAValue) else element_type(value.dtype)
