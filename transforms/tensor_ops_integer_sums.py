"""
Structured ops that sum products of narrow numbers: what each factor is made of, and the integers that it can be.

A factor is an expression in the body over elements of some inputs: an element as it is stored, or less a zero point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, bf16, f32, i32
from xdsl.ir import BlockArgument, Operation, SSAValue

from aicc.dialects.tensor_ops import StructuredOp
from aicc.dialects.tensor_ops.evaluation import combinations
from aicc.transforms.tensor_ops_layout_rules import may_reassociate

Range = tuple[int, int]
"""The smallest and the largest number that a signed integer can be."""


@dataclass(frozen=True)
class Factor:
    """One factor of the products."""

    value: SSAValue
    ops: tuple[Operation, ...]
    """The ops that make it, in order."""
    inputs: tuple[int, ...]
    """The inputs whose elements it is made of."""
    range: Range | None
    """`None` for floats."""

    @property
    def is_plain(self) -> bool:
        """Whether it is an element, widened at most, so that a 0 that is read gives 0."""
        return all(isinstance(op, arith.ExtSIOp | arith.ExtUIOp) for op in self.ops)


def find_factors(op: StructuredOp) -> tuple[Factor, Factor] | None:
    """The two factors of an op that sums `left * right` in i32; `None` if it does something else."""
    if not op.is_reduction or len(op.inits.data) != 1 or cast("IntegerAttr[Any]", op.inits.data[0]).type != i32:
        return None
    found = combinations(op.body.block, len(op.inputs))
    if found is None or not isinstance(op.body_yield.values[0].owner, arith.AddiOp):
        return None
    product = found[0].contribution.owner
    return _two_factors(op, product.operands) if isinstance(product, arith.MuliOp) else None


def find_bf16_factors(op: StructuredOp) -> tuple[Factor, Factor] | None:
    """The two factors, in bf16, of an op that sums their products in f32 in any order; `None` if it does not."""
    if not op.is_reduction or len(op.inits.data) != 1 or cast("FloatAttr[Any]", op.inits.data[0]).type != f32:
        return None
    found = combinations(op.body.block, len(op.inputs))
    if found is None or not isinstance(op.body_yield.values[0].owner, arith.AddfOp) or not may_reassociate(op):
        return None
    product = found[0].contribution.owner
    if not isinstance(product, arith.MulfOp):
        return None
    wide = [value.owner for value in product.operands]
    narrow = [owner.input for owner in wide if isinstance(owner, arith.ExtFOp) and owner.input.type == bf16]
    return _two_factors(op, narrow) if len(narrow) == 2 else None


def _two_factors(op: StructuredOp, values: Sequence[SSAValue]) -> tuple[Factor, Factor] | None:
    left, right = (_factor(op, value) for value in values)
    if left is None or right is None or not left.inputs or not right.inputs or set(left.inputs) & set(right.inputs):
        return None
    return left, right


def _factor(op: StructuredOp, value: SSAValue) -> Factor | None:
    """The factor that ends in `value`; `None` if it is more than arithmetic on elements."""
    block, count = op.body.block, len(op.inputs)
    needed: set[SSAValue] = {value}
    ops: list[Operation] = []
    for inner in reversed(list(block.ops)):
        if any(result in needed for result in inner.results):
            if not inner.name.startswith("arith."):
                return None
            ops.append(inner)
            needed.update(inner.operands)
    inputs = [argument.index for argument in block.args if argument in needed]
    if any(position >= count for position in inputs):
        return None
    numbers = range_of(value) if isinstance(value.type, IntegerType) else None
    return Factor(value, tuple(reversed(ops)), tuple(inputs), numbers)


def range_of(value: SSAValue) -> Range:
    """The numbers that an integer scalar can be, by the ops that make it; all of its type where nothing is known."""
    whole = _whole(value)
    owner = value.owner
    if isinstance(value, BlockArgument) or not isinstance(owner, Operation):
        return whole
    match owner:
        case arith.ConstantOp(value=IntegerAttr() as number):
            data = cast("IntegerAttr[Any]", number).value.data
            return data, data
        case arith.ExtSIOp():
            return range_of(owner.input)
        case arith.ExtUIOp():
            low, high = range_of(owner.input)
            return (low, high) if low >= 0 else (0, (1 << _width(owner.input)) - 1)
        case arith.AddiOp() | arith.SubiOp():
            (a, b), (c, d) = range_of(owner.lhs), range_of(owner.rhs)
            found = (a + c, b + d) if isinstance(owner, arith.AddiOp) else (a - d, b - c)
            return found if whole[0] <= found[0] and found[1] <= whole[1] else whole
        case _:
            return whole


def _width(value: SSAValue) -> int:
    return cast("IntegerType[Any]", value.type).width.data


def _whole(value: SSAValue) -> Range:
    half = 1 << (_width(value) - 1)
    return -half, half - 1


def fits(numbers: Range | None, bits: int, signed: bool = True) -> bool:
    """Whether all of the range are integers of so many bits."""
    if numbers is None:
        return False
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    return low <= numbers[0] and numbers[1] <= high
