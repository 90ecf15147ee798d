"""
Stores past the caches.

Processors have such stores for whole aligned registers, and only whole cache lines spare reading them first. So rows of
whole lines take one of two ways: past the caches where their address is that of a line, which is tested when it is not
known, and as any other store where it is not. What is written past the caches is not ordered with what other threads
see: a function that does it ends with a fence (`order_stores`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import Float16Type, IntegerAttr, UnitAttr, i16, i64
from xdsl.ir import Attribute, Block, SSAValue

from aicc.dialects.llvm import memory
from aicc.lowering.loops_to_llvm_control import branch, branch_if
from aicc.lowering.loops_to_llvm_emit import Buffer, Scope, byte_size, lanes_in, row_type
from aicc.lowering.loops_to_llvm_index import Poly, add, constant_value
from aicc.lowering.loops_to_llvm_rows import Row
from aicc.lowering.loops_to_llvm_values import FunctionLowering

LINE = 64
"""Bytes of a cache line."""

_NONTEMPORAL: dict[str, Attribute] = {
    "alignment": IntegerAttr(LINE, 64),
    "ordering": IntegerAttr(0, 64),
    "nontemporal": UnitAttr(),
}


def store_past_caches(fn: FunctionLowering, buffer: Buffer, rows: Sequence[Row], values: Sequence[SSAValue]) -> bool:
    """Stores rows, all lanes of them, past the caches where they are aligned; False if they are no whole lines."""
    size = byte_size(buffer.element)
    if any(lanes_in(value) * size % LINE for value in values):
        return False
    if any(row.stride is None or constant_value(row.stride) != 1 or row.conditions or row.varying for row in rows):
        return False
    pointers = [fn.address(buffer, row.offset, row.extra) for row in rows]
    if isinstance(buffer.element, Float16Type):
        # LLVM stores no vectors of halves past the caches; integers that were turned into such are the former again.
        values = [fn.emit(base.BitcastOp, (value,), row_type(i16, lanes_in(value))) for value in values]
    first = rows[0]
    together = all(_whole_lines(fn, add(row.extra, first.extra, -1), size) for row in rows)
    groups = [range(len(rows))] if together else [range(row, row + 1) for row in range(len(rows))]
    for group in groups:
        row = rows[group[0]]
        known = _whole_lines(fn, add(row.offset, row.extra), size)
        aligned = _aligned_buffer(fn, buffer) if known else _is_aligned(fn, pointers[group[0]], -1)
        _either_way(fn, aligned, [pointers[i] for i in group], [values[i] for i in group], size)
    fn.bypasses = True
    return True


def _whole_lines(fn: FunctionLowering, elements: Poly, size: int) -> bool:
    """Whether so many elements are always whole cache lines."""
    return fn.atoms.multiple_of(elements) * size % LINE == 0


def _is_aligned(fn: FunctionLowering, pointer: SSAValue, depth: int) -> SSAValue:
    address = fn.emit(base.PtrToIntOp, (pointer,), i64, depth=depth)
    place = fn.emit(base.AndOp, (address, fn.integer(LINE - 1)), i64, depth=depth)
    return fn.compare("eq", place, fn.integer(0), depth)


def _aligned_buffer(fn: FunctionLowering, buffer: Buffer) -> SSAValue:
    """Whether a buffer begins with a cache line; found out once, where its address is known."""
    cache = fn.scopes[buffer.depth].cache
    key = ("aligned", buffer.pointer)
    if key not in cache:
        cache[key] = _is_aligned(fn, buffer.pointer, buffer.depth)
    return cache[key]


def _either_way(
    fn: FunctionLowering, aligned: SSAValue, pointers: Sequence[SSAValue], values: Sequence[SSAValue], size: int
) -> None:
    plain: dict[str, Attribute] = {"alignment": IntegerAttr(size, 64), "ordering": IntegerAttr(0, 64)}
    join = Block()
    targets = [fn.new_block(), fn.new_block()]
    for target, properties in zip(targets, (_NONTEMPORAL, plain), strict=True):
        fn.scopes.append(Scope(target))
        for pointer, value in zip(pointers, values, strict=True):
            fn.emit(memory.StoreOp, (value, pointer), None, properties)
        branch(fn, join, ())
        fn.scopes.pop()
    branch_if(fn, aligned, (targets[0], ()), (targets[1], ()))
    fn.blocks.append(join)
    fn.scopes[-1].block = join
