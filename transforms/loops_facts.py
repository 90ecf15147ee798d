"""
What the automatic scheduler knows of one loop nest: its loops, what they read and write, and how each access moves in
memory with each loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

from aicc.dialects.graph.dims import Dim, lower_bound, upper_bound
from aicc.dialects.loops import ForOp, LoadOp, StoreOp
from aicc.dialects.loops.access import lanes_of
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.tensor_ops.affine import linear_form
from aicc.transforms.loops_collapse import extent_of
from aicc.transforms.loops_nest import perfect_nest

CACHE_LINE = 64
"""Bytes that a cache moves at a time."""

SYMBOL_GUESS = 64
"""Iterations that a loop of symbolic extent is taken to have, within the bounds of the expression."""


def element_bytes(type: Attribute) -> int:
    """Bytes of one element in memory."""
    if isinstance(type, AnyFloat):
        return max(1, type.bitwidth // 8)
    if isinstance(type, IndexType):
        return 8
    return max(1, cast("IntegerType[Any]", type).width.data // 8)


def guess(dim: Dim, unknown: int = SYMBOL_GUESS) -> int:
    """A number to reckon with for a dimension: `unknown`, within its bounds, where it is symbolic."""
    if isinstance(dim, int):
        return dim
    low, high = lower_bound(dim), upper_bound(dim)
    value = max(unknown, low or 0)
    return value if high is None else min(value, high)


@dataclass(frozen=True)
class Loop:
    """A loop of a nest and how often it is reckoned to run."""

    op: ForOp
    extent: Dim | None
    trips: int
    """The extent, or a guess."""

    limit: int = 0
    """A number of iterations that a loop of `min(limit, rest)` of them never exceeds; 0 for other loops."""

    @property
    def label(self) -> str:
        """Its name in schedules."""
        return self.op.label.data


@dataclass(frozen=True)
class Move:
    """How the address of an access moves from one iteration of a loop to the next."""

    stride: int | None
    """Elements; `None` where it is not one number (symbolic, or through a division)."""

    period: int = 0
    """The address is constant over aligned runs of this many iterations (`i floordiv period`); 0 if it is not."""

    def constant_over(self, run: int) -> bool:
        """Whether the address stays the same over each aligned run of so many iterations."""
        return self.stride == 0 or (self.period > 0 and self.period % run == 0)


@dataclass
class Access:
    """A load or store of a nest."""

    op: LoadOp | StoreOp
    moves: dict[Loop, Move]
    dims: tuple[Dim, ...]
    spans: list[dict[Loop, int]] = field(default_factory=list[dict[Loop, int]])
    """Per dimension of the memref: the coefficient of each loop's index in it (1 where it is not linear)."""
    _footprints: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int], init=False, repr=False)

    @property
    def memref(self) -> SSAValue:
        """The buffer."""
        return self.op.memref

    @property
    def is_store(self) -> bool:
        """Whether it writes."""
        return isinstance(self.op, StoreOp)

    @cached_property
    def bytes(self) -> int:
        """Bytes of one element."""
        return element_bytes(memref_of(self.op.memref).element_type)

    def depends(self, loop: Loop) -> bool:
        """Whether the address varies with the loop."""
        return self.moves[loop].stride != 0

    def leads(self, loops: Sequence[Loop]) -> bool:
        """Whether each loop in turn walks the outermost dimension in memory that is left, those of size 1 left out."""
        left = [spans for spans, dim in zip(self.spans, self.dims, strict=True) if dim != 1]
        for loop in loops:
            if left and loop not in left[0]:
                return False
            left = [spans for spans in left if loop not in spans]
        return True

    def footprint_bytes(self, trips: dict[Loop, int]) -> int:
        """
        Bytes touched while each loop makes so many iterations; loops that are missing stand still.

        Whole cache lines where rows are at least that long.
        """
        # Each order of loops that is tried asks again for parts that it shares with others.
        key = tuple(trips.get(loop, 0) for loop in self._moving)
        if (known := self._footprints.get(key)) is not None:
            return known
        total = self.bytes
        for position, (coefficients, extent) in enumerate(zip(self.spans, self._extents, strict=True)):
            span = 1 + sum(abs(factor) * (trips[loop] - 1) for loop, factor in coefficients.items() if loop in trips)
            covered = 1
            for loop in coefficients:
                covered *= trips.get(loop, 1)
            touched = max(1, min(span, covered, extent))
            if position == len(self.dims) - 1:
                line = CACHE_LINE // self.bytes
                if extent >= line:
                    touched = -(-touched // line) * line
            total *= touched
        self._footprints[key] = total
        return total

    @cached_property
    def _extents(self) -> tuple[int, ...]:
        return tuple(guess(dim) for dim in self.dims)

    @cached_property
    def _moving(self) -> tuple[Loop, ...]:
        """The loops that the address varies with."""
        return tuple(dict.fromkeys(loop for coefficients in self.spans for loop in coefficients))


@dataclass
class Nest:
    """A perfect nest of parallel loops, with the reductions inside."""

    parallel: list[Loop]
    chains: list[list[Loop]]
    """The reductions inside, each a list of perfectly nested loops, in program order."""

    accesses: list[Access]
    body_ops: int
    """Arithmetic per innermost iteration, all blocks together."""

    heavy_ops: int
    """Of those: calls of mathematical functions."""

    around: tuple[Loop, ...] = ()
    """The loops around the whole nest, innermost first."""

    @property
    def top(self) -> ForOp:
        """The outermost loop."""
        return (self.parallel or self.chains[0])[0].op

    @property
    def reductions(self) -> list[Loop]:
        """All reduction loops."""
        return [loop for chain in self.chains for loop in chain]

    @property
    def stores(self) -> list[Access]:
        """The accesses that write."""
        return [access for access in self.accesses if access.is_store]

    @property
    def loads(self) -> list[Access]:
        """The accesses that read."""
        return [access for access in self.accesses if not access.is_store]

    @property
    def iterations(self) -> int:
        """Reckoned innermost iterations."""
        total = 1
        for loop in self.parallel:
            total *= loop.trips
        inner = 0
        for chain in self.chains:
            product = 1
            for loop in chain:
                product *= loop.trips
            inner += product
        return total * max(inner, 1)


def loop_facts(op: ForOp) -> Loop:
    """The facts of one loop."""
    extent = extent_of(op)
    if extent is None:
        limit = _limit(op)
        return Loop(op, None, op.trip_count or limit or SYMBOL_GUESS, limit)
    return Loop(op, extent, guess(extent))


def _limit(op: ForOp) -> int:
    """The number among several upper bounds of a loop from 0 with step 1; 0 if there is none."""
    if op.step_value != 1 or op.constant_bound(upper=False) != 0:
        return 0
    return min((bound.value for bound in op.upper_map.data.results if isinstance(bound, AffineConstantExpr)), default=0)


def analyse_nest(top: ForOp) -> Nest | None:
    """The facts of the nest at `top`; `None` if it is not one of parallel loops, reductions and straight code."""
    chain = perfect_nest(top)
    parallel = [loop_facts(loop) for loop in chain if not loop.inits]
    if not all(loop.op.is_parallel for loop in parallel):
        return None
    if len(parallel) != len(chain):
        # A reduction with nothing around it: all its loops are in one chain.
        if parallel:
            return None
        return _analyse_body(top, [], [top])
    return _analyse_body(top, parallel, list(chain[-1].block.ops))


def _analyse_body(top: ForOp, parallel: list[Loop], ops: Sequence[Operation]) -> Nest | None:
    chains: list[list[Loop]] = []
    found: list[LoadOp | StoreOp] = []
    body, heavy = 0, 0
    pending = list(ops)
    for op in pending:
        if isinstance(op, ForOp):
            if not op.inits:
                return None
            reduction = perfect_nest(op)
            chains.append([loop_facts(loop) for loop in reduction])
            inner = list(reduction[-1].block.ops)
            if any(isinstance(deeper, ForOp) for deeper in inner):
                return None
            pending += inner
        elif isinstance(op, LoadOp | StoreOp):
            if lanes_of((op.result if isinstance(op, LoadOp) else op.value).type):
                return None  # the nest has vectors: it has been scheduled
            found.append(op)
        elif op.regions:
            return None
        elif op.name.startswith(("arith.", "packed.")) and op.name != "arith.constant":
            body += 1
        elif op.name.startswith("math."):
            heavy += 1
    loops = [*parallel, *(loop for chain in chains for loop in chain)]
    by_index: dict[SSAValue, Loop] = {loop.op.induction: loop for loop in loops}
    accesses = [_analyse_access(op, loops, by_index) for op in found]
    return Nest(parallel, chains, accesses, body + heavy, heavy, _loops_around(top))


def _loops_around(top: ForOp) -> tuple[Loop, ...]:
    found: list[Loop] = []
    parent = top.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            found.append(loop_facts(parent))
        parent = parent.parent_op()
    return tuple(found)


def _analyse_access(op: LoadOp | StoreOp, loops: Sequence[Loop], by_index: dict[SSAValue, Loop]) -> Access:
    dims = memref_dims(memref_of(op.memref))
    weights: list[int | None] = []
    weight: int | None = 1
    for dim in reversed(dims):
        weights.insert(0, weight)
        weight = weight * dim if weight is not None and isinstance(dim, int) else None
    moves: dict[Loop, Move] = {loop: Move(0) for loop in loops}
    spans: list[dict[Loop, int]] = []
    operands = list(op.indices)
    for expr, scale in zip(op.map.data.results, weights, strict=True):
        coefficients: dict[Loop, int] = {}
        for atom, factor in linear_form(expr).terms.items():
            for position, period in _positions(atom):
                loop = by_index.get(operands[position])
                if loop is None:
                    continue
                coefficients[loop] = coefficients.get(loop, 0) + (factor if period == 1 else 1)
                moves[loop] = _add(moves[loop], _move(atom, factor, scale, period))
        spans.append(coefficients)
    # An index that is computed from loop variables in another way than by a map moves in a way that is not known.
    for operand in operands:
        if operand not in by_index and not _invariant(operand, loops):
            for loop in loops:
                moves[loop] = Move(None) if _uses(operand, loop) else moves[loop]
    return Access(op, moves, dims, spans)


def _positions(atom: AffineExpr) -> list[tuple[int, int]]:
    """The dimensions in an atom, each with the run over which the atom is constant (1: linear, 0: unknown)."""
    if isinstance(atom, AffineDimExpr):
        return [(atom.position, 1)]
    match atom:
        case AffineBinaryOpExpr(
            kind=AffineBinaryOpKind.FloorDiv, lhs=AffineDimExpr() as dim, rhs=AffineConstantExpr(value=v)
        ):
            return [(dim.position, v)]
        case _:
            return [(part.position, 0) for part in atom.dfs() if isinstance(part, AffineDimExpr)]


def _move(atom: AffineExpr, factor: int, scale: int | None, period: int) -> Move:
    if period == 1:
        return Move(None if scale is None else factor * scale)
    return Move(None, period)


def _add(a: Move, b: Move) -> Move:
    if a == Move(0):
        return b
    if b == Move(0):
        return a
    if a.stride is None or b.stride is None:
        return Move(None)
    return Move(a.stride + b.stride)


def _invariant(value: SSAValue, loops: Sequence[Loop]) -> bool:
    return not any(_uses(value, loop) for loop in loops)


def _uses(value: SSAValue, loop: Loop) -> bool:
    """Whether `value` is computed in the body of the loop."""
    block = (
        value.block
        if isinstance(value, BlockArgument)
        else value.owner.parent
        if isinstance(value.owner, Operation)
        else None
    )
    while block is not None:
        parent = block.parent_op()
        if parent is loop.op:
            return True
        block = None if parent is None else parent.parent
    return False
