"""Matrix products: `matmul` with numpy's batch axes, and `linear`, which is one with a bias."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def, result_def

from aicc.dialects.graph.arithmetic import AddOp
from aicc.dialects.graph.assembly import flag
from aicc.dialects.graph.axis_roles import HasContractedAxis
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, rank_of, tensor_type
from aicc.dialects.graph.interfaces import (
    Arrays,
    Check,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    broadcast_checks,
    broadcast_dims,
)
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.operands import common_element_type, dims_of_rank, expect_size
from aicc.dialects.graph.wide import accumulator_dtype


def _swapped(dims: tuple[Dim, ...], swap: bool) -> tuple[Dim, ...]:
    return (*dims[:-2], dims[-1], dims[-2]) if swap else dims


def _matrix(array: np.ndarray, swap: bool) -> np.ndarray:
    wide = array.astype(accumulator_dtype(array.dtype), copy=False)
    return wide.swapaxes(-1, -2) if swap else wide


@irdl_op_definition
class MatmulOp(GraphOp, HasContractedAxis):
    """
    Matrix product over the last two axes: `result[.., i, j] = sum(lhs[.., i, k] * rhs[.., k, j], k)`.

    With `transpose_a` the last two axes of `lhs` are read swapped, with `transpose_b` those of `rhs`. The axes before
    them broadcast as numpy's do. Integers wrap; f16 and bf16 are summed up in f32; a sum of nothing is 0.

    - (C1) both operands have one element type, a number
    - (C2) both have rank 2 or more
    - (C3) the size that is summed over is the same in both
    - (C4) the axes before the last two broadcast

    ```mlir
    %r = graph.matmul %a, %b {transpose_b} : tensor<8x2x4xf32>, tensor<3x4xf32> -> tensor<8x2x3xf32>
    ```
    """

    name = "graph.matmul"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTRACTION

    lhs = operand_def(AnyTensorTypeConstr)
    rhs = operand_def(AnyTensorTypeConstr)
    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        lhs: SSAValue | Operation,
        rhs: SSAValue | Operation,
        transpose_a: bool = False,
        transpose_b: bool = False,
    ):
        self.build_self([lhs, rhs], {"transpose_a": flag(transpose_a), "transpose_b": flag(transpose_b)})

    def shapes(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
        """The sizes of `[.., i, k]` and `[.., k, j]`, after the swaps."""
        lhs = dims_of_rank("left operand", self.lhs, 2)  # C2
        rhs = dims_of_rank("right operand", self.rhs, 2)
        return _swapped(lhs, self.transpose_a is not None), _swapped(rhs, self.transpose_b is not None)

    def contracted_axis(self, number: int) -> int:
        swapped = (self.transpose_a if number == 0 else self.transpose_b) is not None
        return -1 if swapped == (number == 1) else -2

    def infer_types(self) -> Sequence[Attribute]:
        element = common_element_type(ElementKind.NUMBER, ("left operand", self.lhs), {"right operand": self.rhs})  # C1
        lhs, rhs = self.shapes()
        expect_size("number of rows of the right operand", rhs[-2], lhs[-1], "like the columns of the left")  # C3
        batch = broadcast_dims([lhs[:-2], rhs[:-2]])  # C4
        return (tensor_type([*batch, lhs[-2], rhs[-1]], element),)

    def runtime_checks(self) -> Sequence[Check]:
        lhs, rhs = self.shapes()
        checks = [*super().runtime_checks()]
        if lhs[-1] != rhs[-2]:
            checks.append(Check(lhs[-1], rhs[-2], f"{self.name}: {lhs[-1]} columns do not match {rhs[-2]} rows"))
        checks += broadcast_checks(self, [lhs[:-2], rhs[:-2]], dims_of(self.result.type)[:-2])
        return checks

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        lhs = _matrix(operands[0], self.transpose_a is not None)
        rhs = _matrix(operands[1], self.transpose_b is not None)
        return (np.matmul(lhs, rhs).astype(operands[0].dtype, copy=False),)

    def flops(self) -> Dim:
        return 2 * dim_prod(dims_of(self.result.type)) * self.shapes()[0][-1]


@irdl_op_definition
class LinearOp(GraphOp):
    """
    Affine map of the last axis: `result[.., j] = sum(x[.., k] * weight[k, j], k) + bias[j]`.

    With `transpose_w` the weight is stored as `[j, k]`. Decomposes to `matmul` and `add`.

    - (C1) all operands have one element type, a number
    - (C2) `rank(x) >= 1`, `rank(weight) == 2`
    - (C3) the last size of `x` is the weight's first (last if `transpose_w`)
    - (C4) the bias broadcasts to the result without changing its shape

    ```mlir
    %r = graph.linear %x, %w bias(%b) : tensor<8x4xf32>, tensor<4x16xf32>, tensor<16xf32> -> tensor<8x16xf32>
    ```
    """

    name = "graph.linear"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONTRACTION

    x = operand_def(AnyTensorTypeConstr)
    weight = operand_def(AnyTensorTypeConstr)
    bias = opt_operand_def(AnyTensorTypeConstr)
    transpose_w = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(
        self,
        x: SSAValue | Operation,
        weight: SSAValue | Operation,
        bias: SSAValue | Operation | None = None,
        transpose_w: bool = False,
    ):
        self.build_self([x, weight, bias], {"transpose_w": flag(transpose_w)})

    def infer_types(self) -> Sequence[Attribute]:
        element = common_element_type(  # C1
            ElementKind.NUMBER, ("input", self.x), {"weight": self.weight, "bias": self.bias}
        )
        x, weight = self._shapes()
        expect_size("number of the weight's inputs", weight[0], x[-1], "like the last size of the input")  # C3
        result = (*x[:-1], weight[1])
        if self.bias is not None:
            bias = dims_of_rank("bias", self.bias, 0, len(result))
            for size, whole in zip(bias[::-1], result[::-1], strict=False):  # C4
                if size != 1:
                    expect_size("bias's size", size, whole, "like the result")
        return (tensor_type(result, element),)

    def _shapes(self) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
        x, weight = dims_of_rank("input", self.x, 1), dims_of_rank("weight", self.weight, 2, 2)  # C2
        return x, _swapped(weight, self.transpose_w is not None)

    def runtime_checks(self) -> Sequence[Check]:
        x, weight = self._shapes()
        result = dims_of(self.result.type)
        checks = [*super().runtime_checks()]
        if x[-1] != weight[0]:
            checks.append(
                Check(x[-1], weight[0], f"{self.name}: last size {x[-1]} does not match the weight's {weight[0]}")
            )
        if self.bias is not None:
            checks += broadcast_checks(self, [dims_of(self.bias.type)], result)
        return checks

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, dtype = operands[0], operands[0].dtype
        result = np.matmul(_matrix(x, False), _matrix(operands[1], self.transpose_w is not None))
        if self.bias is not None:
            result = result + operands[2].astype(accumulator_dtype(dtype), copy=False)
        return (result.astype(dtype, copy=False),)

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        x = self.x
        rank = rank_of(x.type)
        if rank == 1:
            x = b.add(ReshapeOp(x, (1, *dims_of(x.type))))
        result = b.add(MatmulOp(x, self.weight, transpose_b=self.transpose_w is not None))
        if rank == 1:
            result = b.add(ReshapeOp(result, dims_of(self.result.type)))
        return (b.add(AddOp(result, self.bias)),) if self.bias is not None else (result,)

    def flops(self) -> Dim:
        return 2 * dim_prod(dims_of(self.result.type)) * dims_of(self.x.type)[-1]


OPS: list[type[GraphOp]] = [MatmulOp, LinearOp]
