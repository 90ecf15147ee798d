"""Reductions along axes, arg-max and arg-min, softmax and running totals."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, UnitAttr, i64
from xdsl.dialects.math import ExpOp
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.arg_reductions import ArgReductionOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of
from aicc.dialects.graph.dtypes import accumulator_type
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.reductions import ReductionOp
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.graph.softmax import SoftmaxOp
from aicc.dialects.tensor_ops import IndexOp
from aicc.dialects.tensor_ops.body_ops import AT_MOST_ZERO
from aicc.lowering.graph_to_tensor_ops_support import (
    REASSOCIATE,
    Read,
    identity,
    size_value,
    structured,
)

APPROXIMATE = arith.FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
"""Flags of a function that need not tell numbers close to 0 from 0."""


def reduction_space(
    dims: Sequence[Dim], axes: Sequence[int], keepdims: bool
) -> tuple[list[Dim], list[Dim], list[AffineExpr]]:
    """
    Parallel extents, reduction extents, and the index of the input at each point.

    With `keepdims` the reduced axes stay as parallel dimensions of extent 1.
    """
    parallel: list[Dim] = [1 if axis in axes else dim for axis, dim in enumerate(dims) if keepdims or axis not in axes]
    index: list[AffineExpr] = []
    inner = outer = 0
    for axis in range(len(dims)):
        if axis in axes:
            index.append(AffineExpr.dimension(len(parallel) + inner))
            inner += 1
            outer += keepdims
        else:
            index.append(AffineExpr.dimension(outer))
            outer += 1
    return parallel, [dims[axis] for axis in axes], index


def flagged(accumulator: SSAValue) -> ScalarBuilder:
    """A builder at the end of the body of `accumulator`, whose ops may be reassociated: for the combining op."""
    block = accumulator.owner
    assert isinstance(block, Block)
    return ScalarBuilder(InsertPoint.at_end(block), REASSOCIATE)


def lower_reduction(op: ReductionOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The op's own `identity`, `prepare`, `combine` and `finish`."""
    dims = dims_of(op.x.type)
    axes = op.axis_list
    element = element_type_of(op.result)
    parallel, reduction, index = reduction_space(dims, axes, op.keepdims is not None)
    count = dim_prod(reduction)

    def combine(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        prepared = op.build_prepare(s, args[0])
        return [op.combine(flagged(args[1]), args[1], prepared)]

    def finish(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [op.build_finish(s, args[0], size_value(s, count, IndexType()))]

    if not axes:

        def single(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
            start = s.const(op.identity().value.data, op.identity().type)
            return finish(s, [op.combine(s, start, op.build_prepare(s, args[0]))])

        return structured(b, [Read(op.x, index)], parallel, [element], single)
    return structured(
        b,
        [Read(op.x, index)],
        parallel,
        [element],
        combine,
        reduction=reduction,
        inits=[op.identity()],
        finish=finish,
    )


def lower_arg_reduction(op: ArgReductionOp, b: OpBuilder) -> Sequence[SSAValue]:
    """Two accumulators, the best element so far and its place; the order of the points counts."""
    dims = dims_of(op.x.type)
    parallel, reduction, index = reduction_space(dims, [op.axis_value], op.keepdims is not None)
    identity_value = op.identity()

    # A reduction dimension of extent 1 is kept as the last one, so the place is its index.
    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, best, place = args
        x = s.extend_float(x, best.type)
        here = s.from_index(s.insert(IndexOp(len(parallel))), i64)
        better = op.is_better(s, x, best)
        return [s.select(better, x, best), s.select(better, here, place)]

    return structured(
        b,
        [Read(op.x, index)],
        parallel,
        [i64],
        body,
        reduction=reduction,
        inits=[identity_value, scalar_constant(0, i64)],
        finish=lambda s, args: [args[1]],
    )


def lower_softmax(op: SoftmaxOp, b: OpBuilder) -> Sequence[SSAValue]:
    """
    The maximum of each slice, the exponentials, their sum, and the quotients; between them f32 (or f64).

    The maximum leaves NaN out, as its exponential makes the sum NaN anyway; no difference from it is above 0.
    The quotients are products with the reciprocal of the sum, which is at least 1 (the exponential of 0) or NaN. Beside
    that 1, exponentials below 2^-126 may be 0.
    """
    dims = dims_of(op.x.type)
    element = element_type_of(op.x)
    acc = accumulator_type(element)
    axis = op.axis_value
    parallel, reduction, index = reduction_space(dims, [axis], True)

    def largest(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [flagged(args[1]).max_number(args[1], s.extend_float(args[0], acc))]

    def exponential(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        function = ExpOp(s.sub(s.extend_float(args[0], acc), args[1]), APPROXIMATE)
        function.attributes[AT_MOST_ZERO] = UnitAttr()
        return [s.insert(function)]

    def total(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [flagged(args[1]).add(args[1], args[0])]

    def reciprocal(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [s.div(s.const(1.0, acc), args[0])]

    def quotient(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [s.truncate_float(s.mul(args[0], args[1]), element)]

    x = Read(op.x, index)
    (maximum,) = structured(
        b,
        [x],
        parallel,
        [acc],
        largest,
        reduction=reduction,
        inits=[scalar_constant(float("-inf"), acc)],
    )
    everywhere = identity(len(dims))
    slices = [AffineExpr.constant(0) if d == axis else everywhere[d] for d in range(len(dims))]
    (exponentials,) = structured(b, [Read(op.x, everywhere), Read(maximum, slices)], dims, [acc], exponential)
    (scales,) = structured(
        b,
        [Read(exponentials, index)],
        parallel,
        [acc],
        total,
        reduction=reduction,
        inits=[scalar_constant(0, acc)],
        finish=reciprocal,
    )
    return structured(b, [Read(exponentials, everywhere), Read(scales, slices)], dims, [element], quotient)
