"""
Fusion of the nests of one kernel at a block of rows: attention, a transform of tiles around a product, a norm and the
product that reads it.

Nests that follow each other, each reading what an earlier one writes, share a loop where the index that one of them
stores at is the index that the other ones load at. If a contraction among them uses some input again for each iteration
of a shared loop (its *rows*), the rows are tiled to blocks, and the shared loops around the blocks are fused:

    for %h { for %i { for %j { s[%h, %i, %j] = sum_k q k } } }     for %h { for %b {
    for %h { for %i { m[%h, %i] = max_j s[%h, %i, %j] } }            t = alloc [block x j]
    for %i { for %h { for %d { o[%i, %h, %d] = sum_j s v } } }  ->   for %i in block { for %j { t = sum_k q k } }
                                                                     for %i in block { max_j t }
                                                                     for %i in block { for %d { o = sum_j t v } } } }

What one nest hands to the next is one block then, which stays in cache, while each nest still has rows for a register
tile; nests are scheduled one by one after that. Without such a contraction nests are fused row by row
(`auto_schedule_fuse`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from aicc.dialects.graph.dims import provably_equal
from aicc.dialects.loops import AllocOp, ForOp
from aicc.transforms.auto_schedule_common import Kernel
from aicc.transforms.auto_schedule_elementwise import collapsible
from aicc.transforms.auto_schedule_fuse import fuse_neighbours, top_loops
from aicc.transforms.loops_buffers import shrink_buffers
from aicc.transforms.loops_collapse import collapse_loops
from aicc.transforms.loops_cost import BYTES_PER_CYCLE
from aicc.transforms.loops_dependence import root_of
from aicc.transforms.loops_facts import Access, Loop, Nest, analyse_nest, guess
from aicc.transforms.loops_fuse import fuse_loops
from aicc.transforms.loops_interchange import interchange_loops
from aicc.transforms.loops_nest import StepError
from aicc.transforms.loops_tile import tile_loops

BLOCKS = (96, 48, 24, 12, 6)
"""Rows of a block that are tried: numbers that many register tiles divide."""

OPEN_BLOCK = 24
"""
Rows of a block, at least, where there may be any number of rows: weights are read anew for each block. Where there are
few blocks threads share what is in them.
"""

SHARE = 0.25
"""Part of the second-level cache that the intermediates of a block may take; inputs need the rest."""

HELD = 0.8
"""Part of a cache that data may take and be found there again."""

TILES_PER_CORE = 4
"""Blocks per core that there should be, for threads to share them evenly."""


@dataclass
class Member:
    """A nest that is fused with others."""

    nest: Nest
    shared: list[Loop]
    """Its loop of each class of loops that are the same for all members."""

    @property
    def top(self) -> ForOp:
        """The outermost loop."""
        return self.nest.parallel[0].op

    @property
    def own(self) -> list[Loop]:
        """The parallel loops that are not shared."""
        return [loop for loop in self.nest.parallel if loop not in self.shared]

    def at(self, position: int) -> tuple[Nest, Loop]:
        """The nest and its loop of a class."""
        return self.nest, self.shared[position]

    def reuses(self, loop: Loop) -> bool:
        """
        Whether the nest is a contraction that takes some input again for each iteration of a loop, and for that only.

        A convolution takes its weights again for each pixel of an image, and needs no other images for it.
        """
        own = [other for other in self.own if other.trips > 1]
        if not self.nest.chains or not own:
            return False
        inner = {chain[-1].op.block for chain in self.nest.chains}
        return any(
            access.op.parent in inner and not access.depends(loop) and all(map(access.depends, own))
            for access in self.nest.loads
        )


def fuse_blocks(kernel: Kernel) -> None:
    """Fuses the nests of the kernel at blocks of rows where that pays, in the kernel itself and in its schedule."""
    done: set[str] = set()
    while True:
        # Anew after each fusion, also one that was given up and undone.
        nests = [analyse_nest(top) for top in top_loops(kernel.func)]
        for start, nest in enumerate(nests):
            if nest is None or not nest.parallel or (label := nest.parallel[0].label) in done:
                continue
            done.add(label)
            members = _run(_prefix(nests[start:]))
            if len(members) > 1 and (rows := _rows(members)):
                if not _merge_rows(kernel, members, rows):
                    _try(kernel, members, rows)
                break
        else:
            return


def _merge_rows(kernel: Kernel, members: Sequence[Member], rows: Sequence[int]) -> bool:
    """
    Collapses two loops that are rows, in all members; whether there are such.

    The rows of a batch are in few blocks then, whatever the length of each of its entries.
    """
    mark, saved = kernel.writer.mark(), kernel.func.clone()
    for first, second in pairwise(rows):
        pairs = [(member.shared[first], member.shared[second]) for member in members]
        if not all(
            1 not in (outer.extent, inner.extent)
            and (outer, inner) in pairwise(member.nest.parallel)
            and collapsible(member.nest, outer, inner)
            for member, (outer, inner) in zip(members, pairs, strict=True)
        ):
            continue
        try:
            for outer, inner in pairs:
                collapse_loops(outer.op, inner.op)
                writer = kernel.writer
                writer.collapse(writer.loop(outer.label), writer.loop(inner.label), "rows of all entries of a batch")
        except StepError:
            kernel.writer.undo(mark)
            kernel.func = saved
            continue
        return True
    return False


def _try(kernel: Kernel, members: list[Member], rows: list[int]) -> None:
    """Fuses the members; leaves all as it was where a step of that cannot be done."""
    mark, saved = kernel.writer.mark(), kernel.func.clone()
    try:
        Fusion(kernel, members, rows).run()
    except StepError:
        kernel.writer.undo(mark)
        kernel.func = saved


def _prefix(nests: Sequence[Nest | None]) -> list[Nest]:
    """The nests before the first one of another form."""
    found: list[Nest] = []
    for nest in nests:
        if nest is None or not nest.parallel:
            break
        found.append(nest)
    return found


def _run(nests: Sequence[Nest]) -> list[Member]:
    """The nests from the first one on that share loops with all before them, each reading what one of these writes."""
    if not nests:
        return []
    members = [Member(nests[0], list(nests[0].parallel))]
    for nest in nests[1:]:
        matched = _match(members, nest)
        kept = [
            position
            for position, loop in enumerate(matched)
            if loop is not None and not _is_contiguous(nest, loop) and not _is_contiguous(*members[0].at(position))
        ]
        if not kept:
            break
        for member in members:
            member.shared = [member.shared[position] for position in kept]
        members.append(Member(nest, [loop for loop in matched if loop is not None]))
    return members


def _is_contiguous(nest: Nest, loop: Loop) -> bool:
    """Whether the loop walks all that it moves in memory element by element: the lanes of the nest, not its rows."""
    strides = {access.moves[loop].stride for access in nest.accesses if access.depends(loop)}
    return strides == {1}


def _match(members: Sequence[Member], nest: Nest) -> list[Loop | None]:
    """Per shared loop of the members, the loop of `nest` that reads at the same index; `None` where there is no one."""
    found: dict[int, Loop] = {}
    refused: set[int] = set()
    for load in nest.loads:
        for member in members:
            for store in member.nest.stores:
                if store.memref is load.memref:
                    _match_access(member, store, load, nest, found, refused)
                elif root_of(store.memref) is root_of(load.memref):
                    return []
    taken: set[Loop] = set()
    matched: list[Loop | None] = []
    for position, loop in enumerate(members[0].shared):
        other = found.get(position)
        same = (
            other is not None
            and position not in refused
            and other not in taken
            and loop.extent is not None
            and other.extent is not None
            and provably_equal(loop.extent, other.extent)
        )
        if same and other is not None:
            taken.add(other)
        matched.append(other if same else None)
    return matched


def _match_access(
    member: Member, store: Access, load: Access, nest: Nest, found: dict[int, Loop], refused: set[int]
) -> None:
    """Notes which loop of `nest` goes with each shared loop of `member`, by one buffer between them."""
    for written, read, coefficients in zip(_exprs(store), _exprs(load), store.spans, strict=True):
        for loop in coefficients:
            if loop not in member.shared:
                continue
            position = member.shared.index(loop)
            other = _loop_at(read, load, nest.parallel)
            if _loop_at(written, store, [loop]) is None or other is None or found.get(position, other) is not other:
                refused.add(position)
            else:
                found[position] = other


def _exprs(access: Access) -> Sequence[AffineExpr]:
    return access.op.map.data.results


def _loop_at(expr: AffineExpr, access: Access, loops: Sequence[Loop]) -> Loop | None:
    """The loop whose variable the index is."""
    if not isinstance(expr, AffineDimExpr):
        return None
    operand = list(access.op.indices)[expr.position]
    return next((loop for loop in loops if loop.op.induction is operand), None)


def _rows(members: Sequence[Member]) -> list[int]:
    """The shared loops that are rows of a contraction."""
    count = len(members[0].shared)
    return [position for position in range(count) if any(member.reuses(member.shared[position]) for member in members)]


@dataclass
class Fusion:
    """Nests of one kernel being fused at a block of rows."""

    kernel: Kernel
    members: list[Member]
    rows: list[int]
    """Shared loops that are rows, by position."""

    def run(self) -> None:
        """Tiles, orders and fuses the nests, in the kernel and in its schedule."""
        outer, block = self._choose()
        if not outer:
            return
        if self._rereads(outer, block):
            self.kernel.apart.update(member.top.label.data for member in self.members if self._weights([member]))
            return
        chains = [self._prepare(member, outer, block) for member in self.members]
        anchors = [any(member.reuses(member.shared[row]) for row in self.rows) for member in self.members]
        self._fuse_rows(self._fuse(chains), anchors)

    def _choose(self) -> tuple[list[int], int]:
        """The shared loops to fuse, outermost first, and the rows per block of the last one (0: all loops whole)."""
        first = self.members[0]
        trips = [loop.trips for loop in first.shared]
        rows_bytes = max(1, self._bytes_per_row())
        room = max(1, int(self.kernel.facts.l2_bytes * SHARE) // rows_bytes)
        outer = [position for position in range(len(trips)) if position not in self.rows]
        rows = list(self.rows)
        around = prod(trips[position] for position in outer)
        # Whole loops go inside the block as long as they fit; unknown extents never do.
        while rows and isinstance(first.shared[rows[-1]].extent, int) and trips[rows[-1]] <= min(room, BLOCKS[0]):
            if around * prod(trips[row] for row in rows[:-1]) < TILES_PER_CORE * self.kernel.facts.cores:
                break
            room //= trips[rows.pop()]
        if not rows:
            return outer, 0
        others = around * prod(trips[row] for row in rows[:-1])
        sizes = [size for size in BLOCKS if size <= max(room, BLOCKS[-1]) and size < trips[rows[-1]]]
        block = sizes[-1] if sizes else 1
        least = 1 if isinstance(first.shared[rows[-1]].extent, int) else OPEN_BLOCK
        for size in sizes:
            if size <= least or others * -(-trips[rows[-1]] // size) >= TILES_PER_CORE * self.kernel.facts.cores:
                block = size
                break
        return [*outer, *rows], block

    def _rereads(self, outer: Sequence[int], block: int) -> bool:
        """
        Whether reading weights that the second-level cache does not hold anew for each block takes longer than writing
        what the members hand to each other, and reading it again, as a whole.
        """
        facts, first = self.kernel.facts, self.members[0]
        weights = self._weights(self.members)
        if weights <= HELD * facts.l2_bytes:
            return False
        trips = [first.shared[position].trips for position in outer]
        blocks = prod(trips[:-1]) * -(-trips[-1] // max(block, 1))
        handed = self._bytes_per_row() * prod(loop.trips for loop in first.shared)
        known = all(isinstance(loop.extent, int) for loop in first.shared)
        # Of unknown size, small images are where reading the weights matters most.
        apart = 2 * handed / self._bytes_per_cycle(weights + handed if known else weights)
        return (blocks - 1) * weights / self._bytes_per_cycle(weights) > apart

    def _weights(self, members: Sequence[Member]) -> int:
        """Bytes of what the members read again for each block, whole."""
        buffers = {
            access.memref: access.bytes * prod(map(guess, access.dims))
            for member in members
            for access in member.nest.loads
            if member.nest.chains and not any(map(access.depends, member.shared))
        }
        return sum(buffers.values())

    def _bytes_per_cycle(self, size: int) -> float:
        """What a core reads of so many bytes again and again that the second-level cache does not hold."""
        return BYTES_PER_CYCLE[1 if size <= HELD * self.kernel.facts.l3_bytes else 2]

    def _bytes_per_row(self) -> int:
        """Bytes of what the members hand to each other, for one iteration of all shared loops."""
        total = 0
        seen: set[SSAValue] = set()
        for member in self.members:
            for store in member.nest.stores:
                if not isinstance(store.memref.owner, AllocOp) or store.memref in seen:
                    continue
                seen.add(store.memref)
                own = [
                    guess(dim)
                    for coefficients, dim in zip(store.spans, store.dims, strict=True)
                    if not any(loop in member.shared for loop in coefficients)
                ]
                total += store.bytes * prod(own)
        return total

    def _prepare(self, member: Member, outer: Sequence[int], block: int) -> list[ForOp]:
        """Brings the loops to fuse outermost in one nest and tiles its rows; the loops to fuse."""
        writer = self.kernel.writer
        loops = list(member.nest.parallel)
        wanted = [member.shared[position] for position in outer]
        target = [*wanted, *(loop for loop in loops if loop not in wanted)]
        order = [loops.index(loop) for loop in target]
        handles = writer.interchange([writer.loop(loop.label) for loop in loops], order, "shared loops outermost")
        nest = interchange_loops([loop.op for loop in loops], order)[: len(wanted)]
        if block > 1:
            last = len(wanted) - 1
            writer.tile([handles[last]], [block], ["mask"], f"blocks of {block} rows stay in cache")
            nest[last] = tile_loops([nest[last]], [block], ["mask"]).outers[0][0]
        return nest

    def _fuse(self, chains: Sequence[list[ForOp]]) -> list[ForOp]:
        """Fuses the nests level by level; the loops inside that are left of each nest."""
        writer = self.kernel.writer
        fused = list(chains[0])
        for other in chains[1:]:
            for level, loop in enumerate(other):
                labels = fused[level].label.data, loop.label.data
                fused[level] = fuse_loops(fused[level], loop)
                writer.fuse(writer.loop(labels[0]), writer.loop(labels[1]), "a block stays in cache")
        shrink_buffers(self.kernel.func)
        return [op for op in fused[-1].block.ops if isinstance(op, ForOp)]

    def _fuse_rows(self, inside: Sequence[ForOp], anchors: Sequence[bool]) -> None:
        """Fuses neighbours that are no contractions row by row."""
        run: list[ForOp] = []
        for loop, anchor in zip(inside, anchors, strict=False):
            if anchor:
                fuse_neighbours(self.kernel, run)
                run = []
            else:
                run.append(loop)
        fuse_neighbours(self.kernel, run)
