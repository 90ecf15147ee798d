"""
What vectorisation finds out about a nest before it changes it: the axes that loops make, and the shape of every value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from aicc.dialects.loops import ApplyOp, ForOp, LoadOp, StoreOp, YieldOp
from aicc.dialects.loops.access import lanes_of
from aicc.transforms.loops_index import IndexBounds
from aicc.transforms.loops_legality import NOT_FREE, check_parallel
from aicc.transforms.loops_nest import (
    StepError,
)
from aicc.transforms.loops_reduction import Reduction, reductions_of

STEP = "vectorize"
Shape = tuple[int, ...]
"""Sizes along the axes: 1 where a value does not vary; `()` for a scalar."""

_MAX_LANES = 4096
"""More lanes than this in one value are refused: they would be spelt out one by one in the end."""


@dataclass(frozen=True)
class Axis:
    """A loop that becomes an axis."""

    loop: ForOp
    size: int
    masked: bool
    """The loop may have fewer than `size` iterations at run time."""


def axes_of(loops: Sequence[ForOp]) -> list[Axis]:
    """The axes that the loops make: the loops from the first one on whose followers all have a usable trip count."""
    bounds = IndexBounds()
    axes: list[Axis] = []
    for position, loop in enumerate(loops):
        trips, limit = loop.trip_count, _trip_limit(loop, bounds)
        last = position == len(loops) - 1
        if trips is not None:
            size = _carried_size(loop, trips) if last else trips
            axes.append(Axis(loop, size, size != trips))
        elif last and limit is not None:
            axes.append(Axis(loop, max(_carried_size(loop, limit), _whole_size(limit)), True))
        elif last:
            raise StepError(STEP, loop, "has no limit on its number of iterations; tile it first")
        else:
            axes = []
    return axes


def _whole_size(limit: int) -> int:
    """
    Lanes for an unknown number of iterations: a power of two, or eights.

    LLVM puts masks for vectors of other lengths together lane by lane.
    """
    return -(-limit // 8) * 8 if limit > 8 else 1 << max(limit - 1, 0).bit_length()


def _carried_size(loop: ForOp, trips: int) -> int:
    """
    Lanes for at most `trips` iterations: a power of two where loops carry the vectors, with lanes that are not in use.

    LLVM takes vectors of other lengths apart into scalars when they go from block to block.
    """
    if trips < 2 or not (loop.inits or any(isinstance(op, ForOp) and op.inits for op in loop.walk())):
        return trips
    return 1 << (trips - 1).bit_length()


def _trip_limit(loop: ForOp, bounds: IndexBounds) -> int | None:
    if loop.step_value != 1 or loop.constant_bound(upper=False) != 0:
        return None
    highs = [high for _, high in bounds.of_map(loop.upper_map.data, loop.upper_operands) if high is not None]
    return min(highs, default=None)


@dataclass
class Plan:
    """What vectorisation found out about a nest before changing it."""

    axes: Sequence[Axis]
    shapes: dict[SSAValue, Shape] = field(default_factory=dict[SSAValue, Shape])
    """Shapes of the values of the nest that vary over lanes; all others stay scalars."""

    reductions: Sequence[Reduction] = ()
    """What the last loop accumulates, per value carried."""

    inside: dict[ForOp, Plan] = field(default_factory=dict[ForOp, "Plan"])
    """Of the loops along the lanes, with one axis more, where `axes` are the rows around them."""

    @property
    def full(self) -> Shape:
        """All lanes."""
        return tuple(axis.size for axis in self.axes)

    @property
    def masked(self) -> bool:
        """The last axis may be cut short."""
        return self.axes[-1].masked

    def stores_vector(self, op: StoreOp) -> bool:
        """Whether the value stored or its place varies along an axis."""
        return bool(self.shape(op.value)) or any(self.shape(operand) for operand in op.indices)

    def shape(self, value: SSAValue) -> Shape:
        """The shape of a value of the old nest."""
        return self.shapes.get(value, ())


def plan_vectors(axes: Sequence[Axis]) -> Plan:
    """
    Finds the shape of every value.

    Raises:
        StepError: see `vectorize_loops`.
    """
    plan = Plan(axes)
    lanes = 1
    for axis in axes:
        lanes *= axis.size
    if lanes > _MAX_LANES:
        raise StepError(STEP, axes[0].loop, f"would make vectors of {lanes} lanes, more than {_MAX_LANES}")
    last = axes[-1].loop
    if last.inits and len(axes) > 1:
        return plan_rows(axes[:-1], axes[-1:])
    for axis in axes[:-1] if last.inits else axes:
        _check_parallel(axis.loop)
    _set_reductions(plan)
    _set_axes(plan)
    _plan_block(plan, last.block)
    return plan


def plan_rows(rows: Sequence[Axis], lanes: Sequence[Axis]) -> Plan:
    """
    Finds the shape of every value where `rows` are axes, and each of `lanes`, loops anywhere inside, the last axis.

    Raises:
        StepError: see `vectorize_loops`.
    """
    for axis in rows:
        _check_parallel(axis.loop)
    plan = Plan(rows)
    for lane in lanes:
        inside = Plan([*rows, lane])
        if lane.loop.inits:
            _set_reductions(inside)
        else:
            _check_parallel(lane.loop)
        _set_axes(inside)
        plan.inside[lane.loop] = inside
    _set_axes(plan)
    _plan_block(plan, rows[-1].loop.block)
    return plan


def _check_parallel(loop: ForOp) -> None:
    if loop.inits:
        raise StepError(STEP, loop, "carries a value; a reduction is vectorised along one loop only")
    check_parallel(STEP, loop)


def _set_reductions(plan: Plan) -> None:
    last = plan.axes[-1].loop
    if last.inits:
        reductions = reductions_of(last)
        if reductions is None:
            raise StepError(STEP, last, NOT_FREE)
        plan.reductions = reductions
        plan.shapes.update((argument, plan.full) for argument in last.iter_args)


def _set_axes(plan: Plan) -> None:
    for position, axis in enumerate(plan.axes):
        shape = [1] * len(plan.axes)
        shape[position] = axis.size
        plan.shapes[axis.loop.induction] = tuple(shape)


def join_shapes(*shapes: Shape) -> Shape:
    """Sizes along the axes where values of these shapes meet."""
    known = [shape for shape in shapes if shape]
    return tuple(max(sizes) for sizes in zip(*known, strict=True)) if known else ()


def _plan_block(plan: Plan, block: Block) -> None:
    for op in block.ops:
        if isinstance(op, ForOp):
            if (inside := plan.inside.get(op)) is not None:
                _plan_lanes(plan, inside, op)
            else:
                _plan_loop(plan, op)
        elif isinstance(op, StoreOp):
            _plan_store(plan, op)
        elif isinstance(op, LoadOp | ApplyOp):
            if lanes_of(op.results[0].type):
                raise StepError(STEP, plan.axes[-1].loop, "computes with vectors already")
            _set_shape(plan, op.results[0], _map_shape(plan, op))
        elif isinstance(op, YieldOp):
            pass
        elif op.regions:
            raise StepError(STEP, plan.axes[-1].loop, f"{op.name} inside has no vector form")
        else:
            shape = join_shapes(*(plan.shape(operand) for operand in op.operands))
            if shape and not is_lanewise(op):
                raise StepError(STEP, plan.axes[-1].loop, f"{op.name} inside has no vector form")
            for result in op.results:
                _set_shape(plan, result, shape)


def is_lanewise(op: Operation) -> bool:
    """Whether an op on vectors does the same to each lane."""
    return not op.regions and op.name.startswith(("arith.", "math.", "packed."))


def _set_shape(plan: Plan, value: SSAValue, shape: Shape) -> None:
    if shape:
        plan.shapes[value] = shape


def _plan_lanes(rows: Plan, plan: Plan, loop: ForOp) -> None:
    """Shapes within a loop along the lanes, and of what comes of it for each row."""
    for op in loop.walk():
        for operand in op.operands if op is not loop else ():
            if (shape := rows.shape(operand)) and operand not in plan.shapes:
                plan.shapes[operand] = (*shape, 1)
    _plan_block(plan, loop.block)
    for result in loop.results:
        _set_shape(rows, result, rows.full)


def _plan_loop(plan: Plan, loop: ForOp) -> None:
    """Shapes of carried values grow until they are stable; each round through the body widens at least one."""
    for operand in (*loop.lower_operands, *loop.upper_operands):
        if plan.shape(operand):
            raise StepError(STEP, loop, f"its bounds vary along loop '{_varying_axis(plan, operand).label.data}'")
    carried = [plan.shape(init) for init in loop.inits]
    while True:
        for argument, shape in zip(loop.iter_args, carried, strict=True):
            _set_shape(plan, argument, shape)
        _plan_block(plan, loop.block)
        grown = [join_shapes(shape, plan.shape(value)) for shape, value in zip(carried, loop.yielded, strict=True)]
        if grown == carried:
            break
        carried = grown
    for result, shape in zip(loop.results, carried, strict=True):
        _set_shape(plan, result, shape)


def _varying_axis(plan: Plan, value: SSAValue) -> ForOp:
    shape = plan.shape(value)
    return next((axis.loop for axis, size in zip(plan.axes, shape, strict=True) if size > 1), plan.axes[-1].loop)


def _map_shape(plan: Plan, op: LoadOp | StoreOp | ApplyOp) -> Shape:
    """The axes that the op's address or index varies along; only loop variables may make it vary."""
    inductions = {axis.loop.induction for axis in plan.axes}
    shapes: list[Shape] = []
    for operand in op.indices:
        shape = plan.shape(operand)
        if shape and operand not in inductions:
            raise StepError(
                STEP,
                _varying_axis(plan, operand),
                f"{op.name} inside has an index that is not affine in the loop variable",
            )
        shapes.append(shape)
    return join_shapes(*shapes)


def _plan_store(plan: Plan, op: StoreOp) -> None:
    if lanes_of(op.value.type):
        raise StepError(STEP, plan.axes[-1].loop, "stores vectors already")
    shape = _map_shape(plan, op)
    for position, axis in enumerate(plan.axes):
        if axis.size > 1 and (not shape or shape[position] == 1):
            raise StepError(STEP, axis.loop, "all its iterations store to the same element")
