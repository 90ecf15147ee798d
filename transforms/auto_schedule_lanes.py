"""
Strategy "lanes": one parallel loop runs along the lanes of vectors, another one along the rows of a register tile, and
reductions stay inside: matrix products, convolutions, pooling, sums across rows.

The steps: inputs that are not contiguous along the lanes are packed; reductions are ordered so that the innermost walks
memory in small strides; rows and lanes are tiled to what fits the registers; the loops over tiles are ordered (and the
rows blocked) for the least traffic between caches; the tile becomes one vector value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product, takewhile
from math import gcd, prod

from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import lower_bound, symbols_of
from aicc.dialects.schedule.ops import TileOp
from aicc.transforms.auto_schedule_common import (
    Kernel,
    can_pack,
    is_free_reduction,
    packing_for,
    vector_width,
)
from aicc.transforms.auto_schedule_product import plan_product, schedule_product
from aicc.transforms.auto_schedule_threads import SHARES, Shared, certain_trips, spread, worth_threads
from aicc.transforms.auto_schedule_tile_cost import tile_cost
from aicc.transforms.auto_schedule_windows import MOST_TAPS, inside, shared_taps
from aicc.transforms.loops_cost import (
    FMA_LATENCY,
    REST_ROWS,
    TileChoice,
    TileCost,
    choose_tile,
    rest_cost,
)
from aicc.transforms.loops_facts import CACHE_LINE, Access, Loop, Nest, guess
from aicc.transforms.loops_order import Level, Orders, orders
from aicc.transforms.loops_tile import count_nests, count_rest_nests, leaves_any
from aicc.transforms.schedule_writer import ScheduleWriter
from aicc.transforms.target_facts import TargetFacts

MOST_ROWS = 8
"""Rows of a register tile that are tried: each is a stream to follow, and more of them leave nothing more to hide."""

ROW_BLOCKS = (4, 8, 16, 32, 64)
"""Register tiles per block of rows that are tried."""

MOST_PERMUTED = 4
"""Loops over tiles, innermost ones, whose orders are all tried."""

UNEVEN = 0.05
"""What an order costs more if its outermost loop has too few iterations for the threads."""

APART = 0.05
"""What an order costs more in which rows left over of an unknown number cannot share the weights of full tiles."""

PACK_REUSE = 8
"""An input that is strided along the lanes is packed if each element is used at least so often."""

PACK_REUSE_CONTIGUOUS = 48
"""
An input that is contiguous along the lanes is packed if each element is used at least so often, and the steps of the
reduction are so far apart that they push each other out of the first-level cache.
"""

REST_UNEVEN = 0.05
"""What threads may wait for each other so that rows left over use weights that are in cache."""

SYMBOLIC_ROWS = 1.25
"""What rows along a loop whose extent is one symbol cost more: there may be too few, as in a batch of one image."""

PAIRED = 0.95
"""What a full tile of rows and one more take together, in times what they take one after the other, to be worth it."""

UNROLL_UP_TO = 4
"""A reduction of at most this many steps is unrolled."""

SCATTERED_STORE = 2.0
TRANSPOSED_STORE = 0.5
"""Cycles to write an element whose neighbours along the lanes are elsewhere: alone, or with those of other rows."""

UNROLL_BELOW = 12
"""
Sums of a register tile that keep the ports busy while the loop over steps turns. Unrolled, LLVM would read rows of
later steps ahead until registers are short.
"""


@dataclass(frozen=True)
class LanePlan:
    """Which loops become rows and lanes."""

    lane: Loop
    row: Loop | None
    width: int
    """Lanes of one register."""

    tile: TileChoice
    cost: TileCost
    packed: tuple[Access, ...]

    @property
    def lanes(self) -> int:
        """Lanes of the register tile."""
        return self.width * self.tile.vectors


def main_chain(nest: Nest) -> list[Loop]:
    """The reduction with the most iterations."""

    def size(chain: Sequence[Loop]) -> int:
        product = 1
        for loop in chain:
            product *= loop.trips
        return product

    return max(nest.chains, key=size, default=list[Loop]())


def _reuse(nest: Nest, access: Access) -> int:
    """How often each element is used, by parallel loops along which the access does not move."""
    product = 1
    for loop in nest.parallel:
        if not access.depends(loop):
            product *= loop.trips
    for loop in nest.around:
        if loop.op.induction not in access.op.indices:
            product *= loop.trips
    return product


def _collides(kernel: Kernel, access: Access, loop: Loop) -> bool:
    """Whether the steps of a reduction fall into so few sets of the first-level cache that they don't fit there."""
    stride = access.moves[loop].stride
    if stride is None:
        return True
    ways = kernel.facts.l1_ways
    sets = max(1, kernel.facts.l1_bytes // (CACHE_LINE * ways))
    lines = stride * access.bytes // CACHE_LINE
    if lines <= 1:
        return False
    return loop.trips > ways * sets // gcd(sets, lines)


def _wants_packing(kernel: Kernel, nest: Nest, access: Access, lane: Loop, chain: Sequence[Loop]) -> bool:
    if not can_pack(kernel, access, lane) or not inside(access, chain):
        return False
    reuse = _reuse(nest, access)
    stride = access.moves[lane].stride
    if kernel.is_constant(access.memref):
        return reuse > 1 or stride != 1
    if stride != 1:
        return reuse >= PACK_REUSE
    return reuse >= PACK_REUSE_CONTIGUOUS and any(
        _collides(kernel, access, loop) for loop in chain if access.depends(loop)
    )


def lane_cycles(kernel: Kernel, nest: Nest, lane: Loop) -> tuple[float, float]:
    """
    Reckoned cycles of a nest with this loop along the lanes, its stores and run-time packing included: as `TileChoice`
    has them for the target's units, to compare loops, and for two, to compare with other strategies.
    """
    plan = plan_lanes(kernel, nest, lane)
    outputs = prod(loop.trips for loop in nest.parallel)
    cycles = 0.0
    for access in nest.stores:
        if access.moves[lane].stride == 1:
            cycles += outputs / plan.width
        else:
            # Rows that follow each other in memory are transposed in registers.
            together = plan.row is not None and access.moves[plan.row].stride == 1
            cycles += outputs * (TRANSPOSED_STORE if together else SCATTERED_STORE)
    for access in plan.packed:
        if not kernel.is_constant(access.memref):
            # Packed once for all that the loops around do.
            elements = prod(map(guess, access.dims)) / prod(loop.trips for loop in nest.around)
            cycles += elements * (1.0 / plan.width if access.moves[lane].stride == 1 else 2.0)
    steps = max(1, nest.iterations // max(outputs, 1))
    return plan.tile.unit_cycles * steps + cycles, plan.tile.cycles * steps + cycles


def plan_lanes(kernel: Kernel, nest: Nest, lane: Loop) -> LanePlan:
    """The register tile for lanes along `lane`: over all choices of the row loop, the one of fewest cycles."""
    chain, width = main_chain(nest), vector_width(nest, kernel.facts)
    packed = tuple(access for access in nest.loads if _wants_packing(kernel, nest, access, lane, chain))
    best: LanePlan | None = None
    candidates: list[Loop | None] = [None, *(loop for loop in nest.parallel if loop is not lane and loop.trips > 1)]
    for row in candidates:
        known = row is None or isinstance(row.extent, int) or row.limit > 0
        cost = tile_cost(nest, chain, lane, row, width, packed, kernel.facts)
        cost = replace(cost, cold=not known and cost.product and kernel.facts.fma_ports > 1)
        rows = 1 if row is None else row.trips
        limit = 0 if row is None else row.limit
        tile = choose_tile(cost, rows, lane.trips, width, kernel.facts.vector_registers, MOST_ROWS, known, limit)
        others = 1.0
        for loop in nest.parallel:
            if loop is not lane and loop is not row:
                others *= loop.trips
        if row is not None and not known and tile.rows > 1 and len(symbols_of([row.extent or 0])) < 2:
            others *= SYMBOLIC_ROWS
        total = replace(tile, cycles=tile.cycles * others, unit_cycles=tile.unit_cycles * others)
        if (
            best is None
            or total.cycles < best.tile.cycles * 0.99
            or (total.cycles < best.tile.cycles * 1.01 and tile.rows > 1)
        ):
            best = LanePlan(lane, row if tile.rows > 1 else None, width, total, cost, packed)
    assert best is not None
    return best


def _reduction_order(nest: Nest, chain: Sequence[Loop], plan: LanePlan) -> list[int]:
    """
    Large strides outside, small ones inside, by the accesses that cannot be packed; taps that rows share innermost.
    """
    (taps, _), packed = shared_taps(nest, chain, plan.row, plan.lane), plan.packed

    def key(position: int) -> tuple[bool, int, int]:
        loop = chain[position]
        strides = [
            1 << 40 if (stride := access.moves[loop].stride) is None else abs(stride)
            for access in nest.loads
            if inside(access, chain) and access not in packed and access.depends(loop)
        ]
        return (loop is taps, -max(strides, default=0), position)

    return sorted(range(len(chain)), key=key)


def schedule_lanes(kernel: Kernel, nest: Nest, lane: Loop) -> None:
    """Writes the schedule of a nest with lanes along `lane`."""
    writer = kernel.writer
    plan = plan_lanes(kernel, nest, lane)
    chain = main_chain(nest)
    row, lanes = plan.row, plan.lanes
    blocked = plan_product(kernel, nest, lane, row, plan.tile.rows, lanes)
    if blocked is not None:
        schedule_product(kernel, nest, blocked, plan.tile.cycles * prod(loop.trips for loop in chain))
        return
    chain_order = _reduction_order(nest, chain, plan)
    ordered = [chain[position] for position in chain_order]
    for access in plan.packed:
        position = kernel.buffer_position(access.memref)
        assert position is not None
        packing = packing_for(access, lane, lanes, ordered)
        kind = "constant" if kernel.is_constant(access.memref) else "run-time"
        writer.pack(position, packing.tiles, packing.order, f"{kind} operand, contiguous along the lanes")
        kernel.packed.add(position)
    if len(chain) > 1 and is_free_reduction(chain[0].op):
        writer.interchange([writer.loop(loop.label) for loop in chain], chain_order, "small strides innermost")
    parallel = list(nest.parallel)
    inner_loops = [loop for loop in (row, lane) if loop is not None]
    target = [loop for loop in parallel if loop not in inner_loops] + inner_loops
    handles = writer.interchange(
        [writer.loop(loop.label) for loop in parallel], [parallel.index(loop) for loop in target]
    )
    sizes = [plan.tile.rows if loop is row else lanes if loop is lane else 1 for loop in target]
    _tile(kernel, nest, plan, target, sizes, handles)


def _pairs_rows(plan: LanePlan) -> bool:
    """
    Whether a row left over alone of an unknown number of rows is better done with those of the last full tile.

    Alone it has too few sums to keep the ports busy, and reads all weights for itself.
    """
    row, rows = plan.row, plan.tile.rows
    if row is None or isinstance(row.extent, int) or row.limit or count_nests(row.op, rows, "peel") != 2:
        return False
    if not leaves_any(row.op, rows):
        return False
    by_rows = [0.0, *(plan.cost.cycles(count, plan.tile.vectors) for count in range(1, rows + 1))]
    return rest_cost(rows + 1, rows, by_rows) < PAIRED * (by_rows[rows] + by_rows[1])


def _best_order(
    kernel: Kernel, nest: Nest, levels: Sequence[Level], inner: dict[Loop, int], plan: LanePlan
) -> tuple[tuple[Level, ...], int]:
    """The order of the loops over tiles that takes the fewest cycles, and the row tiles per block (0: no blocks)."""
    row = plan.row
    accesses = nest.accesses
    constants = frozenset(i for i, access in enumerate(accesses) if kernel.is_constant(access.memref))
    vectors = -(-inner[plan.lane] // plan.width)
    steps = max(1, nest.iterations // prod(loop.trips for loop in nest.parallel))
    tile_cycles = plan.cost.cycles(1 if row is None else inner[row], vectors) * steps
    # Where full tiles of a block are one at most, what is left over can do several tiles of lanes at once.
    single = [level for level in levels if level.trips == 1 and level.loop is row and level.loop.limit]
    fixed = [level for level in levels if level.trips == 1 and level not in single]
    free = [level for level in levels if level.trips > 1]
    # More loops than this are not permuted: the outer ones stay where they are.
    kept, free = free[:-MOST_PERMUTED], free[-MOST_PERMUTED:]
    # Loops in a block of rows are shared out where there are few blocks: reading the weights is what takes time then.
    whole = row is None or not row.limit
    spreads = whole and not kernel.spread and worth_threads(kernel, plan.tile.cycles * steps)
    best: tuple[float, tuple[Level, ...], int] | None = None
    for block in (0, *ROW_BLOCKS):
        choices = list(free)
        at = next((i for i, level in enumerate(choices) if level.loop is row), None)
        if block:
            if at is None or choices[at].trips < 2 * block or len(free) < 2 or choices[at].loop.limit:
                continue
            if (lower_bound(choices[at].loop.extent or 0) or 0) < 0:
                # What is left over of rows begins at the larger of two numbers, and is not to be tiled.
                continue
            whole = choices[at]
            choices[at : at + 1] = [
                Level(whole.loop, -(-whole.trips // block), whole.inside * block, "outer", whole.trips / block),
                Level(whole.loop, block, whole.inside, "inner"),
            ]
        reckoned = Orders(inner, accesses, constants, tile_cycles, kernel.facts)
        for order in orders(choices):
            cost = reckoned.cycles((*kept, *order))
            if spreads:
                cost += reckoned.crossing((*kept, *order))
            # Threads need a few iterations of the outermost loop each.
            if order and not kept and order[0].trips < 2 * kernel.facts.cores:
                cost *= 1.0 + UNEVEN
            if row is not None and not isinstance(row.extent, int) and (block or not _rows_inside(order, plan)):
                cost *= 1.0 + APART
            if best is None or cost < best[0] * 0.995:
                best = (cost, order, block)
    assert best is not None
    return (*fixed, *kept, *best[1], *single), best[2]


def _rows_inside(order: Sequence[Level], plan: LanePlan) -> bool:
    """Whether the loop over tiles of rows is inside of that over tiles of lanes, if there is more than one of these."""
    loops = [level.loop for level in order]
    return plan.lane not in loops or (plan.row in loops and loops.index(plan.row) > loops.index(plan.lane))


def _tile(
    kernel: Kernel, nest: Nest, plan: LanePlan, target: Sequence[Loop], sizes: Sequence[int], loops: Sequence[SSAValue]
) -> None:
    """Makes loops over tiles, orders them, vectorises the tiles, and spreads the outermost loop over threads."""
    writer, row = kernel.writer, plan.row
    levels = [Level(loop, -(-loop.trips // size), size) for loop, size in zip(target, sizes, strict=True)]
    inner = {loop: min(size, loop.trips) for loop, size in zip(target, sizes, strict=True)}
    inner.update((loop, loop.trips) for loop in nest.reductions)
    order, block = _best_order(kernel, nest, levels, inner, plan)
    joined = _joined_levels(kernel, plan, target, sizes, order)
    # Rows left over can do several tiles of lanes at once if nothing is between their loop and the tile.
    beside = _rest_tiles(kernel, plan, joined) if order[-1].loop is row else 1
    tails = ["pair" if loop is row and beside == 1 and _pairs_rows(plan) else "peel" for loop in target]
    why = f"{plan.tile.rows} rows x {plan.tile.vectors} vectors of {plan.width} lanes in registers"
    tiled = writer.tile(loops, sizes, tails if "pair" in tails else None, why)
    keys: list[tuple[Loop, str]] = [(loop, "") for loop in target]
    handles = list(tiled.outers)
    if block:
        assert row is not None
        position = target.index(row)
        why = f"blocks of {block * plan.tile.rows} rows stay in cache"
        blocks = writer.tile([handles[position]], [block], ["mask"], why)
        handles[position : position + 1] = [*blocks.outers, *blocks.inners]
        keys[position : position + 1] = [(row, "outer"), (row, "inner")]
    wanted = [keys.index((level.loop, level.part)) for level in order]
    handles = writer.interchange(handles, wanted, "least traffic between caches")
    around: tuple[SSAValue, SSAValue] | None = None
    if beside > 1:
        # The innermost loop around the rows is that over lanes: some tiles of lanes at a time, for full tiles of rows
        # one after the other.
        blocks = writer.tile([handles[len(joined) - 1]], [beside], None, f"rows left over of {beside} tiles at once")
        handles[len(joined) - 1] = blocks.outers[0]
        around = writer.select(blocks.inners[0], [1]), writer.select(handles[len(joined)], [1])
        joined[-1] = replace(joined[-1], trips=joined[-1].trips // beside)
    _vectorize(kernel, plan, target, sizes, tiled, around, _rest_steps(kernel, plan, beside))
    taps, _ = shared_taps(nest, main_chain(nest), row, plan.lane)
    for chain in nest.chains:
        last = taps if taps in chain else chain[-1]
        extent, most = last.extent, MOST_TAPS if last is taps else UNROLL_UP_TO
        if isinstance(extent, int) and 1 < extent <= most and _wants_unrolling(plan):
            writer.unroll(writer.loop(last.label), extent, "rows share what is loaded" if last is taps else "few steps")
    shared = _join_rest(kernel, joined, handles)
    _spread(kernel, nest, plan, target, sizes, [*joined, *order[len(joined) :]], handles, shared)


def _wants_unrolling(plan: LanePlan) -> bool:
    """Whether unrolled steps save more than the loop: windows whose steps share what they read, or few sums."""
    return plan.cost.per_row_and_vector > 0 or plan.tile.rows * plan.tile.vectors < UNROLL_BELOW


def _joined_levels(
    kernel: Kernel, plan: LanePlan, target: Sequence[Loop], sizes: Sequence[int], order: Sequence[Level]
) -> list[Level]:
    """
    The loops outside of the rows, or the lanes, if full tiles and those left over are to share them.

    None where there are other nests too, or too few iterations for all threads.
    """
    if any(level.part for level in order):
        return []
    pieces = {loop: len(_pieces(loop, size)) for loop, size in zip(target, sizes, strict=True)}
    cut = next((loop for loop in (plan.row, plan.lane) if loop is not None and pieces[loop] == 2), None)
    if cut is None or prod(pieces.values()) != 2:
        return []
    outer = list(takewhile(lambda level: level.loop is not cut, order))
    shares, cores = prod(certain_trips(level.loop, level.trips) for level in outer), kernel.facts.cores
    if isinstance(cut.extent, int):
        return outer if shares >= SHARES * cores else []
    # Weights are read once then, whatever the number of rows; an uneven rest of tiles must not cost more than that.
    return outer if shares and -(-shares // cores) * cores <= shares * (1.0 + REST_UNEVEN) else []


def _rest_tiles(kernel: Kernel, plan: LanePlan, joined: Sequence[Level]) -> int:
    """Tiles of lanes that rows left over of an unknown number of rows do at once, so that no sum waits for another."""
    if not joined or plan.row is None or isinstance(plan.row.extent, int) or joined[-1].loop is not plan.lane:
        return 1
    fewest = REST_ROWS[-1]
    if plan.tile.rows <= fewest or plan.lane.trips % plan.lanes:
        return 1
    vectors, most = plan.tile.vectors, kernel.facts.vector_registers
    wanted = -(-kernel.facts.fma_ports * FMA_LATENCY // (fewest * plan.cost.accumulators * vectors))
    wanted = max(count for count in range(1, wanted + 1) if plan.lane.trips // plan.lanes % count == 0)
    if wanted == 1 or not plan.cost.fits(fewest, vectors * wanted, most):
        return 1
    trips = prod(certain_trips(level.loop, level.trips) for level in joined) // wanted
    return wanted if trips % kernel.facts.cores == 0 or trips >= SHARES * kernel.facts.cores else 1


def _rest_steps(kernel: Kernel, plan: LanePlan, beside: int) -> list[int]:
    """Rows at a time of an unknown number that is left over, of so many tiles of lanes at once; none if it is known."""
    if plan.row is None or isinstance(plan.row.extent, int):
        return []
    vectors, most = plan.tile.vectors * beside, kernel.facts.vector_registers
    fitting = [step for step in REST_ROWS[:-1] if plan.cost.fits(step, vectors, most)]
    steps = [step for step in (*fitting, REST_ROWS[-1]) if step < plan.tile.rows]
    if beside == 1:
        steps = [*_whole_rests(plan), *steps]
    # Each step but the last must make full tiles and leave some over; what is known of the rows may rule that out.
    counts = count_rest_nests(plan.row.op, [plan.tile.rows, *steps[:-1]])
    return steps if counts == [2] * max(1, len(steps)) else steps[-1:]


def _whole_rests(plan: LanePlan) -> list[int]:
    """
    Numbers of rows left over, descending, that are better done at once than by `REST_ROWS`: these have too few sums to
    keep the ports busy, and each reads all weights.
    """
    rows, ports = plan.tile.rows, plan.cost.facts.fma_ports
    by_rows = [0.0, *(plan.cost.cycles(count, plan.tile.vectors, ports=ports) for count in range(1, rows + 1))]
    rests = range(rows - 1, REST_ROWS[0], -1)
    return [rest for rest in rests if by_rows[rest] < PAIRED * rest_cost(rest, rows, by_rows)]


def _join_rest(kernel: Kernel, joined: Sequence[Level], handles: Sequence[SSAValue]) -> list[SSAValue]:
    """
    Does the rows left over right after the full tiles that use the same packed lanes, and the lanes left over right
    after the full ones that read the same lines, which are in cache then.

    Fuses the loops outside of the rows of both nests, and returns them.
    """
    writer = kernel.writer
    full, rest = ([writer.select(handle, [number]) for handle in handles[: len(joined)]] for number in (0, 1))
    return [writer.fuse(*pair, "tiles left over use what is in cache") for pair in zip(full, rest, strict=True)]


def _vectorize(
    kernel: Kernel,
    plan: LanePlan,
    target: Sequence[Loop],
    sizes: Sequence[int],
    tiled: TileOp,
    around: tuple[SSAValue, SSAValue] | None,
    rest_steps: Sequence[int],
) -> None:
    """
    Makes the loops within tiles axes. What is left over of an unknown number of rows is done `rest_steps` at a time, of
    an unknown number of lanes so many registers that no sum waits for another.

    `around` has the loops over tiles of lanes and over tiles of rows around these; the former becomes an axis too.
    """
    writer, row, lane = kernel.writer, plan.row, plan.lane
    inside = [(handle, loop, size) for handle, loop, size in zip(tiled.inners, target, sizes, strict=True) if size > 1]
    if not inside:
        return
    axes = [handle for handle, *_ in inside]
    steps = {lane: _rest_lanes(plan, kernel.facts)}
    if row is not None and len(axes) > 1 and rest_steps:
        steps[row] = rest_steps[0]
    parts = [count_nests(loop.op, size, "peel") for _, loop, size in inside]
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, pieces in enumerate(product(*map(range, parts))):
        # The second one has what is left over.
        key = tuple(steps.get(loop, 0) if piece else 0 for piece, (_, loop, _) in zip(pieces, inside, strict=True))
        groups.setdefault(key, []).append(position)
    for key, positions in groups.items():
        chosen = [writer.select(axis, positions) for axis in axes] if len(groups) > 1 else list(axes)
        if key[-1]:
            again = writer.tile(chosen[-1:], [key[-1]], ["mask"], "lanes left over")
            if rows := chosen[:-1]:
                _, *rows = writer.interchange([*rows, again.outers[0]], [len(rows), *range(len(rows))])
            chosen = [*rows, again.inners[0]]
        if len(key) > 1 and key[0]:
            if around is not None:
                _, *within = writer.interchange([*around, chosen[0]], [1, 2, 0])
                chosen = [*within, chosen[1]]
            chosen = _tile_rest(writer, chosen, rest_steps, len(positions))
        writer.vectorize(chosen)


def _tile_rest(writer: ScheduleWriter, loops: Sequence[SSAValue], steps: Sequence[int], nests: int) -> list[SSAValue]:
    """Tiles rows left over in so many nests, and makes tiles axes but those of the last step, whose axes it returns."""
    chosen = list(loops)
    for step in steps:
        rest = writer.tile(chosen, [step, *(1 for _ in chosen[1:])], None, "rows left over")
        inside = [*rest.outers[1:], rest.inners[0]]
        chosen = writer.interchange(inside, [len(inside) - 1, *range(len(inside) - 1)])
        if step != steps[-1]:
            # Of each nest there are two now: full tiles, and what does not fill one.
            writer.vectorize([writer.select(axis, range(0, 2 * nests, 2)) for axis in chosen])
            chosen = [writer.select(axis, range(1, 2 * nests, 2)) for axis in chosen]
    return chosen


def _rest_lanes(plan: LanePlan, facts: TargetFacts) -> int:
    """Lanes at a time of what is left over of an unknown number of them; 0 if they are one tile."""
    if isinstance(plan.lane.extent, int):
        return 0
    sums = plan.cost.accumulators * (plan.tile.rows if plan.row is not None else 1)
    vectors = -(-facts.fma_ports * FMA_LATENCY // sums)
    return vectors * plan.width if vectors < plan.tile.vectors else 0


def _pieces(loop: Loop, size: int) -> list[tuple[int, int]]:
    """Per nest that tiling the loop makes: how many tiles, and iterations in each."""
    full, rest = divmod(loop.trips, size)
    if isinstance(loop.extent, int):
        pieces = [(full, size), (1, rest)]
        return [piece for piece in pieces if piece[0] and piece[1]]
    count = count_nests(loop.op, size, "peel")
    return [(full, size), (1, max(1, size // 2))][:count]


def _spread(
    kernel: Kernel,
    nest: Nest,
    plan: LanePlan,
    target: Sequence[Loop],
    sizes: Sequence[int],
    order: Sequence[Level],
    handles: Sequence[SSAValue],
    shared: Sequence[SSAValue],
) -> None:
    """Shares out the outer loops of each of the nests among threads, or the `shared` ones of all of them."""
    steps = max(1, nest.iterations // prod(loop.trips for loop in nest.parallel))
    pieces = [_pieces(loop, size) for loop, size in zip(target, sizes, strict=True)]
    if shared:
        around = [
            Shared(handle, level.trips, certain_trips(level.loop, level.trips))
            for level, handle in zip(order, shared, strict=False)
        ]
        spread(kernel, around, plan.tile.cycles * steps, nest.top, rows=None if plan.row is None else plan.row.op)
        return
    for number, combination in enumerate(product(*pieces)):
        tiles = dict(zip(target, combination, strict=True))
        rows = tiles[plan.row][1] if plan.row is not None else 1
        vectors = -(-tiles[plan.lane][1] // plan.width)
        cycles = prod(count for count, _ in combination) * plan.cost.cycles(rows, vectors) * steps
        loops: list[Shared] = []
        for level, handle in zip(order, handles, strict=True):
            trips = tiles[level.loop][0]
            if level.part == "inner":
                # Its last block may be shorter, so that blocks cannot be counted together.
                break
            if level.part:
                trips = -(-trips // (level.inside // plan.tile.rows))
            loops.append(Shared(handle, trips, certain_trips(level.loop, trips)))
        rests = [loop.op for loop, size in zip(target, sizes, strict=True) if tiles[loop][1] != size]
        spread(kernel, loops, cycles, nest.top, number, fixed=rests)
