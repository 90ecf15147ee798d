"""Sizes as data: what a model computes from the shapes of its inputs, where it reads the result as a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def, result_def

from aicc.dialects.graph.dims import Dim, ShapeAttr, evaluate_dims, tensor_type
from aicc.dialects.graph.interfaces import Arrays, FusionKind, GraphOp


@irdl_op_definition
class SizesOp(GraphOp):
    """
    The values of symbolic sizes: `result[i] = shape[i]`.

    ```mlir
    %r = graph.sizes {shape = [N, 2*N]} : tensor<2xi64>
    ```
    """

    name = "graph.sizes"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.CONSTANT

    shape = prop_def(ShapeAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, shape: Sequence[Dim]):
        self.build_self([], {"shape": ShapeAttr(shape)})

    def infer_types(self) -> Sequence[Attribute]:
        return (tensor_type([len(self.shape.data)], i64),)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        return (np.array(evaluate_dims(self.shape.data, symbols), np.int64),)

    def flops(self) -> Dim:
        return 0


OPS: list[type[GraphOp]] = [SizesOp]
