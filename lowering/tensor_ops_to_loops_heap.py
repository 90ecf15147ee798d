"""
A heap of pairs (key, place) in a buffer of keys and one of places, as code of a kernel.

It is a binary tree in an array: the pair at `p` is above those at `2 p + 1` and `2 p + 2`, and the root at 0 above all.
Pairs are ordered from the largest key on, and of equal keys from the lowest place on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.loops.access import LoadOp, StoreOp
from aicc.dialects.loops.control import ForOp, YieldOp
from aicc.lowering.tensor_ops_to_loops_nests import Emitter

Pair = tuple[SSAValue, SSAValue]
"""A key and its place."""

_INDEX = IndexType()


@dataclass(frozen=True)
class Heap:
    """Keys are at `keys[p]`, places at `places[row.., p]`."""

    emitter: Emitter
    keys: SSAValue
    places: SSAValue
    row: Sequence[SSAValue] = ()
    first_is_root: bool = False
    """Whether the root is the first pair of all, and not the last one."""

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

    def is_above(self, a: Pair, b: Pair) -> SSAValue:
        """Whether `a` is nearer to the root than `b`."""
        value = self.emitter.value
        if self.first_is_root:
            a, b = b, a
        smaller = value(arith.CmpiOp(a[0], b[0], "slt"))
        equal = value(arith.CmpiOp(a[0], b[0], "eq"))
        later = value(arith.CmpiOp(a[1], b[1], "sgt"))
        return value(arith.OrIOp(smaller, value(arith.AndIOp(equal, later))))

    def sink(self, pair: Pair, start: SSAValue, size: SSAValue) -> None:
        """Puts `pair` into the subtree at `start` of a heap of `size` pairs; what is above it moves up."""
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
            takes_second = self.is_above(second, first)
            child = value(arith.SelectOp(takes_second, right, left))
            moved = tuple(value(arith.SelectOp(takes_second, b, a)) for a, b in zip(first, second, strict=True))
            again = value(arith.AndIOp(inside, self.is_above((moved[0], moved[1]), pair)))
            emitter.add(scf.ConditionOp(again, hole, child, *moved))
        with emitter.into(after):
            hole, child, *found = after.args
            self.store((found[0], found[1]), hole)
            emitter.add(scf.YieldOp(child))
        types = [_INDEX, _INDEX, key, i64]
        loop = emitter.add(scf.WhileOp([start], types, Region(before), Region(after)))
        self.store(pair, loop.results[0])

    def order(self, label: str, half: int | SSAValue, size: SSAValue) -> None:
        """Makes a heap of any `size` pairs; `half` is half of `size`, rounded down."""
        emitter, value = self.emitter, self.emitter.value

        def sink(step: SSAValue) -> None:
            # From the last pair that has another one below it to the root.
            if isinstance(half, int):
                last = emitter.index(half - 1)
            else:
                last = value(arith.SubiOp(half, emitter.index(1)))
            at = value(arith.SubiOp(last, step))
            self.sink(self.load(at), at, size)

        steps(emitter, label, 0, half, sink)


def steps(
    emitter: Emitter, label: str, first: int | SSAValue, end: int | SSAValue, body: Callable[[SSAValue], None]
) -> None:
    """One after the other, for each index from `first` to before `end`."""
    loop = ForOp(first, (), end, (), label=label)
    emitter.add(loop)
    with emitter.into(loop.block):
        body(loop.induction)
        emitter.add(YieldOp())
