"""
Scalar bodies evaluated over whole numpy arrays.

Every scalar of a body stands for an array; arrays broadcast against each other, so that a value that does not vary over
an iteration dimension has size 1 there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from aicc.dialects.graph.dims import evaluate
from aicc.dialects.graph.dtypes import is_unsigned, numpy_dtype, signless
from aicc.dialects.packed import DotOp
from aicc.dialects.tensor_ops.body_ops import ExtractOp, IndexOp, SizeOp, YieldOp
from aicc.dialects.tensor_ops.scalar_tables import (
    CASTS,
    FLOAT_COMPARISONS,
    FUNCTIONS,
    INTEGER_COMPARISONS,
)

Array = np.ndarray[Any, np.dtype[Any]]


def scalar_array(attribute: Attribute) -> Array:
    """The rank-0 array of a scalar attribute, in the storage of bodies (integers signed)."""
    if isinstance(attribute, IntegerAttr):
        number = cast(IntegerAttr[IndexType | IntegerType], attribute)
        dtype = numpy_dtype(signless(number.type))
        value = number.value.data
        if dtype.kind == "b":
            return np.array(bool(value & 1))
        bits = 8 * dtype.itemsize
        value &= (1 << bits) - 1
        return np.array(value - (1 << bits) if value >> (bits - 1) else value, dtype)
    if isinstance(attribute, FloatAttr):
        return np.array(attribute.value.data, np.float64).astype(numpy_dtype(cast(FloatAttr, attribute).type))
    raise InterpretationError(f"{attribute} is no scalar constant")


def to_body_storage(array: Array) -> Array:
    """An array of a tensor as bodies see it: unsigned integers as signed ones of the same bits."""
    return array.view(np.dtype(f"int{8 * array.dtype.itemsize}")) if array.dtype.kind == "u" else array


def to_tensor_storage(array: Array, element_type: Attribute) -> Array:
    """The inverse of `to_body_storage` for a tensor of this element type."""
    if is_unsigned(element_type) and array.dtype.kind == "i":
        return array.view(numpy_dtype(element_type))
    return array


class ScalarEvaluator:
    """
    Evaluates blocks of scalar ops.

    `indices` holds the index array of each iteration dimension, `captured` finds the arrays of tensors that are read
    with `tensor_ops.extract`, `symbols` gives the values of symbolic sizes. Values that were computed are kept, so that
    parts of a block can be asked for one after the other.
    """

    def __init__(
        self, indices: Sequence[Array], captured: Callable[[SSAValue], Array], symbols: Mapping[str, int]
    ) -> None:
        self.indices = indices
        self.captured = captured
        self.symbols = symbols
        self.values: dict[SSAValue, Array] = {}

    def run(self, block: Block, args: Sequence[Array]) -> list[Array]:
        """The arrays that the block yields when its arguments are `args`."""
        self.values.update(zip(block.args, args, strict=True))
        result: list[Array] = []
        with np.errstate(all="ignore"):
            for op in block.ops:
                if isinstance(op, YieldOp):
                    result = [self.values[value] for value in op.values]
                else:
                    self.values[op.results[0]] = self.compute(op)
        return result

    def run_only(self, ops: Sequence[Operation]) -> None:
        """Computes some ops of a block, in their order."""
        with np.errstate(all="ignore"):
            for op in ops:
                self.values[op.results[0]] = self.compute(op)

    def compute(self, op: Operation) -> Array:
        """
        The array of the op's one result.

        Raises:
            InterpretationError: for an op that has no scalar meaning here.
        """
        if isinstance(op, arith.ConstantOp):
            return scalar_array(op.value)
        if isinstance(op, IndexOp):
            return self.indices[op.position]
        if isinstance(op, SizeOp):
            return np.array(evaluate(op.size, self.symbols), np.int64)
        if isinstance(op, ExtractOp):
            assert isinstance(op.tensor.type, TensorType)
            table = to_body_storage(self.captured(op.tensor))
            return np.asarray(table[tuple(self.values[index] for index in op.indices)])
        operands = [self.values[operand] for operand in op.operands]
        if isinstance(op, DotOp):
            return op.compute(*operands)
        if isinstance(op, arith.CmpiOp):
            return np.asarray(INTEGER_COMPARISONS[int(op.predicate.value.data)](*operands))
        if isinstance(op, arith.CmpfOp):
            return np.asarray(FLOAT_COMPARISONS[int(op.predicate.value.data)](*operands))
        if (cast := CASTS.get(op.name)) is not None:
            return np.asarray(cast(operands[0], numpy_dtype(op.results[0].type)))
        if (function := FUNCTIONS.get(op.name)) is not None:
            return np.asarray(function(*operands))
        raise InterpretationError(f"{op.name} has no meaning in a scalar body")
