"""Scratch buffers of loops: those that nothing reads, and those of which each iteration needs only its own part."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from aicc.dialects.loops.access import LoadOp, StoreOp, access_of
from aicc.dialects.loops.attrs import memref_dims, memref_of, memref_type
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.memory import AllocOp, CopyOp, ViewOp


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

    The loop must hold all uses of the buffer, all of them with its induction variable as the index of one dimension.
    """
    count = 0
    pending = [op for op in root.walk() if isinstance(op, AllocOp)]
    while pending:
        if (smaller := _shrink(pending.pop())) is not None:
            pending.append(smaller)
            count += 1
    return count


def _shrink(alloc: AllocOp) -> AllocOp | None:
    block = alloc.parent
    assert block is not None
    users: list[LoadOp | StoreOp] = []
    for use in alloc.result.uses:
        user = use.operation
        if (isinstance(user, LoadOp) and user.fill is None) or (isinstance(user, StoreOp) and use.index == 1):
            users.append(user)
        else:
            return None
    holders = {_holder(user, block) for user in users}
    loop = holders.pop() if len(holders) == 1 else None
    if not isinstance(loop, ForOp):
        return None
    type = memref_of(alloc.result)
    own = {dim for dim in range(type.get_num_dims()) if all(_index_is(user, dim, loop.induction) for user in users)}
    if not own:
        return None
    kept = [dim for dim in range(type.get_num_dims()) if dim not in own]
    dims = memref_dims(type)
    smaller = AllocOp(memref_type([dims[dim] for dim in kept], type.element_type))
    smaller.location = alloc.location
    smaller.result.name_hint = alloc.result.name_hint
    first = loop.block.first_op
    assert first is not None
    loop.block.insert_op_before(smaller, first)
    for user in users:
        _redirect(user, smaller.result, kept)
    alloc.detach()
    alloc.erase()
    return smaller


def _holder(op: Operation, block: Block) -> Operation | None:
    """The op of `block` that is or holds `op`."""
    holder: Operation | None = op
    while holder is not None and holder.parent is not block:
        holder = holder.parent_op()
    return holder


def _index_is(op: LoadOp | StoreOp, dim: int, value: SSAValue) -> bool:
    affine_map, operands, _ = access_of(op)
    expr = affine_map.results[dim]
    return isinstance(expr, AffineDimExpr) and expr.position < len(operands) and operands[expr.position] is value


def _redirect(op: LoadOp | StoreOp, memref: SSAValue, kept: list[int]) -> None:
    """Lets an access use a buffer that has only the dimensions `kept`."""
    affine_map, operands, _ = access_of(op)
    smaller = AffineMap(affine_map.num_dims, 0, tuple(affine_map.results[dim] for dim in kept))
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
