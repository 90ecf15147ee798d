"""Softmax along one axis, and its logarithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.arithmetic import SubOp
from aicc.dialects.graph.assembly import int_attr
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, rank_of
from aicc.dialects.graph.functions import ExpOp, LogOp
from aicc.dialects.graph.interfaces import (
    Arrays,
    ElementKind,
    FusionKind,
    GraphOp,
    OpBuilder,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.operands import dims_of_rank
from aicc.dialects.graph.reductions import ReduceMaxOp, ReduceSumOp
from aicc.dialects.graph.wide import accumulator_dtype, converted, widened


class AxisNormOp(GraphOp):
    """
    Base of the ops that normalise along one axis.

    - (C1) the element type is a float
    - (C2) `0 <= axis < rank(x)`
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.REDUCTION

    x = operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, axis: int = -1):
        """A negative `axis` counts from the end."""
        axis += rank_of(SSAValue.get(x).type) if axis < 0 else 0
        self.build_self([x], {"axis": int_attr(axis)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        check_element_type("input", element_type_of(self.x), ElementKind.FLOAT)  # C1
        rank = len(dims_of_rank("input", self.x, 1))
        if not 0 <= self.axis_value < rank:  # C2
            raise VerifyException(f"axis is {self.axis_value}, expected 0 to {rank - 1} for rank {rank}")
        return (self.x.type,)

    def flops(self) -> Dim:
        return 5 * dim_prod(dims_of(self.x.type))

    def _shifted(self, operands: Arrays) -> np.ndarray:
        """The input less the largest element of each slice, in the type to compute in."""
        x = operands[0].astype(accumulator_dtype(operands[0].dtype), copy=False)
        return x - x.max(axis=self.axis_value, keepdims=True, initial=-np.inf)


@irdl_op_definition
class SoftmaxOp(AxisNormOp):
    """
    `result[.., i, ..] = exp(x[i] - m) / sum(exp(x[j] - m), j)` along `axis`, with `m` the largest `x[j]`.

    A slice that holds NaN or `+inf`, or nothing but `-inf`, is NaN; others are not affected by it. Finite for large
    values. f16 and bf16 are computed in f32. Lowered as it is, to three structured ops in one kernel.

    ```mlir
    %r = graph.softmax %x {axis = 1} : tensor<2x8xf32> -> tensor<2x8xf32>
    ```
    """

    name = "graph.softmax"

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        with np.errstate(all="ignore"):
            exponential = np.exp(self._shifted(operands))
            result = exponential / exponential.sum(axis=self.axis_value, keepdims=True)
        return (result.astype(operands[0].dtype, copy=False),)


@irdl_op_definition
class LogSoftmaxOp(AxisNormOp):
    """
    The logarithm of softmax: `result[.., i, ..] = x[i] - m - log(sum(exp(x[j] - m), j))` along `axis`.

    Decomposes to reductions and elementwise ops. f16 and bf16 are computed in f32.

    ```mlir
    %r = graph.log_softmax %x {axis = 1} : tensor<2x8xf32> -> tensor<2x8xf32>
    ```
    """

    name = "graph.log_softmax"

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        x = widened(b, self.x)
        shifted = b.add(SubOp(x, b.add(ReduceMaxOp(x, (self.axis_value,), keepdims=True))))
        total = b.add(ReduceSumOp(b.add(ExpOp(shifted)), (self.axis_value,), keepdims=True))
        return (converted(b, b.add(SubOp(shifted, b.add(LogOp(total)))), element_type_of(self.x)),)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        with np.errstate(all="ignore"):
            shifted = self._shifted(operands)
            result = shifted - np.log(np.exp(shifted).sum(axis=self.axis_value, keepdims=True))
        return (result.astype(operands[0].dtype, copy=False),)


OPS: list[type[GraphOp]] = [SoftmaxOp, LogSoftmaxOp]
