"""
Rules that make transposes meet and cancel.

A transpose is pushed down, past the ops that read it, until it meets another, a matmul that takes it as a flag, or the
end. Only one that nothing else reads is pushed, so none is ever doubled.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue

from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import dims_of, rank_of
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.interfaces import OpBuilder
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.movement import ConcatOp, ReshapeOp, TransposeOp
from aicc.dialects.graph.reductions import ReductionOp
from aicc.transforms.graph_rewrite import Rules
from aicc.transforms.graph_rule_helpers import sole_user, with_operands

Values = Sequence[SSAValue]


def identity_transpose(op: Operation, b: OpBuilder) -> Values | None:
    """Axes in their order."""
    assert isinstance(op, TransposeOp)
    return [op.x] if op.axis_order == tuple(range(rank_of(op.x.type))) else None


def transpose_of_transpose(op: Operation, b: OpBuilder) -> Values | None:
    """Axis `k` of the result is axis `inner[outer[k]]` of the operand."""
    assert isinstance(op, TransposeOp)
    inner = op.x.owner
    if not isinstance(inner, TransposeOp):
        return None
    return [b.add(TransposeOp(inner.x, [inner.axis_order[axis] for axis in op.axis_order]))]


def transpose_of_ones(op: Operation, b: OpBuilder) -> Values | None:
    """Where all axes but those of size 1 keep their order, the elements do too."""
    assert isinstance(op, TransposeOp)
    dims = dims_of(op.x.type)
    real = [axis for axis in op.axis_order if dims[axis] != 1]
    return [b.add(ReshapeOp(op.x, dims_of(op.result.type)))] if real == sorted(real) else None


def push_past_elementwise(op: Operation, b: OpBuilder) -> Values | None:
    """
    `f(transpose(x), transpose(y))` is `transpose(f(x, y))` for one permutation; scalars are let through, and constants
    are transposed back.
    """
    assert isinstance(op, ElementwiseOp)
    order: tuple[int, ...] | None = None
    for operand in op.operands:
        inner = operand.owner
        if isinstance(inner, TransposeOp):
            if (order is not None and inner.axis_order != order) or sole_user(operand) is not op:
                return None
            order = inner.axis_order
    if order is None or len(order) != rank_of(op.results[0].type):
        return None
    if not all(_can_go_back(operand, len(order)) for operand in op.operands):
        return None
    moved = b.add(with_operands(op, [_gone_back(operand, order, b) for operand in op.operands]))
    return [b.add(TransposeOp(moved, order))]


def _can_go_back(operand: SSAValue, rank: int) -> bool:
    own = rank_of(operand.type)
    return own == 0 or (own <= rank and isinstance(operand.owner, ConstantOp | TransposeOp))


def _gone_back(operand: SSAValue, order: Sequence[int], b: OpBuilder) -> SSAValue:
    """What becomes `operand` when transposed by `order`."""
    if isinstance(operand.owner, TransposeOp):
        return operand.owner.x
    dims = dims_of(operand.type)
    if not dims:
        return operand
    full = (*[1] * (len(order) - len(dims)), *dims)
    reshaped = operand if len(full) == len(dims) else b.add(ReshapeOp(operand, full))
    return b.add(TransposeOp(reshaped, _inverse(order)))


def _inverse(order: Sequence[int]) -> list[int]:
    inverse = [0] * len(order)
    for place, axis in enumerate(order):
        inverse[axis] = place
    return inverse


def push_past_reduction(op: Operation, b: OpBuilder) -> Values | None:
    """The same elements are reduced, along other axes; what is left is transposed."""
    assert isinstance(op, ReductionOp)
    inner = op.x.owner
    if not isinstance(inner, TransposeOp) or sole_user(op.x) is not op:
        return None
    order, reduced = inner.axis_order, op.axis_list
    keep = op.keepdims is not None
    axes = sorted(order[axis] for axis in reduced)
    result = b.add(type(op)(inner.x, axes, keepdims=keep))
    if keep:
        return [b.add(TransposeOp(result, order))]
    left = [axis for place, axis in enumerate(order) if place not in reduced]
    rank = {axis: place for place, axis in enumerate(sorted(left))}
    return [b.add(TransposeOp(result, [rank[axis] for axis in left]))]


def push_past_concat(op: Operation, b: OpBuilder) -> Values | None:
    """A concat of operands that are all transposed the same way."""
    assert isinstance(op, ConcatOp)
    sources: list[SSAValue] = []
    order: tuple[int, ...] | None = None
    for operand in op.xs:
        inner = operand.owner
        if not isinstance(inner, TransposeOp) or (order is not None and inner.axis_order != order):
            return None
        if sole_user(operand) is not op:
            return None
        order = inner.axis_order
        sources.append(inner.x)
    if order is None:
        return None
    whole = b.add(ConcatOp(sources, order[op.axis_value]))
    result = TransposeOp(whole, order)
    return [b.add(result)] if result.result.type == op.result.type else None


def transpose_into_matmul(op: Operation, b: OpBuilder) -> Values | None:
    """
    A matmul reads the last two axes of an operand in either order: a transpose that swaps just these is dropped, and
    one that moves the last axis to the one before it leaves the last in place afterwards.
    """
    assert isinstance(op, MatmulOp)
    for place, flag in ((0, "transpose_a"), (1, "transpose_b")):
        inner = op.operands[place].owner
        if not isinstance(inner, TransposeOp) or len(inner.axis_order) < 2:
            continue
        order = list(inner.axis_order)
        if order[-2] != len(order) - 1:
            continue
        order[-2], order[-1] = order[-1], order[-2]
        if order == list(range(len(order))):
            source = inner.x
        elif sole_user(op.operands[place]) is op:
            source = b.add(TransposeOp(inner.x, order))
        else:
            continue
        copy = op.clone()
        copy.operands[place] = source
        if copy.properties.pop(flag, None) is None:
            copy.properties[flag] = UnitAttr()
        copy.set_inferred_types()
        return [b.add(copy)]
    return None


RULES: Rules = {
    ConcatOp: [push_past_concat],
    ElementwiseOp: [push_past_elementwise],
    MatmulOp: [transpose_into_matmul],
    ReductionOp: [push_past_reduction],
    TransposeOp: [identity_transpose, transpose_of_transpose, transpose_of_ones],
}
