"""
`tensor_ops.top_k` as loops: each row is read once, and the best keys so far are in a heap.

The root of the heap is the first to go: a key that does not beat it costs one comparison. In the end the heap is sorted
where it lies, by moving the root to the end again and again.
"""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.dims import dims_of, floordiv
from aicc.dialects.loops.access import LoadOp
from aicc.dialects.loops.attrs import memref_of, memref_type
from aicc.dialects.loops.memory import AllocOp
from aicc.dialects.tensor_ops.selection import TopKOp
from aicc.lowering.tensor_ops_to_loops_heap import Heap, steps
from aicc.lowering.tensor_ops_to_loops_nests import Emitter


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
        heap = Heap(emitter, alloc, target, row)

        def fill(at: SSAValue) -> None:
            heap.store((value(LoadOp.at(keys, [*row, at])), place(at)), at)

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

        steps(emitter, f"{label}_fill", 0, emitter.bound(count), fill)
        heap.order(f"{label}_order", emitter.bound(floordiv(count, 2)), counted)
        steps(emitter, f"{label}_compete", emitter.bound(count), emitter.bound(size), compete)
        steps(emitter, f"{label}_sort", 0, emitter.bound(count - 1), sort)
