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
after it: the others are rows then, each with its own sums in the lanes. With `lanes`, several loops anywhere in the
rows, parallel ones and reductions, become the last axis each, and what stands between them has a lane for each row:

Before: for %i = 0 to 4 parallel {                  After: %s = reduce "maximumf" %v axes [1]  : to vector<4xf32>
          %m = for %j = 0 to 16 ... maximumf(...)            ... subf(%x, broadcast %s : to vector<4x16xf32>)
          for %k = 0 to 16 parallel { ... subf(%x, %m) } }
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.loops import ApplyOp, BroadcastOp, ForOp, LoadOp, ReduceOp, StoreOp, YieldOp
from aicc.dialects.loops.access import lanes_of, vector_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.lanewise import CmpiOp, SelectOp, lanewise_class
from aicc.dialects.tensor_ops.affine import substitute
from aicc.transforms.loops_buffers import erase_unread_buffers
from aicc.transforms.loops_forwarding import forward_values
from aicc.transforms.loops_index import IndexBounds, bound_expressions, fold_index_ops
from aicc.transforms.loops_nest import (
    StepError,
    check_perfect,
    check_rectangular,
    kernels_with,
    labelled,
    loop_contains,
    nest_by_labels,
    normalize_loop,
)
from aicc.transforms.loops_reduction import Reduction, identity_of
from aicc.transforms.loops_vector_plan import STEP, Plan, Shape, axes_of, join_shapes, plan_rows, plan_vectors


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


def vectorize_rows(rows: ForOp, lanes: Sequence[ForOp]) -> None:
    """
    Replaces the loop `rows`, of a known trip count, by vector code in which it and each loop of `lanes` are two axes.

    Buffers of one element that belong to a row become values.

    Raises:
        StepError: see `vectorize_loops`; and if one of `lanes` is not inside `rows`.
    """
    for loop in lanes:
        if not loop_contains(rows, loop):
            raise StepError(STEP, loop, f"does not stand in loop '{rows.label.data}'")
    for loop in (rows, *lanes):
        normalize_loop(STEP, loop)
    fold_index_ops([rows])
    forward_values(rows.block)
    erase_unread_buffers(rows)
    along = [axes_of([loop])[0] for loop in lanes]
    (axis,) = axes_of([rows])
    if axis.masked:
        raise StepError(STEP, rows, "has no known number of iterations; tile it first")
    _Builder(plan_rows([axis], along)).run()


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

    def _lanes_of_rows(self, loop: ForOp, inside: Plan) -> None:
        """Appends a loop along the lanes, for each of the rows that this builds."""
        inits = [self._widen(self._new(init), self.plan.full) for init in loop.inits]
        builder = _Builder(inside)
        builder.block, builder.values, builder.bounds = self.block, dict(self.values), self.bounds
        if inside.reductions:
            self.values.update(zip(loop.results, builder._sums(loop, inits), strict=True))
        else:
            builder._mask()
            builder._copy(loop.block)

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
        found = [
            self._add(ApplyOp(AffineMap(len(values), 0, (expr,)), [self._new(value) for value in values])).results[0]
            for expr, values in ends
        ]
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
                case ForOp() if (inside := self.plan.inside.get(op)) is not None:
                    self._lanes_of_rows(op, inside)
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
        shape = join_shapes(*(self.plan.shape(operand) for operand in op.operands))
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

    lanes: tuple[str, ...] = ()
    """Labels of loops inside the one labelled, which is rows then; each of them is the last axis."""

    def __post_init__(self) -> None:
        if self.lanes and len(self.label) != 1:
            raise PassFailedException(f"{self.name}: {len(self.label)} labels with lanes, expected one, of the rows")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label[0], self.name):
            for top in labelled(kernel, self.label[0], self.name):
                if self.lanes:
                    vectorize_rows(top, [loop for label in self.lanes for loop in labelled(top, label, self.name)])
                else:
                    vectorize_loops(self._nest(top))

    def _nest(self, top: ForOp) -> list[ForOp]:
        *around, last = self.label
        if around:
            rows = nest_by_labels(STEP, top, around)
            found = [op for op in rows[-1].block.ops if isinstance(op, ForOp) and op.label.data == last and op.inits]
            if len(found) == 1:
                return [*rows, *found]
        return nest_by_labels(STEP, top, self.label)
