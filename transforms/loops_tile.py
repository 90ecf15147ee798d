"""
`loops-tile`: splits perfectly nested loops into loops over tiles around loops within a tile.

Before: for %i = 0 to 20 { body(%i) }

After, `size=8 tail=peel`:                     After, `size=8 tail=mask`:
    for "i.o" %o = 0 to 2 {                        for "i.o" %o = 0 to 3 {
      for "i.i" %k = 0 to 8 { body(8*%o + %k) } }    for "i.i" %k = 0 to min(8, 20 - 8*%o) { body(8*%o + %k) } }
    for "i.t" %o = 2 to 3 {
      for "i.i" %k = 0 to 4 { body(16 + %k) } }

Several loops are tiled at once, all loops over tiles outside all loops within tiles; peeling makes one perfect nest for
each combination of full tiles and remainders, all of one structure, so that each of them can be transformed further. A
remainder that is not a known number has at most one tile: `for "i.t" %o = n floordiv 8 to (n + 7) floordiv 8`. With
`tail=pair` a single iteration that is left over of an unknown number goes with the last full tile, which is no full one
then. A loop with tiles of one iteration stays as it is; it is listed to have the nests of the others made around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from aicc.dialects.graph.dims import SymExpr, dim_max, dim_min, floordiv, lower_bound, mod, upper_bound
from aicc.dialects.loops import ApplyOp, ForOp, SizeOp, YieldOp
from aicc.dialects.schedule.ops import TAILS
from aicc.dialects.tensor_ops.affine import Simplifier
from aicc.transforms.loops_index import IndexBounds, bound_expressions, combine, fold_index_ops
from aicc.transforms.loops_legality import check_reorderable
from aicc.transforms.loops_nest import (
    StepError,
    check_perfect,
    check_rectangular,
    insert_early,
    kernels_with,
    labelled,
    nest_by_labels,
)
from aicc.transforms.loops_sizes import trip_count_dim

STEP = "tile"

PAIRED = 3
"""Iterations per tile from which on one left over alone can go with a full tile."""


@dataclass
class Tiled:
    """What tiling made. Each inner list goes over all nests, the one of full tiles first if there is one."""

    outers: list[list[ForOp]]
    """Per old loop: the loops over tiles."""

    inners: list[list[ForOp]]
    """Per old loop: the loops within a tile; none for a loop with tiles of one iteration."""

    peeled: list[ForOp] = field(default_factory=list[ForOp])
    """The outermost loops of the nests for what does not fill a tile."""


@dataclass(frozen=True)
class _Range:
    """One way through the iterations of an old loop: a loop over tiles and the loop within a tile."""

    label: str
    firsts: tuple[AffineExpr, ...]
    ends: tuple[AffineExpr, ...]
    """The loop over tiles goes from the largest of `firsts` to the smallest of `ends`."""

    within: tuple[AffineExpr, ...]
    """Iterations in a tile, the smallest of these; the last dimension is the tile's number."""


@dataclass
class _Old:
    """A loop to tile, with its bounds over common operands."""

    loop: ForOp
    size: int
    lower: AffineExpr
    trips: tuple[AffineExpr, ...]
    """Numbers of iterations whose minimum is the loop's."""

    operands: tuple[SSAValue, ...]


def tile_loops(loops: Sequence[ForOp], sizes: Sequence[int], tails: Sequence[str]) -> Tiled:
    """
    Tiles perfectly nested `loops`, outermost first, and returns the new loops; the old ones are gone.

    `tails` holds `peel`, `pair` or `mask` per loop.

    Raises:
        StepError: if the nest is not perfect and rectangular, if its loops may not be reordered, or if a loop that ends
            at the minimum of several bounds is to be peeled.
    """
    check_perfect(STEP, loops)
    check_rectangular(STEP, loops)
    if len(loops) > 1:
        check_reorderable(STEP, loops)
    bounds = IndexBounds()
    olds = [_analyse(loop, size) for loop, size in zip(loops, sizes, strict=True)]
    ranges = [_paired(old, tail) or _ranges(old, tail, bounds) for old, tail in zip(olds, tails, strict=True)]
    combinations = list(product(*ranges)) if all(ranges) else []
    result = Tiled([[] for _ in loops], [[] for _ in loops])
    top = loops[0]
    block = top.parent
    assert block is not None
    values: Sequence[SSAValue] = tuple(top.inits)
    nests: list[_Nest] = []
    for combination in combinations:
        nest = _build_nest(olds, combination, values)
        block.insert_op_before(nest.top, top)
        nests.append(nest)
        values = nest.top.results
        for position in range(len(loops)):
            result.outers[position].append(nest.outers[position])
            if (inner := nest.inners[position]) is not None:
                result.inners[position].append(inner)
        if any(part.label != ".o" for part in combination):
            result.peeled.append(nest.top)
    # The first nest gets the old body itself, so that handles to ops in it stay good; all others get copies.
    for nest in reversed(nests):
        _fill(nest, olds, clone_body=nest is not nests[0])
    for old, new in zip(top.results, values, strict=True):
        old.replace_all_uses_with(new)
    top.detach()
    top.erase()
    fold_index_ops([nest.top for nest in nests], bounds)
    return result


def ceil_quotient(expr: AffineExpr, divisor: int) -> AffineExpr:
    """`expr ceildiv divisor`, in the form that simplification understands."""
    return (expr + (divisor - 1)) // divisor


def count_nests(loop: ForOp, size: int, tail: str) -> int:
    """How many nests tiling makes for this loop: one for full tiles, one for what does not fill a tile, as needed."""
    return len(_ranges(_analyse(loop, size), tail, IndexBounds()))


def leaves_any(loop: ForOp, size: int) -> bool:
    """Whether tiles may leave over any number of iterations below their size, for all that is known."""
    trips = trip_count_dim(loop)
    if not isinstance(trips, SymExpr):
        return False
    over = mod(trips, size)
    return lower_bound(over) == 0 and upper_bound(over) == size - 1


def count_rest_nests(loop: ForOp, sizes: Sequence[int]) -> list[int]:
    """
    How many nests tiling makes of this loop by the first size, of what that leaves over by the next, and so on.

    Ends early where nothing is left over.
    """
    old, counts = _analyse(loop, sizes[0]), list[int]()
    for size in sizes:
        ranges = _ranges(replace(old, size=size), "peel", IndexBounds())
        counts.append(len(ranges))
        if not ranges or ranges[-1].label != ".t":
            break
        old = replace(old, lower=AffineConstantExpr(0), trips=ranges[-1].within)
    return counts


def _analyse(loop: ForOp, size: int) -> _Old:
    lowers = bound_expressions(loop, upper=False)
    if len(lowers) != 1:
        raise StepError(STEP, loop, f"starts at the maximum of {len(lowers)} bounds, expected one")
    uppers = bound_expressions(loop, upper=True)
    (lower, *ends), operands = combine([*lowers, *uppers])
    return _Old(loop, size, lower, tuple(ceil_quotient(end + lower * -1, loop.step_value) for end in ends), operands)


def _ranges(old: _Old, tail: str, bounds: IndexBounds) -> list[_Range]:
    """The ways to go through a loop; none if it has no iterations."""
    simplifier = bounds.simplifier(old.operands)
    trips = [simplifier.simplify(trip) for trip in old.trips]
    size = old.size
    zero, whole = AffineConstantExpr(0), AffineConstantExpr(size)
    trip = trips[0]
    if len(trips) == 1 and isinstance(trip, AffineConstantExpr):
        return _static_ranges(old, max(trip.value, 0), tail)
    if tail == "mask":
        # The number of tiles is the smallest over all bounds; each tile is cut by all of them.
        ends = tuple(simplifier.simplify(ceil_quotient(count, size)) for count in trips)
        return [_Range(".o", (zero,), ends, (whole, *_left_over(old, trips)))]
    if len(trips) > 1:
        return _bounded_ranges(old, trips, simplifier)
    full, tiles = simplifier.simplify(trip // size), simplifier.simplify(ceil_quotient(trip, size))
    ranges: list[_Range] = []
    least, most = simplifier.bounds(trip)
    if most is None or most >= size:
        ranges.append(_Range(".o", (zero,), (full,), (whole,)))
    if full != tiles:
        # A negative number of iterations means none.
        firsts = (full,) if least is not None and least >= 0 else (full, zero)
        ranges.append(_Range(".t", firsts, (tiles,), (simplifier.simplify(trip % size),)))
    return ranges


def _paired(old: _Old, tail: str) -> list[_Range]:
    """
    The ways through a loop of an unknown number of iterations, if one that is left over alone is to go with the last
    full tile; adds the numbers of full tiles, of all tiles and of iterations left over to the operands.
    """
    trips = trip_count_dim(old.loop)
    if tail != "pair" or not isinstance(trips, SymExpr) or len(old.trips) != 1 or old.size < PAIRED:
        return []
    over = mod(trips, old.size)
    alone = dim_min(over, 1) - dim_min(dim_max(over - 1, 0), 1)
    full = dim_max(floordiv(trips, old.size) - alone, 0)
    # Between these numbers anyway; those who tile what is left over are to know it.
    rest = dim_min(dim_max(trips - full * old.size, 0), old.size + 1)
    numbers = [SizeOp(dim) for dim in (full, full + dim_min(rest, 1), rest)]
    for size in numbers:
        insert_early(size, None, old.loop)
    first, end, count = (AffineDimExpr(len(old.operands) + place) for place in range(3))
    old.operands = (*old.operands, *(size.result for size in numbers))
    zero, whole = AffineConstantExpr(0), AffineConstantExpr(old.size)
    return [_Range(".o", (zero,), (first,), (whole,)), _Range(".t", (first,), (end,), (count,))]


def _bounded_ranges(old: _Old, trips: Sequence[AffineExpr], simplifier: Simplifier) -> list[_Range]:
    """
    The ways through a loop of `min(limit, rest)` iterations, `limit` a multiple of the tile: a remainder is left only
    where `rest` is the smaller one.
    """
    limits = [trip.value for trip in trips if isinstance(trip, AffineConstantExpr)]
    rests = [trip for trip in trips if not isinstance(trip, AffineConstantExpr)]
    if len(rests) != 1 or len(limits) != 1 or limits[0] % old.size:
        raise StepError(
            STEP,
            old.loop,
            f"ends at the minimum of {len(trips)} bounds; only 'mask' tails can be made of it, or tiles that divide "
            "the one bound that is a number",
        )
    (rest,), size = rests, old.size
    most, zero = AffineConstantExpr(limits[0] // size), AffineConstantExpr(0)
    full, tiles = simplifier.simplify(rest // size), simplifier.simplify(ceil_quotient(rest, size))
    ranges = [_Range(".o", (zero,), (most, full), (AffineConstantExpr(size),))]
    if full != tiles:
        ranges.append(_Range(".t", (full, zero), (most, tiles), (simplifier.simplify(rest % size),)))
    return ranges


def _left_over(old: _Old, trips: Sequence[AffineExpr]) -> list[AffineExpr]:
    """Iterations from the start of a tile to the end of the loop."""
    return [trip + AffineDimExpr(len(old.operands)) * -old.size for trip in trips]


def _static_ranges(old: _Old, trips: int, tail: str) -> list[_Range]:
    full, rest = divmod(trips, old.size)
    zero, last, end, whole = (AffineConstantExpr(value) for value in (0, full, full + 1, old.size))
    if tail == "mask" and rest:
        return [_Range(".o", (zero,), (end,), (whole, *_left_over(old, [AffineConstantExpr(trips)])))]
    ranges: list[_Range] = []
    if full:
        ranges.append(_Range(".o", (zero,), (last,), (whole,)))
    if rest:
        ranges.append(_Range(".t", (last,), (end,), (AffineConstantExpr(rest),)))
    return ranges


@dataclass
class _Nest:
    top: ForOp
    innermost: ForOp
    outers: list[ForOp]
    inners: list[ForOp | None]


def _build_nest(olds: Sequence[_Old], combination: Sequence[_Range], values: Sequence[SSAValue]) -> _Nest:
    """All loops over tiles, then all loops within tiles; the innermost one is empty."""
    chain: list[ForOp] = []
    outers: list[ForOp] = []
    for old, part in zip(olds, combination, strict=True):
        suffix = part.label if old.size > 1 else ""
        outers.append(_add_loop(chain, old, suffix, part.firsts, part.ends, old.operands, values))
    inners: list[ForOp | None] = []
    for old, part, outer in zip(olds, combination, outers, strict=True):
        if old.size == 1:
            inners.append(None)
            continue
        operands = (*old.operands, outer.induction)
        inners.append(_add_loop(chain, old, ".i", (AffineConstantExpr(0),), part.within, operands, values))
    for outer, inner in pairwise(chain):
        outer.block.add_ops([inner, YieldOp(*inner.results)])
    return _Nest(chain[0], chain[-1], outers, inners)


def _add_loop(
    chain: list[ForOp],
    old: _Old,
    suffix: str,
    firsts: Sequence[AffineExpr],
    ends: Sequence[AffineExpr],
    operands: Sequence[SSAValue],
    values: Sequence[SSAValue],
) -> ForOp:
    """Appends a loop to the chain, carrying on the values of the loop before it, or `values` at the top."""
    inits = chain[-1].iter_args if chain else values
    loop = ForOp(
        AffineMap(len(operands), 0, tuple(firsts)),
        operands,
        AffineMap(len(operands), 0, tuple(ends)),
        operands,
        1,
        None,
        inits,
        old.loop.kind.data,
        old.loop.label.data + suffix,
    )
    loop.location = old.loop.location
    loop.induction.name_hint = old.loop.induction.name_hint
    for new, argument in zip(loop.iter_args, old.loop.iter_args, strict=True):
        new.name_hint = argument.name_hint
    chain.append(loop)
    return loop


def _fill(nest: _Nest, olds: Sequence[_Old], clone_body: bool) -> None:
    """Puts the old body, or a copy of it, in the innermost loop, with the old indices computed from the new ones."""
    old_body = olds[-1].loop.block
    new_body = nest.innermost.block
    mapping: dict[SSAValue, SSAValue] = dict(zip(old_body.args[1:], nest.innermost.iter_args, strict=True))
    for old, outer, inner in zip(olds, nest.outers, nest.inners, strict=True):
        operands = (*old.operands, outer.induction, *(() if inner is None else (inner.induction,)))
        index = AffineDimExpr(len(old.operands)) * old.size
        if inner is not None:
            index = index + AffineDimExpr(len(old.operands) + 1)
        apply = ApplyOp(AffineMap(len(operands), 0, (old.lower + index * old.loop.step_value,)), operands)
        apply.result.name_hint = old.loop.induction.name_hint
        new_body.add_op(apply)
        mapping[old.loop.induction] = apply.result
    _move_body(old_body, new_body, mapping, clone_body)


def _move_body(old_body: Block, new_body: Block, mapping: dict[SSAValue, SSAValue], clone: bool) -> None:
    if clone:
        for op in old_body.ops:
            new_body.add_op(op.clone(mapping))
        return
    for value, new in mapping.items():
        value.replace_all_uses_with(new)
    for op in list(old_body.ops):
        op.detach()
        new_body.add_op(op)


@dataclass(frozen=True)
class LoopsTilePass(ModulePass):
    """Tiles the loops that have a label, in all kernels."""

    name = "loops-tile"

    label: tuple[str, ...]
    """Labels of perfectly nested loops, outermost first."""

    size: tuple[int, ...]
    """Iterations per tile of each loop; at least 1."""

    tail: str = "peel"
    """What becomes of iterations that do not fill a tile: peel, pair or mask."""

    def __post_init__(self) -> None:
        if len(self.size) != len(self.label):
            raise PassFailedException(
                f"{self.name}: {len(self.size)} sizes for {len(self.label)} labels, expected one each"
            )
        for size in self.size:
            if size < 1:
                raise PassFailedException(f"{self.name}: size must be at least 1, got {size}")
        if self.tail not in TAILS:
            raise PassFailedException(f"{self.name}: tail must be {' or '.join(TAILS)}, got '{self.tail}'")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_with(op, self.label[0], self.name):
            for top in labelled(kernel, self.label[0], self.name):
                tile_loops(nest_by_labels(STEP, top, self.label), self.size, (self.tail,) * len(self.label))
