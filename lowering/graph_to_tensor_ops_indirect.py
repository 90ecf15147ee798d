"""
Gather, scatter and running totals.

Indices that are data are wrapped (negative ones count from the end) and moved into bounds in the body, so that nothing
is read or written elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from aicc.dialects.graph.dims import Dim, dim_min, dim_prod, dims_of, provably_at_least
from aicc.dialects.graph.dtypes import accumulator_type, is_unsigned, signless
from aicc.dialects.graph.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    ScatterElementsOp,
    ScatterNdOp,
    ScatterOp,
)
from aicc.dialects.graph.interfaces import OpBuilder, element_type_of
from aicc.dialects.graph.scalars import ScalarBuilder, scalar_constant
from aicc.dialects.graph.scan import RunningOp
from aicc.dialects.tensor_ops import ExtractOp, IndexOp, ScanOp
from aicc.dialects.tensor_ops import ScatterOp as TensorScatterOp
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.lowering.graph_to_tensor_ops_support import (
    Read,
    identity,
    scalar_region,
    size_value,
    structured,
)


def wrapped_index(s: ScalarBuilder, index: SSAValue, size: Dim) -> SSAValue:
    """An integer as an index into an axis: negative ones count from the end, all are moved into bounds."""
    place = s.insert(arith.IndexCastOp(index, IndexType()))
    zero = s.const(0, IndexType())
    extent = size_value(s, size, IndexType())
    place = s.select(s.cmp("lt", place, zero), s.add(place, extent), place)
    return s.max(s.min(place, s.sub(extent, s.const(1, IndexType()))), zero)


def lower_gather(op: GatherOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`x[a.., indices[i..], b..]`."""
    dims = dims_of(op.x.type)
    axis = op.axis_value
    rank = len(dims_of(op.indices.type))
    result = dims_of(op.result.type)
    index = Read(op.indices, [AffineExpr.dimension(axis + k) for k in range(rank)])

    def read(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        places = [s.insert(IndexOp(d)) for d in range(axis)]
        places.append(wrapped_index(s, args[0], dims[axis]))
        places += [s.insert(IndexOp(d)) for d in range(axis + rank, len(result))]
        return [s.insert(ExtractOp(op.x, places))]

    return structured(b, [index], result, [element_type_of(op.x)], read)


def lower_gather_elements(op: GatherElementsOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`x[i.., indices[i.., j, k..], k..]`."""
    dims = dims_of(op.x.type)
    axis = op.axis_value
    rank = len(dims)

    def read(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        places = [s.insert(IndexOp(d)) for d in range(rank) if d != axis]
        places.insert(axis, wrapped_index(s, args[0], dims[axis]))
        return [s.insert(ExtractOp(op.x, places))]

    index = Read(op.indices, identity(rank))
    return structured(b, [index], dims_of(op.result.type), [element_type_of(op.x)], read)


def lower_gather_nd(op: GatherNdOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`x[b.., indices[b.., i.., 0], .., k..]`."""
    dims, indices = dims_of(op.x.type), dims_of(op.indices.type)
    batch, depth = op.batch_rank, indices[-1]
    assert isinstance(depth, int)
    outer = len(indices) - 1
    result = dims_of(op.result.type)
    reads = [Read(op.indices, [*identity(outer), AffineExpr.constant(i)]) for i in range(depth)]

    def read(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        places = [s.insert(IndexOp(d)) for d in range(batch)]
        places += [wrapped_index(s, arg, dims[batch + i]) for i, arg in enumerate(args)]
        places += [s.insert(IndexOp(d)) for d in range(outer, len(result))]
        return [s.insert(ExtractOp(op.x, places))]

    return structured(b, reads, result, [element_type_of(op.x)], read)


def _cast(b: OpBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """A float tensor in another float type."""
    dims = dims_of(value.type)

    def cast(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        wider = accumulator_type(args[0].type) == element
        return [(s.extend_float if wider else s.truncate_float)(args[0], element)]

    return structured(b, [Read(value, identity(len(dims)))], dims, [element], cast)[0]


def _scatter(op: ScatterOp, b: OpBuilder, reads: Sequence[Read], places: Sequence[int | None]) -> Sequence[SSAValue]:
    """
    Writes the last of `reads`; for each axis of `x`, `places` names the iteration dimension that is its index, or is
    `None` for the next of the indices that are read.

    f16 and bf16 are combined in f32 and rounded once.
    """
    dims, extents = dims_of(op.x.type), list(dims_of(op.updates.type))
    element = element_type_of(op.x)
    combined = op.reduction.data != "none"
    acc = accumulator_type(element) if combined else element
    base = op.x if acc == element else _cast(b, op.x, acc)
    if 0 in dims:
        return [op.x]
    if extents and not all(provably_at_least(dim, 1) for dim in dims):
        # Nothing may be written if there is no element: 0 points if a size of x is 0, as many as before if not.
        extents[0] = dim_min(extents[0], extents[0] * dim_prod(dims))

    def body(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        indices = iter(args[:-1])
        found = [
            wrapped_index(s, next(indices), dims[axis]) if place is None else s.insert(IndexOp(place))
            for axis, place in enumerate(places)
        ]
        return [*found, s.extend_float(args[-1], signless(acc))]

    def combine(s: ScalarBuilder, args: Sequence[SSAValue]) -> Sequence[SSAValue]:
        match op.reduction.data:
            case "add":
                return [s.add(*args)]
            case "mul":
                return [s.mul(*args)]
            case "min":
                return [s.min(*args, unsigned=is_unsigned(element))]
            case _:
                return [s.max(*args, unsigned=is_unsigned(element))]

    scalars = [element_scalar(read.value.type) for read in reads]
    scatter = TensorScatterOp(
        base,
        [read.value for read in reads],
        extents,
        [AffineMap(len(extents), 0, tuple(read.index)) for read in reads],
        scalar_region(scalars, body),
        scalar_region([signless(acc)] * 2, combine) if combined else None,
    )
    result = b.add(scatter)
    return [result if acc == element else _cast(b, result, element)]


def lower_scatter_elements(op: ScatterElementsOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`x[i.., indices[i.., j, k..], k..] = updates[i.., j, k..]`."""
    rank = len(dims_of(op.x.type))
    reads = [Read(op.indices, identity(rank)), Read(op.updates, identity(rank))]
    return _scatter(op, b, reads, [None if axis == op.axis_value else axis for axis in range(rank)])


def lower_scatter_nd(op: ScatterNdOp, b: OpBuilder) -> Sequence[SSAValue]:
    """`x[indices[i.., 0], .., k..] = updates[i.., k..]`."""
    indices = dims_of(op.indices.type)
    depth = indices[-1]
    assert isinstance(depth, int)
    outer, rank = len(indices) - 1, len(dims_of(op.x.type))
    reads = [Read(op.indices, [*identity(outer), AffineExpr.constant(i)]) for i in range(depth)]
    reads.append(Read(op.updates, identity(outer + rank - depth)))
    return _scatter(op, b, reads, [*[None] * depth, *range(outer, outer + rank - depth)])


def lower_running(op: RunningOp, b: OpBuilder) -> Sequence[SSAValue]:
    """A scan."""
    element = element_type_of(op.x)
    scalar = signless(element)
    acc = accumulator_type(scalar)
    body = scalar_region([scalar, acc], lambda s, args: [op.combine(s, args[1], s.extend_float(args[0], acc))])
    finish = None if acc == scalar else scalar_region([acc], lambda s, args: [s.truncate_float(args[0], scalar)])
    scan = ScanOp(
        op.x,
        op.axis_value,
        scalar_constant(op.IDENTITY, acc),
        body,
        finish,
        exclusive=op.exclusive is not None,
        reverse=op.reverse is not None,
    )
    return [b.add(scan)]
