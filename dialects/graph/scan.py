"""Running sums and products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def

from aicc.dialects.graph.assembly import flag, int_attr
from aicc.dialects.graph.axes import check_axis, normalized_axis
from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.elementwise import Array, widened
from aicc.dialects.graph.interfaces import (
    Arrays,
    ElementKind,
    FusionKind,
    GraphOp,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.scalars import ScalarBuilder


class RunningOp(GraphOp, ABC):
    """
    Base of the ops that combine all elements up to each along `axis`: before it only if `exclusive`, from the end if
    `reverse`.

    Integers wrap; f16 and bf16 are combined in f32 and each result is rounded.

    - (C1) `0 <= axis < rank(x)`
    - (C2) the elements are numbers
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.INDIRECT

    IDENTITY: ClassVar[int]
    """What combining starts from."""

    x = operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    exclusive = opt_prop_def(UnitAttr)
    reverse = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, axis: int, *, exclusive: bool = False, reverse: bool = False):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x], {"axis": int_attr(axis), "exclusive": flag(exclusive), "reverse": flag(reverse)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    def infer_types(self) -> Sequence[Attribute]:
        check_axis(self.axis_value, len(dims_of(self.x.type)))  # C1
        check_element_type("input", element_type_of(self.x), ElementKind.NUMBER)  # C2
        return [self.x.type]

    @abstractmethod
    def combine(self, b: ScalarBuilder, total: SSAValue, x: SSAValue) -> SSAValue:
        """The next total."""

    @staticmethod
    @abstractmethod
    def running(x: Array) -> Array:
        """The totals along the first axis, in numpy."""

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        axis = self.axis_value
        x = np.moveaxis(widened(operands[0]), axis, 0)
        x = x[::-1] if self.reverse is not None else x
        with np.errstate(all="ignore"):
            total = self.running(x)
        if self.exclusive is not None:
            total = np.concatenate([np.full_like(total[:1], self.IDENTITY), total[:-1]])
        total = total[::-1] if self.reverse is not None else total
        return [np.moveaxis(total, 0, axis).astype(operands[0].dtype, copy=False)]


@irdl_op_definition
class CumsumOp(RunningOp):
    """`result[.., i, ..] = sum(x[.., j, ..], j <= i)` along `axis`; 0 for no `j`."""

    name = "graph.cumsum"
    IDENTITY: ClassVar[int] = 0

    def combine(self, b: ScalarBuilder, total: SSAValue, x: SSAValue) -> SSAValue:
        return b.add(total, x)

    @staticmethod
    def running(x: Array) -> Array:
        return np.cumsum(x, 0, dtype=x.dtype)


@irdl_op_definition
class CumprodOp(RunningOp):
    """`result[.., i, ..] = product(x[.., j, ..], j <= i)` along `axis`; 1 for no `j`."""

    name = "graph.cumprod"
    IDENTITY: ClassVar[int] = 1

    def combine(self, b: ScalarBuilder, total: SSAValue, x: SSAValue) -> SSAValue:
        return b.mul(total, x)

    @staticmethod
    def running(x: Array) -> Array:
        return np.multiply.accumulate(x, 0, dtype=x.dtype)


OPS: list[type[GraphOp]] = [CumprodOp, CumsumOp]
