"""Which lanes of an access touch memory: conditions on indices and on the number of active lanes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import IntegerAttr, i32, i64
from xdsl.ir import Attribute, SSAValue

from aicc.dialects.llvm import memory
from aicc.lowering.loops_to_llvm_emit import byte_size, lanes_in
from aicc.lowering.loops_to_llvm_index import Poly, add, constant, multiply
from aicc.lowering.loops_to_llvm_values import FunctionLowering


def inside(fn: FunctionLowering, index: Poly, dim: Poly) -> SSAValue | None:
    """`0 <= index < dim` as an `i1`; None when that is known."""
    low, high = fn.atoms.bounds(index)[0], fn.atoms.bounds(add(index, dim, -1))[1]
    if low is not None and low >= 0 and high is not None and high < 0:
        return None
    depth = max(fn.atoms.poly_depth(index), fn.atoms.poly_depth(dim))
    key = ("inside", frozenset(index.items()), frozenset(dim.items()))
    cache = fn.scopes[depth].cache
    if key not in cache:
        # A negative index is a huge unsigned one.
        cache[key] = fn.compare("ult", fn.index(index), fn.index(dim), depth)
    return cache[key]


def all_of(fn: FunctionLowering, conditions: Sequence[SSAValue]) -> SSAValue | None:
    """All conditions together; None when there are none."""
    result: SSAValue | None = None
    for condition in conditions:
        result = condition if result is None else fn.emit(base.AndOp, (result, condition), condition.type)
    return result


def scalar_condition(fn: FunctionLowering, pairs: Sequence[tuple[Poly, Poly]]) -> SSAValue | None:
    """Whether every index is within its size; None when that is known."""
    return all_of(fn, [found for index, dim in pairs if (found := inside(fn, index, dim)) is not None])


def _within_row(fn: FunctionLowering, count: Poly, lanes: int) -> Poly:
    """`count` limited to `[0, lanes]`."""
    return fn.at_least(fn.extremum([count, constant(lanes)], largest=False), 0)


def copied_lanes(fn: FunctionLowering, element: Attribute, active: Poly, lanes: int) -> Poly | None:
    """
    Bytes of the active lanes where a masked access is done by a copy; None where all lanes are active or by a mask.

    Machines have masked accesses for elements of 4 and 8 bytes at least; of shorter ones LLVM makes a branch per lane.
    """
    low = fn.atoms.bounds(active)[0]
    if byte_size(element) >= 4 or (low is not None and low >= lanes):
        return None
    return multiply(_within_row(fn, active, lanes), constant(byte_size(element)))


def copy_bytes(fn: FunctionLowering, target: SSAValue, source: SSAValue, size: Poly) -> None:
    """Copies `size` bytes between places that do not overlap."""
    fn.emit(memory.MemcpyOp, (target, source, fn.index(size)), None, {"isVolatile": IntegerAttr.from_bool(False)})


def lane_mask(fn: FunctionLowering, count: Poly, lanes: int) -> SSAValue | None:
    """`lane < count` for each lane; None when all are."""
    low = fn.atoms.bounds(count)[0]
    if low is not None and low >= lanes:
        return None
    depth = fn.atoms.poly_depth(count)
    key = ("mask", frozenset(count.items()), lanes)
    cache = fn.scopes[depth].cache
    if key not in cache:
        narrow = fn.emit(base.TruncOp, (fn.index(_within_row(fn, count, lanes)),), i32, {}, depth)
        cache[key] = fn.compare("slt", fn.iota(lanes), fn.splat(narrow, lanes, depth), depth)
    return cache[key]


def parts_of_row(fn: FunctionLowering, count: int, element_bytes: int) -> list[tuple[int, int]]:
    """First lane and number of lanes (2 at least) of the parts that a row is cut into where it is loaded by masks."""
    number = -(-count * element_bytes // fn.masked_bytes)
    width, wider = divmod(count, number)
    sizes = [width + 1] * wider + [width] * (number - wider)
    return [(sum(sizes[:i]), size) for i, size in enumerate(sizes)]


def joined(fn: FunctionLowering, parts: Sequence[SSAValue]) -> SSAValue:
    """The lanes of all `parts` in one row; no part has more lanes than the first."""
    result, *rest = parts
    for part in rest:
        done, more = lanes_in(result), lanes_in(part)
        # A shuffle takes operands of one length.
        padded = part if more == done else fn.shuffle(part, part, [*range(more), *[-1] * (done - more)])
        result = fn.shuffle(result, padded, range(done + more))
    return result


def varying_mask(fn: FunctionLowering, first: Poly, step: Poly, dim: Poly, lanes: int) -> SSAValue:
    """`0 <= first + step * lane < dim` for each lane."""
    depth = max(fn.atoms.poly_depth(part) for part in (first, step, dim))
    key = ("varying", *(frozenset(part.items()) for part in (first, step, dim)), lanes)
    cache = fn.scopes[depth].cache
    if key not in cache:
        limit = 1 << 30
        small = all(fn.atoms.within(part, -limit, limit) for part in (first, dim)) and fn.atoms.within(step, -64, 64)
        kind = i32 if small else i64
        operands = [fn.index(part) for part in (first, step, dim)]
        if small:
            operands = [fn.emit(base.TruncOp, (value,), i32, {}, depth) for value in operands]
        start, stride, size = (fn.splat(value, lanes, depth) for value in operands)
        type_ = start.type
        properties = {"overflowFlags": IntegerAttr(1, 32)}
        moved = fn.emit(base.MulOp, (fn.iota(lanes, kind), stride), type_, properties, depth)
        index = fn.emit(base.AddOp, (start, moved), type_, properties, depth)
        cache[key] = fn.compare("ult", index, size, depth)
    return cache[key]
