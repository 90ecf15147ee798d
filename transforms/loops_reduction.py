"""
Reductions carried by loops: which values a loop accumulates with one associative operation, so that its iterations may
be taken in any order or in lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.loops import ForOp, YieldOp
from aicc.dialects.loops.access import scalar_of
from aicc.dialects.loops.attrs import ReduceKind

_KINDS: dict[type[Operation], ReduceKind] = {
    arith.AddfOp: ReduceKind.ADD,
    arith.AddiOp: ReduceKind.ADD,
    arith.MulfOp: ReduceKind.MUL,
    arith.MuliOp: ReduceKind.MUL,
    arith.MinimumfOp: ReduceKind.MINIMUMF,
    arith.MaximumfOp: ReduceKind.MAXIMUMF,
    arith.MinnumfOp: ReduceKind.MINNUMF,
    arith.MaxnumfOp: ReduceKind.MAXNUMF,
    arith.MinSIOp: ReduceKind.MINSI,
    arith.MaxSIOp: ReduceKind.MAXSI,
    arith.MinUIOp: ReduceKind.MINUI,
    arith.MaxUIOp: ReduceKind.MAXUI,
    arith.AndIOp: ReduceKind.AND,
    arith.OrIOp: ReduceKind.OR,
    arith.XOrIOp: ReduceKind.XOR,
}


@dataclass(frozen=True)
class Reduction:
    """`next = combine(carried, x)` along the whole body of a loop, also through loops inside it."""

    kind: ReduceKind
    combines: tuple[tuple[Operation, int], ...]
    """The combining ops, all of one class, each with the position of the carried value among its operands."""


def combining_kind(op: Operation) -> ReduceKind | None:
    """What `op` combines its operands by, if their order is free; float sums and products need `reassoc`."""
    kind = _KINDS.get(type(op))
    if isinstance(op, arith.AddfOp | arith.MulfOp) and FastMathFlag.REASSOC not in op.fastmath.data:
        return None
    return kind


def reduction_of(loop: ForOp, position: int) -> Reduction | None:
    """
    How the loop's iteration argument `position` is accumulated; `None` if it is anything but a free reduction.

    Each carried value must be used once: by a combining op, or as the start of an inner loop that reduces it likewise.
    """
    combines: list[tuple[Operation, int]] = []
    pending: list[tuple[ForOp, int]] = [(loop, position)]
    while pending:
        current, index = pending.pop()
        value: SSAValue = current.iter_args[index]
        while True:
            uses = list(value.uses)
            if len(uses) != 1:
                return None
            use = uses[0]
            user = use.operation
            if user.parent is not current.block:
                return None
            if isinstance(user, YieldOp):
                if use.index != index:
                    return None
                break
            if isinstance(user, ForOp):
                inner = use.index - len(user.lower_operands) - len(user.upper_operands)
                if inner < 0:
                    return None
                pending.append((user, inner))
                value = user.results[inner]
            elif combining_kind(user) is not None:
                combines.append((user, use.index))
                value = user.results[0]
            else:
                return None
    kinds = {combining_kind(op) for op, _ in combines}
    if len(kinds) != 1 or (kind := kinds.pop()) is None:
        return None
    return Reduction(kind, tuple(combines))


def reductions_of(loop: ForOp) -> list[Reduction] | None:
    """The reductions of all values that `loop` carries; `None` if one is not a reduction."""
    found = [reduction_of(loop, position) for position in range(len(loop.inits))]
    kept = [reduction for reduction in found if reduction is not None]
    return kept if len(kept) == len(found) else None


def identity_of(kind: ReduceKind, type: Attribute) -> FloatAttr[AnyFloat] | IntegerAttr[IntegerType[Any]]:
    """
    The value that `kind` leaves others unchanged with: 0, 1, the largest or smallest of the type (infinite for floats).

    The identity of a float sum is 0.0 rather than -0.0: a sum of nothing but -0.0 is +0.0 then.
    """
    type = scalar_of(type)
    if isinstance(type, AnyFloat):
        values = {ReduceKind.ADD: 0.0, ReduceKind.MUL: 1.0, ReduceKind.MINIMUMF: inf, ReduceKind.MINNUMF: inf}
        return FloatAttr(values.get(kind, -inf), type)
    integer = cast("IntegerType[Any]", type)
    width = integer.width.data
    match kind:
        case ReduceKind.MUL:
            value = 1
        case ReduceKind.AND | ReduceKind.MINUI:
            value = -1
        case ReduceKind.MINSI:
            value = (1 << (width - 1)) - 1
        case ReduceKind.MAXSI:
            value = -(1 << (width - 1))
        case _:
            value = 0
    return IntegerAttr(value, integer)
