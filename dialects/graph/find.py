"""Where in a tensor something holds: the first step of everything whose size depends on data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.choice import CastOp, WhereOp
from aicc.dialects.graph.constants import IotaOp, scalar_of
from aicc.dialects.graph.dims import dims_of, tensor_type
from aicc.dialects.graph.indexing import ScatterNdOp
from aicc.dialects.graph.interfaces import Arrays, FusionKind, GraphOp, OpBuilder, element_type_of
from aicc.dialects.graph.movement import ExpandOp, ReshapeOp, SliceOp
from aicc.dialects.graph.reductions import ReduceSumOp
from aicc.dialects.graph.scan import CumsumOp
from aicc.dialects.graph.sizes import SizesOp


@irdl_op_definition
class FindOp(GraphOp):
    """
    `positions` begins with the places where `x` is true, in ascending order, and is 0 behind them; `count` is their
    number.

    A slice of `positions` as long as `graph.define_size` of `count` says has the places alone.

    - (C1) `x` is a tensor of i1 of rank 1

    ```mlir
    %positions, %count = graph.find %x : tensor<8xi1> -> tensor<8xi64>, tensor<i64>
    ```
    """

    name = "graph.find"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.INDIRECT

    x = operand_def(AnyTensorTypeConstr)
    positions = result_def(AnyTensorTypeConstr)
    count = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation):
        self.build_self([x])

    def infer_types(self) -> Sequence[Attribute]:
        dims = dims_of(self.x.type)
        if len(dims) != 1 or element_type_of(self.x) != i1:  # C1
            raise VerifyException(f"operand has type {self.x.type}, expected a tensor of i1 of rank 1")
        return tensor_type(dims, i64), tensor_type([], i64)

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        (found,) = np.nonzero(operands[0])
        positions = np.zeros(operands[0].shape, np.int64)
        positions[: len(found)] = found
        return positions, np.array(len(found), np.int64)

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        """Each true element writes its place where the number of those before it says; all others behind the end."""
        (size,) = dims_of(self.x.type)
        flags = b.add(CastOp(self.x, i64))
        before = b.add(CumsumOp(flags, 0, exclusive=True))
        end = b.add(ReshapeOp(b.add(SizesOp([size])), []))
        targets = b.add(ReshapeOp(b.add(WhereOp(self.x, before, end)), [size, 1]))
        empty = b.add(ExpandOp(scalar_of(b, 0, i64), [size + 1]))
        places = b.add(IotaOp(tensor_type([size], i64)))
        written = b.add(ScatterNdOp(empty, targets, places))
        # What was written behind the end is not wanted.
        return b.add(SliceOp(written, [0], [size])), b.add(ReduceSumOp(flags, [0]))


OPS: list[type[GraphOp]] = [FindOp]
