"""Choosing boxes that do not overlap, best scores first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import flag
from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    dim_min,
    dim_prod,
    dims_of,
    evaluate_dims,
    provably_at_least,
    shape_text,
    tensor_type,
)
from aicc.dialects.graph.elementwise import Array, widened
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    check_element_type,
    element_type_of,
)


def corners_of(boxes: Array, *, center: bool) -> Array:
    """
    The lower and upper corners of boxes on the last axis, as (low, low, high, high), in the type of the boxes, from any
    two opposite corners, or from centres and extents.
    """
    first, second = boxes[..., :2], boxes[..., 2:]
    if center:
        half = second / boxes.dtype.type(2)
        return np.concatenate([first - half, first + half], -1)
    return np.concatenate([np.minimum(first, second), np.maximum(first, second)], -1)


def chosen(order: Array, corners: Array, overlap: Array, count: int) -> list[int]:
    """
    The first `count` boxes in `order` that do not overlap with one chosen before: whose share of the union that is
    common to both is not more than `overlap`. `corners` has rows as `corners_of` gives them.
    """
    low, high = corners[:, :2], corners[:, 2:]
    taken: list[int] = []
    with np.errstate(all="ignore"):
        areas = (high[:, 0] - low[:, 0]) * (high[:, 1] - low[:, 1])
        for place in order.tolist():
            if len(taken) == count:
                break
            common = np.maximum(np.minimum(high[taken], high[place]) - np.maximum(low[taken], low[place]), 0)
            both = common[:, 0] * common[:, 1]
            if not np.any(both / (areas[taken] + areas[place] - both) > overlap):
                taken.append(place)
    return taken


@irdl_op_definition
class NonMaxSuppressionOp(GraphOp):
    """
    For each batch and class, the places of up to `k` boxes, best scores first (of equal scores the lower place), which
    leaves out boxes whose overlap with one taken before, as the share of their union, is more than `overlap`, and
    those whose score is NaN or not more than `least`.

    `places[b, c, j]` for `j < counts[b, c]` are the places, 0 follows. Boxes are two opposite corners `(y, x, y, x)`;
    with `center` they are `(x, y, width, height)` around a point. f16 and bf16 are computed in f32.

    - (C1) `boxes` is `[b, s, 4]` and `scores` `[b, c, s]`, of floats
    - (C2) `overlap` and `least` are of rank 0, `overlap` of the type of the boxes, `least` of that of the scores
    - (C3) `k` is one size, from 0 to `s`

    ```mlir
    %p, %n = graph.non_max_suppression %boxes, %scores, %overlap least(%least) {k = [5]}
        : tensor<2x9x4xf32>, tensor<2x3x9xf32>, tensor<f32>, tensor<f32> -> tensor<2x3x5xi64>, tensor<2x3xi64>
    ```
    """

    name = "graph.non_max_suppression"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.INDIRECT

    boxes = operand_def(AnyTensorTypeConstr)
    scores = operand_def(AnyTensorTypeConstr)
    overlap = operand_def(AnyTensorTypeConstr)
    least = opt_operand_def(AnyTensorTypeConstr)
    k = prop_def(ShapeAttr)
    center = opt_prop_def(UnitAttr)
    places = result_def(AnyTensorTypeConstr)
    counts = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        boxes: SSAValue | Operation,
        scores: SSAValue | Operation,
        overlap: SSAValue | Operation,
        least: SSAValue | Operation | None,
        k: Dim,
        *,
        center: bool = False,
    ):
        properties = {"k": ShapeAttr([k]), "center": flag(center)}
        self.build_self([boxes, scores, overlap, least], properties)

    @property
    def count(self) -> Dim:
        """`k` as a size."""
        return self.k.data[0]

    def infer_types(self) -> Sequence[Attribute]:
        boxes, scores = dims_of(self.boxes.type), dims_of(self.scores.type)
        for what, value in (("boxes", self.boxes), ("scores", self.scores)):
            check_element_type(what, element_type_of(value), ElementKind.FLOAT)
        if len(boxes) != 3 or boxes[2] != 4 or len(scores) != 3:  # C1
            found = f"{shape_text(boxes)} and {shape_text(scores)}"
            raise VerifyException(f"boxes and scores have shapes {found}, expected [b, s, 4] and [b, c, s]")
        found = f"boxes of shape {shape_text(boxes)} and scores of shape {shape_text(scores)}"
        for mine, other in ((boxes[0], scores[0]), (boxes[1], scores[2])):
            if isinstance(mine, int) and isinstance(other, int) and mine != other:
                raise VerifyException(f"{found} differ in the number of batches or boxes")
        for what, value, of in (("overlap", self.overlap, self.boxes), ("least", self.least, self.scores)):
            if value is not None and value.type != (expected := tensor_type([], element_type_of(of))):  # C2
                raise VerifyException(f"{what} has type {value.type}, expected {expected}")
        if len(self.k.data) != 1:  # C3
            raise VerifyException(f"k has {len(self.k.data)} entries, expected one size")
        count, size = self.count, scores[2]
        if isinstance(count, int) and (count < 0 or (isinstance(size, int) and count > size)):
            raise VerifyException(f"k is {count}, expected 0 to the number {size} of boxes")
        return [tensor_type([*scores[:2], count], i64), tensor_type(scores[:2], i64)]

    def runtime_checks(self) -> Sequence[Check]:
        boxes, scores = dims_of(self.boxes.type), dims_of(self.scores.type)
        checks = [*super().runtime_checks()]
        for what, mine, other in (("batches", boxes[0], scores[0]), ("boxes", boxes[1], scores[2])):
            if mine != other:
                checks.append(Check(mine, other, f"{self.name}: boxes have {mine} {what}, scores {other}"))
        count, size = self.count, scores[2]
        if not provably_at_least(size - count, 0):
            text = f"{self.name}: k is {count}, expected at most the number {size} of boxes"
            checks.append(Check(dim_min(count, size), count, text))
        return checks

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        boxes, scores, overlap = (widened(operand) for operand in operands[:3])
        (count,) = evaluate_dims([self.count], symbols)
        with np.errstate(all="ignore"):
            corners = corners_of(boxes, center=self.center is not None)
            candidates = scores > widened(operands[3]) if len(operands) > 3 else ~np.isnan(scores)
        places = np.zeros((*scores.shape[:2], count), np.int64)
        counts = np.zeros(scores.shape[:2], np.int64)
        for batch, row in np.ndindex(scores.shape[:2]):
            (found,) = np.nonzero(candidates[batch, row])
            order = found[np.argsort(-scores[batch, row, found], kind="stable")]
            taken = chosen(order, corners[batch], overlap, count)
            places[batch, row, : len(taken)] = taken
            counts[batch, row] = len(taken)
        return [places, counts]

    def flops(self) -> Dim:
        return 20 * dim_prod(dims_of(self.scores.type))


OPS: list[type[GraphOp]] = [NonMaxSuppressionOp]
