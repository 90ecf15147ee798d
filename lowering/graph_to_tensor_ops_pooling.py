"""
Pooling as structured ops: reductions over the taps of each window.

Padding is a fill of the input, so that no padded copy is made here. f16 and bf16 are reduced in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.dtypes import accumulator_type, bit_width, is_float, is_unsigned, signless
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.pooling import ArgMaxPoolOp, AvgPoolOp, MaxPoolOp, PoolOp, SumPoolOp
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.graph.windows import WindowAxis
from aicc.dialects.tensor_ops import IndexOp
from aicc.lowering.graph_to_tensor_ops_contractions import may_leave, taps
from aicc.lowering.graph_to_tensor_ops_support import REASSOCIATE, Read, ScalarFunction, Symbols, size_value, structured


def lowest(element: Attribute) -> Attribute:
    """The constant that never wins a maximum: `-inf`, or the smallest integer."""
    scalar = signless(element)
    if is_float(element):
        return scalar_constant(float("-inf"), scalar)
    if is_unsigned(element):
        return scalar_constant(0, scalar)
    return scalar_constant(-(1 << (bit_width(scalar) - 1)), scalar)


def lower_max_pool(op: MaxPoolOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The lowest value stands for what is outside."""
    dims = dims_of(op.result.type)
    element = element_type_of(op.result)
    acc = accumulator_type(element)
    unsigned = is_unsigned(element)
    symbols = Symbols()
    axes = [axis.without_outer_taps() for axis in op.window_axes()]
    fill = lowest(element) if any(map(may_leave, axes)) else None
    outer = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
    x = Read(op.x, [*outer, *taps(axes, 2, len(dims), symbols)], fill)
    return structured(
        b,
        [x],
        dims,
        [element],
        lambda s, args: [s.max(args[1], s.extend_float(args[0], args[1].type), unsigned=unsigned)],
        reduction=[axis.kernel for axis in axes],
        inits=[lowest(acc)],
        fastmath=REASSOCIATE,
        finish=None if acc == element else lambda s, args: [s.truncate_float(args[0], element)],
        symbols=symbols,
    )


def taps_inside(s: ScalarBuilder, axis: WindowAxis, window: SSAValue, low: Dim, size: Dim) -> SSAValue:
    """How many taps `k` of a window have `0 <= window*stride + k*dilation - low < size`, as an index."""
    index = window.type
    start = s.sub(s.mul(window, s.const(axis.stride, index)), size_value(s, low, index))
    zero = s.const(0, index)

    def taps_before(position: SSAValue) -> SSAValue:
        """The number of taps k with `start + k*dilation < position`, if there were no last one."""
        distance = s.max(s.sub(position, start), zero)
        if axis.dilation == 1:
            return distance
        step = s.const(axis.dilation, index)
        return s.insert(arith.DivUIOp(s.add(distance, s.const(axis.dilation - 1, index)), step))

    last = s.min(taps_before(size_value(s, size, index)), size_value(s, axis.kernel, index))
    return s.max(s.sub(last, taps_before(zero)), zero)


def _summed(op: PoolOp, b: OpBuilder, finish: ScalarFunction | None, axes: Sequence[WindowAxis]) -> Sequence[SSAValue]:
    """The sum of each window's taps, which `finish` makes the result of."""
    dims = dims_of(op.result.type)
    element = element_type_of(op.result)
    acc = accumulator_type(element)
    symbols = Symbols()
    axes = [axis.without_outer_taps() for axis in axes]
    fill = scalar_constant(0, element) if any(map(may_leave, axes)) else None
    outer = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
    x = Read(op.x, [*outer, *taps(axes, 2, len(dims), symbols)], fill)
    return structured(
        b,
        [x],
        dims,
        [element],
        lambda s, args: [s.add(args[1], s.extend_float(args[0], acc))],
        reduction=[axis.kernel for axis in axes],
        inits=[scalar_constant(0, acc)],
        fastmath=REASSOCIATE,
        finish=finish,
        symbols=symbols,
    )


def lower_sum_pool(op: SumPoolOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The sum of the taps."""
    element = element_type_of(op.result)
    narrow = accumulator_type(element) != element
    return _summed(op, b, (lambda s, args: [s.truncate_float(args[0], element)]) if narrow else None, op.window_axes())


def lower_avg_pool(op: AvgPoolOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The sum of the taps over their number, which index arithmetic gives where it varies."""
    element = element_type_of(op.result)
    acc = accumulator_type(element)
    axes = op.window_axes()
    with_padding = op.count_include_pad is not None

    def finish(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        fixed: Dim = 1
        varying: SSAValue | None = None
        for i, axis in enumerate(axes):
            low, size = (0, axis.size + axis.low + axis.high) if with_padding else (axis.low, axis.size)
            if not may_leave(axis) or (with_padding and not axis.ceil_mode):
                fixed = fixed * axis.kernel
                continue
            inside = taps_inside(s, axis, s.insert(IndexOp(2 + i)), low, size)
            varying = inside if varying is None else s.mul(varying, inside)
        count = size_value(s, fixed, acc)
        if varying is not None:
            count = s.from_index(varying, acc) if fixed == 1 else s.mul(s.from_index(varying, acc), count)
        return [s.truncate_float(s.div(args[0], count), element)]

    return _summed(op, b, finish, axes)


def lower_arg_max_pool(op: ArgMaxPoolOp, b: OpBuilder) -> Sequence[SSAValue]:
    """Two accumulators, the best element so far and its place, -1 for none; the order of the taps counts."""
    sizes, dims = dims_of(op.x.type), dims_of(op.result.type)
    element = element_type_of(op.x)
    acc = accumulator_type(element)
    symbols = Symbols()
    axes = [axis.without_outer_taps() for axis in op.window_axes()]
    fill = lowest(element) if any(map(may_leave, axes)) else None
    outer = [AffineExpr.dimension(0), AffineExpr.dimension(1)]
    x = Read(op.x, [*outer, *taps(axes, 2, len(dims), symbols)], fill)
    index = IndexType()

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        value, best, place = args
        value = s.extend_float(value, best.type)
        better = s.cmp("gt", value, best, unsigned=is_unsigned(element))
        if is_float(value.type):
            better = s.or_(better, s.and_(s.is_nan(value), s.not_(s.is_nan(best))))
        better = s.or_(better, s.cmp("lt", place, s.const(0, i64)))
        where: list[SSAValue] = []
        for i, axis in enumerate(axes):
            start = s.mul(s.insert(IndexOp(2 + i)), s.const(axis.stride, index))
            tap = s.mul(s.insert(IndexOp(len(dims) + i)), s.const(axis.dilation, index))
            at = s.sub(s.add(start, tap), size_value(s, axis.low, index))
            if may_leave(axis):
                better = s.and_(better, s.cmp("ge", at, s.const(0, index)))
                better = s.and_(better, s.cmp("lt", at, size_value(s, axis.size, index)))
            where.append(at)
        order = range(len(axes))
        here = s.add(s.mul(s.insert(IndexOp(0)), size_value(s, sizes[1], index)), s.insert(IndexOp(1)))
        for i in reversed(order) if op.column_major is not None else order:
            here = s.add(s.mul(here, size_value(s, sizes[2 + i], index)), where[i])
        return [s.select(better, value, best), s.select(better, s.from_index(here, i64), place)]

    return structured(
        b,
        [x],
        dims,
        [i64],
        body,
        reduction=[axis.kernel for axis in axes],
        inits=[lowest(acc), scalar_constant(-1, i64)],
        finish=lambda s, args: [s.max(args[1], s.const(0, i64))],
        symbols=symbols,
    )
