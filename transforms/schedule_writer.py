"""Writes a schedule: a `transform.named_sequence` with one op per step, in the order of the calls."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.dialects.transform import AnyOpType, NamedSequenceOp
from xdsl.dialects.transform import YieldOp as SequenceYieldOp
from xdsl.ir import Block, Operation, Region, SSAValue

from aicc.dialects.graph.dims import Dim, ShapeAttr
from aicc.dialects.schedule.bypass import BypassCachesOp, PrivatizeOp, ReadAheadOp
from aicc.dialects.schedule.ops import (
    CollapseOp,
    FuseOp,
    InterchangeOp,
    LoopOp,
    PackOp,
    SelectOp,
    SplitOp,
    StageOp,
    TileOp,
    UnrollOp,
    VectorizeOp,
)
from aicc.dialects.schedule.prefetch import PrefetchOp
from aicc.dialects.schedule.reductions import PartialResultsOp, SplitReductionOp
from aicc.dialects.schedule.rows import TileSomeOp, VectorizeRowsOp
from aicc.dialects.schedule.threads import ParallelizeOp

SUFFIX = "_schedule"
"""What the name of a kernel's schedule adds to the kernel's."""

ATTRIBUTE = "transform.with_named_sequence"
"""Attribute of a module that holds schedules."""

AUTOMATIC = "automatic"
"""Unit attribute of a schedule that the automatic scheduler made: a step that cannot be done is no error then."""

WHY = "why"
"""Property of a step that says what it was chosen for."""


class ScheduleWriter:
    """Builds the schedule of one kernel; each method appends a step and returns its handles."""

    def __init__(self, kernel: str):
        self._name = kernel + SUFFIX
        self._block = Block(arg_types=[AnyOpType()])
        self.kernel: SSAValue = self._block.args[0]
        self.kernel.name_hint = "kernel"

    @property
    def is_empty(self) -> bool:
        """Whether there is no step yet."""
        return self._block.first_op is None

    def mark(self) -> Operation | None:
        """The last step so far, to go back to with `undo`."""
        return self._block.last_op

    def undo(self, mark: Operation | None) -> None:
        """Takes back the steps after `mark`."""
        while (last := self._block.last_op) is not None and last is not mark:
            last.detach()
            last.erase()

    def _add(self, op: Operation, why: str = "") -> Operation:
        if why:
            op.properties[WHY] = StringAttr(why)
        self._block.add_op(op)
        return op

    def loop(self, label: str, root: SSAValue | None = None) -> SSAValue:
        """The loops with a label."""
        result = self._add(LoopOp(root or self.kernel, label)).results[0]
        result.name_hint = label.replace(".", "_").replace("*", "_")
        return result

    def tile(
        self, loops: Sequence[SSAValue], sizes: Sequence[int], tails: Sequence[str] | None = None, why: str = ""
    ) -> TileOp:
        """Tiles perfectly nested loops."""
        op = TileOp(loops, sizes, tails)
        for kind, values in (("o", op.outers), ("i", op.inners)):
            for old, value in zip(loops, values, strict=True):
                value.name_hint = f"{old.name_hint}_{kind}"
        op.peeled.name_hint = "rest"
        self._add(op, why)
        return op

    def tile_some(self, loop: SSAValue, size: int, most: Dim, why: str = "") -> TileSomeOp:
        """Tiles a loop as far as sizes say."""
        op = TileSomeOp(loop, size, ShapeAttr((most,)))
        op.outer.name_hint, op.inner.name_hint = f"{loop.name_hint}_o", f"{loop.name_hint}_i"
        op.rest.name_hint = f"{loop.name_hint}_t"
        self._add(op, why)
        return op

    def interchange(self, loops: Sequence[SSAValue], order: Sequence[int], why: str = "") -> list[SSAValue]:
        """Reorders perfectly nested loops; the loops themselves where the order is the old one."""
        if list(order) == list(range(len(loops))):
            return list(loops)
        op = self._add(InterchangeOp(loops, order), why)
        for position, result in zip(order, op.results, strict=True):
            result.name_hint = loops[position].name_hint
        return list(op.results)

    def select(self, handle: SSAValue, positions: Sequence[int]) -> SSAValue:
        """Some of the loops of a handle."""
        result = self._add(SelectOp(handle, positions)).results[0]
        result.name_hint = handle.name_hint
        return result

    def fuse(self, first: SSAValue, second: SSAValue, why: str = "") -> SSAValue:
        """One loop of two neighbours."""
        return self._add(FuseOp(first, second), why).results[0]

    def collapse(self, outer: SSAValue, inner: SSAValue, why: str = "") -> SSAValue:
        """One loop of two perfectly nested ones."""
        result = self._add(CollapseOp(outer, inner), why).results[0]
        result.name_hint = outer.name_hint
        return result

    def split(self, loop: SSAValue, size: int, why: str = "") -> None:
        """Two perfectly nested loops of one."""
        self._add(SplitOp(loop, size), why)

    def split_reduction(self, loop: SSAValue, around: SSAValue, size: int, mask: bool, why: str) -> SplitReductionOp:
        """Takes a reduction some steps at a time around the loops over its results."""
        op = SplitReductionOp(loop, around, size, mask)
        op.blocks.name_hint, op.rest.name_hint = f"{loop.name_hint}_b", "rest"
        self._add(op, why)
        return op

    def partial_results(self, loop: SSAValue, size: int, why: str) -> None:
        """Computes a reduction in parts of `size` steps."""
        op = PartialResultsOp(loop, size)
        op.parts.name_hint, op.combine.name_hint = f"{loop.name_hint}_p", f"{loop.name_hint}_c"
        self._add(op, why)

    def unroll(self, loop: SSAValue, factor: int, why: str = "") -> None:
        """Repeats a body."""
        self._add(UnrollOp(loop, factor), why)

    def vectorize(self, loops: Sequence[SSAValue], why: str = "") -> None:
        """Makes loops the axes of vectors."""
        self._add(VectorizeOp(loops), why)

    def vectorize_rows(self, rows: SSAValue, lanes: Sequence[SSAValue], why: str = "") -> None:
        """Makes a loop and several loops inside it the axes of vectors."""
        self._add(VectorizeRowsOp(rows, lanes), why)

    def parallelize(
        self,
        loops: Sequence[SSAValue],
        grain: int,
        least: int = 0,
        worth: tuple[Dim, int] | None = None,
        why: str = "",
        within: bool = False,
    ) -> None:
        """Shares out the iterations of perfectly nested loops among threads."""
        part, work = (0, None) if worth is None else (worth[1], ShapeAttr((worth[0],)))
        self._add(ParallelizeOp(loops, grain, least, part, work, within), why)

    def pack(self, argument: int, tiles: Sequence[int], order: Sequence[int], why: str = "") -> None:
        """Reads an argument from a packed copy."""
        self._add(PackOp(self.kernel, argument, tiles, order), why)

    def stage(self, loop: SSAValue, argument: int, tiles: Sequence[int], order: Sequence[int], why: str = "") -> None:
        """Reads an input from a copy of the part that a loop's body needs."""
        self._add(StageOp(loop, argument, tiles, order), why)

    def prefetch(self, around: SSAValue, within: SSAValue, argument: int, line: int, locality: int, why: str) -> None:
        """Fetches what the next iteration of a loop reads."""
        self._add(PrefetchOp(around, within, argument, line, locality), why)

    def bypass_caches(self, argument: int, why: str = "") -> None:
        """Writes a buffer past the caches."""
        self._add(BypassCachesOp(self.kernel, argument), why)

    def privatize(self, loop: SSAValue, argument: int, why: str = "") -> None:
        """Gives iterations scratch of their own for what they write to a buffer and read again."""
        self._add(PrivatizeOp(loop, argument), why)

    def read_ahead(self, argument: int, elements: int, why: str = "") -> None:
        """Fetches what lies so many elements behind what the last nest loads."""
        self._add(ReadAheadOp(self.kernel, argument, elements), why)

    def finish(self) -> NamedSequenceOp:
        """The schedule."""
        self._block.add_op(SequenceYieldOp())
        sequence = NamedSequenceOp(self._name, ([AnyOpType()], []), Region(self._block))
        sequence.attributes[AUTOMATIC] = UnitAttr()
        return sequence
