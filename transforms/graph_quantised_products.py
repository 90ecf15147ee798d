"""
`graph-quantised-products`: products of dequantised tensors become products of their integers.

Before: %a = dequantized %x, %sa, %za   (mul (cast (sub (cast %x), %za)), %sa)    After: %p = graph.matmul_integer
        %b = dequantized %w, %sb                                                              %x, %w lhs_zero(%za)
        %r = graph.matmul %a, %b                                                         %r = cast(%p) * (%sa * %sb)

This is what a model with `QuantizeLinear` and `DequantizeLinear` around its operators means. Sums of integers are
exact, and only the scales round: with u = 2^-24 and K products per result, both forms are within
`(K + 6) * u * sum(|a| * |b|)` of each other, and the new one is within `4 * u * |result|` of the product of the
dequantised numbers. Where it is quantised again, scale and bias are multiplied by the inverse of that scale, which
changes the quotient by `4 * u` of their sum without signs: another integer only where it is so near to a half.

Applies to `graph.matmul`, `graph.linear` and `graph.conv` in f32 whose operands are both dequantised integers of 8 bits
with scales that do not vary along what is summed over, if no sum of K products can leave i32. Convolutions in several
groups must have one channel or an even number of them in each: others have nothing that dot products could take. What
stands between such ops and only selects elements (pooling by the largest, transposes, slices) works on the integers as
well (`graph_quantised_selection`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from aicc.dialects.graph.arithmetic import AddOp, DivOp, MulOp
from aicc.dialects.graph.assembly import array_values
from aicc.dialects.graph.choice import CastOp
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.conv import ConvOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.integer_products import ConvIntegerOp, MatmulIntegerOp
from aicc.dialects.graph.interfaces import GraphOp, OpBuilder, element_type_of
from aicc.dialects.graph.matmul import LinearOp, MatmulOp
from aicc.dialects.graph.movement import ReshapeOp, TransposeOp
from aicc.transforms.graph_dequantised import Dequantized, find_dequantized, known_array
from aicc.transforms.graph_functions import main_functions
from aicc.transforms.graph_quantised_selection import (
    multiply_by_inverse,
    no_zero_point,
    same_integers,
    select_integers,
)
from aicc.transforms.graph_rewrite import Rules, rewrite

MOST_PRODUCTS = (1 << 31) // (255 * 255)
"""Sums of so many products of differences of 8-bit integers stay within i32."""


def _zero_point(b: OpBuilder, found: Dequantized) -> SSAValue | None:
    """The zero point in the type of the integers; none where it is known to be 0."""
    zero = found.zero
    array = None if zero is None else known_array(zero)
    if zero is None or array is None:
        return zero
    if not array.any():
        return None
    element = element_type_of(found.integers)
    if element_type_of(zero) == element:
        return zero
    return b.add(ConstantOp.from_array(array.astype(numpy_dtype(element))))


def _in_range(found: Dequantized) -> bool:
    """Whether a constant zero point is an integer of the type."""
    array = None if found.zero is None else known_array(found.zero)
    if array is None:
        return True
    limits = np.iinfo(numpy_dtype(element_type_of(found.integers)))
    return bool(((array >= limits.min) & (array <= limits.max)).all())


def _both(*values: SSAValue) -> tuple[Dequantized, Dequantized] | None:
    found = [find_dequantized(value) for value in values]
    left, right = found
    return None if left is None or right is None or not (_in_range(left) and _in_range(right)) else (left, right)


def _scaled(b: OpBuilder, total: SSAValue, scales: Sequence[SSAValue]) -> SSAValue:
    """The integers of a product as floats, by two scales that broadcast to it."""
    result = b.add(CastOp(total, f32))
    if any(dim_prod(dims_of(scale.type)) == 1 for scale in scales):
        return b.add(MulOp(result, b.add(MulOp(*scales))))
    for scale in scales:
        result = b.add(MulOp(result, scale))
    return result


def _swapped(b: OpBuilder, value: SSAValue) -> SSAValue:
    """The last two axes of a value swapped; a value of lower rank is for the whole tensor."""
    rank = len(dims_of(value.type))
    return value if rank < 2 else b.add(TransposeOp(value, [*range(rank - 2), rank - 1, rank - 2]))


def _transposed(b: OpBuilder, found: Dequantized) -> Dequantized:
    zero = found.zero if found.zero is None else _swapped(b, found.zero)
    return Dequantized(_swapped(b, found.integers), _swapped(b, found.scale), zero)


def integer_matmul(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """A matrix product of dequantised operands."""
    assert isinstance(op, MatmulOp)
    result = _product(b, op.lhs, op.rhs, (op.transpose_a is not None, op.transpose_b is not None))
    return None if result is None else [result]


def integer_linear(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """An affine map with dequantised weights of a dequantised tensor."""
    assert isinstance(op, LinearOp)
    if len(dims_of(op.x.type)) < 2:
        return None
    result = _product(b, op.x, op.weight, (False, op.transpose_w is not None))
    if result is None or op.bias is None:
        return None if result is None else [result]
    return [b.add(AddOp(result, op.bias))]


def _product(b: OpBuilder, lhs: SSAValue, rhs: SSAValue, swaps: tuple[bool, bool]) -> SSAValue | None:
    """The product of two operands, of which `swaps` says whether their last two axes are read swapped."""
    both, depth = _both(lhs, rhs), dims_of(lhs.type)[-2 if swaps[0] else -1]
    if both is None or not isinstance(depth, int) or depth > MOST_PRODUCTS:
        return None
    for number, (found, swap) in enumerate(zip(both, swaps, strict=True)):
        rank = len(dims_of(found.integers.type))
        # The axis that is not summed over: rows of the left operand, columns of the right one.
        if not found.varying() <= {rank - 2 if (number == 0) != swap else rank - 1}:
            return None
    sides: list[Dequantized] = []
    for found, swap in zip(both, swaps, strict=True):
        own = replace(found, zero=_zero_point(b, found))
        sides.append(_transposed(b, own) if swap else own)
    left, right = sides
    total = b.add(MatmulIntegerOp(left.integers, right.integers, left.zero, right.zero))
    return _scaled(b, total, (left.scale, right.scale))


def integer_convolution(op: Operation, b: OpBuilder) -> Sequence[SSAValue] | None:
    """A convolution of a dequantised image with dequantised weights."""
    assert isinstance(op, ConvOp)
    both = _both(op.x, op.weight)
    outputs, channels, *_ = weight = dims_of(op.weight.type)
    depth = dim_prod(weight[1:])
    if both is None or not isinstance(depth, int) or not isinstance(channels, int) or depth > MOST_PRODUCTS:
        return None
    image, weights = both
    alone = op.group_count > 1 and channels > 1 and channels % 2 == 1
    if alone or image.varying() or not weights.varying() <= {0}:
        return None
    strides, dilations = array_values(op.strides), array_values(op.dilations)
    zeros = _zero_point(b, image), _zero_point(b, weights)
    total = b.add(
        ConvIntegerOp(image.integers, weights.integers, *zeros, strides, op.pads.data, dilations, op.group_count)
    )
    channel: tuple[Dim, ...] = (outputs, *[1] * (len(weight) - 2))
    scale = weights.scale
    if weights.varying() and dim_prod(dims_of(scale.type)) != 1:
        scale = b.add(ReshapeOp(scale, channel))
    elif dims_of(scale.type):
        scale = b.add(ReshapeOp(scale, ()))
    own = b.add(ReshapeOp(image.scale, ())) if dims_of(image.scale.type) else image.scale
    result = _scaled(b, total, (own, scale))
    return [result if op.bias is None else b.add(AddOp(result, b.add(ReshapeOp(op.bias, channel))))]


@dataclass(frozen=True)
class GraphQuantisedProductsPass(ModulePass):
    """Makes products of dequantised tensors products of integers."""

    name = "graph-quantised-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in main_functions(op):
            self.apply_to_function(ctx, function)

    def apply_to_function(self, ctx: Context, func: FuncOp) -> None:
        """Rewrites one function."""
        rules: Rules = {
            ConvOp: [integer_convolution],
            LinearOp: [integer_linear],
            MatmulOp: [integer_matmul],
            CastOp: [same_integers, no_zero_point],
            DivOp: [multiply_by_inverse],
            GraphOp: [select_integers],
        }
        rewrite(func, rules)
