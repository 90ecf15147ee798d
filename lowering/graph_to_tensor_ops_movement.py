"""
Graph ops that move elements, as index maps: transpose, expand, slice, split, pad; reshape is a view and concat an op.

Padding by the edge or by mirroring has no affine index and reads indirectly, with clamped or mirrored indices.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from aicc.dialects.graph.constants import ConstantOp, IotaOp
from aicc.dialects.graph.dims import Dim, dims_of, tensor_type
from aicc.dialects.graph.dtypes import signless
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.movement import (
    ConcatOp,
    ExpandOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    SplitOp,
    TransposeOp,
)
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.graph.sizes import SizesOp
from aicc.dialects.tensor_ops import ConcatOp as TensorConcatOp
from aicc.dialects.tensor_ops import ConstantOp as TensorConstantOp
from aicc.dialects.tensor_ops import ExtractOp, IndexOp, ViewOp
from aicc.lowering.graph_to_tensor_ops_support import (
    Read,
    Symbols,
    as_type,
    broadcast_index,
    identity,
    move,
    size_value,
    splat_of,
    structured,
)


def lower_constant(op: ConstantOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The same constant."""
    return [b.add(TensorConstantOp(op.value, op.result.type))]


def lower_reshape(op: ReshapeOp, b: OpBuilder) -> Sequence[SSAValue]:
    """A view."""
    return [b.add(ViewOp(op.x, dims_of(op.result.type)))]


def lower_transpose(op: TransposeOp, b: OpBuilder) -> Sequence[SSAValue]:
    """Axis `k` of the result is axis `permutation[k]` of the input."""
    order = op.axis_order
    index: list[AffineExpr] = [AffineExpr.constant(0)] * len(order)
    for new, old in enumerate(order):
        index[old] = AffineExpr.dimension(new)
    return [move(b, op.x, dims_of(op.result.type), element_type_of(op.x), index)]


def lower_expand(op: ExpandOp, b: OpBuilder) -> Sequence[SSAValue]:
    """Index 0 along repeated axes."""
    dims = dims_of(op.result.type)
    return [move(b, op.x, dims, element_type_of(op.x), broadcast_index(op.x, dims))]


def lower_concat(op: ConcatOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`tensor_ops.concat`; operands whose sizes are only assumed to fit are read under the sizes of the result."""
    result = dims_of(op.result.type)
    axis = op.axis_value
    element = element_type_of(op.result)
    operands: list[SSAValue] = []
    for x in op.xs:
        dims = dims_of(x.type)
        expected: list[Dim] = [dims[i] if i == axis else dim for i, dim in enumerate(result)]
        operands.append(as_type(b, x, tensor_type(expected, element)))
    joined = b.add(TensorConcatOp(operands, axis))
    return [as_type(b, joined, op.result.type)]


def lower_split(op: SplitOp, b: OpBuilder) -> Sequence[SSAValue]:
    """Each part starts where the ones before it end."""
    parts: list[SSAValue] = []
    for part, offset in zip(op.parts, op.offsets(), strict=True):
        symbols = Symbols()
        dims = dims_of(part.type)
        index = identity(len(dims))
        index[op.axis_value] = index[op.axis_value] + symbols.expr(offset)
        parts.append(move(b, op.x, dims, element_type_of(op.x), index, symbols))
    return parts


def lower_slice(op: SliceOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`start + step * i` along each axis."""
    symbols = Symbols()
    index = [
        AffineExpr.dimension(axis) * step + symbols.expr(start)
        for axis, (start, step) in enumerate(zip(op.starts.data, op.step_list, strict=True))
    ]
    return [move(b, op.x, dims_of(op.result.type), element_type_of(op.x), index, symbols)]


def lower_pad(op: PadOp, b: OpBuilder) -> Sequence[SSAValue]:
    """A fill where the value is known; otherwise a selection between the element and the value."""
    mode = op.mode.data
    if mode != "constant":
        return [_lower_indirect_pad(op, b, mirrored=mode == "reflect")]
    dims = dims_of(op.result.type)
    element = element_type_of(op.x)
    symbols = Symbols()
    index = [AffineExpr.dimension(axis) + symbols.expr(low) * -1 for axis, low in enumerate(op.low.data)]
    fill = scalar_constant(0, signless(element)) if op.value is None else splat_of(op.value)
    if fill is not None:
        return [move(b, op.x, dims, element, index, symbols, fill)]
    assert op.value is not None

    def choose(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        condition: SSAValue | None = None
        for axis, (low, size) in enumerate(zip(op.low.data, dims_of(op.x.type), strict=True)):
            place = s.sub(s.insert(IndexOp(axis)), size_value(s, low, IndexType()))
            inside = s.cmp("lt", place, size_value(s, size, IndexType()), unsigned=True)
            condition = inside if condition is None else s.and_(condition, inside)
        assert condition is not None
        return [s.select(condition, args[0], args[1])]

    if not index:
        return [op.x]
    reads = [Read(op.x, index, scalar_constant(0, signless(element))), Read(op.value, [])]
    return structured(b, reads, dims, [element], choose, symbols=symbols)


def _lower_indirect_pad(op: PadOp, b: OpBuilder, *, mirrored: bool) -> SSAValue:
    """Reads at the nearest element, or at the mirrored one."""
    dims = dims_of(op.result.type)
    index_type = IndexType()

    def read(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        del args
        places: list[SSAValue] = []
        zero = s.const(0, index_type)
        for axis, (low, high, size) in enumerate(zip(op.low.data, op.high.data, dims_of(op.x.type), strict=True)):
            place = s.insert(IndexOp(axis))
            if low != 0 or high != 0:
                place = s.sub(place, size_value(s, low, index_type))
                last = s.sub(size_value(s, size, index_type), s.const(1, index_type))
                if mirrored:
                    place = s.max(place, s.sub(zero, place))
                    from_end = s.sub(last, place)
                    place = s.sub(last, s.max(from_end, s.sub(zero, from_end)))
                else:
                    place = s.min(s.max(place, zero), last)
            places.append(place)
        return [s.insert(ExtractOp(op.x, places))]

    return structured(b, [], dims, [element_type_of(op.x)], read)[0]


def lower_iota(op: IotaOp, b: OpBuilder) -> Sequence[SSAValue]:
    """The index along one axis."""
    element = element_type_of(op.result)

    def place(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        del args
        return [s.from_index(s.insert(IndexOp(op.axis_value)), signless(element))]

    return structured(b, [], dims_of(op.result.type), [element], place)


def lower_sizes(op: SizesOp, b: OpBuilder) -> Sequence[SSAValue]:
    """A choice by the index."""
    sizes = op.shape.data

    def choose(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        del args
        place = s.insert(IndexOp(0))
        value = size_value(s, sizes[-1], i64) if sizes else s.const(0, i64)
        for position in reversed(range(len(sizes) - 1)):
            here = s.insert(arith.CmpiOp(place, s.const(position, IndexType()), "eq"))
            value = s.select(here, size_value(s, sizes[position], i64), value)
        return [value]

    assert op.result.type == tensor_type([len(sizes)], i64)
    return structured(b, [], [len(sizes)], [i64], choose)
