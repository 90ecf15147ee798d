"""
`tensor_ops.non_max_suppression` as loops.

The boxes of a row that take part become a heap with the best one at the root. The root leaves it again and again, until
enough boxes are taken or none is left; its box is compared with those taken before, up to the first that it overlaps
with. So few boxes are put in order if few are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.dims import dims_of
from aicc.dialects.graph.dtypes import bit_width
from aicc.dialects.graph.scalars import scalar_constant
from aicc.dialects.loops.access import LoadOp, StoreOp
from aicc.dialects.loops.attrs import memref_of, memref_type
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.memory import AllocOp
from aicc.dialects.tensor_ops.selection import NonMaxSuppressionOp
from aicc.lowering.tensor_ops_to_loops_heap import Heap, steps
from aicc.lowering.tensor_ops_to_loops_nests import Emitter

_INDEX = IndexType()

Box = Sequence[SSAValue]
"""Lower corner, upper corner, area."""


def lower_non_max_suppression(
    op: NonMaxSuppressionOp, emitter: Emitter, sources: Sequence[SSAValue], targets: Sequence[SSAValue]
) -> None:
    """A heap for each row, and the boxes taken so far beside each other with their areas."""
    (keys, boxes, overlap), (places, counts) = sources, targets
    batches, rows, size = dims_of(op.keys.type)
    label, value, index = emitter.next_label(), emitter.value, emitter.index
    key_type, element = memref_of(keys).element_type, memref_of(boxes).element_type
    with emitter.loops([batches, rows], label) as row:
        heap = Heap(
            emitter,
            value(AllocOp(memref_type([size], key_type))),
            value(AllocOp(memref_type([size], i64))),
            first_is_root=True,
        )
        taken = value(AllocOp(memref_type([op.size, 5], element)))
        limit = value(LoadOp.at(overlap, []))
        candidates = _collect(emitter, label, [*row], keys, heap, emitter.bound(size))
        heap.order(f"{label}_order", value(arith.ShRUIOp(candidates, index(1))), candidates)
        choice = _Choice(emitter, row[0], boxes, taken, limit)

        before, after = Block(arg_types=[_INDEX, _INDEX]), Block(arg_types=[_INDEX, _INDEX])
        with emitter.into(before):
            left, found = before.args
            again = value(
                arith.AndIOp(
                    value(arith.CmpiOp(left, index(0), "sgt")),
                    value(arith.CmpiOp(found, emitter.size(op.size), "slt")),
                )
            )
            emitter.add(scf.ConditionOp(again, left, found))
        with emitter.into(after):
            left, found = after.args
            _, place = heap.load(index(0))
            last = value(arith.SubiOp(left, index(1)))
            # The last box may be sunk into its own place, which is not used any more.
            heap.sink(heap.load(last), index(0), value(arith.MaxSIOp(last, index(1))))
            box = choice.box(value(arith.IndexCastOp(place, _INDEX)))
            is_apart = choice.is_apart(box, found)
            choice.put(box, found)
            emitter.add(StoreOp.at(place, places, [*row, found]))
            one = value(arith.SelectOp(is_apart, index(1), index(0)))
            emitter.add(scf.YieldOp(last, value(arith.AddiOp(found, one))))
        loop = emitter.add(scf.WhileOp([candidates, index(0)], [_INDEX, _INDEX], Region(before), Region(after)))
        number = loop.results[1]
        emitter.add(StoreOp.at(value(arith.IndexCastOp(number, i64)), counts, row))
        zero = emitter.constant(IntegerAttr(0, i64))

        def clear(at: SSAValue) -> None:
            emitter.add(StoreOp.at(zero, places, [*row, at]))

        steps(emitter, f"{label}_rest", number, emitter.bound(op.size), clear)


def _collect(
    emitter: Emitter, label: str, row: Sequence[SSAValue], keys: SSAValue, heap: Heap, size: int | SSAValue
) -> SSAValue:
    """Puts the pairs of a row that take part one after the other; their number."""
    value = emitter.value
    loop = ForOp(0, (), size, (), iter_args=[emitter.index(0)], label=f"{label}_collect")
    emitter.add(loop)
    with emitter.into(loop.block):
        at, (found,) = loop.induction, loop.iter_args
        key = value(LoadOp.at(keys, [*row, at]))
        # Where it does not take part, the next one comes in its place.
        heap.store((key, value(arith.IndexCastOp(at, i64))), found)
        lowest = emitter.constant(scalar_constant(-(1 << (bit_width(key.type) - 1)), key.type))
        takes_part = value(arith.CmpiOp(key, lowest, "ne"))
        one = value(arith.SelectOp(takes_part, emitter.index(1), emitter.index(0)))
        emitter.add(YieldOp(value(arith.AddiOp(found, one))))
    return loop.results[0]


class _Choice:
    """The boxes of a row that are taken."""

    def __init__(self, emitter: Emitter, batch: SSAValue, boxes: SSAValue, taken: SSAValue, limit: SSAValue):
        self.emitter, self.batch, self.boxes, self.taken, self.limit = emitter, batch, boxes, taken, limit

    def box(self, place: SSAValue) -> Box:
        """The box at a place."""
        value, index = self.emitter.value, self.emitter.index
        edges = [value(LoadOp.at(self.boxes, [self.batch, place, index(i)])) for i in range(4)]
        down, across = (value(arith.SubfOp(edges[i + 2], edges[i])) for i in range(2))
        return [*edges, value(arith.MulfOp(down, across))]

    def put(self, box: Box, at: SSAValue) -> None:
        """Writes a box at a position."""
        for i, number in enumerate(box):
            self.emitter.add(StoreOp.at(number, self.taken, [at, self.emitter.index(i)]))

    def is_apart(self, box: Box, count: SSAValue) -> SSAValue:
        """Whether a box overlaps with none of the first `count`."""
        emitter, value = self.emitter, self.emitter.value
        before, after = Block(arg_types=[_INDEX]), Block(arg_types=[_INDEX])
        with emitter.into(before):
            at = before.args[0]
            inside = value(arith.CmpiOp(at, count, "slt"))
            # No box is behind the last one; the first stands for it.
            read = value(arith.SelectOp(inside, at, emitter.index(0)))
            other = [value(LoadOp.at(self.taken, [read, emitter.index(i)])) for i in range(5)]
            again = value(arith.AndIOp(inside, self._fits(box, other)))
            emitter.add(scf.ConditionOp(again, at))
        with emitter.into(after):
            emitter.add(scf.YieldOp(value(arith.AddiOp(after.args[0], emitter.index(1)))))
        loop = emitter.add(scf.WhileOp([emitter.index(0)], [_INDEX], Region(before), Region(after)))
        return value(arith.CmpiOp(loop.results[0], count, "eq"))

    def _fits(self, box: Box, other: Box) -> SSAValue:
        """Whether what is common to two boxes is not more than the limit; NaN is not."""
        value, element = self.emitter.value, box[0].type
        assert isinstance(element, AnyFloat)
        zero = self.emitter.constant(FloatAttr(0.0, element))
        sides: list[SSAValue] = []
        for i in range(2):
            high = value(arith.MinimumfOp(box[i + 2], other[i + 2]))
            low = value(arith.MaximumfOp(box[i], other[i]))
            sides.append(value(arith.MaximumfOp(value(arith.SubfOp(high, low)), zero)))
        common = value(arith.MulfOp(sides[0], sides[1]))
        union = value(arith.SubfOp(value(arith.AddfOp(box[4], other[4])), common))
        return value(arith.CmpfOp(value(arith.DivfOp(common, union)), self.limit, "ule"))
