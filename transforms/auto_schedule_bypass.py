"""
Which results of a kernel are written past the caches: those that no cache would hold until they are read.

Where the kernel moves more data than the last-level cache holds, the parts of a result that its reader begins with are
gone from there when the kernel ends. Smaller results are left to the caches, as is what the kernel itself reads again.

Such a kernel may go over rows in several sweeps: softmax, norms. What it keeps of a row in the result lies in scratch
then, so that the result is only written, and during its last sweep over a row the next one is fetched: all the time
that is spent within the caches, memory would be idle.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from aicc.dialects.loops import ForOp, LoadOp, StoreOp, ViewOp
from aicc.dialects.loops.access import access_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.functions import num_outputs
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.loops_buffers import shrink_buffers
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import element_bytes, guess
from aicc.transforms.loops_nest import StepError, perfect_nest
from aicc.transforms.loops_pack import kernel_buffers
from aicc.transforms.loops_privatize import privatize

LEAST_MOVED = 1.5
"""Bytes of all buffers of the kernel, in sizes of the last-level cache, from which on large results bypass it."""

LEAST_WRITTEN = 0.5
"""Bytes of such a result, at least, in sizes of the last-level cache."""


SHORTEST_ROW = 8192
"""Bytes of a row from which on the next one is worth to be fetched; prefetchers soon read on behind shorter ones."""

ROW_SHARE = 4
"""Rows of which the second-level cache must hold so many: one that is swept over, the next, scratch and the result."""


def bypassing(kernel: Kernel) -> list[int]:
    """The results, by position among the kernel's buffers, that go past the caches."""
    buffers = kernel_buffers(kernel.func)
    only_written = _only_written(kernel, buffers)
    first = len(buffers) - num_outputs(kernel.func)
    return [position for position in _large(kernel) if position >= first and buffers[position] in only_written]


def _large(kernel: Kernel) -> list[int]:
    """The buffers of known sizes that no cache holds, if the kernel moves more than the last-level cache does."""
    buffers = kernel_buffers(kernel.func)
    sizes = [prod(map(guess, memref_dims(memref_of(value)))) * _element_bytes(value) for value in buffers]
    cache = kernel.facts.l3_bytes
    if sum(sizes) < LEAST_MOVED * cache:
        return []

    def is_large(position: int) -> bool:
        known = all(isinstance(dim, int) for dim in memref_dims(memref_of(buffers[position])))
        return known and sizes[position] >= LEAST_WRITTEN * cache

    return [position for position in range(len(buffers)) if is_large(position)]


def rows_in_scratch(kernel: Kernel) -> None:
    """Gives rows of large results that sweeps read again scratch of their own, in the kernel and in its schedule."""
    buffers = kernel_buffers(kernel.func)
    only_written = _only_written(kernel, buffers)
    for position in _large(kernel)[::-1]:
        if position < len(buffers) - num_outputs(kernel.func) or buffers[position] in only_written:
            continue
        for row in _rows(kernel):
            size = _row_elements(buffers[position], row)
            if size is None or size * _element_bytes(buffers[position]) * ROW_SHARE > kernel.facts.l2_bytes:
                continue
            try:
                privatize(kernel.func, row, position)
            except StepError:
                continue
            shrink_buffers(kernel.func)
            why = "rows stay in cache, the result is only written"
            kernel.writer.privatize(kernel.writer.loop(row.label.data), position, why)


def fetch_next_rows(kernel: Kernel) -> None:
    """Writes the steps for large inputs whose rows are swept over several times: the next row is fetched meanwhile."""
    buffers = kernel_buffers(kernel.func)
    for position in _large(kernel):
        if position >= len(buffers) - num_outputs(kernel.func):
            continue
        for row in _rows(kernel):
            size, width = _row_elements(buffers[position], row), _element_bytes(buffers[position])
            if size is None or not SHORTEST_ROW <= size * width <= kernel.facts.l2_bytes // ROW_SHARE:
                continue
            sweeps = [op for op in row.block.ops if isinstance(op, ForOp) and _loads(op, buffers[position])]
            if len(sweeps) > 1:
                kernel.writer.read_ahead(position, size, "the next row, while there is work on this one")


def _rows(kernel: Kernel) -> list[ForOp]:
    """The loops around several others each, which sweep over a row."""
    tops = [perfect_nest(op)[-1] for op in kernel.func.body.block.ops if isinstance(op, ForOp)]
    return [row for row in tops if row.is_parallel and sum(isinstance(op, ForOp) for op in row.block.ops) > 1]


def _loads(root: Operation, buffer: SSAValue) -> list[LoadOp]:
    return [op for op in root.walk() if isinstance(op, LoadOp) and root_of(op.memref) is buffer]


def _row_elements(buffer: SSAValue, row: ForOp) -> int | None:
    """Elements from the part of a buffer that one iteration loads to that of the next; `None` if they are no rows."""
    for load in _loads(row, buffer):
        affine_map, operands, _ = access_of(load)
        for dim, expr in enumerate(affine_map.results):
            if isinstance(expr, AffineDimExpr) and operands[expr.position] is row.induction:
                dims = memref_dims(memref_of(load.memref))[dim + 1 :]
                return prod(map(guess, dims))
    return None


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
