"""The reduction that needs two passes over the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from aicc.dialects.graph.arithmetic import AddOp, SubOp
from aicc.dialects.graph.choice import CastOp, WhereOp
from aicc.dialects.graph.comparison import IsInfOp
from aicc.dialects.graph.constants import scalar_like
from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.elementwise import Array
from aicc.dialects.graph.functions import ExpOp, LogOp
from aicc.dialects.graph.interfaces import ElementKind, GraphOp, OpBuilder, element_type_of
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.reductions import AxesOp, ReduceMaxOp, ReduceSumOp


@irdl_op_definition
class ReduceLogSumExpOp(AxesOp):
    """
    `result = log(sum(exp(x)))` along `axes`, without overflow; -inf of nothing.

    Decomposes to `log(sum(exp(x - m))) + m` with `m` the largest element, or 0 if that is infinite.
    """

    name = "graph.reduce_log_sum_exp"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def reduce_array(self, x: Array, axes: tuple[int, ...]) -> Array:
        largest: Array = np.max(x, axis=axes, keepdims=True, initial=-np.inf)
        shift: Array = np.asarray(np.where(np.isinf(largest), np.zeros_like(largest), largest))
        total: Array = np.sum(np.exp(x - shift), axis=axes, keepdims=True)
        return np.log(total) + shift

    def decompose(self, b: OpBuilder) -> Sequence[SSAValue]:
        x, axes, element = self.x, self.axis_list, element_type_of(self.x)
        if (wide := accumulator_type(element)) != element:
            x = b.add(CastOp(x, wide))
        largest = b.add(ReduceMaxOp(x, axes, keepdims=True))
        shift = b.add(WhereOp(b.add(IsInfOp(largest)), scalar_like(b, 0.0, largest), largest))
        total = b.add(ReduceSumOp(b.add(ExpOp(b.add(SubOp(x, shift)))), axes, keepdims=True))
        result = b.add(AddOp(b.add(LogOp(total)), shift))
        if wide != element:
            result = b.add(CastOp(result, element))
        return [result if self.keepdims is not None else b.add(ReshapeOp(result, dims_of(self.result.type)))]


OPS: list[type[GraphOp]] = [ReduceLogSumExpOp]
