"""The largest and smallest elements along an axis, by integer keys in the order of the elements."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import accumulator_type, bit_width, is_float, is_unsigned
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.scalars import ScalarBuilder
from aicc.dialects.graph.top_k import TopKOp
from aicc.dialects.tensor_ops import ExtractOp, IndexOp
from aicc.dialects.tensor_ops import TopKOp as TensorTopKOp
from aicc.lowering.graph_to_tensor_ops_support import Read, structured


def ordered_key(s: ScalarBuilder, x: SSAValue, element: Attribute, key: Attribute) -> SSAValue:
    """
    A signed integer of type `key` (i32, or i64 for elements of 64 bits) in the order of `x`, of element type `element`.

    Floats as they are written are in order apart from their sign: the other bits of negative ones are turned around.
    Both zeros get one key, and all NaN the largest.
    """
    bits = bit_width(key)
    lowest = -(1 << (bits - 1))
    if not is_float(element):
        # Booleans are unsigned numbers of one bit.
        unsigned = is_unsigned(element) or bit_width(element) == 1
        if bit_width(element) < bits:
            x = s.resize_integer(x, key, unsigned=unsigned)
        return s.xor(x, s.const(lowest, key)) if unsigned and bit_width(element) == bits else x
    zero = s.const_like(0.0, x)
    plain = s.select(s.cmp("eq", x, zero), zero, x)
    pattern = s.insert(arith.BitcastOp(plain, key))
    turned = s.xor(pattern, s.const(-1 - lowest, key))
    number = s.select(s.cmp("lt", pattern, s.const(0, key)), turned, pattern)
    return s.select(s.is_nan(x), s.const(-1 - lowest, key), number)


def lower_top_k(op: TopKOp, b: OpBuilder) -> Sequence[SSAValue]:
    """Keys with the axis last, the places of the largest ones, and the elements there."""
    dims, axis, element = dims_of(op.x.type), op.axis_value, element_type_of(op.x)
    key = i64 if bit_width(element) == 64 else i32
    others = [d for d in range(len(dims)) if d != axis]
    last = [AffineExpr.dimension(others.index(d) if d != axis else len(others)) for d in range(len(dims))]

    def keys(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        wide = s.extend_float(args[0], accumulator_type(args[0].type)) if is_float(element) else args[0]
        found = ordered_key(s, wide, element, key)
        return [s.xor(found, s.const(-1, key)) if op.smallest is not None else found]

    (ordered,) = structured(b, [Read(op.x, last)], [*(dims[d] for d in others), dims[axis]], [key], keys)
    places = b.add(TensorTopKOp(ordered, op.count))

    def read(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        indices = [s.insert(IndexOp(d)) for d in range(len(dims))]
        indices[axis] = s.insert(arith.IndexCastOp(args[0], IndexType()))
        return [s.insert(ExtractOp(op.x, indices)), args[0]]

    place = Read(places, [AffineExpr.dimension(d) for d in (*others, axis)])
    return structured(b, [place], dims_of(op.values.type), [element, i64], read)
