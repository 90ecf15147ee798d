"""
`tensor_ops.top_k` as loops: each row is read once, and the best keys so far are in a heap.

The heap is a binary tree in an array: the pair (key, place) at `p` comes after those at `2 p + 1` and `2 p + 2` in the
result, so the root is the first to go. A key that does not beat the root costs one comparison. In the end the heap is
sorted where it lies, by moving the root to the end again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.dims import Dim, dims_of, floordiv
from aicc.dialects.loops.access import LoadOp, StoreOp
from aicc.dialects.loops.attrs import memref_of, memref_type
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.dialects.loops.memory import AllocOp
from aicc.dialects.tensor_ops.selection import TopKOp
from aicc.lowering.tensor_ops_to_loops_nests import Emitter

Pair = tuple[SSAValue, SSAValue]
"""A key and its place."""

_INDEX = IndexType()


@dataclass(frozen=True)
class _Heap:
    """The heap of one row: keys in `keys`, places where the result is, `places[row.., p]`."""

    emitter: Emitter
    keys: SSAValue
    places: SSAValue
    row: Sequence[SSAValue]

    def load(self, at: SSAValue) -> Pair:
        """The pair at a position."""
        return (
            self.emitter.value(LoadOp.at(self.keys, [at])),
            self.emitter.value(LoadOp.at(self.places, [*self.row, at])),
        )

    def store(self, pair: Pair, at: SSAValue) -> None:
        """Puts a pair at a position."""
        self.emitter.add(StoreOp.at(pair[0], self.keys, [at]))
        self.emitter.add(StoreOp.at(pair[1], self.places, [*self.row, at]))

    def is_after(self, a: Pair, b: Pair) -> SSAValue:
        """Whether `a` comes after `b` in the result."""
        value = self.emitter.value
        smaller = value(arith.CmpiOp(a[0], b[0], "slt"))
        equal = value(arith.CmpiOp(a[0], b[0], "eq"))
        later = value(arith.CmpiOp(a[1], b[1], "sgt"))
        return value(arith.OrIOp(smaller, value(arith.AndIOp(equal, later))))

    def sink(self, pair: Pair, start: SSAValue, size: SSAValue) -> None:
        """Puts `pair` into the subtree at `start` of a heap of `size` pairs; what comes after it moves up."""
        emitter, value, one = self.emitter, self.emitter.value, self.emitter.index(1)
        key = pair[0].type
        before, after = Block(arg_types=[_INDEX]), Block(arg_types=[_INDEX, _INDEX, key, i64])
        with emitter.into(before):
            hole = before.args[0]
            left = value(arith.AddiOp(value(arith.AddiOp(hole, hole)), one))
            right = value(arith.AddiOp(left, one))
            inside = value(arith.CmpiOp(left, size, "slt"))
            last = value(arith.SubiOp(size, one))
            # Places behind the end are not read; the last one stands for them.
            left, right = (value(arith.MinSIOp(child, last)) for child in (left, right))
            first, second = self.load(left), self.load(right)
            takes_second = self.is_after(second, first)
            child = value(arith.SelectOp(takes_second, right, left))
            moved = tuple(value(arith.SelectOp(takes_second, b, a)) for a, b in zip(first, second, strict=True))
            again = value(arith.AndIOp(inside, self.is_after((moved[0], moved[1]), pair)))
            emitter.add(scf.ConditionOp(again, hole, child, *moved))
        with emitter.into(after):
            hole, child, *found = after.args
            self.store((found[0], found[1]), hole)
            emitter.add(scf.YieldOp(child))
        types = [_INDEX, _INDEX, key, i64]
        loop = emitter.add(scf.WhileOp([start], types, Region(before), Region(after)))
        self.store(pair, loop.results[0])


def lower_top_k(op: TopKOp, emitter: Emitter, keys: SSAValue, target: SSAValue) -> None:
    """Fills a heap with the first keys of a row, lets the others compete with its root, and sorts it."""
    *outer, size = dims_of(op.keys.type)
    count, value, index, label = op.size, emitter.value, emitter.index, emitter.next_label()
    if size == 0 or count == 0:
        return
    counted = emitter.size(count)

    def place(at: SSAValue) -> SSAValue:
        return value(arith.IndexCastOp(at, i64))

    with emitter.loops(outer, label) as row:
        alloc = emitter.value(AllocOp(memref_type([count], memref_of(keys).element_type)))
        heap = _Heap(emitter, alloc, target, row)

        def fill(at: SSAValue) -> None:
            heap.store((value(LoadOp.at(keys, [*row, at])), place(at)), at)

        def order(step: SSAValue) -> None:
            # From the last pair that has another one below it to the root.
            at = value(arith.SubiOp(emitter.size(floordiv(count, 2) - 1), step))
            heap.sink(heap.load(at), at, counted)

        def compete(at: SSAValue) -> None:
            key = value(LoadOp.at(keys, [*row, at]))
            root = value(LoadOp.at(alloc, [index(0)]))
            # Its place is after all in the heap, so an equal key stays out.
            better = value(arith.CmpiOp(key, root, "sgt"))
            block = Block()
            with emitter.into(block):
                heap.sink((key, place(at)), index(0), counted)
                emitter.add(scf.YieldOp())
            emitter.add(scf.IfOp(better, [], Region(block)))

        def sort(step: SSAValue) -> None:
            end = value(arith.SubiOp(emitter.size(count - 1), step))
            last = heap.load(end)
            heap.store(heap.load(index(0)), end)
            heap.sink(last, index(0), end)

        _steps(emitter, f"{label}_fill", 0, count, fill)
        _steps(emitter, f"{label}_order", 0, floordiv(count, 2), order)
        _steps(emitter, f"{label}_compete", count, size, compete)
        _steps(emitter, f"{label}_sort", 0, count - 1, sort)


def _steps(emitter: Emitter, label: str, first: Dim, end: Dim, body: Callable[[SSAValue], None]) -> None:
    """One after the other, for each index from `first` to before `end`."""
    loop = ForOp(emitter.bound(first), (), emitter.bound(end), (), label=label)
    emitter.add(loop)
    with emitter.into(loop.block):
        body(loop.induction)
        emitter.add(YieldOp())
