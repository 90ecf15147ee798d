"""Scaled dot-product attention."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, FloatAttr, UnitAttr, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp
from aicc.dialects.graph.assembly import flag, float_attr
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, GeOp
from aicc.dialects.graph.constants import IotaOp, scalar_like
from aicc.dialects.graph.dims import Dim, ShapeAttr, dim_prod, dims_of, evaluate_dims, tensor_type
from aicc.dialects.graph.elementwise import Array
from aicc.dialects.graph.functions import TanhOp
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    broadcast_checks,
    broadcast_dims,
    element_type_of,
)
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.operands import common_element_type, dims_of_rank, expect_size
from aicc.dialects.graph.reductions import ReduceMaxOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.dialects.graph.wide import accumulator_dtype, converted, widened


@irdl_op_definition
class AttentionOp(GraphOp):
    """
    Attention of queries `[.., L, D]` to keys `[.., S, D]` and values `[.., S, E]`, with batch axes (also heads) that
    broadcast as numpy's do:

    `result[.., i, e] = sum(weight[.., i, j] * value[.., j, e], j)`, `weight = softmax(score)` along the last axis,
    `score[.., i, j] = cap(scale * sum(query[.., i, d] * key[.., j, d], d)) + mask[.., i, j]`

    where `cap(s)` is `softcap * tanh(s / softcap)` if `softcap` is given, else `s`. An `i1` mask stands for 0 where it
    is true and `-inf` where it is not. With `causal`, the score of `j > i + past` is `-inf`, where `past` is the number
    of keys before the first query. A query that no key is left for (all scores are `-inf`) has result 0, if there is a
    mask or `causal`.

    f16 and bf16 are computed in f32 throughout. Decomposes to `matmul`, `softmax` and elementwise ops.

    - (C1) query, key and value have one element type, a float; that of the mask is the same or i1
    - (C2) query, key and value have rank 2 or more
    - (C3) query and key have the same last size; key and value the same number of rows
    - (C4) batch axes broadcast; the mask broadcasts to the scores without changing their shape
    - (C5) `past`, where given, is one size

    ```mlir
    %r = graph.attention %q, %k, %v mask(%m) {scale = 0.125}
        : tensor<2x4x8x64xf32>, tensor<2x4x8x64xf32>, tensor<2x4x8x64xf32>, tensor<8x8xi1> -> tensor<2x4x8x64xf32>
    ```
    """

    name = "graph.attention"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTRACTION

    query = operand_def(AnyTensorTypeConstr)
    key = operand_def(AnyTensorTypeConstr)
    value = operand_def(AnyTensorTypeConstr)
    mask = opt_operand_def(AnyTensorTypeConstr)
    scale = prop_def(FloatAttr)
    softcap = opt_prop_def(FloatAttr)
    causal = opt_prop_def(UnitAttr)
    past = opt_prop_def(ShapeAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        query: SSAValue | Operation,
        key: SSAValue | Operation,
        value: SSAValue | Operation,
        mask: SSAValue | Operation | None = None,
        scale: float | None = None,
        causal: bool = False,
        softcap: float | None = None,
        past: Dim = 0,
    ):
        """The scale is `1 / sqrt(D)` where not given; `D` must then be a constant."""
        if scale is None:
            depth = dims_of_rank("query", SSAValue.get(query), 2)[-1]
            if not isinstance(depth, int):
                raise VerifyException(f"the last size of the query is {depth}, expected a constant or a given scale")
            scale = 1 / math.sqrt(depth) if depth else 1.0
        self.build_self(
            [query, key, value, mask],
            {
                "scale": float_attr(scale),
                "softcap": None if softcap is None else float_attr(softcap),
                "causal": flag(causal),
                "past": None if past == 0 else ShapeAttr([past]),
            },
        )

    @property
    def past_size(self) -> Dim:
        """The number of keys before the first query."""
        return 0 if self.past is None else self.past.data[0]

    def _scores(self) -> tuple[Dim, ...]:
        query, key = dims_of_rank("query", self.query, 2), dims_of_rank("key", self.key, 2)
        return (*broadcast_dims([query[:-2], key[:-2]]), query[-2], key[-2])

    def infer_types(self) -> Sequence[Attribute]:
        operands = {"key": self.key, "value": self.value}
        if self.mask is not None and element_type_of(self.mask) != i1:
            operands["mask"] = self.mask
        element = common_element_type(ElementKind.FLOAT, ("query", self.query), operands)  # C1
        query, key = dims_of_rank("query", self.query, 2), dims_of_rank("key", self.key, 2)  # C2
        value = dims_of_rank("value", self.value, 2)
        expect_size("last size of the key", key[-1], query[-1], "like that of the query")  # C3
        expect_size("number of rows of the value", value[-2], key[-2], "like the key")
        if self.past is not None and len(self.past.data) != 1:  # C5
            raise VerifyException(f"past has {len(self.past.data)} entries, expected one size")
        scores = self._scores()
        if self.mask is not None:
            for size, whole in zip(  # C4
                dims_of_rank("mask", self.mask, 0, len(scores))[::-1], scores[::-1], strict=False
            ):
                if size != 1:
                    expect_size("mask's size", size, whole, "like the scores")
        return (tensor_type([*broadcast_dims([scores[:-2], value[:-2]]), query[-2], value[-1]], element),)

    def runtime_checks(self) -> Sequence[Check]:
        query, key, value = (dims_of(operand.type) for operand in (self.query, self.key, self.value))
        checks = [*super().runtime_checks()]
        for text, lhs, rhs in (
            ("last size of the key does not match the query's", key[-1], query[-1]),
            ("number of values does not match the keys", value[-2], key[-2]),
        ):
            if lhs != rhs:
                checks.append(Check(lhs, rhs, f"{self.name}: {text}"))
        batch = dims_of(self.result.type)[:-2]
        checks += broadcast_checks(self, [query[:-2], key[:-2], value[:-2]], batch)
        if self.mask is not None:
            checks += broadcast_checks(self, [dims_of(self.mask.type)], self._scores())
        return checks

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        query, key, value = (widened(b, operand) for operand in (self.query, self.key, self.value))
        scores = b.add(MatmulOp(query, key, transpose_b=True))
        scores = b.add(MulOp(scores, scalar_like(b, self.scale.value.data, scores)))
        if self.softcap is not None:
            cap = scalar_like(b, self.softcap.value.data, scores)
            scores = b.add(MulOp(b.add(TanhOp(b.add(DivOp(scores, cap)))), cap))
        scores = self._masked(b, scores)
        weights = b.add(SoftmaxOp(scores))
        if self.mask is not None or self.causal is not None:
            # A row of nothing but -inf is NaN after the softmax.
            largest = b.add(ReduceMaxOp(scores, (len(dims_of(scores.type)) - 1,), keepdims=True))
            empty = b.add(EqOp(largest, scalar_like(b, -math.inf, scores)))
            weights = b.add(WhereOp(empty, scalar_like(b, 0.0, weights), weights))
        return (converted(b, b.add(MatmulOp(weights, value)), element_type_of(self.query)),)

    def _masked(self, b: OpBuilder, scores: SSAValue) -> SSAValue:
        lowest = scalar_like(b, -math.inf, scores)
        if self.mask is not None and element_type_of(self.mask) == i1:
            scores = b.add(WhereOp(self.mask, scores, lowest))
        elif self.mask is not None:
            scores = b.add(AddOp(scores, widened(b, self.mask)))
        if self.causal is not None:
            rows, columns = dims_of(scores.type)[-2:]
            row = b.add(IotaOp(tensor_type([rows, 1], i64), 0))
            if self.past_size != 0:
                row = b.add(AddOp(row, b.add(SizesOp([self.past_size]))))
            column = b.add(IotaOp(tensor_type([1, columns], i64), 1))
            scores = b.add(WhereOp(b.add(GeOp(row, column)), scores, lowest))
        return scores

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        dtype = operands[0].dtype
        wide = accumulator_dtype(dtype)
        query, key, value = (operand.astype(wide, copy=False) for operand in operands[:3])
        with np.errstate(all="ignore"):
            scores: Array = np.matmul(query, key.swapaxes(-1, -2)) * wide.type(self.scale.value.data)
            if self.softcap is not None:
                cap = wide.type(self.softcap.value.data)
                scores = np.tanh(scores / cap) * cap
            scores = self._masked_array(scores, operands[3] if self.mask is not None else None, symbols)
            largest: Array = scores.max(axis=-1, keepdims=True, initial=-np.inf)
            weights: Array = np.exp(scores - largest)
            weights /= weights.sum(axis=-1, keepdims=True)
            if self.mask is not None or self.causal is not None:
                weights = np.where(largest == -np.inf, wide.type(0), weights)
            return (np.matmul(weights, value).astype(dtype, copy=False),)

    def _masked_array(self, scores: Array, mask: Array | None, symbols: Mapping[str, int]) -> Array:
        lowest = scores.dtype.type(-np.inf)
        if mask is not None:
            masked = np.where(mask, scores, lowest) if mask.dtype == np.bool_ else scores + mask.astype(scores.dtype)
            scores = masked
        if self.causal is not None:
            (past,) = evaluate_dims([self.past_size], symbols)
            rows, columns = int(scores.shape[-2]), int(scores.shape[-1])
            allowed = np.arange(rows)[:, None] + past >= np.arange(columns)
            scores = np.where(allowed, scores, lowest)
        return scores

    def flops(self) -> Dim:
        scores = self._scores()
        depth = dims_of(self.query.type)[-1] + dims_of(self.value.type)[-1]
        return dim_prod(scores) * (2 * depth + 5)


OPS: list[type[GraphOp]] = [AttentionOp]
