"""The rows of an access to memory: where their lanes lie, and under which conditions they are touched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from aicc.lowering.loops_to_llvm_addresses import LaneDependentError
from aicc.lowering.loops_to_llvm_emit import Buffer
from aicc.lowering.loops_to_llvm_index import (
    LANE_DEPTH,
    ZERO,
    Monomial,
    Poly,
    add,
    constant,
    constant_value,
    multiply,
    total,
)
from aicc.lowering.loops_to_llvm_values import FunctionLowering


@dataclass(frozen=True)
class Row:
    """One row of an access."""

    offset: Poly
    """Offset of lane 0 in elements, without what tells the rows apart."""
    extra: Poly
    """What tells this row from the first one."""
    stride: Poly | None
    """Elements from lane to lane; None where they are not evenly spaced."""
    lanes: Callable[[int], Poly]
    """Offset of a lane, for any row."""
    conditions: Sequence[tuple[Poly, Poly]]
    """Pairs of an index (of lane 0) and the size that it must be below, both at least 0, for lanes to be read."""
    varying: Sequence[tuple[Poly, Poly, Poly]]
    """Index of lane 0, its step from lane to lane, and the size: conditions that differ between lanes."""
    lane_conditions: Callable[[int], Sequence[tuple[Poly, Poly]]]
    """All conditions of one lane, for rows that are not evenly spaced."""


def coefficients_of(fn: FunctionLowering, poly: Poly, lanes: Sequence[Poly]) -> tuple[Poly, list[Poly]] | None:
    """`poly = rest + sum(coefficient[a] * lanes[a])`; None if it is not linear in the lanes."""
    if all(not lane for lane in lanes) or fn.atoms.poly_depth(poly) < LANE_DEPTH:
        return poly, [ZERO] * len(lanes)
    numbers = {next(iter(lane))[0]: axis for axis, lane in enumerate(lanes) if lane}
    rest: dict[Monomial, int] = {}
    parts: list[dict[Monomial, int]] = [{} for _ in lanes]
    for monomial, coefficient in poly.items():
        found = [number for number in monomial if number in numbers]
        if not found:
            rest[monomial] = coefficient
        elif len(found) == 1:
            without = tuple(number for number in monomial if number != found[0])
            parts[numbers[found[0]]][without] = coefficient
        else:
            return None
    return rest, list(parts)


def rows_of(
    fn: FunctionLowering,
    buffer: Buffer,
    shape: tuple[int, ...],
    indices: Callable[[Sequence[Poly]], list[Poly]],
    guarded: bool,
) -> list[Row]:
    """
    The rows of an access to `buffer` of this vector shape.

    `indices` gives the index per dimension for positions per axis; `guarded` is set when lanes outside the buffer are
    not to be read.
    """
    lanes = [fn.lane_atom(axis, size) for axis, size in enumerate(shape)]
    linear: list[tuple[Poly, list[Poly]]] | None = []
    try:
        for index in indices(lanes):
            if (found := coefficients_of(fn, index, lanes)) is None:
                linear = None
                break
            linear.append(found)
    except LaneDependentError:
        linear = None
    leading = list(product(*(range(size) for size in shape[:-1])))
    if linear is None:
        return [_uneven_row(buffer, indices, position, guarded) for position in leading]
    offset = total(multiply(rest, stride) for (rest, _), stride in zip(linear, buffer.strides, strict=True))
    steps = [
        total(multiply(parts[axis], stride) for (_, parts), stride in zip(linear, buffer.strides, strict=True))
        for axis in range(len(shape))
    ]
    result: list[Row] = []
    for position in leading:
        extra = total(multiply(step, constant(at)) for step, at in zip(steps, position, strict=False))
        conditions: list[tuple[Poly, Poly]] = []
        varying: list[tuple[Poly, Poly, Poly]] = []
        if guarded:
            for (rest, parts), dim in zip(linear, buffer.dims, strict=True):
                first = add(
                    rest, total(multiply(part, constant(at)) for part, at in zip(parts, position, strict=False))
                )
                step = parts[-1] if shape else ZERO
                span = add(first, multiply(step, lanes[-1])) if step else first
                low = fn.atoms.bounds(span)[0]
                high = fn.atoms.bounds(add(span, dim, -1))[1]
                if low is not None and low >= 0 and high is not None and high < 0:
                    continue
                if step:
                    varying.append((first, step, dim))
                else:
                    conditions.append((first, dim))
        stride = steps[-1] if shape else ZERO
        row = add(offset, extra)
        result.append(
            Row(
                offset,
                extra,
                stride,
                lambda lane, row=row, stride=stride: add(row, stride, lane),
                conditions,
                varying,
                lambda lane, fixed=conditions, moving=varying: [
                    *fixed,
                    *((add(first, step, lane), dim) for first, step, dim in moving),
                ],
            )
        )
    return result


def _uneven_row(
    buffer: Buffer,
    indices: Callable[[Sequence[Poly]], list[Poly]],
    position: tuple[int, ...],
    guarded: bool,
) -> Row:
    """A row whose lanes are addressed one by one."""

    def at(lane: int) -> list[Poly]:
        return indices([constant(number) for number in (*position, lane)])

    def offset(lane: int) -> Poly:
        return total(multiply(index, stride) for index, stride in zip(at(lane), buffer.strides, strict=True))

    def conditions(lane: int) -> Sequence[tuple[Poly, Poly]]:
        return list(zip(at(lane), buffer.dims, strict=True)) if guarded else ()

    return Row(ZERO, ZERO, None, offset, (), (), conditions)


def row_between(buffer: Buffer, row: Row, stride: int) -> Row | None:
    """
    All elements from lane 0 of a row on, where they have the row's conditions too; None if that is not known.

    It is, where one dimension moves with the lanes, by as many elements of it as of memory.
    """
    if stride < 0 or len(row.varying) > 1:
        return None
    if not row.varying:
        return replace(row, stride=constant(1))
    [(first, step, dim)] = row.varying
    if constant_value(step) != stride or constant_value(buffer.strides[-1]) != 1 or dim != buffer.dims[-1]:
        return None
    return replace(row, stride=constant(1), varying=[(first, constant(1), dim)])
