"""Bytes of buffers and numbers of iterations, as sizes: integers or expressions over a function's symbols."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from aicc.dialects.graph.dims import Dim, ceildiv, dim_max, dim_min, dim_prod
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.loops.affine_text import Access, canonical_access
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.call import size_of_value
from aicc.dialects.loops.control import ForOp
from aicc.transforms.loops_index import IndexBounds, bound_expressions, combine


def buffer_bytes(value: SSAValue) -> Dim:
    """The bytes of a memref."""
    type = memref_of(value)
    return dim_prod([*memref_dims(type), numpy_dtype(type.element_type).itemsize])


def size_of_expression(expr: AffineExpr, operands: Sequence[SSAValue]) -> Dim | None:
    """The size that an affine expression over `operands` stands for, if those are sizes."""
    match expr:
        case AffineConstantExpr(value=value):
            return value
        case AffineDimExpr(position=position):
            return size_of_value(operands[position])
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            left, right = size_of_expression(lhs, operands), size_of_expression(rhs, operands)
            if left is None or right is None:
                return None
            match kind:
                case AffineBinaryOpKind.Add:
                    return left + right
                case AffineBinaryOpKind.Mul:
                    return left * right
                case AffineBinaryOpKind.FloorDiv:
                    return left // right
                case AffineBinaryOpKind.CeilDiv:
                    return ceildiv(left, right)
                case AffineBinaryOpKind.Mod:
                    return left % right
        case _:
            return None


def _bound(loop: ForOp, upper: bool) -> Dim | None:
    bound = (loop.upper_map if upper else loop.lower_map).data
    access, operands = canonical_access(bound, loop.upper_operands if upper else loop.lower_operands)
    combined: Dim | None = None
    for expr in access.results:
        if (size := size_of_expression(expr, operands)) is None:
            return None
        if combined is None:
            combined = size
        else:
            combined = dim_min(combined, size) if upper else dim_max(combined, size)
    return combined


def trip_count_dim(loop: ForOp) -> Dim | None:
    """
    The number of iterations as a size, or a constant that it never exceeds; `None` if there is neither.

    The size may come out negative where the loop does not run.
    """
    if (trips := loop.trip_count) is not None:
        return trips
    lower, upper = _bound(loop, upper=False), _bound(loop, upper=True)
    if lower is not None and upper is not None:
        return ceildiv(upper - lower, loop.step_value)
    span = _largest_span(loop)
    return None if span is None else max(0, -(-span // loop.step_value))


def _largest_span(loop: ForOp) -> int | None:
    """A constant that upper - lower never exceeds: each difference of a pair of bounds is such a limit."""
    lower, upper = bound_expressions(loop, upper=False), bound_expressions(loop, upper=True)
    exprs, operands = combine([*lower, *upper])
    simplifier = IndexBounds().simplifier(operands)
    differences = [high - low for low in exprs[: len(lower)] for high in exprs[len(lower) :]]
    limits = [limit for _, limit in map(simplifier.bounds, map(simplifier.simplify, differences)) if limit is not None]
    return min(limits, default=None)


def iteration_number(loop: ForOp) -> Access:
    """How many iterations came before the current one, where the lower bound is a single expression."""
    lower = loop.lower_map.data
    dims: list[AffineExpr] = [AffineDimExpr(position + 1) for position in range(lower.num_dims)]
    symbols: list[AffineExpr] = [AffineDimExpr(position + 1 + lower.num_dims) for position in range(lower.num_symbols)]
    start = lower.results[0].replace_dims_and_symbols(dims, symbols)
    expr = AffineDimExpr(0) - start
    if loop.step_value != 1:
        expr = expr // loop.step_value
    return _access(expr, [loop.induction, *loop.lower_operands])


def _access(expr: AffineExpr, operands: Sequence[SSAValue]) -> Access:
    return canonical_access(AffineMap(len(operands), 0, (expr,)), operands)
