"""Choosing elements of rows by their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, evaluate_dims, tensor_type
from aicc.dialects.graph.interfaces import ExecutableOp
from aicc.dialects.tensor_ops.ops import element_of

Array = np.ndarray[Any, np.dtype[Any]]


@irdl_op_definition
class TopKOp(IRDLOperation, ExecutableOp):
    """
    The places of the `count` largest keys of each row (the last axis), from the largest on; of equal keys the one with
    the lower place comes first.

    - (C1) keys are signed integers of 32 or 64 bits, of rank 1 or more
    - (C2) `count` is one size; whoever makes the op guarantees that rows have that many keys
    - (C3) the result is i64, with `count` as its last size

    ```mlir
    %i = tensor_ops.top_k %keys count #graph.shape<5> : tensor<2x9xi32> -> tensor<2x5xi64>
    ```
    """

    name = "tensor_ops.top_k"

    keys = operand_def(TensorType)
    count = prop_def(ShapeAttr)
    result = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = "$keys `count` qualified($count) attr-dict `:` type($keys) `->` type($result)"

    def __init__(self, keys: SSAValue | Operation, count: Dim):
        keys = SSAValue.get(keys)
        result = tensor_type([*dims_of(keys.type)[:-1], count], i64)
        super().__init__(operands=[keys], properties={"count": ShapeAttr([count])}, result_types=[result])

    @property
    def size(self) -> Dim:
        """`count` as a size."""
        return self.count.data[0]

    def verify_(self) -> None:
        element, dims = element_of(self.keys.type), dims_of(self.keys.type)
        if element not in (i32, i64) or not dims:  # C1
            raise VerifyException(f"keys have type {self.keys.type}, expected i32 or i64 of rank 1 or more")
        if len(self.count.data) != 1:  # C2
            raise VerifyException(f"count has {len(self.count.data)} sizes, expected one")
        if self.result.type != (expected := tensor_type([*dims[:-1], self.size], i64)):  # C3
            raise VerifyException(f"result has type {self.result.type}, expected {expected}")

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int]) -> Sequence[Array]:
        (count,) = evaluate_dims(self.count.data, symbols)
        # The complement reverses the order of signed integers and never overflows.
        order = np.argsort(~operands[0], axis=-1, kind="stable")
        return [np.ascontiguousarray(order[..., :count]).astype(np.int64, copy=False)]
