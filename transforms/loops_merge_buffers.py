"""
Buffers that take over the memory of others: what is computed element by element is written where it was read.

Before: %t = loops.alloc                                          After: for %i { ... store %e, %out[%i] }
        for %i { ... store %e, %t[%i] }                                  for %i { %e = load %out[%i]
        for %i { %e = load %t[%i]                                                 store f(%e), %out[%i] }
                 store f(%e), %out[%i] }

`%t`, an allocation, must not be used after the nest that writes the other buffer, nor that one before it, and each
iteration of that nest reads and writes one element that is its own: softmax keeps its scores, their exponentials and
the quotients in one place.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from aicc.dialects.loops.access import LoadOp, StoreOp, access_of
from aicc.dialects.loops.control import ForOp
from aicc.dialects.loops.functions import outputs_of
from aicc.dialects.loops.memory import AllocOp

Accesses = list[LoadOp | StoreOp]


def merge_buffers(function: FuncOp) -> int:
    """Lets buffers of the function's own block be written in place; the number of allocations that are gone."""
    block = function.body.block
    count = 0
    for alloc in [op for op in block.ops if isinstance(op, AllocOp)]:
        while (target := _target(alloc, block, outputs_of(function))) is not None:
            if isinstance(target.owner, AllocOp):
                # The larger lifetime: the allocation that comes first stands for both.
                target.replace_all_uses_with(alloc.result)
                target.owner.detach()
                target.owner.erase()
                count += 1
                continue
            alloc.result.replace_all_uses_with(target)
            alloc.detach()
            alloc.erase()
            count += 1
            break
    return count


def _accesses(memref: SSAValue) -> Accesses | None:
    """The loads and stores of a buffer; `None` if anything else uses it."""
    found: Accesses = []
    for use in memref.uses:
        op = use.operation
        if (isinstance(op, LoadOp) and op.fill is None) or (isinstance(op, StoreOp) and use.index == 1):
            found.append(op)
        else:
            return None
    return found


def _holder(op: Operation, block: Block) -> Operation | None:
    holder: Operation | None = op
    while holder is not None and holder.parent is not block:
        holder = holder.parent_op()
    return holder


def _target(alloc: AllocOp, block: Block, outputs: Sequence[SSAValue]) -> SSAValue | None:
    """The buffer that is written where `alloc` is read last."""
    mine = _accesses(alloc.result)
    if not mine:
        return None
    holders = {holder for op in mine if (holder := _holder(op, block)) is not None}
    if not holders:
        return None
    last = next(iter(holders))
    for holder in holders:
        last = holder if last.is_before_in_block(holder) else last
    inside = [op for op in mine if _holder(op, block) is last]
    if not all(isinstance(op, LoadOp) for op in inside):
        return None
    for store in [op for op in last.walk() if isinstance(op, StoreOp)]:
        memref = store.memref
        own = isinstance(memref.owner, AllocOp) and memref.owner.parent is block
        if memref.type != alloc.result.type or not (own or (isinstance(memref, BlockArgument) and memref in outputs)):
            continue
        in_place = all(reads_there(op, store) for op in inside)
        if in_place and is_own_element(store, last) and _first_use(memref, block, last, store):
            return memref
    return None


def reads_there(load: LoadOp | StoreOp, store: StoreOp) -> bool:
    """Whether a load stands before the store, in its block, and reads the element that it writes."""
    return load.parent is store.parent and load.is_before_in_block(store) and access_of(load) == access_of(store)


def is_own_element(store: StoreOp, top: Operation) -> bool:
    """Whether each iteration of the loops from `top` on writes an element of its own."""
    affine_map, operands, _ = access_of(store)
    indices = {operands[expr.position] for expr in affine_map.results if isinstance(expr, AffineDimExpr)}
    current: Operation | None = store.parent_op()
    while isinstance(current, ForOp):
        if current.inits or current.induction not in indices:
            return False
        if current is top:
            return True
        current = current.parent_op()
    return False


def _first_use(memref: SSAValue, block: Block, top: Operation, store: StoreOp) -> bool:
    """Whether nothing uses the buffer before `top`, and in it only the store."""
    accesses = _accesses(memref)
    if accesses is None:
        return False
    for op in accesses:
        holder = _holder(op, block)
        if (
            holder is None
            or (holder is top and op is not store)
            or (holder is not top and holder.is_before_in_block(top))
        ):
            return False
    return True
