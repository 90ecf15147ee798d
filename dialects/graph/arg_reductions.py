"""The places of the largest and smallest elements along an axis."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, FloatAttr, IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import flag, int_attr
from aicc.dialects.graph.axes import check_axis, normalized_axis
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, tensor_type
from aicc.dialects.graph.dtypes import accumulator_type, is_float, is_unsigned, signless
from aicc.dialects.graph.elementwise import widened
from aicc.dialects.graph.interfaces import (
    Arrays,
    ElementKind,
    FusionKind,
    GraphOp,
    check_element_type,
    element_type_of,
)
from aicc.dialects.graph.reductions import worst_value
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant


class ArgReductionOp(GraphOp, ABC):
    """
    The place along `axis` of the largest or smallest element, as i64: the first of equal ones, or with `select_last`
    the last. NaN counts as the most extreme.

    - (C1) `0 <= axis < rank(x)`
    - (C2) the size of the axis is not 0
    - (C3) the elements are numbers
    """

    FUSION_KIND: ClassVar[FusionKind] = FusionKind.REDUCTION
    LARGEST: ClassVar[bool]

    x = operand_def(AnyTensorTypeConstr)
    axis = prop_def(IntegerAttr)
    keepdims = opt_prop_def(UnitAttr)
    select_last = opt_prop_def(UnitAttr)
    result = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, axis: int, *, keepdims: bool = False, select_last: bool = False):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x], {"axis": int_attr(axis), "keepdims": flag(keepdims), "select_last": flag(select_last)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    @property
    def unsigned(self) -> bool:
        """Whether the elements are unsigned integers."""
        return is_unsigned(element_type_of(self.x))

    def infer_types(self) -> Sequence[Attribute]:
        dims = list(dims_of(self.x.type))
        axis = self.axis_value
        check_axis(axis, len(dims))  # C1
        check_element_type("input", element_type_of(self.x), ElementKind.NUMBER)  # C3
        if dims[axis] == 0:  # C2
            raise VerifyException(f"axis {axis} has size 0, expected at least one element to choose from")
        dims[axis : axis + 1] = [1] if self.keepdims is not None else []
        return [tensor_type(dims, i64)]

    def accumulator_type(self) -> Attribute:
        """The element type in which elements are compared."""
        return accumulator_type(element_type_of(self.x))

    def identity(self) -> FloatAttr | IntegerAttr:
        """The value to start from, with place 0."""
        worst = worst_value(element_type_of(self.x), largest=self.LARGEST)
        return scalar_constant(worst, signless(self.accumulator_type()))

    def is_better(self, b: ScalarBuilder, x: SSAValue, best: SSAValue) -> SSAValue:
        """Whether a later element `x` replaces the `best` one so far; both of the accumulator type."""
        strict = self.select_last is None
        predicate = ("gt" if strict else "ge") if self.LARGEST else ("lt" if strict else "le")
        better = b.cmp(predicate, x, best, unsigned=self.unsigned)
        if not is_float(x.type):
            return better
        if strict:
            # Only the first NaN replaces a number, and no number replaces it.
            return b.or_(better, b.and_(b.is_nan(x), b.not_(b.is_nan(best))))
        return b.or_(better, b.is_nan(x))

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        x, axis = operands[0], self.axis_value
        x = widened(x)
        find: Any = np.argmax if self.LARGEST else np.argmin
        if self.select_last is None:
            place = find(x, axis=axis, keepdims=True)
        else:
            place = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis, keepdims=True)
        place = np.asarray(place, np.int64)
        return [place if self.keepdims is not None else np.squeeze(place, axis)]

    def flops(self) -> Dim:
        return dim_prod(dims_of(self.x.type))


@irdl_op_definition
class ArgMaxOp(ArgReductionOp):
    """`result = ` the place of the largest element along `axis`."""

    name = "graph.arg_max"
    LARGEST: ClassVar[bool] = True


@irdl_op_definition
class ArgMinOp(ArgReductionOp):
    """`result = ` the place of the smallest element along `axis`."""

    name = "graph.arg_min"
    LARGEST: ClassVar[bool] = False


OPS: list[type[GraphOp]] = [ArgMaxOp, ArgMinOp]
