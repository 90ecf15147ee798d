"""Elementwise comparisons; their results are i1. With NaN, all are false but `ne`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition

from aicc.dialects.graph.elementwise import Array, BinaryOp, PredicateOp, UnaryOp
from aicc.dialects.graph.interfaces import ElementKind, GraphOp
from aicc.dialects.graph.scalars import Predicate, ScalarBuilder


class ComparisonOp(PredicateOp, BinaryOp, ABC):
    """`result = lhs <predicate> rhs`."""

    PREDICATE: ClassVar[Predicate]
    NUMPY: ClassVar[Callable[[Array, Array], Array]]

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.cmp(self.PREDICATE, *args, unsigned=self.unsigned)

    def compute(self, *operands: Array) -> Array:
        return type(self).NUMPY(*operands)


@irdl_op_definition
class EqOp(ComparisonOp):
    """`result = lhs == rhs`."""

    name = "graph.eq"
    PREDICATE: ClassVar[Predicate] = "eq"
    NUMPY: ClassVar[Callable[[Array, Array], Array]] = np.equal


@irdl_op_definition
class NeOp(ComparisonOp):
    """`result = lhs != rhs`."""

    name = "graph.ne"
    PREDICATE: ClassVar[Predicate] = "ne"
    NUMPY: ClassVar[Callable[[Array, Array], Array]] = np.not_equal


@irdl_op_definition
class LtOp(ComparisonOp):
    """`result = lhs < rhs`."""

    name = "graph.lt"
    PREDICATE: ClassVar[Predicate] = "lt"
    NUMPY: ClassVar[Callable[[Array, Array], Array]] = np.less


@irdl_op_definition
class LeOp(ComparisonOp):
    """`result = lhs <= rhs`."""

    name = "graph.le"
    PREDICATE: ClassVar[Predicate] = "le"
    NUMPY: ClassVar[Callable[[Array, Array], Array]] = np.less_equal


@irdl_op_definition
class GtOp(ComparisonOp):
    """`result = lhs > rhs`."""

    name = "graph.gt"
    PREDICATE: ClassVar[Predicate] = "gt"
    NUMPY: ClassVar[Callable[[Array, Array], Array]] = np.greater


@irdl_op_definition
class GeOp(ComparisonOp):
    """`result = lhs >= rhs`."""

    name = "graph.ge"
    PREDICATE: ClassVar[Predicate] = "ge"
    NUMPY: ClassVar[Callable[[Array, Array], Array]] = np.greater_equal


@irdl_op_definition
class IsNanOp(PredicateOp, UnaryOp):
    """`result = x` is NaN."""

    name = "graph.isnan"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.is_nan(args[0])

    def compute(self, *operands: Array) -> Array:
        return np.isnan(operands[0])


@irdl_op_definition
class IsInfOp(PredicateOp, UnaryOp):
    """`result = x` is positive or negative infinity."""

    name = "graph.isinf"
    ALLOWED: ClassVar[ElementKind] = ElementKind.FLOAT

    def scalar(self, b: ScalarBuilder, *args: SSAValue) -> SSAValue:
        return b.cmp("eq", b.abs(args[0]), b.const_like(float("inf"), args[0]))

    def compute(self, *operands: Array) -> Array:
        return np.isinf(operands[0])


OPS: list[type[GraphOp]] = [EqOp, GeOp, GtOp, IsInfOp, IsNanOp, LeOp, LtOp, NeOp]
