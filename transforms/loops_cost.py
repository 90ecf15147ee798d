"""
The cost model of the automatic scheduler for register tiles: numbers of instructions per port.

It is simple on purpose: it ranks schedules, and does not predict times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from aicc.transforms.target_facts import TargetFacts

FMA_PORTS = 2
FMA_LATENCY = 4
LOAD_PORTS = 2
REST_ROWS = (4, 3, 2)
"""Rows at a time of what is left over of an unknown number of rows, as long as there are so many; then a single row."""

STEP_OVERHEAD = 0.5
"""Cycles that a step of the reduction loop costs whatever is in it."""

VECTORS = (1, 2, 4, 8)
"""
Registers of lanes per row that are tried. Powers of two: LLVM pads other vectors to the next one and spills. Tiles that
cover all lanes have as many as these take.
"""
SPARE, SPARE_PRODUCT = 6, 3
"""
Registers that tiles leave free of 32: LLVM reads ahead more the more there are, and spills where they run short. In
matrix products it reads less ahead. Tiles of more registers have fewer instructions for each multiply-add, which
matters where two of these start in a cycle.
"""

STREAM = (64.0, 24.0, 12.0)
"""Bytes per cycle that one core reads in sequence out of L1, L2 and L3."""

STREAM_FELT = 0.05
"""Part of the time to read in sequence that is felt although there is arithmetic enough to hide it."""

BYTES_PER_CYCLE = (32.0, 12.0, 4.0)
"""What one core gets out of L2, L3 and memory."""


@dataclass(frozen=True)
class Window:
    """Rows of a tile that read at `stride * row + dilation * tap`, each what its neighbours read at other taps."""

    taps: int
    stride: int
    dilation: int

    def places(self, rows: int) -> int:
        """How many different places so many rows read at, all taps together."""
        steps = range(self.taps)
        return len({self.stride * row + self.dilation * tap for row in range(rows) for tap in steps})


@dataclass(frozen=True)
class TileCost:
    """How the innermost loop of a register tile spends its cycles, per row and per vector of lanes."""

    accumulators: int
    """Values carried by the reduction."""

    per_tile: int
    """Loads per step that vary neither along rows nor along lanes."""

    per_row: int
    per_vector: int
    per_row_and_vector: int
    steps: int
    """Steps of the reduction."""

    facts: TargetFacts

    overlap: bool = True
    """What a cell reads is read by its neighbours in other steps."""

    row_strides: tuple[int, ...] = ()
    """Bytes from one row to the next, for each access that varies along rows alone."""

    window: Window | None = None
    """Steps that are unrolled, so that rows share what is loaded."""

    product: bool = False
    """One loop over steps, and cells read nothing of their own: a matrix product."""

    cold: bool = False
    """Rows may be so few that what they share is read once, and is not in the first-level cache."""

    def cycles(self, rows: int, vectors: int, slots: float = 0.0, ports: int = FMA_PORTS) -> float:
        """
        Cycles of one step of the reduction on a tile of so many rows and vectors of lanes.

        `slots` is what arithmetic on all lanes of a row takes, in that on whole vectors, where one is not whole.
        """
        cells = rows * vectors
        arithmetic = max(self.accumulators * rows * (slots or vectors) / ports, FMA_LATENCY)
        own = self.window.places(rows) / self.window.taps * vectors if self.window else cells
        loads = self.per_tile + self.per_row * rows + self.per_vector * vectors + self.per_row_and_vector * own
        if not self.overlap:
            # Rows of what nobody reads again lie apart in memory: each is another stream to follow.
            loads += rows * min(self.per_row_and_vector, 1)
        # What rows share is streamed anew for each tile, from the level where all steps of it fit.
        register = self.facts.vector_bits // 8
        shared = self.per_vector * vectors * register
        levels = zip((self.facts.l1_bytes, self.facts.l2_bytes, self.facts.l3_bytes), STREAM, strict=True)
        fitting = (speed for size, speed in levels if shared * self.steps <= 0.8 * size)
        speed = min(next(fitting, BYTES_PER_CYCLE[-1]), STREAM[1 if self.cold else 0])
        missed = sum(self._missed(rows, stride) for stride in self.row_strides) * self.facts.cache_line_bytes
        felt = STREAM_FELT * shared / speed if speed < STREAM[0] else 0.0
        return max(arithmetic, loads / LOAD_PORTS, shared / speed, missed / STREAM[1]) + felt + STEP_OVERHEAD

    def _missed(self, rows: int, stride: int) -> int:
        """Rows whose lines push each other out of the first-level cache before the next step reads them again."""
        facts = self.facts
        if rows <= facts.l1_ways:
            return 0
        sets = facts.l1_bytes // (facts.l1_ways * facts.cache_line_bytes)
        places = Counter(line % sets for line in {row * stride // facts.cache_line_bytes for row in range(rows)})
        return sum(lines for lines in places.values() if lines > facts.l1_ways)

    def fits(self, rows: int, vectors: int, registers: int) -> bool:
        """Whether a tile can be kept in registers: accumulators, one step's vectors, and one row's value."""
        # A single row takes its vectors straight from memory; otherwise each is used by all rows.
        operands = 2 if rows == 1 else (vectors if self.per_vector else 1) + 1
        # What each cell of overlapping windows reads is kept for the next steps, which read most of it again.
        apart = min(rows * self.window.stride, self.window.places(rows)) if self.window else rows
        own = apart * vectors if self.per_row_and_vector and self.overlap else 0
        few = self.product and self.facts.fma_ports > 1
        spare = (SPARE_PRODUCT if few else SPARE) if registers >= 32 else 0
        return self.accumulators * rows * vectors + own + operands + spare <= registers


def split_cost(extent: int, size: int, cost: Sequence[float]) -> float:
    """Cost of covering `extent` by tiles of `size` and one shorter tile; `cost[n]` is that of a tile of `n`."""
    full, rest = divmod(extent, size)
    return full * cost[size] + (cost[rest] if rest else 0.0)


def _plane_cost(rows: int, height: int, by_rows: Sequence[float], known_rows: bool) -> float:
    """
    Cycles for all rows in tiles of `height`, given those of a tile by its rows; for an unknown number of rows, with
    what is left over on average.
    """
    if known_rows:
        return split_cost(rows, height, by_rows)
    rests = sum(rest_cost(rest, height, by_rows) for rest in range(height))
    return rows / height * by_rows[height] + rests / height


def rest_cost(rest: int, height: int, by_rows: Sequence[float]) -> float:
    """Cycles of so many rows that are left over of tiles of `height`, given those of a tile by its rows."""
    total = 0.0
    for step in (*(step for step in REST_ROWS if step < height), 1):
        count, rest = divmod(rest, step)
        total += count * by_rows[step]
    return total


@dataclass(frozen=True)
class TileChoice:
    """A register tile: rows times vectors of lanes, and the cycles per step to cover the whole plane with it."""

    rows: int
    vectors: int
    cycles: float
    unit_cycles: float
    """The same for the target's number of FMA units: `cycles` reckons with two, so that loads are kept few."""


@dataclass(frozen=True)
class _Plane:
    """All rows and lanes of a nest that register tiles are to cover."""

    cost: TileCost
    rows: int
    lanes: int
    width: int
    known_rows: bool
    ports: int
    known: dict[int, list[float]] = field(default_factory=dict[int, list[float]])

    def cycles(self, height: int, reach: int) -> float:
        """Cycles in tiles of so many rows and lanes."""
        full, rest = divmod(self.lanes, reach)
        total = full * _plane_cost(self.rows, height, self._by_rows(height, reach), self.known_rows)
        if rest:
            total += _plane_cost(self.rows, height, self._by_rows(height, rest), self.known_rows)
        return total

    def _by_rows(self, height: int, reach: int) -> list[float]:
        """Cycles of a tile of so many lanes, by its rows: those of the tile and those left over."""
        known = self.known.setdefault(reach, [0.0])
        registers, slots = -(-reach // self.width), self.cost.facts.slots(reach, self.width)
        for rows in range(len(known), max(height, *REST_ROWS) + 1):
            known.append(self.cost.cycles(rows, registers, slots, self.ports))
        return known


def choose_tile(
    cost: TileCost, rows: int, lanes: int, width: int, registers: int, most_rows: int, known_rows: bool, limit: int = 0
) -> TileChoice:
    """
    The register tile that covers `rows` x `lanes` in the fewest cycles; the larger, then the wider one of several that
    are equal.

    `width` is the number of lanes of one vector. With `known_rows` false the number of rows is a guess, and what is
    left over of them is done by `REST_ROWS`. A `limit` is a number that the rows of a tile must divide.
    """
    best: TileChoice | None = None
    best_size = (0, 0)
    plane = _Plane(cost, rows, lanes, width, known_rows, FMA_PORTS)
    for vectors in VECTORS:
        if vectors // 2 * width >= lanes:
            continue
        # Registers that no lane is in are not there (`loops-narrow-lanes`).
        reach = min(vectors * width, lanes)
        used = -(-reach // width)
        for height in range(1, most_rows + 1):
            if height > rows or limit % height or not cost.fits(height, used, registers):
                continue
            total = plane.cycles(height, reach)
            choice = TileChoice(height, vectors, total, total)
            size = (height * used, used)
            if best is None or total < best.cycles * 0.999 or (total < best.cycles * 1.001 and size > best_size):
                best, best_size = choice, size
    assert best is not None, "a tile of one row and one vector always fits"
    reach = min(best.vectors * width, lanes)
    return replace(best, unit_cycles=replace(plane, ports=cost.facts.fma_ports, known={}).cycles(best.rows, reach))
