"""
Matrix products and convolutions as structured ops.

Sums are kept in f32 for f16 and bf16 and rounded once; those of quantised integers in i32, of operands less their zero
points. Padding is a fill of the input, so that no padded copy is made here.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from aicc.dialects.graph.conv import ConvolutionOp, ConvOp
from aicc.dialects.graph.dims import Dim, dims_of, floordiv
from aicc.dialects.graph.dtypes import accumulator_type, bit_width, is_float, is_unsigned, signless
from aicc.dialects.graph.integer_products import ConvIntegerOp, MatmulIntegerOp
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.matmul import MatmulOp
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.graph.windows import WindowAxis
from aicc.dialects.tensor_ops.structured import number_type
from aicc.lowering.graph_to_tensor_ops_support import (
    CONTRACT,
    Read,
    ScalarFunction,
    Symbols,
    broadcast_index,
    identity,
    splat_of,
    structured,
)


def sum_of_products(lhs: Attribute, rhs: Attribute) -> ScalarFunction:
    """`acc + x * y` in the accumulator's type, for elements of these types."""

    def widened(b: ScalarBuilder, value: SSAValue, element: Attribute, acc: Attribute) -> SSAValue:
        if is_float(acc):
            return b.extend_float(value, acc)
        return b.resize_integer(value, acc, unsigned=is_unsigned(element))

    def build(b: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, y, acc = args
        return [b.add(acc, b.mul(widened(b, x, lhs, acc.type), widened(b, y, rhs, acc.type)))]

    return build


def lower_matmul(op: MatmulOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`[.., i, j]` parallel, `k` a reduction."""
    swaps = op.transpose_a is not None, op.transpose_b is not None
    return _matrix_product(b, op.lhs, op.rhs, dims_of(op.result.type), element_type_of(op.result), swaps)


def lower_matmul_integer(op: MatmulIntegerOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The operands less their zero points, and their product."""
    lhs, rhs = _centred(b, op.lhs, op.lhs_zero), _centred(b, op.rhs, op.rhs_zero)
    return _matrix_product(b, lhs, rhs, dims_of(op.result.type), element_type_of(op.result), (False, False))


def _centred(b: OpBuilder, value: SSAValue, zero: SSAValue | None) -> SSAValue:
    """A quantised operand less its zero point, in a type that holds all such differences."""
    if zero is None or ((number := splat_of(zero)) is not None and scalar_constant(0, number_type(number)) == number):
        return value
    dims, element = dims_of(value.type), element_type_of(value)
    wide, unsigned = (i16 if bit_width(element) == 8 else i32), is_unsigned(element)

    def difference(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        x, z = (s.resize_integer(arg, wide, unsigned=unsigned) for arg in args)
        return [s.sub(x, z)]

    reads = [Read(value, identity(len(dims))), Read(zero, broadcast_index(zero, dims))]
    return structured(b, reads, dims, [wide], difference)[0]


def _matrix_product(
    b: OpBuilder, lhs: SSAValue, rhs: SSAValue, dims: Sequence[Dim], element: Attribute, swaps: tuple[bool, bool]
) -> Sequence[SSAValue]:
    """The product of the last two axes, swapped first where `swaps` says so; the axes before them broadcast."""
    acc = accumulator_type(signless(element))
    batch = len(dims) - 2
    row, column, inner = (AffineExpr.dimension(batch + k) for k in range(3))

    def read(value: SSAValue, matrix: tuple[AffineExpr, AffineExpr], swap: bool) -> Read:
        outer = broadcast_index(value, dims)[:-2]
        return Read(value, [*outer, *(matrix[::-1] if swap else matrix)])

    return structured(
        b,
        [read(lhs, (row, inner), swaps[0]), read(rhs, (inner, column), swaps[1])],
        dims,
        [element],
        sum_of_products(element_type_of(lhs), element_type_of(rhs)),
        reduction=[_known(dims_of(lhs.type)[-2 if swaps[0] else -1], dims_of(rhs.type)[-1 if swaps[1] else -2])],
        inits=[scalar_constant(0, acc)],
        fastmath=CONTRACT,
        finish=None if acc == signless(element) else lambda s, args: [s.truncate_float(args[0], element)],
    )


def _known(size: Dim, other: Dim) -> Dim:
    """Of two sizes that are equal the number, if one is; a constant operand knows no symbol."""
    return size if isinstance(size, int) else other if isinstance(other, int) else size


def taps(axes: Sequence[WindowAxis], first: int, kernel: int, symbols: Symbols) -> list[AffineExpr]:
    """The position along each axis of space that window `d(first + i)` reads at tap `d(kernel + i)`."""
    return [
        AffineExpr.dimension(first + i) * axis.stride
        + AffineExpr.dimension(kernel + i) * axis.dilation
        + symbols.expr(axis.low) * -1
        for i, axis in enumerate(axes)
    ]


def may_leave(axis: WindowAxis) -> bool:
    """Whether a window can reach beyond the axis."""
    count = axis.count()
    if isinstance(axis.low, int) and isinstance(count, int) and isinstance(axis.span, int):
        last = (count - 1) * axis.stride + axis.span - axis.low
        return axis.low > 0 or not isinstance(axis.size, int) or last > axis.size
    return axis.low != 0 or axis.high != 0 or axis.ceil_mode


def lower_conv(op: ConvOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`[n, m, o..]` parallel; the channels of a group and the taps are reductions."""
    return _convolution(op, b, op.x, op.weight, op.bias)


def lower_conv_integer(op: ConvIntegerOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The operands less their zero points, and their convolution."""
    return _convolution(op, b, _centred(b, op.x, op.x_zero), _centred(b, op.weight, op.weight_zero), None)


def _convolution(
    op: ConvolutionOp, b: OpBuilder, image: SSAValue, weights: SSAValue, addend: SSAValue | None
) -> Sequence[SSAValue]:
    """The convolution that `op` describes, of these values."""
    result = op.results[0]
    dims = dims_of(result.type)
    weight = dims_of(weights.type)
    element = element_type_of(result)
    acc = accumulator_type(signless(element))
    rank = len(dims)
    symbols = Symbols()
    axes = op.window_axes()
    channel = AffineExpr.dimension(rank)
    if op.group_count > 1:
        outputs = dims[1]
        assert isinstance(outputs, int) and isinstance(weight[1], int)
        group = AffineExpr.dimension(1) // (outputs // op.group_count)
        channel = group * weight[1] + channel
    guarded = any(map(may_leave, axes))
    fill = scalar_constant(0, signless(element_type_of(image))) if guarded else None
    x = Read(image, [AffineExpr.dimension(0), channel, *taps(axes, 2, rank + 1, symbols)], fill)
    kernel = [AffineExpr.dimension(rank + 1 + i) for i in range(len(axes))]
    w = Read(weights, [AffineExpr.dimension(1), AffineExpr.dimension(rank), *kernel])
    bias = [] if addend is None else [Read(addend, [AffineExpr.dimension(1)])]

    def finish(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        total = args[0]
        for value in args[1:]:
            total = s.add(total, s.extend_float(value, total.type))
        return [s.truncate_float(total, element)]

    return structured(
        b,
        [x, w],
        dims,
        [element],
        sum_of_products(element_type_of(image), element_type_of(weights)),
        reduction=[_known(weight[1], floordiv(dims_of(image.type)[1], op.group_count)), *weight[2:]],
        inits=[scalar_constant(0, acc)],
        fastmath=CONTRACT,
        finish_inputs=bias,
        finish=finish if bias or acc != signless(element) else None,
        symbols=symbols,
    )
