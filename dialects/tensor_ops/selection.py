"""Choosing elements of rows by their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import TensorType, f32, f64, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.dims import Dim, ShapeAttr, dims_of, evaluate_dims, shape_text, tensor_type
from aicc.dialects.graph.interfaces import ExecutableOp
from aicc.dialects.graph.non_max_suppression import chosen
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


@irdl_op_definition
class NonMaxSuppressionOp(IRDLOperation, ExecutableOp):
    """
    For each row of keys the places of up to `count` boxes, from the largest key on (of equal keys the lower place),
    without those of which more than `overlap` of the union is common with a box taken before.

    The lowest number of the keys' type stands for boxes that take no part. `places[b, c, j]` is 0 from
    `j = counts[b, c]` on. Boxes are (low, low, high, high) along their last axis.

    - (C1) `keys` is `[b, c, s]` of i32 or i64, `boxes` `[b, s, 4]` of f32 or f64
    - (C2) `overlap` is of rank 0 and has the type of the boxes
    - (C3) `count` is one size; whoever makes the op guarantees that rows have that many keys
    - (C4) the results are i64 of shape `[b, c, count]` and `[b, c]`

    ```mlir
    %p, %n = tensor_ops.non_max_suppression %keys of %boxes, %overlap count #graph.shape<5>
        : tensor<2x3x9xi32>, tensor<2x9x4xf32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
    ```
    """

    name = "tensor_ops.non_max_suppression"

    keys = operand_def(TensorType)
    boxes = operand_def(TensorType)
    overlap = operand_def(TensorType)
    count = prop_def(ShapeAttr)
    places = result_def(TensorType)
    counts = result_def(TensorType)

    traits = traits_def(Pure())
    assembly_format = (
        "$keys `of` $boxes `,` $overlap `count` qualified($count) attr-dict "
        "`:` type($keys) `,` type($boxes) `,` type($overlap) `->` type($places) `,` type($counts)"
    )

    def __init__(
        self,
        keys: SSAValue | Operation,
        boxes: SSAValue | Operation,
        overlap: SSAValue | Operation,
        count: Dim,
    ):
        outer = dims_of(SSAValue.get(keys).type)[:2]
        super().__init__(
            operands=[keys, boxes, overlap],
            properties={"count": ShapeAttr([count])},
            result_types=[tensor_type([*outer, count], i64), tensor_type(outer, i64)],
        )

    @property
    def size(self) -> Dim:
        """`count` as a size."""
        return self.count.data[0]

    def verify_(self) -> None:
        keys, boxes = dims_of(self.keys.type), dims_of(self.boxes.type)
        key, element = element_of(self.keys.type), element_of(self.boxes.type)
        if key not in (i32, i64) or element not in (f32, f64):  # C1
            found = f"{self.keys.type} and {self.boxes.type}"
            raise VerifyException(f"keys and boxes have types {found}, expected i32 or i64, and f32 or f64")
        if len(keys) != 3 or len(boxes) != 3 or boxes != (keys[0], keys[2], 4):
            found = f"{shape_text(keys)} and {shape_text(boxes)}"
            raise VerifyException(f"keys and boxes have shapes {found}, expected [b, c, s] and [b, s, 4]")
        if self.overlap.type != (expected := tensor_type([], element)):  # C2
            raise VerifyException(f"overlap has type {self.overlap.type}, expected {expected}")
        if len(self.count.data) != 1:  # C3
            raise VerifyException(f"count has {len(self.count.data)} sizes, expected one")
        expected = [tensor_type([*keys[:2], self.size], i64), tensor_type(keys[:2], i64)]
        if (found := [self.places.type, self.counts.type]) != expected:  # C4
            raise VerifyException(
                f"results have types {found[0]} and {found[1]}, expected {expected[0]} and {expected[1]}"
            )

    def evaluate(self, operands: Sequence[Array], symbols: Mapping[str, int]) -> Sequence[Array]:
        keys, boxes, overlap = operands
        (count,) = evaluate_dims(self.count.data, symbols)
        places, counts = np.zeros((*keys.shape[:2], count), np.int64), np.zeros(keys.shape[:2], np.int64)
        for batch, row in np.ndindex(keys.shape[:2]):
            order = np.argsort(~keys[batch, row], kind="stable")
            candidates = order[keys[batch, row, order] != np.iinfo(keys.dtype).min]
            taken = chosen(candidates, boxes[batch], overlap, count)
            places[batch, row, : len(taken)] = taken
            counts[batch, row] = len(taken)
        return [places, counts]
