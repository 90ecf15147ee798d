"""
`loops-vectorize`: runs all iterations of perfectly nested loops at once, as the axes of n-D vectors.

Before: for %i = 0 to 6 parallel {                  After: %s = for %k ... iter_args(%acc: vector<6x16xf32>) {
          for %j = 0 to 16 parallel {                        %x = load %a[l0, %k]     : vector<6x1xf32>
            %s = for %k ... iter_args(%acc = %z) {           %y = load %b[%k, l1]     : vector<1x16xf32>
              %x = load %a[%i, %k]                           %p = mulf(broadcast %x, broadcast %y)
              %y = load %b[%k, %j]                           yield addf(%acc, %p) }
              yield addf(%acc, mulf(%x, %y)) }             store %s, %c[l0, l1]
            store %s, %c[%i, %j] } }

Loops inside stay and carry vectors. What does not vary along an axis keeps size 1 there (or stays a scalar) until an
op needs it wider. The last axis may be cut short at run time, its trip count being at most a known number: loads and
stores are masked then; so they are where loops carry vectors and the trip count is no power of two. A loop that carries
reductions accumulates in lanes, which are combined after it. It may be the last of several loops, with more before and
after it: the others are rows then, each with its own sums in the lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass

from aicc.dialects.loops import ApplyOp, BroadcastOp, ForOp, LoadOp, ReduceOp, StoreOp, YieldOp
from aicc.dialects.loops.access import lanes_of, vector_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.lanewise import CmpiOp, SelectOp, lanewise_class
from aicc.dialects.tensor_ops.affine import substitute
from aicc.transforms.loops_index import IndexBounds, bound_expressions, fold_index_ops
from aicc.transforms.loops_legality import NOT_FREE, check_parallel
from aicc.transforms.loops_nest import (
    StepError,
    check_perfect,
    check_rectangular,
    kernels_with,
    labelled,
    nest_by_labels,
    normalize_loop,
)
from aicc.transforms.loops_reduction import Reduction, identity_of, reductions_of

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


def vectorize_loops(loops: Sequence[ForOp]) -> None:
    """
    Replaces perfectly nested `loops`, outermost first, by vector code; leading ones of unknown trip count stay loops.

    Raises:
        StepError: if the nest is not perfect, an iteration may depend on another, the last loop's trip count has no
            known limit, or an op inside has no vector form.
    """
    around = loops[:-1]
    if around and loops[-1].inits and loops[-1].parent is around[-1].block:
        check_perfect(STEP, around)
    else:
        check_perfect(STEP, loops)
    check_rectangular(STEP, loops)
    for loop in loops:
        normalize_loop(STEP, loop)
    fold_index_ops([loops[0]])
    _Builder(plan_vectors(axes_of(loops))).run()


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

    inside: Plan | None = None
    """Of the last loop, which accumulates, with one axis more, where `axes` are the rows around it."""

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
    for axis in axes[:-1] if last.inits else axes:
        if axis.loop.inits:
            raise StepError(STEP, axis.loop, "carries a value; a reduction is vectorised along one loop only")
        check_parallel(STEP, axis.loop)
    if last.inits:
        reductions = reductions_of(last)
        if reductions is None:
            raise StepError(STEP, last, NOT_FREE)
        plan.reductions = reductions
        plan.shapes.update((argument, plan.full) for argument in last.iter_args)
    _set_axes(plan)
    if last.inits and len(axes) > 1:
        plan = Plan(axes[:-1], inside=plan)
        _set_axes(plan)
    _plan_block(plan, plan.axes[-1].loop.block)
    return plan


def _set_axes(plan: Plan) -> None:
    for position, axis in enumerate(plan.axes):
        shape = [1] * len(plan.axes)
        shape[position] = axis.size
        plan.shapes[axis.loop.induction] = tuple(shape)


def _join(*shapes: Shape) -> Shape:
    known = [shape for shape in shapes if shape]
    return tuple(max(sizes) for sizes in zip(*known, strict=True)) if known else ()


def _plan_block(plan: Plan, block: Block) -> None:
    for op in block.ops:
        if isinstance(op, ForOp):
            if plan.inside is not None and op is plan.inside.axes[-1].loop:
                _plan_sums(plan, plan.inside, op)
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
            shape = _join(*(plan.shape(operand) for operand in op.operands))
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


def _plan_sums(rows: Plan, plan: Plan, loop: ForOp) -> None:
    """Shapes within the loop that accumulates in lanes, and of what comes of it for each row."""
    for op in loop.walk():
        for operand in op.operands if op is not loop else ():
            if rows.shape(operand) and operand not in plan.shapes:
                raise StepError(STEP, loop, f"uses a value that varies along loop '{rows.axes[-1].loop.label.data}'")
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
        grown = [_join(shape, plan.shape(value)) for shape, value in zip(carried, loop.yielded, strict=True)]
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
    return _join(*shapes)


def _plan_store(plan: Plan, op: StoreOp) -> None:
    if lanes_of(op.value.type):
        raise StepError(STEP, plan.axes[-1].loop, "stores vectors already")
    shape = _map_shape(plan, op)
    for position, axis in enumerate(plan.axes):
        if axis.size > 1 and (not shape or shape[position] == 1):
            raise StepError(STEP, axis.loop, "all its iterations store to the same element")


class _Builder:
    """Builds the vector code of a plan in front of the outermost loop, then removes the loop."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.values: dict[SSAValue, SSAValue] = {}
        """Old values -> new ones, scalars or vectors of their planned shape."""
        self.wide: dict[tuple[SSAValue, Shape], SSAValue] = {}
        """New values already broadcast, as far as they can be used in the block being built."""
        self.bounds = IndexBounds()
        self.lanes: SSAValue | None = None
        self.mask: SSAValue | None = None
        self.block = Block()
        self.lane_of: dict[SSAValue, int] = {axis.loop.induction: position for position, axis in enumerate(plan.axes)}
        self.combines = {op: (index, reduction) for reduction in plan.reductions for op, index in reduction.combines}

    def run(self) -> None:
        """Replaces the nest."""
        plan = self.plan
        top, last = plan.axes[0].loop, plan.axes[-1].loop
        parent = top.parent
        assert parent is not None
        # Built in place, so that the bounds of enclosing loops are known.
        scratch = ForOp(0, (), 1, (), body=self.block)
        if plan.reductions:
            for result, total in zip(top.results, self._sums(top, top.inits), strict=True):
                result.replace_all_uses_with(total)
        else:
            self._mask()
            self._copy(last.block)
        ops = list(self.block.ops)
        for op in ops:
            op.detach()
            parent.insert_op_before(op, top)
        scratch.erase()
        top.detach()
        top.erase()
        fold_index_ops(ops, self.bounds)

    def _mask(self) -> None:
        if self.plan.masked:
            self.lanes = self._lane_count(self.plan.axes[-1].loop, self.plan.axes[-1].size)

    def _sums(self, loop: ForOp, inits: Sequence[SSAValue]) -> list[SSAValue]:
        """What the last loop accumulates from `inits` on."""
        self._mask()
        for argument, reduction in zip(loop.iter_args, self.plan.reductions, strict=True):
            constant = self._add(arith.ConstantOp(identity_of(reduction.kind, argument.type)))
            self.values[argument] = self._widen(constant.results[0], self.plan.full)
        self._copy(loop.block)
        return [
            self._combined(loop, position, reduction, init)
            for position, (reduction, init) in enumerate(zip(self.plan.reductions, inits, strict=True))
        ]

    def _sums_of_rows(self, loop: ForOp, inside: Plan) -> None:
        """Appends the loop that accumulates in lanes for each of the rows that this builds."""
        inits = [self._widen(self._new(init), self.plan.full) for init in loop.inits]
        builder = _Builder(inside)
        builder.block, builder.values, builder.bounds = self.block, dict(self.values), self.bounds
        for result, total in zip(loop.results, builder._sums(loop, inits), strict=True):
            self.values[result] = total

    def _add(self, op: Operation) -> Operation:
        self.block.add_op(op)
        return op

    def _new(self, value: SSAValue) -> SSAValue:
        if (position := self.lane_of.get(value)) is not None:
            # A loop variable that is computed with, not only indexed with: each lane's number.
            shape = self.plan.shape(value)
            numbers = AffineMap(len(shape), 0, (AffineDimExpr(position),))
            return self._add(ApplyOp(numbers, (), vector_of(IndexType(), shape))).results[0]
        return self.values.get(value, value)

    def _lane_count(self, loop: ForOp, size: int) -> SSAValue:
        """The number of lanes in use: the smallest upper bound, the size of the axis aside."""
        ends = [bound for bound in bound_expressions(loop, upper=True) if not isinstance(bound[0], AffineConstantExpr)]
        found = [self._add(ApplyOp(AffineMap(len(values), 0, (expr,)), values)).results[0] for expr, values in ends]
        if not found:
            trips = loop.trip_count
            assert trips is not None
            found = [self._add(arith.ConstantOp.from_int_and_width(trips, IndexType())).results[0]]
        value = found[0]
        for other in found[1:]:
            value = self._add(arith.MinSIOp(value, other)).results[0]
        _, high = self.bounds.of(value)
        if high is None or high > size:
            limit = self._add(arith.ConstantOp.from_int_and_width(size, IndexType())).results[0]
            value = self._add(arith.MinSIOp(value, limit)).results[0]
        value.name_hint = "lanes"
        return value

    def _widen(self, value: SSAValue, shape: Shape) -> SSAValue:
        """`value` broadcast to `shape`."""
        if lanes_of(value.type) == shape:
            return value
        if (known := self.wide.get((value, shape))) is None:
            known = self.wide[value, shape] = self._add(BroadcastOp(value, shape)).results[0]
        return known

    def _copy(self, block: Block) -> None:
        """Appends the vector form of the ops of an old block, its terminator aside."""
        for op in block.ops:
            match op:
                case LoadOp():
                    self._load(op)
                case StoreOp():
                    self._store(op)
                case ApplyOp() if shape := self.plan.shape(op.result):
                    access, operands = self._access(op, len(shape))
                    self._define(op, self._add(ApplyOp(access, operands, vector_of(IndexType(), shape))))
                case ForOp() if (inside := self.plan.inside) is not None and op is inside.axes[-1].loop:
                    self._sums_of_rows(op, inside)
                case ForOp():
                    self._loop(op)
                case YieldOp():
                    pass
                case _:
                    self._elementwise(op)

    def _define(self, old: Operation, new: Operation) -> None:
        new.location = old.location
        for before, after in zip(old.results, new.results, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after

    def _access(self, op: LoadOp | StoreOp | ApplyOp, rank: int) -> tuple[AffineMap, list[SSAValue]]:
        """The map of an old op over new operands, with lanes in the place of the loop variables of axes."""
        old = op.map.data
        kept = [operand for operand in op.indices if not rank or operand not in self.lane_of]
        position = {operand: index for index, operand in enumerate(kept)}
        dims: dict[int, AffineExpr] = {}
        for index, operand in enumerate(op.indices):
            lane = self.lane_of.get(operand) if rank else None
            dims[index] = AffineDimExpr(position[operand] if lane is None else len(kept) + lane)
        results = tuple(substitute(expr, dims) for expr in old.results)
        return AffineMap(len(kept) + rank, 0, results), [self._new(operand) for operand in kept]

    def _load(self, op: LoadOp) -> None:
        shape = self.plan.shape(op.result)
        access, operands = self._access(op, len(shape))
        memref = self._new(op.memref)
        masked = bool(shape) and shape[-1] > 1 and not self._inside(op, access, operands, shape)
        new = LoadOp(
            memref, access, operands, vector_of(op.result.type, shape), self.lanes if masked else None, op.fill
        )
        self._define(op, self._add(new))

    def _inside(self, op: LoadOp, access: AffineMap, operands: Sequence[SSAValue], shape: Shape) -> bool:
        """Whether all lanes, masked or not, lie inside the memref (padding of packed copies makes it so)."""
        last = AffineDimExpr(access.num_dims - 1)
        found = self.bounds.of_map(access, operands, shape)
        for expr, (_, high), dim in zip(access.results, found, memref_dims(memref_of(op.memref)), strict=True):
            if last in expr.dfs() and (high is None or not isinstance(dim, int) or high >= dim):
                return False
        return True

    def _store(self, op: StoreOp) -> None:
        value = self._new(op.value)
        shape = self.plan.full if self.plan.stores_vector(op) else ()
        access, operands = self._access(op, len(shape))
        lanes, inside = self.lanes if shape else None, op.inside is not None
        new = StoreOp(self._widen(value, shape), self._new(op.memref), access, operands, lanes, inside)
        self._define(op, self._add(new))

    def _loop(self, op: ForOp) -> None:
        inits = [
            self._widen(self._new(init), self.plan.shape(argument))
            for init, argument in zip(op.inits, op.iter_args, strict=True)
        ]
        new = ForOp(
            op.lower_map.data,
            [self._new(operand) for operand in op.lower_operands],
            op.upper_map.data,
            [self._new(operand) for operand in op.upper_operands],
            op.step_value,
            None,
            inits,
            op.kind.data,
            op.label.data,
            dict(op.attributes),
        )
        self._add(new)
        for before, after in zip(op.block.args, new.block.args, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after
        outer_block, outer_wide = self.block, self.wide
        self.block, self.wide = new.block, dict(outer_wide)
        self._copy(op.block)
        shapes = [self.plan.shape(argument) for argument in op.iter_args]
        yielded = [self._widen(self._new(value), shape) for value, shape in zip(op.yielded, shapes, strict=True)]
        self._add(YieldOp(*yielded))
        self.block, self.wide = outer_block, outer_wide
        self._define(op, new)

    def _elementwise(self, op: Operation) -> None:
        shape = _join(*(self.plan.shape(operand) for operand in op.operands))
        if not shape:
            clone = op.clone(self.values)
            self._add(clone)
            return
        operands = [self._new(operand) for operand in op.operands]
        # One condition for all lanes stays one.
        chosen = isinstance(op, arith.SelectOp) and not self.plan.shape(op.cond)
        operands = [*operands[:chosen], *(self._widen(operand, shape) for operand in operands[chosen:])]
        if self.lanes is not None and (found := self.combines.get(op)) is not None:
            carried, reduction = found
            operands[1 - carried] = self._select_lanes(operands[1 - carried], reduction, shape)
        new = lanewise_class(type(op)).create(
            operands=operands,
            result_types=[vector_of(result.type, shape) for result in op.results],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
        )
        self._define(op, self._add(new))

    def _select_lanes(self, value: SSAValue, reduction: Reduction, shape: Shape) -> SSAValue:
        """`value` in the lanes in use, and what leaves the reduction unchanged in the others."""
        assert self.lanes is not None
        lane_type = vector_of(IndexType(), shape)
        numbers = AffineMap(len(shape), 0, (AffineDimExpr(len(shape) - 1),))
        lane = self._add(ApplyOp(numbers, (), lane_type)).results[0]
        count = self._widen(self.lanes, shape)
        mask = self._add(CmpiOp(lane, count, "slt")).results[0]
        constant = self._add(arith.ConstantOp(identity_of(reduction.kind, value.type))).results[0]
        return self._add(SelectOp(mask, value, self._widen(constant, shape))).results[0]

    def _combined(self, loop: ForOp, position: int, reduction: Reduction, init: SSAValue) -> SSAValue:
        """The lanes of a reduction combined, then the value that it started from."""
        total = self._widen(self._new(loop.yielded[position]), self.plan.full)
        reduced = self._add(ReduceOp(total, reduction.kind, [len(self.plan.full) - 1])).results[0]
        combine, _ = reduction.combines[0]
        result = self._add(
            (lanewise_class(type(combine)) if lanes_of(reduced.type) else type(combine)).create(
                operands=[init, reduced],
                result_types=[reduced.type],
                properties=dict(combine.properties),
                attributes=dict(combine.attributes),
            )
        )
        result.results[0].name_hint = loop.results[position].name_hint
        return result.results[0]


@dataclass(frozen=True)
class LoopsVectorizePass(ModulePass):
    """Vectorises the loops that have a label, in all kernels."""

    name = "loops-vectorize"

    label: tuple[str, ...]
    """Labels of perfectly nested loops, outermost first; the last may be of a reduction among other ops."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label[0], self.name):
            for top in labelled(kernel, self.label[0], self.name):
                vectorize_loops(self._nest(top))

    def _nest(self, top: ForOp) -> list[ForOp]:
        *around, last = self.label
        if around:
            rows = nest_by_labels(STEP, top, around)
            found = [op for op in rows[-1].block.ops if isinstance(op, ForOp) and op.label.data == last and op.inits]
            if len(found) == 1:
                return [*rows, *found]
        return nest_by_labels(STEP, top, self.label)
