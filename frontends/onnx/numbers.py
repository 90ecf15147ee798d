"""
Arithmetic on single integers some of which are known: constants and sizes stay such as long as the answer is one for
all values of the symbols, everything else is computed by ops on tensors of rank 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeAlias

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MaxOp, MinOp, ModOp, MulOp, SubOp
from aicc.dialects.graph.choice import WhereOp
from aicc.dialects.graph.comparison import EqOp, LtOp
from aicc.dialects.graph.dims import (
    MAX_RANK,
    Dim,
    SymExpr,
    dim_max,
    dim_min,
    floordiv,
    lower_bound,
    provably_at_least,
    provably_different,
    provably_equal,
    upper_bound,
)
from aicc.dialects.graph.movement import ReshapeOp
from aicc.dialects.graph.sizes import SizesOp
from aicc.frontends.onnx.context import NodeContext
from aicc.frontends.onnx.shape_arithmetic import sizes_in

Number: TypeAlias = "Dim | SSAValue"
"""A size, or an integer that data tells: a tensor of i64 and rank 0."""

Condition: TypeAlias = "bool | SSAValue"


class Numbers:
    """Computes for one node."""

    def __init__(self, ctx: NodeContext):
        self.ctx = ctx

    def of(self, position: int, what: str, *, most: int = MAX_RANK) -> list[Number]:
        """The elements of an integer input, one or a list of known length, at most `most`."""
        content = self.ctx.value(position).content
        if content is not None and (content.dtype == object or content.dtype.kind in "iu"):
            self.ctx.expect_most(content.size, most, position, what)
            return list(sizes_in(content))
        return list(self.ctx.elements(position, what, most=most))

    def tensor(self, number: Number) -> SSAValue:
        """The number as a tensor of rank 0."""
        if isinstance(number, SSAValue):
            return number
        if isinstance(number, SymExpr):
            return self.ctx.emit(ReshapeOp(self.ctx.emit(SizesOp([number])), ()))
        return self.ctx.scalar(number, i64)

    def size(self, number: Number, what: str, most: Dim | None = None) -> Dim:
        """The number as a size of at most `most`; a symbol where data tells it."""
        return self.ctx.defined_size(number, what, most) if isinstance(number, SSAValue) else number

    def _binary(self, known: Callable[[Dim, Dim], Dim], op: Callable[..., Operation], a: Number, b: Number) -> Number:
        if not isinstance(a, SSAValue) and not isinstance(b, SSAValue):
            return known(a, b)
        return self.ctx.emit(op(self.tensor(a), self.tensor(b)))

    def add(self, a: Number, b: Number) -> Number:
        """`a + b`."""
        if _is(a, 0) or _is(b, 0):
            return b if _is(a, 0) else a
        return self._binary(lambda a, b: a + b, AddOp, a, b)

    def sub(self, a: Number, b: Number) -> Number:
        """`a - b`."""
        return a if _is(b, 0) else self._binary(lambda a, b: a - b, SubOp, a, b)

    def mul(self, a: Number, b: Number) -> Number:
        """`a * b`."""
        if _is(a, 1) or _is(b, 1):
            return b if _is(a, 1) else a
        return self._binary(lambda a, b: a * b, MulOp, a, b)

    def min(self, a: Number, b: Number) -> Number:
        """The smaller one."""
        return self._binary(dim_min, MinOp, a, b)

    def max(self, a: Number, b: Number) -> Number:
        """The larger one."""
        return self._binary(dim_max, MaxOp, a, b)

    def product(self, numbers: Sequence[Number]) -> Number:
        """The product of all."""
        return reduce(self.mul, numbers, 1)

    def floordiv(self, a: Number, b: Number) -> Number:
        """`floor(a / b)`; 0 where `b` is 0."""
        if _is(b, 1):
            return a
        if not isinstance(a, SSAValue) and not isinstance(b, SSAValue):
            if isinstance(b, int) and b != 0:
                return floordiv(a, b) if b > 0 else floordiv(-1 * a, -b)
            if provably_at_least(b, 1):
                return floordiv(a, b)
        if (not isinstance(a, SSAValue) and provably_at_least(a, 0)) and (
            not isinstance(b, SSAValue) and provably_at_least(b, 0)
        ):
            return self.ctx.emit(DivOp(self.tensor(a), self.tensor(b)))
        # The remainder has the sign of the divisor, so that the division below is exact.
        value, divisor = self.tensor(a), self.tensor(b)
        rest = self.ctx.emit(ModOp(value, divisor))
        return self.ctx.emit(DivOp(self.ctx.emit(SubOp(value, rest)), divisor))

    def ceildiv(self, a: Number, b: Number) -> Number:
        """`ceil(a / b)`; 0 where `b` is 0."""
        return self.sub(0, self.floordiv(self.sub(0, a), b))

    def less(self, a: Number, b: Number) -> Condition:
        """`a < b`."""
        if not isinstance(a, SSAValue) and not isinstance(b, SSAValue):
            low, high = lower_bound(b - a), upper_bound(b - a)
            if low is not None and low > 0:
                return True
            if high is not None and high <= 0:
                return False
        return self.ctx.emit(LtOp(self.tensor(a), self.tensor(b)))

    def equal(self, a: Number, b: Number) -> Condition:
        """`a == b`."""
        if not isinstance(a, SSAValue) and not isinstance(b, SSAValue):
            if provably_equal(a, b):
                return True
            if provably_different(a, b):
                return False
        return self.ctx.emit(EqOp(self.tensor(a), self.tensor(b)))

    def select(self, condition: Condition, a: Number, b: Number) -> Number:
        """`a` where the condition holds, else `b`."""
        if isinstance(condition, bool):
            return a if condition else b
        return self.ctx.emit(WhereOp(condition, self.tensor(a), self.tensor(b)))

    def from_end(self, index: Number, size: Number) -> Number:
        """An index or axis; negative ones count from the end."""
        negative = self.less(index, 0)
        return index if negative is False else self.select(negative, self.add(index, size), index)

    def clamp(self, number: Number, low: Number, high: Number) -> Number:
        """The nearest number from `low` to `high`."""
        return self.max(low, self.min(number, high))


def _is(number: Number, value: int) -> bool:
    return isinstance(number, int) and number == value


def all_known(numbers: Sequence[Number]) -> bool:
    """Whether none of them is data."""
    return not any(isinstance(number, SSAValue) for number in numbers)
