"""Scratch buffers of loops: those that nothing reads, and those of which each iteration needs only its own part."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from aicc.dialects.graph.dims import Dim
from aicc.dialects.loops.access import LoadOp, StoreOp, access_of
from aicc.dialects.loops.attrs import memref_dims, memref_of, memref_type
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.memory import AllocOp, CopyOp, ViewOp
from aicc.dialects.tensor_ops.affine import from_linear, linear_form
from aicc.transforms.loops_index import IndexBounds


def erase_unread_buffers(root: Operation) -> int:
    """Removes allocations that are only written to, with the writes; the number of those removed."""
    count = 0
    for alloc in [op for op in root.walk() if isinstance(op, AllocOp)]:
        if (users := _writers(alloc)) is not None:
            for op in [*reversed(users), alloc]:
                op.detach()
                op.erase(safe_erase=False)
            count += 1
    return count


def _writers(alloc: AllocOp) -> list[Operation] | None:
    """The ops that use the buffer, if all they do is write to it or view it."""
    users: dict[Operation, None] = {}
    pending: list[SSAValue] = [alloc.result]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            match user:
                case ViewOp():
                    pending.append(user.result)
                case StoreOp() if use.index == 1:
                    pass
                case CopyOp() if use.index == 1:
                    pass
                case _:
                    return None
            users[user] = None
    return list(users)


def shrink_buffers(root: Operation) -> int:
    """
    Gives each iteration of a loop a buffer of its own for what only that iteration uses; the number of such changes.

    Before: %t = loops.alloc : memref<8x16xf32>     After: loops.for %i {
            loops.for %i {                                   %t = loops.alloc : memref<16xf32>
              ... %t[%i, %j] ...                             ... %t[%j] ...

    The loop must hold all uses of the buffer, all of them with its induction variable as the index of one dimension, or
    with a multiple of it and less than one such step to that: of `%t[8 * %i + %k]` with `%k` below 8, each iteration
    gets `%t[%k]`.
    """
    bounds = IndexBounds()
    count = 0
    pending = [op for op in root.walk() if isinstance(op, AllocOp)]
    while pending:
        if (smaller := _shrink(pending.pop(), bounds)) is not None:
            pending.append(smaller)
            count += 1
    return count


def _shrink(alloc: AllocOp, bounds: IndexBounds) -> AllocOp | None:
    block = alloc.parent
    assert block is not None
    users: list[LoadOp | StoreOp] = []
    for use in alloc.result.uses:
        user = use.operation
        if (isinstance(user, LoadOp) and user.fill is None) or (
            isinstance(user, StoreOp) and use.index == 1 and user.inside is None
        ):
            users.append(user)
        else:
            return None
    holders = {_holder(user, block) for user in users}
    loop = holders.pop() if len(holders) == 1 else None
    if not isinstance(loop, ForOp):
        return None
    type = memref_of(alloc.result)
    parts = [_part(users, dim, loop, bounds) for dim in range(type.get_num_dims())]
    if not any(parts):
        return None
    dims: list[Dim] = []
    for part, dim in zip(parts, memref_dims(type), strict=True):
        if part is None:
            dims.append(dim)
        elif part.size > 1:
            dims.append(part.size)
    smaller = AllocOp(memref_type(dims, type.element_type))
    smaller.location = alloc.location
    smaller.result.name_hint = alloc.result.name_hint
    first = loop.block.first_op
    assert first is not None
    loop.block.insert_op_before(smaller, first)
    for user in users:
        _redirect(user, smaller.result, parts, loop)
    alloc.detach()
    alloc.erase()
    return smaller


def _holder(op: Operation, block: Block) -> Operation | None:
    """The op of `block` that is or holds `op`."""
    holder: Operation | None = op
    while holder is not None and holder.parent is not block:
        holder = holder.parent_op()
    return holder


@dataclass(frozen=True)
class _Part:
    """What one iteration uses of a dimension: `size` elements from `factor * iteration + start` on."""

    factor: int
    start: int
    size: int


def _part(users: list[LoadOp | StoreOp], dim: int, loop: ForOp, bounds: IndexBounds) -> _Part | None:
    """The part of a dimension that belongs to an iteration alone; `None` if there is no such."""
    factors: set[int] = set()
    lows: list[int] = []
    highs: list[int] = []
    for user in users:
        affine_map, operands, lanes = access_of(user)
        expr = affine_map.results[dim]
        position = operands.index(loop.induction) if loop.induction in operands else -1
        factor = 1 if expr == AffineDimExpr(position) else linear_form(expr).dim_coefficient(position)
        factors.add(factor)
        if position < 0 or factor < 1 or len(factors) > 1:
            return None
        low, high = bounds.simplifier(operands, lanes).bounds(_without(expr, position, factor))
        if low is None or high is None:
            return None
        lows.append(low)
        highs.append(high)
    size = max(highs) - min(lows) + 1
    (factor,) = factors
    return _Part(factor, min(lows), size) if size <= factor * loop.step_value else None


def _without(expr: AffineExpr, position: int, factor: int) -> AffineExpr:
    """`expr` less `factor` times the dimension at `position`."""
    return from_linear(linear_form(expr + AffineDimExpr(position) * -factor))


def _redirect(op: LoadOp | StoreOp, memref: SSAValue, parts: list[_Part | None], loop: ForOp) -> None:
    """Lets an access use a buffer that has only the part of each dimension that belongs to an iteration."""
    affine_map, operands, _ = access_of(op)
    position = operands.index(loop.induction)
    exprs: list[AffineExpr] = []
    for expr, part in zip(affine_map.results, parts, strict=True):
        if part is None:
            exprs.append(expr)
        elif part.size > 1:
            exprs.append(_without(expr + -part.start, position, part.factor))
    smaller = AffineMap(affine_map.num_dims, 0, tuple(exprs))
    if isinstance(op, LoadOp):
        new: LoadOp | StoreOp = LoadOp(memref, smaller, operands, op.result.type, op.lanes)
        op.result.replace_all_uses_with(new.results[0])
    else:
        new = StoreOp(op.value, memref, smaller, operands, op.lanes)
    new.location = op.location
    block = op.parent
    assert block is not None
    block.insert_op_before(new, op)
    op.detach()
    op.erase()
