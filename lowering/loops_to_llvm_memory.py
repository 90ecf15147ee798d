"""
Loads, stores and buffers.

A row of an n-D access is one vector access where its lanes are neighbours, a repeated scalar where they are the same
element, and otherwise lane by lane. Lanes that `lanes` or `fill` exclude touch no memory: masked vector accesses, and
for single elements an address of their own to read from or write to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from math import prod
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i1,
    i8,
    i16,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.llvm import elementwise, memory
from aicc.dialects.loops.access import ApplyOp, LoadOp, StoreOp, lanes_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.memory import AllocOp, CopyOp, SizeOp, ViewOp
from aicc.dialects.loops.prefetch import PrefetchOp
from aicc.lowering.loops_to_llvm_addresses import LaneDependentError
from aicc.lowering.loops_to_llvm_emit import (
    NO_FAST_MATH,
    POINTER,
    Buffer,
    byte_size,
    is_integer,
    lanes_in,
    memory_type,
    register_type,
    row_type,
)
from aicc.lowering.loops_to_llvm_index import (
    ZERO,
    Poly,
    add,
    constant,
    constant_value,
    multiply,
)
from aicc.lowering.loops_to_llvm_masks import (
    all_of,
    copied_lanes,
    copy_bytes,
    joined,
    lane_mask,
    parts_of_row,
    scalar_condition,
    varying_mask,
)
from aicc.lowering.loops_to_llvm_nontemporal import store_past_caches
from aicc.lowering.loops_to_llvm_rows import Row, coefficients_of, row_between, rows_of
from aicc.lowering.loops_to_llvm_transposed import block_parts, load_transposed
from aicc.lowering.loops_to_llvm_values import FunctionLowering

_SELECT: dict[str, Attribute] = {"fastmathFlags": NO_FAST_MATH}


# Elements in memory and in registers


def _from_memory(fn: FunctionLowering, value: SSAValue, element: Attribute) -> SSAValue:
    """A boolean is any byte but 0."""
    if element != i1:
        return value
    return fn.compare("ne", value, fn.integer(0, value.type))


def to_memory(fn: FunctionLowering, value: SSAValue, element: Attribute) -> SSAValue:
    """A boolean is the byte 0 or 1."""
    if element != i1:
        return value
    return fn.emit(base.ZExtOp, (value,), row_type(i8, lanes_in(value)))


def fill_bits(fn: FunctionLowering, fill: Attribute | None, element: Attribute) -> SSAValue:
    """The value that lanes that are not read have, as it lies in memory."""
    kind = memory_type(element)
    match fill:
        case IntegerAttr():
            return fn.integer(fill.value.data, kind)
        case FloatAttr():
            return float_constant(fn, fill.value.data, element)
        case _:
            return fn.integer(0, kind) if is_integer(kind) else fn.float(0.0, kind)


def bf16_bits(value: float) -> int:
    """The bits of a bf16, as a signed number."""
    return int(np.asarray(value, ml_dtypes.bfloat16).view(np.int16))


def float_constant(fn: FunctionLowering, value: float, element: Attribute) -> SSAValue:
    """A float constant in a register; bf16 as its bits."""
    if isinstance(element, BFloat16Type):
        return fn.integer(bf16_bits(value), register_type(element))
    return fn.float(value, element)


# Loads


@cache
def plain_access(element: Attribute, align: int = 0) -> dict[str, Attribute]:
    """The properties of a load or store of elements, which are aligned as such if not otherwise."""
    return {"alignment": IntegerAttr(align or byte_size(element), 64), "ordering": IntegerAttr(0, 64)}


def _or_elsewhere(fn: FunctionLowering, pointer: SSAValue, condition: SSAValue | None, other: SSAValue) -> SSAValue:
    """The pointer where the condition holds, else the other one; without a condition the pointer itself."""
    if condition is None:
        return pointer
    return fn.emit(elementwise.SelectOp, (condition, pointer, other), POINTER, _SELECT)


def _plain_load(fn: FunctionLowering, pointer: SSAValue, buffer: Buffer, lanes: int) -> SSAValue:
    access = plain_access(buffer.element, buffer.align)
    return fn.emit(memory.LoadOp, (pointer,), row_type(memory_type(buffer.element), lanes), access)


def _guarded_load(
    fn: FunctionLowering, buffer: Buffer, offset: Poly, extra: Poly, fill: SSAValue, condition: SSAValue | None
) -> SSAValue:
    """One element; `fill` where the condition is false, read from a place that always exists."""
    pointer = fn.address(buffer, offset, extra)
    if condition is not None:
        pointer = _or_elsewhere(fn, pointer, condition, fn.slot(fill))
    return _plain_load(fn, pointer, buffer, 1)


def lower_load(fn: FunctionLowering, op: LoadOp) -> None:
    """`loops.load`."""
    buffer, element = fn.buffer(op.memref), memref_of(op.memref).element_type
    shape = lanes_of(op.result.type)
    count = shape[-1] if shape else 1
    rows = rows_of(fn, buffer, shape, lambda lanes: fn.map_values(op.map, op.indices, lanes), op.fill is not None)
    active = fn.poly(op.lanes) if op.lanes is not None else None
    fill = fill_bits(fn, op.fill, element)
    loaded = _transposed(fn, buffer, rows, count, active, fill)
    if loaded is None:
        loaded = [_load_row(fn, buffer, row, count, active, fill) for row in rows]
    fn.set(op.result, [_from_memory(fn, value, element) for value in loaded], shape)


def _transposed(
    fn: FunctionLowering, buffer: Buffer, rows: Sequence[Row], count: int, active: Poly | None, fill: SSAValue
) -> list[SSAValue] | None:
    """Rows that are contiguous from one to the next while their lanes are not, by columns; None for all others."""
    first = rows[0]
    size = byte_size(buffer.element)
    if first.stride is None or not block_parts(len(rows), count, size):
        return None
    if (near := constant_value(first.stride)) is not None and abs(near) <= _MAX_SHUFFLED_STRIDE:
        return None
    for number, row in enumerate(rows):
        apart = constant_value(add(row.extra, first.extra, -1))
        if apart != number or row.stride != first.stride or row.conditions or row.varying:
            return None
    stride = first.stride

    def load(lane: int, row: int, length: int) -> SSAValue:
        pointer = fn.address(buffer, first.offset, add(rows[row].extra, multiply(stride, constant(lane))))
        if active is not None:
            condition = scalar_condition(fn, [(constant(lane), active)])
            pointer = _or_elsewhere(fn, pointer, condition, fn.slot(fill, length))
        return fn.emit(memory.LoadOp, (pointer,), row_type(bits, length), plain_access(buffer.element, buffer.align))

    # Where halves are only moved, they stay integers: LLVM stores no halves past the caches.
    element = memory_type(buffer.element)
    bits = i16 if isinstance(element, Float16Type) else element
    found = load_transposed(fn, len(rows), count, size, load)
    return found if bits == element else [fn.emit(base.BitcastOp, (row,), row_type(element, count)) for row in found]


def _load_row(
    fn: FunctionLowering, buffer: Buffer, row: Row, count: int, active: Poly | None, fill: SSAValue
) -> SSAValue:
    stride = None if row.stride is None else constant_value(row.stride)
    if row.stride is not None and (count == 1 or (stride == 0 and not row.varying)):
        pairs = [*row.lane_conditions(0)]
        if active is not None:
            pairs.append((ZERO, active))
        value = _guarded_load(fn, buffer, row.offset, row.extra, fill, scalar_condition(fn, pairs))
        value = fn.splat(value, count)
        mask = lane_mask(fn, active, count) if active is not None and count > 1 else None
        if mask is not None:
            value = fn.emit(elementwise.SelectOp, (mask, value, fn.splat(fill, count)), value.type, _SELECT)
        return value
    if stride == 1:
        copied = copied_lanes(fn, buffer.element, active, count) if active is not None else None
        if copied is not None and not row.varying and not row.conditions:
            pointer, part = fn.address(buffer, row.offset, row.extra), fn.stack(memory_type(buffer.element), count)
            fn.emit(memory.StoreOp, (fn.splat(fill, count), part), None, plain_access(buffer.element))
            copy_bytes(fn, part, pointer, copied)
            return _plain_load(fn, part, buffer, count)
        condition = scalar_condition(fn, row.conditions)
        whole = condition is None and _lane_masks(fn, row, 0, count, active) is None
        cuts = [(0, count)] if whole else parts_of_row(fn, count, byte_size(buffer.element))
        parts = [_neighbours(fn, buffer, row, cut, active, condition, fill) for cut in cuts]
        return joined(fn, parts)
    if stride is not None and abs(stride) <= _MAX_SHUFFLED_STRIDE:
        guarded = active is not None or row.varying or row.conditions
        if not guarded:
            return _strided_load(fn, count, stride, _plain_between(fn, buffer, row))
        between = row_between(buffer, row, stride)
        if between is not None and byte_size(buffer.element) >= 4:
            last = None if active is None else add(multiply(active, constant(stride)), constant(1 - stride))
            return _strided_load(fn, count, stride, _masked_between(fn, buffer, between, last, fill))
    lanes: list[SSAValue] = []
    for lane in range(count):
        pairs = [*row.lane_conditions(lane)]
        if active is not None:
            pairs.append((constant(lane), active))
        lanes.append(_guarded_load(fn, buffer, row.lanes(lane), ZERO, fill, scalar_condition(fn, pairs)))
    return fn.row_of(lanes)


def _lane_masks(fn: FunctionLowering, row: Row, begin: int, count: int, active: Poly | None) -> SSAValue | None:
    """Which of the `count` lanes from `begin` on are read, as far as lanes differ; None when all are."""
    masks: list[SSAValue] = []
    for first, step, dim in row.varying:
        masks.append(varying_mask(fn, add(first, multiply(step, constant(begin))), step, dim, count))
    if active is not None and (found := lane_mask(fn, add(active, constant(-begin)), count)) is not None:
        masks.append(found)
    return all_of(fn, masks)


def _neighbours(
    fn: FunctionLowering,
    buffer: Buffer,
    row: Row,
    lanes: tuple[int, int],
    active: Poly | None,
    condition: SSAValue | None,
    fill: SSAValue,
) -> SSAValue:
    """The part `(first lane, number of lanes)` of a row whose lanes are neighbours in memory."""
    begin, count = lanes
    pointer = fn.address(buffer, row.offset, add(row.extra, constant(begin)))
    found = _lane_masks(fn, row, begin, count, active)
    if found is None:
        if condition is not None:
            pointer = _or_elsewhere(fn, pointer, condition, fn.slot(fill, count))
        return _plain_load(fn, pointer, buffer, count)
    mask = all_of(fn, [found] if condition is None else [found, fn.splat(condition, count)])
    assert mask is not None
    rest = fn.splat(fill, count)
    alignment = {"alignment": IntegerAttr(byte_size(buffer.element), 32)}
    return fn.emit(memory.MaskedLoadOp, (pointer, mask, rest), rest.type, alignment)


_MAX_SHUFFLED_STRIDE = 4
"""Rows with lanes this far apart are read whole and sorted out by shuffles; beyond, too much of it is not needed."""


def _plain_between(fn: FunctionLowering, buffer: Buffer, row: Row) -> Callable[[Poly, int], SSAValue]:
    """Reads so many elements, from so far after lane 0 on."""

    def load(first: Poly, width: int) -> SSAValue:
        pointer = fn.address(buffer, row.offset, add(row.extra, first))
        return _plain_load(fn, pointer, buffer, width)

    return load


def _masked_between(
    fn: FunctionLowering, buffer: Buffer, row: Row, active: Poly | None, fill: SSAValue
) -> Callable[[Poly, int], SSAValue]:
    """As `_plain_between`, without those that the conditions of `row` exclude, or `active`, a number of elements."""
    condition = scalar_condition(fn, row.conditions)

    def load(first: Poly, width: int) -> SSAValue:
        begin = constant_value(first)
        assert begin is not None
        cuts = [(begin + at, size) for at, size in parts_of_row(fn, width, byte_size(buffer.element))]
        return joined(fn, [_neighbours(fn, buffer, row, cut, active, condition, fill) for cut in cuts])

    return load


def _strided_load(fn: FunctionLowering, count: int, stride: int, load: Callable[[Poly, int], SSAValue]) -> SSAValue:
    """
    `count` lanes `stride` elements apart, from whole vectors between the first and the last of them that `load` reads.

    Nothing outside the span of the lanes is touched: the last vector ends at the last lane.
    """
    step = abs(stride)
    span = (count - 1) * step + 1
    start = constant(0 if stride > 0 else -(span - 1))
    width = min(count, span)
    places = [lane * step for lane in range(count)]
    if stride < 0:
        places.reverse()
    firsts = sorted({min(begin, span - width) for begin in range(0, span, width)})
    result: SSAValue | None = None
    done = [-1] * count
    for first in firsts:
        part = load(add(start, constant(first)), width)
        fresh = [lane for lane in range(count) if done[lane] < 0 and first <= places[lane] < first + width]
        for lane in fresh:
            done[lane] = places[lane] - first
        if result is None:
            result = fn.shuffle(part, part, [done[lane] if lane in fresh else -1 for lane in range(count)])
        else:
            choice = [count + done[lane] if lane in fresh else lane for lane in range(count)]
            result = fn.shuffle(result, part, choice)
    assert result is not None
    return result


def lower_prefetch(fn: FunctionLowering, op: PrefetchOp) -> None:
    """`loops.prefetch`."""
    buffer = fn.buffer(op.memref)
    (row,) = rows_of(fn, buffer, (), lambda lanes: fn.map_values(op.map, op.indices, lanes), False)
    address = fn.address(buffer, row.offset, row.extra)
    hints = {"rw": op.write is not None, "hint": op.locality.value.data, "cache": 1}
    fn.emit(memory.PrefetchOp, (address,), None, {name: IntegerAttr(int(hint), 32) for name, hint in hints.items()})


# Stores


def lower_store(fn: FunctionLowering, op: StoreOp) -> None:
    """`loops.store`."""
    buffer, element = fn.buffer(op.memref), memref_of(op.memref).element_type
    shape = lanes_of(op.value.type)
    count = shape[-1] if shape else 1
    guarded = op.inside is not None
    rows = rows_of(fn, buffer, shape, lambda lanes: fn.map_values(op.map, op.indices, lanes), guarded)
    active = fn.poly(op.lanes) if op.lanes is not None else None
    values = [to_memory(fn, value, element) for value in fn.rows(op.value).rows]
    whole = active is None or lane_mask(fn, active, count) is None
    if op.nontemporal is not None and whole and store_past_caches(fn, buffer, rows, values):
        return
    for row, value in zip(rows, values, strict=True):
        _store_row(fn, buffer, row, count, active, value)


def _store_row(
    fn: FunctionLowering, buffer: Buffer, row: Row, count: int, active: Poly | None, value: SSAValue
) -> None:
    plain = plain_access(buffer.element, buffer.align)
    few_bytes = byte_size(buffer.element) < 4 and (row.conditions or row.varying)
    if count > 1 and not few_bytes and row.stride is not None and constant_value(row.stride) == 1:
        pointer = fn.address(buffer, row.offset, row.extra)
        if active is not None and (copied := copied_lanes(fn, buffer.element, active, count)) is not None:
            part = fn.stack(memory_type(buffer.element), count)
            fn.emit(memory.StoreOp, (value, part), None, plain)
            copy_bytes(fn, pointer, part, copied)
            return
        mask = _lane_masks(fn, row, 0, count, active)
        condition = scalar_condition(fn, row.conditions)
        pointer = _or_elsewhere(fn, pointer, condition, fn.scratch(memory_type(buffer.element), count))
        if mask is None:
            fn.emit(memory.StoreOp, (value, pointer), None, plain)
        else:
            alignment = {"alignment": IntegerAttr(byte_size(buffer.element), 32)}
            fn.emit(memory.MaskedStoreOp, (value, pointer, mask), None, alignment)
        return
    for lane in range(count):
        if count == 1 and row.stride is not None:
            pointer = fn.address(buffer, row.offset, row.extra)
        else:
            pointer = fn.address(buffer, row.lanes(lane))
        pairs = [*row.lane_conditions(lane)]
        if active is not None:
            pairs.append((constant(lane), active))
        condition = scalar_condition(fn, pairs)
        if condition is not None:
            pointer = _or_elsewhere(fn, pointer, condition, fn.scratch(memory_type(buffer.element)))
        fn.emit(memory.StoreOp, (fn.lane(value, lane), pointer), None, plain)


# Buffers


def lower_apply(fn: FunctionLowering, op: ApplyOp) -> None:
    """`loops.apply`."""
    shape = lanes_of(op.result.type)
    if not shape:
        fn.values[op.result] = fn.map_values(op.map, op.indices)[0]
        return
    count = shape[-1]
    rows: list[SSAValue] = []
    for position in product(*(range(size) for size in shape[:-1])):
        at = [constant(number) for number in position]
        try:
            [index] = fn.map_values(op.map, op.indices, [*at, fn.lane_atom(len(shape) - 1, count)])
            found = coefficients_of(fn, index, [fn.lane_atom(len(shape) - 1, count)])
        except LaneDependentError:
            found = None
        if found is None:
            lanes = [fn.map_values(op.map, op.indices, [*at, constant(lane)])[0] for lane in range(count)]
            rows.append(fn.row_of([fn.index(lane) for lane in lanes]))
            continue
        first, [step] = found
        row = fn.splat(fn.index(first), count)
        if step:
            moved = fn.splat(fn.index(step), count)
            if count > 1:
                moved = fn.emit(base.MulOp, (fn.iota(count, i64), moved), row.type, {})
                row = fn.emit(base.AddOp, (row, moved), row.type, {})
        rows.append(row)
    fn.set(op.result, rows, shape)


def lower_size(fn: FunctionLowering, op: SizeOp) -> None:
    """`loops.size`."""
    fn.values[op.result] = fn.dim(op.dim)


def lower_view(fn: FunctionLowering, op: ViewOp) -> None:
    """`loops.view`: the same memory from another byte on."""
    source = fn.buffer(op.source)
    pointer, depth = source.pointer, source.depth
    if op.offset is not None:
        bytes_ = Buffer(pointer, depth, i8, (), (), source.root)
        offset = fn.poly(op.offset)
        pointer = fn.address(bytes_, offset)
        depth = max(depth, fn.atoms.poly_depth(offset))
    result = fn.buffer_at(pointer, memref_of(op.result), depth, source.root)
    own = source.align or byte_size(source.element)
    if op.offset is None and own < byte_size(result.element):
        result = replace(result, align=own)
    fn.values[op.result] = result


def elements(buffer: Buffer) -> Poly:
    """The number of elements of a buffer."""
    result = constant(1)
    for dim in buffer.dims:
        result = multiply(result, dim)
    return result


def lower_copy(fn: FunctionLowering, op: CopyOp) -> None:
    """`loops.copy`: one block of memory."""
    source, target = fn.buffer(op.source), fn.buffer(op.target)
    size = multiply(elements(source), constant(byte_size(source.element)))
    # The two may be one buffer, which memmove allows for any target.
    operands = (target.pointer, source.pointer, fn.index(size))
    fn.emit(memory.MemmoveOp, operands, None, {"isVolatile": IntegerAttr.from_bool(False)})


def lower_alloc(fn: FunctionLowering, op: AllocOp) -> None:
    """`loops.alloc` in a kernel: stack memory."""
    type_ = memref_of(op.result)
    dims = memref_dims(type_)
    sizes = [dim for dim in dims if isinstance(dim, int)]
    count = prod(sizes) if len(sizes) == len(dims) else None
    if count is None or count * byte_size(type_.element_type) > MAX_STACK_BYTES:
        fn.not_lowered(
            op,
            f"{type_} is no small fixed buffer (at most {MAX_STACK_BYTES} bytes on the stack); "
            "loops-hoist-allocs makes it an argument",
        )
        return
    pointer = fn.stack(memory_type(type_.element_type), max(count, 1))
    fn.values[op.result] = fn.buffer_at(pointer, type_, 0)


MAX_STACK_BYTES = 1 << 18
"""Largest scratch buffer of a kernel that is put on the stack."""


def dense_global(value: DenseIntOrFPElementsAttr, element: Attribute) -> tuple[Attribute, Attribute]:
    """Type and initial value of the global that holds a dense constant, in row-major order."""
    kind = memory_type(element)
    count = value.type.element_count() if hasattr(value.type, "element_count") else len(value)
    if element == i1:
        numbers = [int(bool(bit)) for bit in value.get_values()]
        data: Attribute = DenseIntOrFPElementsAttr.from_list(TensorType(i8, [len(numbers)]), numbers)
    else:
        data = DenseIntOrFPElementsAttr(
            cast(Any, TensorType(cast(Any, kind), [len(value.data.data) // byte_size(element)])), value.data
        )
    return base.LLVMArrayType(count, kind), data
