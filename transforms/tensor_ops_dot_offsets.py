"""
Zero points of one factor of an integer contraction, taken out of the products: with `x = u - z`,

`sum(x * y) = sum(u * y) - z * sum(y)`, so that `u` is the byte as it is stored, or with its first bit flipped where the
instruction wants the other signedness (`u = x + 128`). The sums of `y` are an op of their own, and those of weights are
computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i8, i32
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, dims_of
from aicc.dialects.tensor_ops import StructuredOp, YieldOp
from aicc.dialects.tensor_ops.affine import substitute, used_dims
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.tensor_ops_editing import Operand, clean, operands_of, set_operands
from aicc.transforms.tensor_ops_integer_sums import Factor

_Extension = arith.ExtSIOp | arith.ExtUIOp


@dataclass(frozen=True)
class Offset:
    """A factor that is a byte less a zero point."""

    byte: BlockArgument
    unsigned: bool
    zero: SSAValue | None


def find_offset(factor: Factor) -> Offset | None:
    """The factor as a byte less a zero point; `None` if it is something else."""
    value = factor.value
    while isinstance(owner := value.owner, _Extension) and not isinstance(owner.input, BlockArgument):
        value = owner.input
    zero = None
    if isinstance(owner := value.owner, arith.SubiOp):
        value, zero = owner.lhs, owner.rhs
    owner = value.owner
    if not isinstance(owner, _Extension) or not isinstance(owner.input, BlockArgument) or owner.input.type != i8:
        return None
    return Offset(owner.input, isinstance(owner, arith.ExtUIOp), zero)


def needed(value: SSAValue, block: Block) -> tuple[list[Operation], list[int]]:
    """The ops of a body that make a value, in order, and the arguments that they need."""
    wanted, ops = {value}, list[Operation]()
    for op in reversed(list(block.ops)):
        if any(result in wanted for result in op.results):
            ops.append(op)
            wanted.update(op.operands)
    return ops[::-1], [argument.index for argument in block.args if argument in wanted]


def can_take_out(op: StructuredOp, factor: Factor, other: Factor) -> bool:
    """Whether the factor is a byte less a zero point that does not vary along what is summed over, in bounds."""
    offset = find_offset(factor)
    inputs, _ = operands_of(op)
    if offset is None or any(inputs[position].fill is not None for position in (*factor.inputs, *other.inputs)):
        return False
    positions = [] if offset.zero is None else needed(offset.zero, op.body.block)[1]
    used = {d for position in positions for d in used_dims(inputs[position].map.results)}
    return all(d < op.parallel_count for d in used)


def take_out(op: StructuredOp, factor: Factor, other: Factor, unsigned: bool) -> StructuredOp | None:
    """
    Makes `factor` a byte of the wanted signedness, and corrects the sums at the end of `op`.

    Returns the op that sums up `other`, inserted before `op`; `None` where nothing had to be corrected.
    """
    offset = find_offset(factor)
    assert offset is not None
    if offset.zero is None and offset.unsigned == unsigned:
        return None
    (use,) = factor.value.uses
    product = use.operation
    build = Builder(InsertPoint.before(product))
    byte: SSAValue = offset.byte
    shift = 0
    if offset.unsigned != unsigned:
        flip = build.insert(arith.ConstantOp(IntegerAttr(-128, i8))).result
        byte = build.insert(arith.XOrIOp(byte, flip)).result
        shift = 128 if unsigned else -128
    wide = build.insert((arith.ExtUIOp if unsigned else arith.ExtSIOp)(byte, i32)).results[0]
    sums, dims = _sums(op, other)
    _correct(op, offset, shift, sums, dims)
    product.operands[use.index] = wide
    clean(op)
    return sums


def _sums(op: StructuredOp, factor: Factor) -> tuple[StructuredOp, list[int]]:
    """The op that sums a factor up over all reduction dimensions, and the parallel ones that it varies with."""
    inputs, _ = operands_of(op)
    own = [inputs[position] for position in factor.inputs]
    used = {d for operand in own for d in used_dims(operand.map.results)}
    kept = [d for d in range(len(op.dims)) if d in used or d >= op.parallel_count]
    renamed: dict[int, AffineExpr] = {old: AffineDimExpr(new) for new, old in enumerate(kept)}
    count = len(op.symbols.data)
    operands = [
        Operand(o.value, AffineMap(len(kept), count, tuple(substitute(e, renamed) for e in o.map.results))) for o in own
    ]
    body = Block(arg_types=[*(element_scalar(operand.value.type) for operand in own), i32])
    arguments = (op.body.block.args[position] for position in factor.inputs)
    values: dict[SSAValue, SSAValue] = dict(zip(arguments, body.args[:-1], strict=True))
    build = Builder(InsertPoint.at_end(body))
    for inner in factor.ops:
        copy = build.insert(inner.clone(values))
        values.update(zip(inner.results, copy.results, strict=True))
    build.insert(YieldOp(build.insert(arith.AddiOp(body.args[-1], values[factor.value])).result))
    parallel = [d for d in kept if d < op.parallel_count]
    extents = [_extent(op, d, own) for d in kept]
    made = StructuredOp([], extents, len(parallel), [], Region(body), [i32], inits=[IntegerAttr(0, i32)])
    set_operands(made, operands, [], list(op.symbols.data))
    parent = op.parent
    assert parent is not None
    parent.insert_op_before(made, op)
    made.location = op.location
    made.res[0].name_hint = "sums"
    return made, parallel


def _extent(op: StructuredOp, d: int, operands: Sequence[Operand]) -> Dim:
    """How far a dimension goes: the number of an axis that it walks, since constants know no symbols; else as it is."""
    for operand in operands:
        for expr, size in zip(operand.map.results, dims_of(operand.value.type), strict=True):
            if expr == AffineDimExpr(d) and isinstance(size, int):
                return size
    return op.dims[d]


def _correct(op: StructuredOp, offset: Offset, shift: int, sums: StructuredOp, dims: list[int]) -> None:
    """Takes the zero point, more `shift`, times the sums of the other factor off at the end."""
    inputs, finish = operands_of(op)
    block = op.finish_block
    if block is None:
        block = Block(arg_types=[i32])
        block.add_op(YieldOp(block.args[0]))
        op.finish.add_block(block)
    build = Builder(InsertPoint.at_start(block))
    total = block.args[0]
    zero: SSAValue = build.insert(arith.ConstantOp(IntegerAttr(shift, i32))).result
    if offset.zero is not None:
        ops, positions = needed(offset.zero, op.body.block)
        values: dict[SSAValue, SSAValue] = {}
        for position in positions:
            finish.append(Operand(inputs[position].value, inputs[position].map))
            argument = op.body.block.args[position]
            values[argument] = block.insert_arg(argument.type, len(block.args))
        for inner in ops:
            copy = build.insert(inner.clone(values))
            values.update(zip(inner.results, copy.results, strict=True))
        own = values[offset.zero]
        if own.type != i32:
            own = build.insert(arith.ExtSIOp(own, i32)).result
        zero = build.insert(arith.AddiOp(zero, own)).result
    index = AffineMap(len(op.dims), len(op.symbols.data), tuple(AffineDimExpr(d) for d in dims))
    finish.append(Operand(sums.res[0], index))
    argument = block.insert_arg(i32, len(block.args))
    product = build.insert(arith.MuliOp(zero, argument)).result
    corrected = build.insert(arith.SubiOp(total, product))
    total.replace_uses_with_if(corrected.result, lambda use: use.operation is not corrected)
    set_operands(op, inputs, finish, list(op.symbols.data))
