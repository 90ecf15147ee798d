"""
Which results of a kernel are written past the caches: those that no cache would hold until they are read.

Where the kernel moves more data than the last-level cache holds, the parts of a result that its reader begins with are
gone from there when the kernel ends. Smaller results are left to the caches, as is what the kernel itself reads again.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from aicc.dialects.loops import LoadOp, StoreOp, ViewOp
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.functions import num_outputs
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import element_bytes, guess
from aicc.transforms.loops_pack import kernel_buffers

LEAST_MOVED = 1.5
"""Bytes of all buffers of the kernel, in sizes of the last-level cache, from which on large results bypass it."""

LEAST_WRITTEN = 0.5
"""Bytes of such a result, at least, in sizes of the last-level cache."""


def bypassing(kernel: Kernel) -> list[int]:
    """The results, by position among the kernel's buffers, that go past the caches."""
    buffers = kernel_buffers(kernel.func)
    sizes = [prod(map(guess, memref_dims(memref_of(value)))) * _element_bytes(value) for value in buffers]
    cache = kernel.facts.l3_bytes
    if sum(sizes) < LEAST_MOVED * cache:
        return []
    only_written = _only_written(kernel, buffers)

    def leaves(position: int) -> bool:
        buffer = buffers[position]
        known = all(isinstance(dim, int) for dim in memref_dims(memref_of(buffer)))
        return known and sizes[position] >= LEAST_WRITTEN * cache and buffer in only_written

    return [position for position in range(len(buffers) - num_outputs(kernel.func), len(buffers)) if leaves(position)]


def bypass_last_cache(kernel: Kernel) -> None:
    """Writes the steps for the results of the kernel that go past the caches."""
    for position in bypassing(kernel):
        kernel.writer.bypass_caches(position, "larger than the last-level cache can keep until it is read")


def _element_bytes(buffer: SSAValue) -> int:
    return element_bytes(memref_of(buffer).element_type)


def _only_written(kernel: Kernel, buffers: Sequence[SSAValue]) -> set[SSAValue]:
    """The buffers that the kernel writes by stores and does nothing else with."""
    written: set[SSAValue] = set()
    others: set[SSAValue] = set()
    for op in kernel.func.walk():
        if isinstance(op, LoadOp):
            others.add(root_of(op.memref))
        elif isinstance(op, StoreOp):
            written.add(root_of(op.memref))
        elif not isinstance(op, ViewOp):
            others.update(root_of(value) for value in op.operands if isinstance(value.type, MemRefType))
    return (written - others).intersection(buffers)
