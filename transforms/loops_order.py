"""
The cost model of the automatic scheduler for orders of loops over register tiles.

The loops over tiles count like the digits of a number. At most tiles only the innermost one has moved on, and what a
tile then reads was mostly read one iteration before; where an outer loop moves on, the inner ones start again, and what
they do not move was read one iteration of that loop before. A cache still has it if all that is touched in between fits
there. So each tile takes its arithmetic, or longer if what it reads comes slower than that from where it is:

    for %j { for %i { c[%i, %j] += sum of a[%i, k] * b[k, %j] } }    %i moves on: a panel of b comes from L1 or L2
                                                                    %j moves on: another panel, from L3 or memory

Prefetchers bring in what is read in order while there is arithmetic to do. They do not work ahead by whole tiles: a
panel that comes in slower than one tile uses it holds up that tile, however much time there is in those that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import ceil, prod

from aicc.transforms.loops_cost import BYTES_PER_CYCLE
from aicc.transforms.loops_facts import Access, Loop
from aicc.transforms.target_facts import TargetFacts

FILL = 0.8
"""Part of a cache that is reckoned with: the rest has what else is touched, and conflicts."""

SPEEDS = (1024.0, *BYTES_PER_CYCLE)
"""Bytes per cycle that a tile gets out of L1 (reckoned with in its arithmetic), L2, L3 and memory."""

FELT = (0.0, 0.03, 0.15, 0.3)
"""Part of a transfer from each level that is felt although there is arithmetic enough to hide it."""

CROSSING = 2.0
"""Bytes per cycle that a core gets of what another one has just written: cores need not share a cache."""


@dataclass(frozen=True)
class Level:
    """A loop over tiles in a candidate order."""

    loop: Loop
    trips: int
    inside: int
    """Iterations of the original loop in one iteration of this one."""

    part: str = ""
    """Which part of a blocked loop this is: outer or inner; empty for one that is not blocked."""

    blocks: float = 0.0
    """Of the outer part: iterations, of which a shorter last one counts as a part."""

    @property
    def count(self) -> float:
        """Iterations to reckon with."""
        return self.blocks or self.trips


@dataclass
class Orders:
    """What orders of loops over the tiles of one nest cost."""

    inner: dict[Loop, int]
    """The iterations of each loop within a tile."""

    accesses: Sequence[Access]
    constants: frozenset[int]
    """Those of the accesses, by position, that read constants."""

    tile_cycles: float
    """Arithmetic of one tile."""

    facts: TargetFacts
    _footprints: dict[frozenset[int], list[int]] = field(default_factory=dict[frozenset[int], list[int]], init=False)
    _depends: dict[int, list[bool]] = field(default_factory=dict[int, list[bool]], init=False)

    def cycles(self, order: Sequence[Level]) -> float:
        """Cycles of all tiles, outermost loop first."""
        count = len(order)
        tile = self.footprint(())
        sizes = [self.footprint(order[position:]) for position in range(count)] + [tile]
        places = [self._place(sum(size)) for size in sizes]
        depends = [self._depends_on(level) for level in order]
        own = [self.footprint((level,)) for level in order]
        total, before = 0.0, 1.0
        for position, level in enumerate(order):
            if level.trips == 1:
                continue
            # What the tile reads besides what it read one iteration before.
            new = [
                min(float(size), (whole - size) / (level.count - 1)) if moved else 0.0
                for size, whole, moved in zip(tile, own[position], depends[position], strict=True)
            ]
            far = [self._far(access, position, depends, places, sizes) for access in range(len(tile))]
            first = [self._first(access, sizes[0]) for access in range(len(tile))]
            near = places[position + 1]
            # In the first iteration of all outer loops nothing was read before.
            again = self._tile(tile, new, near, far) * (before - 1) + self._tile(tile, new, near, first)
            total += again * (level.count - 1)
            before *= level.count
        return total

    def crossing(self, order: Sequence[Level]) -> float:
        """
        Cycles that all threads together wait for what others wrote, and for constants that each of them reads, if they
        share out the outermost loop; where that may have a single iteration, as a batch of one image, in each iteration
        of it, if they share out the next one.

        What is shared out along the outermost dimension in memory by one nest is found by the thread that wrote it, if
        the next nest does the same. Any other share is read out of other cores' caches.
        """
        cores = self.facts.cores
        levels = [level for level in order if level.trips > 1]
        certain = next((n for n, level in enumerate(levels) if isinstance(level.loop.extent, int)), len(levels) - 1)
        if not levels or cores == 1:
            return 0.0
        loops = [level.loop for level in levels[: certain + 1]]
        around = prod(level.count for level in levels[:certain])
        total = 0.0
        for position, (access, size) in enumerate(zip(self.accesses, self.footprint(levels[certain:]), strict=True)):
            own = access.depends(loops[-1])
            if position in self.constants:
                total += 0.0 if own else FELT[-1] * size * (cores - 1) / SPEEDS[-1]
            elif not access.leads(loops):
                # Each thread reads its own part, or all of it.
                times = 1 if own or access.is_store else cores
                total += times * size * (cores - 1) / cores / CROSSING
        return around * total

    def _tile(self, tile: Sequence[int], new: Sequence[float], near: int, far: Sequence[int]) -> float:
        """Cycles of a tile whose accesses read so many bytes from afar, and the rest from near."""
        transfers = [0.0] * len(SPEEDS)
        for size, coming, place in zip(tile, new, far, strict=True):
            transfers[place] += coming / SPEEDS[place]
            transfers[near] += (size - coming) / SPEEDS[near]
        felt = sum(part * cycles for part, cycles in zip(FELT, transfers, strict=True))
        return max(self.tile_cycles + felt, sum(transfers))

    def _far(
        self,
        access: int,
        position: int,
        depends: Sequence[Sequence[bool]],
        places: Sequence[int],
        sizes: Sequence[Sequence[int]],
    ) -> int:
        """Where that is which the loop at `position` comes to again."""
        for outer in reversed(range(position)):
            if not depends[outer][access]:
                return places[outer + 1]
        return self._first(access, sizes[0])

    def _first(self, access: int, sizes: Sequence[int]) -> int:
        """Where that is which was not read yet."""
        # Weights are as many bytes as a model has, and read once; what else comes in was just written.
        return len(SPEEDS) - 1 if access in self.constants else max(1, self._place(sizes[access]))

    def _place(self, size: int) -> int:
        """The innermost cache that holds so many bytes, by number; the last number is memory."""
        facts = self.facts
        caches = (facts.l1_bytes, facts.l2_bytes, facts.l3_bytes // (2 * facts.cores))
        return next((place for place, cache in enumerate(caches) if size <= FILL * cache), len(caches))

    def _depends_on(self, level: Level) -> list[bool]:
        key = id(level.loop)
        if (found := self._depends.get(key)) is None:
            found = self._depends[key] = [access.depends(level.loop) for access in self.accesses]
        return found

    def footprint(self, inside: Sequence[Level]) -> list[int]:
        """Bytes that each access touches in the levels `inside`, whatever their order (known again by identity)."""
        key = frozenset(map(id, inside))
        if (found := self._footprints.get(key)) is None:
            covered = dict(self.inner)
            for level in reversed(inside):
                trips = ceil(covered.get(level.loop, 1) * level.count)
                covered[level.loop] = min(level.loop.trips, trips)
            found = self._footprints[key] = [access.footprint_bytes(covered) for access in self.accesses]
        return found


def orders(levels: Sequence[Level]) -> Iterator[tuple[Level, ...]]:
    """All orders of loops over tiles in which the outer part of a blocked loop comes before its inner part."""
    for order in permutations(levels):
        outer = next((i for i, level in enumerate(order) if level.part == "outer"), -1)
        inner = next((i for i, level in enumerate(order) if level.part == "inner"), len(order))
        if outer < inner:
            yield order
