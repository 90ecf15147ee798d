"""Ops across the lanes of n-D vectors: repeating, reducing and permuting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from xdsl.dialects import llvm as base
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from aicc.dialects.llvm import intrinsics, vectors
from aicc.dialects.loops.access import lanes_of, scalar_of
from aicc.dialects.loops.vectors import BroadcastOp, ReduceOp, TransposeOp
from aicc.lowering.loops_to_llvm_arith import from_f32, is_small_float, to_f32
from aicc.lowering.loops_to_llvm_emit import element_in, lanes_in
from aicc.lowering.loops_to_llvm_nan import never_nan
from aicc.lowering.loops_to_llvm_transposed import interleave
from aicc.lowering.loops_to_llvm_values import FunctionLowering

_REASSOCIATE: dict[str, Attribute] = {"fastmathFlags": base.FastMathAttr((FastMathFlag.REASSOC,))}
_NO_SIGNED_ZEROS: dict[str, Attribute] = {"fastmathFlags": base.FastMathAttr((FastMathFlag.NO_SIGNED_ZEROS,))}
_NUMBERS: dict[str, Attribute] = {
    "fastmathFlags": base.FastMathAttr((FastMathFlag.NO_NANS, FastMathFlag.NO_SIGNED_ZEROS))
}
_WRAPS: dict[str, Attribute] = {"overflowFlags": IntegerAttr(0, 32)}

_COMBINERS: dict[str, tuple[type[Operation], type[Operation], dict[str, Attribute]]] = {
    "and": (base.AndOp, vectors.ReduceAndOp, {}),
    "maximumf": (intrinsics.MaximumOp, vectors.ReduceFMaximumOp, _NO_SIGNED_ZEROS),
    "maxnumf": (base.VectorFMaxOp, vectors.ReduceFMaxOp, _NO_SIGNED_ZEROS),
    "maxsi": (intrinsics.SMaxOp, vectors.ReduceSMaxOp, {}),
    "maxui": (intrinsics.UMaxOp, vectors.ReduceUMaxOp, {}),
    "minimumf": (intrinsics.MinimumOp, vectors.ReduceFMinimumOp, _NO_SIGNED_ZEROS),
    "minnumf": (base.VectorFMinOp, vectors.ReduceFMinOp, _NO_SIGNED_ZEROS),
    "minsi": (intrinsics.SMinOp, vectors.ReduceSMinOp, {}),
    "minui": (intrinsics.UMinOp, vectors.ReduceUMinOp, {}),
    "or": (base.OrOp, vectors.ReduceOrOp, {}),
    "xor": (base.XOrOp, vectors.ReduceXOrOp, {}),
}
"""Kind -> the op on two rows, the one across a row, and the properties of both."""

_SUMS: dict[tuple[str, bool], tuple[type[Operation], type[Operation]]] = {
    ("add", True): (base.FAddOp, vectors.ReduceFAddOp),
    ("add", False): (base.AddOp, vectors.ReduceAddOp),
    ("mul", True): (base.FMulOp, vectors.ReduceFMulOp),
    ("mul", False): (base.MulOp, vectors.ReduceMulOp),
}


def lower_broadcast(fn: FunctionLowering, op: BroadcastOp) -> None:
    """`loops.broadcast`: rows are shared, and a scalar row becomes a splat, as does each lane of a vector of rows."""
    source = fn.rows(op.value)
    target = lanes_of(op.result.type)
    have = (*source.shape, *(1,) * (len(target) - len(source.shape)))
    spread = target[-1] if have[-1] == 1 else 1
    if 0 < len(source.shape) < len(target):
        rows = [_spread_lane(fn, row, lane, spread) for row in source.rows for lane in range(source.shape[-1])]
    else:
        rows = [fn.splat(row, spread, fn.home(row)) for row in source.rows]
    result = [
        rows[_row_index(have, [0 if size == 1 else at for size, at in zip(have, position, strict=False)])]
        for position in product(*(range(size) for size in target[:-1]))
    ]
    fn.set(op.result, result)


def _spread_lane(fn: FunctionLowering, row: SSAValue, lane: int, lanes: int) -> SSAValue:
    """One lane of a row in all of `lanes`."""
    if lanes == 1 or lanes_in(row) == 1:
        return fn.splat(fn.lane(row, lane), lanes)
    return fn.shuffle(row, row, [lane] * lanes, fn.home(row))


def _row_index(shape: Sequence[int], position: Sequence[int]) -> int:
    """The number of the row at `position` along the leading axes."""
    index = 0
    for size, at in zip(shape[:-1], position, strict=False):
        index = index * size + at
    return index


def lower_reduce(fn: FunctionLowering, op: ReduceOp) -> None:
    """`loops.reduce`: rows are combined in pairs, then the lanes of what is left."""
    source = fn.rows(op.value)
    element = scalar_of(op.value.type)
    axes = [int(axis) for axis in op.axes.get_values()]
    small = is_small_float(element)
    rows = [to_f32(fn, row, element) if small else row for row in source.rows]
    shape, combiner = source.shape, _combiner(op)
    last = len(shape) - 1
    kept = [axis for axis in range(last) if axis not in axes]
    groups: dict[tuple[int, ...], list[SSAValue]] = {}
    for position, row in zip(product(*(range(size) for size in shape[:-1])), rows, strict=True):
        groups.setdefault(tuple(position[axis] for axis in kept), []).append(row)
    combined = [_tree(fn, combiner, group) for group in groups.values()]
    if last in axes:
        lanes = shape[kept[-1]] if kept else 1
        starts = range(0, len(combined), lanes)
        combined = [_across_rows(fn, combiner, combined[start : start + lanes]) for start in starts]
    fn.set(op.result, [from_f32(fn, row, element) if small else row for row in combined])


@dataclass(frozen=True)
class _Combiner:
    """What combines lanes: `two` rows, or those `across` a row."""

    kind: str
    two: type[Operation]
    across: type[Operation]
    properties: dict[str, Attribute]


def _combiner(op: ReduceOp) -> _Combiner:
    kind = op.kind.data
    if kind in _COMBINERS:
        two, across, properties = _COMBINERS[kind]
        numbers = kind in ("maxnumf", "minnumf") and never_nan(op.value)
        return _Combiner(kind, two, across, _NUMBERS if numbers else properties)
    floats = not isinstance(scalar_of(op.value.type), IntegerType)
    two, across = _SUMS[kind, floats]
    return _Combiner(kind, two, across, _REASSOCIATE if floats else _WRAPS)


def _is_float(value: SSAValue) -> bool:
    return not isinstance(element_in(value), IntegerType)


def _tree(fn: FunctionLowering, combiner: _Combiner, rows: list[SSAValue]) -> SSAValue:
    """All rows combined, in pairs, so that the chain of dependent ops is short."""
    two, properties = combiner.two, combiner.properties
    while len(rows) > 1:
        paired = [fn.emit(two, pair, pair[0].type, properties) for pair in zip(rows[::2], rows[1::2], strict=False)]
        rows = paired + rows[len(rows) & ~1 :]
    return rows[0]


def _across_rows(fn: FunctionLowering, combiner: _Combiner, rows: Sequence[SSAValue]) -> SSAValue:
    """
    The lanes of each row combined, as the lanes of one row.

    Halves of two rows make one row of both while there are several: that takes about as many ops for all rows as for
    one, and combines the same lanes.
    """
    count, lanes = len(rows), lanes_in(rows[0])
    if count == 1 or count & (count - 1) or lanes & (lanes - 1) or lanes < count:
        return fn.row_of([_across(fn, combiner, row) for row in rows])
    two, properties = combiner.two, combiner.properties
    left, length = list(rows), lanes
    while length > 1:
        # Each of `left` has parts of so many lanes, each part of one old row; their halves are combined.
        half = length // 2
        pairs = list(zip(left[::2], left[1::2], strict=True)) if len(left) > 1 else [(left[0], left[0])]
        parts = lanes_in(left[0]) // length * (2 if len(left) > 1 else 1)
        lower = [length * part + lane for part in range(parts) for lane in range(half)]
        upper = [lane + half for lane in lower]
        halves = [(fn.shuffle(*pair, lower), fn.shuffle(*pair, upper)) for pair in pairs]
        left = [fn.emit(two, pair, pair[0].type, properties) for pair in halves]
        length = half
    return left[0]


def _across(fn: FunctionLowering, combiner: _Combiner, row: SSAValue) -> SSAValue:
    """The lanes of a row combined."""
    if lanes_in(row) == 1:
        return row
    element = element_in(row)
    across, properties = combiner.across, combiner.properties
    if combiner.kind in ("add", "mul"):
        if not _is_float(row):
            return fn.emit(across, (row,), element)
        start = fn.float(-0.0 if combiner.kind == "add" else 1.0, element)
        return fn.emit(across, (start, row), element, properties)
    return fn.emit(across, (row,), element, properties)


def lower_transpose(fn: FunctionLowering, op: TransposeOp) -> None:
    """`loops.transpose`: whole rows where the last axis stays, else a network of interleavings or lane by lane."""
    source = fn.rows(op.value)
    permutation = [int(axis) for axis in op.permutation.get_values()]
    shape = source.shape
    target = tuple(shape[axis] for axis in permutation)
    last = len(shape) - 1

    def source_position(position: Sequence[int]) -> list[int]:
        at = [0] * len(shape)
        for axis, index in zip(permutation, position, strict=False):
            at[axis] = index
        return at

    leading = list(product(*(range(size) for size in target[:-1])))
    if permutation[-1] == last:
        fn.set(op.result, [source.rows[_row_index(shape, source_position(position))] for position in leading])
        return
    if permutation == [1, 0] and shape[0] == shape[1] and shape[0] & (shape[0] - 1) == 0:
        fn.set(op.result, interleave(fn, list(source.rows)))
        return
    lanes: dict[tuple[int, int], SSAValue] = {}
    rows: list[SSAValue] = []
    for position in leading:
        parts: list[SSAValue] = []
        for lane in range(target[-1]):
            at = source_position([*position, lane])
            key = (_row_index(shape, at), at[last])
            if key not in lanes:
                lanes[key] = fn.lane(source.rows[key[0]], key[1])
            parts.append(lanes[key])
        rows.append(fn.row_of(parts))
    fn.set(op.result, rows)
