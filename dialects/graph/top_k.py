"""The largest or smallest elements along an axis, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import AnyTensorTypeConstr, IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.assembly import flag, int_attr
from aicc.dialects.graph.axes import check_axis, normalized_axis
from aicc.dialects.graph.dims import (
    Dim,
    ShapeAttr,
    dim_min,
    dim_prod,
    dims_of,
    evaluate_dims,
    provably_at_least,
    tensor_type,
)
from aicc.dialects.graph.elementwise import Array, widened
from aicc.dialects.graph.interfaces import Arrays, Check, FusionKind, GraphOp, element_kind, element_type_of


def ranked(x: Array, axis: int, *, smallest: bool) -> Array:
    """The indices along `axis` that put the elements in the order of `TopKOp`."""
    if smallest:
        return np.argsort(x, axis=axis, kind="stable")
    # Stable from the largest on: the sorting of the mirrored axis, mirrored.
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


@irdl_op_definition
class TopKOp(GraphOp):
    """
    The first `k` elements along `axis`, from the largest on (with `smallest` from the smallest on), and their indices
    as i64. Of equal elements the one with the lower index comes first; NaN is larger than all numbers.

    `values[.., j, ..] = x[.., indices[.., j, ..], ..]`

    - (C1) `0 <= axis < rank(x)`
    - (C2) `k` is one size, from 0 to the size of the axis

    ```mlir
    %v, %i = graph.top_k %x {k = [5], axis = 1} : tensor<2x9xf32> -> tensor<2x5xf32>, tensor<2x5xi64>
    ```
    """

    name = "graph.top_k"
    FUSION_KIND: ClassVar[FusionKind] = FusionKind.INDIRECT

    x = operand_def(AnyTensorTypeConstr)
    k = prop_def(ShapeAttr)
    axis = prop_def(IntegerAttr)
    smallest = opt_prop_def(UnitAttr)
    values = result_def(AnyTensorTypeConstr)
    indices = result_def(AnyTensorTypeConstr)

    def __init__(self, x: SSAValue | Operation, k: Dim, axis: int = -1, *, smallest: bool = False):
        """A negative axis counts from the end."""
        axis = normalized_axis(axis, SSAValue.get(x).type)
        self.build_self([x], {"k": ShapeAttr([k]), "axis": int_attr(axis), "smallest": flag(smallest)})

    @property
    def axis_value(self) -> int:
        """`axis` as a number."""
        return self.axis.value.data

    @property
    def count(self) -> Dim:
        """`k` as a size."""
        return self.k.data[0]

    def infer_types(self) -> Sequence[Attribute]:
        dims, axis = list(dims_of(self.x.type)), self.axis_value
        element = element_type_of(self.x)
        element_kind(element)
        check_axis(axis, len(dims))  # C1
        if len(self.k.data) != 1:
            raise VerifyException(f"k has {len(self.k.data)} entries, expected one size")
        count, size = self.count, dims[axis]
        if isinstance(count, int) and (count < 0 or (isinstance(size, int) and count > size)):  # C2
            raise VerifyException(f"k is {count}, expected 0 to the size {size} of axis {axis}")
        dims[axis] = count
        return [tensor_type(dims, element), tensor_type(dims, i64)]

    def runtime_checks(self) -> Sequence[Check]:
        count, size = self.count, dims_of(self.x.type)[self.axis_value]
        checks = [*super().runtime_checks()]
        if not provably_at_least(size - count, 0):
            text = f"{self.name}: k is {count}, expected at most the size {size} of axis {self.axis_value}"
            checks.append(Check(dim_min(count, size), count, text))
        return checks

    def evaluate(self, operands: Arrays, symbols: Mapping[str, int]) -> Arrays:
        (count,) = evaluate_dims([self.count], symbols)
        axis = self.axis_value
        order = ranked(widened(operands[0]), axis, smallest=self.smallest is not None)
        indices = order.take(np.arange(count), axis).astype(np.int64, copy=False)
        return [np.take_along_axis(operands[0], indices, axis), indices]

    def flops(self) -> Dim:
        return 2 * dim_prod(dims_of(self.x.type))


OPS: list[type[GraphOp]] = [TopKOp]
