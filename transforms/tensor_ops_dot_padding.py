"""
Padding of a quantised input that a contraction reads out of bounds, as bytes: by the zero point, which stands for 0.

Before: %d = structured (%x) body { ext(x) - z }
        %c = structured (%d as (.., d1 + d4 - 1, ..) fill 0, %w) .. sum of products
After:  %p = structured (%x as (.., d1 - 1, ..) fill 0) over padded sizes body { (inside ? x - z : 0) + z }
        %d = structured (%p) body { ext(p) - z }
        %c = structured (%d as (.., d1 + d4, ..), %w) .. sum of products

`inside ? x : z` is what becomes of it; a constant zero point, or none, is the fill of a plain copy, which
`loops-store-padded` can do without. Bytes are all that the products are made of then, and the zero point can be taken
out of them (`tensor_ops_dot_offsets`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i8
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.graph.scalars import scalar_constant
from aicc.dialects.tensor_ops import StructuredOp, YieldOp
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.tensor_ops_dot_offsets import Offset, find_offset, needed
from aicc.transforms.tensor_ops_editing import Operand, erase_if_unused, operands_of
from aicc.transforms.tensor_ops_inline import inline_producer
from aicc.transforms.tensor_ops_integer_sums import Factor, range_of
from aicc.transforms.tensor_ops_materialize_padding import materialize_padding, padded_copy


def pad_bytes(op: StructuredOp, position: int) -> None:
    """Lets `op` read input `position` from a padded copy in bytes, if it is bytes less a zero point with fill 0."""
    inputs, _ = operands_of(op)
    operand = inputs[position]
    element = element_scalar(operand.value.type)
    if operand.fill != scalar_constant(0, element) or not isinstance(element, IntegerType):
        return
    producer = operand.value.owner
    if element == i8:
        materialize_padding(op, position)
    elif isinstance(producer, StructuredOp) and (offset := _difference(op, producer)) is not None:

        def copy(op: StructuredOp, operand: Operand, sizes: Sequence[Dim], starts: Sequence[Dim]) -> SSAValue:
            return _padded_difference(op, operand, producer, offset, sizes, starts)

        materialize_padding(op, position, copy)
        erase_if_unused(producer)


def _difference(op: StructuredOp, producer: StructuredOp) -> Offset | None:
    """What the producer computes for `op` alone: a byte at its own index less one zero point; `None` for all else."""
    users = {use.operation for result in producer.res for use in result.uses}
    if producer.is_reduction or producer.parent is not op.parent or len(producer.res) != 1 or users != {op}:
        return None
    body, value = producer.body.block, producer.body_yield.values[0]
    ops, positions = needed(value, body)
    offset = find_offset(Factor(value, tuple(ops), tuple(positions), range_of(value)))
    if offset is None:
        return None
    inputs, _ = operands_of(producer)
    for number, operand in enumerate(inputs):
        moves = [expr != AffineConstantExpr(0) for expr in operand.map.results]
        if body.args[number] is offset.byte:
            own = [AffineDimExpr(axis) if moved else AffineConstantExpr(0) for axis, moved in enumerate(moves)]
            if operand.fill is not None or list(operand.map.results) != own or len(own) != len(producer.dims):
                return None
        elif operand.fill is not None or any(moves):
            return None
    return offset


def _padded_difference(
    op: StructuredOp,
    operand: Operand,
    producer: StructuredOp,
    offset: Offset,
    sizes: Sequence[Dim],
    starts: Sequence[Dim],
) -> SSAValue:
    """The difference of a padded copy of the bytes."""
    number = offset.byte.index
    inputs, _ = operands_of(producer)
    if (known := _known_zero(offset)) is not None and dims_of(inputs[number].value.type) == producer.dims:
        source = Operand(inputs[number].value, operand.map, IntegerAttr(known, i8))
        return _difference_of(op, producer, number, padded_copy(op, source, sizes, starts), sizes)
    bytes_less_zero = _bytes(op, producer, offset, number, None, producer.dims)
    zero = scalar_constant(0, i8)
    padded = padded_copy(op, Operand(bytes_less_zero.res[0], operand.map, zero), sizes, starts)
    erase_if_unused(bytes_less_zero)
    copied = _bytes(op, producer, offset, number, padded, sizes)
    inline_producer(copied, number)
    if (unused := padded.owner) is not copied:
        assert isinstance(unused, StructuredOp)
        erase_if_unused(unused)
    return _difference_of(op, producer, number, copied.res[0], sizes)


def _known_zero(offset: Offset) -> int | None:
    """The zero point as a signed byte, if it is a constant; 0 where there is none."""
    if offset.zero is None:
        return 0
    low, high = range_of(offset.zero)
    return (low + 128) % 256 - 128 if low == high else None


def _difference_of(
    op: StructuredOp, producer: StructuredOp, number: int, padded: SSAValue, sizes: Sequence[Dim]
) -> SSAValue:
    """What the producer computes, over other sizes and with `padded` as its input `number`."""
    inputs, _ = operands_of(producer)
    values = [padded if i == number else read.value for i, read in enumerate(inputs)]
    body = producer.body.clone()
    return _insert(op, values, _maps(inputs, number), sizes, body, producer.element_types[0]).res[0]


def _maps(inputs: Sequence[Operand], number: int) -> list[AffineMap]:
    """Those of the inputs; the bytes are at their own index, also along axes that had one element before padding."""
    own = AffineMap.identity(inputs[number].map.num_dims)
    return [own if i == number else read.map for i, read in enumerate(inputs)]


def _bytes(
    op: StructuredOp,
    producer: StructuredOp,
    offset: Offset,
    number: int,
    source: SSAValue | None,
    sizes: Sequence[Dim],
) -> StructuredOp:
    """The bytes of the producer less its zero point, in bytes, which wrap; or those of `source` and the zero point."""
    assert offset.zero is not None
    inputs, _ = operands_of(producer)
    values = [source if source is not None and i == number else read.value for i, read in enumerate(inputs)]
    block = Block(arg_types=[argument.type for argument in producer.body.block.args])
    build = Builder(InsertPoint.at_end(block))
    known: dict[SSAValue, SSAValue] = dict(zip(producer.body.block.args, block.args, strict=True))
    ops, _ = needed(offset.zero, producer.body.block)
    for inner in ops:
        made = build.insert(inner.clone(known))
        known.update(zip(inner.results, made.results, strict=True))
    zero = build.insert(arith.TruncIOp(known[offset.zero], i8)).result
    kind = arith.SubiOp if source is None else arith.AddiOp
    build.insert(YieldOp(build.insert(kind(block.args[number], zero)).result))
    return _insert(op, values, _maps(inputs, number), sizes, Region(block), i8)


def _insert(
    op: StructuredOp,
    values: Sequence[SSAValue],
    maps: Sequence[AffineMap],
    sizes: Sequence[Dim],
    body: Region,
    element: Attribute,
) -> StructuredOp:
    """An elementwise op right before `op`."""
    made = StructuredOp(list(values), list(sizes), len(sizes), list(maps), body, [element])
    parent = op.parent
    assert parent is not None
    parent.insert_op_before(made, op)
    made.location = op.location
    return made
