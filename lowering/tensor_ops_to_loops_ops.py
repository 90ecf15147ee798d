"""
Each op of `tensor_ops` that computes elements, as loops that fill its destination.

`memrefs` finds the buffer that holds a tensor. Destinations never overlap what the op reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from aicc.dialects.graph.dims import Dim, SymExpr, dim_min, dim_prod, dims_of, lower_bound
from aicc.dialects.loops.access import LoadOp, StoreOp
from aicc.dialects.loops.attrs import memref_dims, memref_of
from aicc.dialects.loops.memory import CopyOp
from aicc.dialects.tensor_ops.blocks import BlocksOp
from aicc.dialects.tensor_ops.indirect import ScanOp, ScatterOp
from aicc.dialects.tensor_ops.ops import ConcatOp
from aicc.dialects.tensor_ops.selection import NonMaxSuppressionOp, TopKOp
from aicc.dialects.tensor_ops.structured import StructuredOp
from aicc.lowering.tensor_ops_to_loops_nests import BodyEmitter, Emitter
from aicc.lowering.tensor_ops_to_loops_suppression import lower_non_max_suppression
from aicc.lowering.tensor_ops_to_loops_top_k import lower_top_k

Memrefs = Callable[[SSAValue], SSAValue]


def lower_structured(
    op: StructuredOp,
    emitter: Emitter,
    memrefs: Memrefs,
    targets: Sequence[SSAValue],
    axis: int = 0,
    offset: Dim = 0,
) -> None:
    """
    Results are written from element `offset` along `axis` of the targets on.

    ```mlir
    loops.for "s0_d0" %p = ... parallel {
      %acc = loops.for "s0_d1" %r = ... iter_args(...) { body }
      finish
      loops.store
    }
    ```
    """
    label, bodies = emitter.next_label(), BodyEmitter(emitter, op.dims, memrefs)
    symbols, count = op.symbols.data, op.parallel_count

    def body(accumulators: Sequence[SSAValue]) -> list[SSAValue]:
        loads = [
            bodies.load(tensor, affine_map, symbols, fill)
            for tensor, affine_map, fill in zip(op.inputs, op.input_maps, op.input_fills, strict=True)
        ]
        return bodies.run(op.body.block, [*loads, *accumulators])

    def reduction(indices: list[SSAValue], accumulators: list[SSAValue]) -> list[SSAValue]:
        bodies.indices = [*parallel, *indices]
        return body(accumulators)

    with emitter.loops(op.parallel_dims, label) as parallel:
        bodies.indices = parallel
        if op.is_reduction:
            inits = [emitter.constant(init) for init in op.inits.data]
            results = emitter.reduce(op.reduction_dims, label, count, inits, reduction)
        else:
            results = body(())
        bodies.indices = parallel
        if (finish := op.finish_block) is not None:
            loads = [
                bodies.load(tensor, affine_map, symbols, None)
                for tensor, affine_map in zip(op.finish_inputs, op.finish_maps, strict=True)
            ]
            results = bodies.run(finish, [*results, *loads])
        for result, target in zip(results, targets, strict=True):
            store_behind(emitter, result, target, parallel, axis, offset)


def lower_blocks(op: BlocksOp, emitter: Emitter, memrefs: Memrefs, target: SSAValue) -> None:
    """
    One nest over the space. Elements are loaded right before they are first used, and stored right after they are
    computed, so that few values are live at a time.
    """
    bodies, symbols, block = BodyEmitter(emitter, op.dims, memrefs), op.symbols.data, op.body.block
    sources = [
        (tensor, affine_map, fill)
        for position, (tensor, fill) in enumerate(zip(op.inputs, op.input_fills, strict=True))
        for affine_map in op.element_maps(position)
    ]
    arguments = dict[SSAValue, tuple[SSAValue, AffineMap, Attribute | None]](zip(block.args, sources, strict=True))
    targets: dict[SSAValue, list[AffineMap]] = {}
    for value, affine_map in zip(op.body_yield.values, op.element_maps(len(op.inputs)), strict=True):
        targets.setdefault(value, []).append(affine_map)

    def load(value: SSAValue) -> SSAValue:
        tensor, affine_map, fill = arguments[value]
        return bodies.load(tensor, affine_map, symbols, fill)

    def store(old: SSAValue, new: SSAValue) -> None:
        for affine_map in targets.pop(old, ()):
            access, operands = bodies.access(affine_map, symbols)
            inside = not bodies.within(affine_map, memref_dims(memref_of(target)))
            emitter.add(StoreOp(new, target, access, operands, inside=inside))

    with emitter.loops(op.dims, emitter.next_label()) as indices:
        bodies.indices = indices
        bodies.run_lazily(block, load, store)


def lower_concat(op: ConcatOp, emitter: Emitter, memrefs: Memrefs, target: SSAValue) -> None:
    """
    A nest per input that is not in the target already, which writes from where the inputs before end: one that computes
    it, or one that copies it.
    """
    axis = op.position
    for tensor, offset in zip(op.inputs, op.offsets(), strict=True):
        if (made := made_for_concat(tensor)) is not None:
            with emitter.located(made):
                lower_structured(made, emitter, memrefs, [target], axis, offset)
        elif (source := memrefs(tensor)) is not target:
            copy_into(emitter, source, target, axis, offset)


def made_for_concat(tensor: SSAValue) -> StructuredOp | None:
    """The op that makes a tensor which nothing but a concat in its block reads: the result has no buffer of its own."""
    owner = tensor.owner
    if not isinstance(owner, StructuredOp) or len(owner.res) != 1 or (use := tensor.get_user_of_unique_use()) is None:
        return None
    return owner if isinstance(use, ConcatOp) and use.parent is owner.parent else None


def store_behind(
    emitter: Emitter, value: SSAValue, target: SSAValue, indices: Sequence[SSAValue], axis: int, offset: Dim
) -> None:
    """`target[.., offset + i, ..] = value` with `i` the index on `axis`."""
    operands = list(indices)
    exprs: list[AffineExpr] = [AffineDimExpr(position) for position in range(len(operands))]
    if isinstance(offset, SymExpr):
        exprs[axis] = exprs[axis] + AffineDimExpr(len(operands))
        operands.append(emitter.size(offset))
    elif offset:
        exprs[axis] = exprs[axis] + offset
    emitter.add(StoreOp(value, target, AffineMap(len(operands), 0, tuple(exprs)), operands))


def copy_into(emitter: Emitter, source: SSAValue, target: SSAValue, axis: int = 0, offset: Dim = 0) -> None:
    """A nest for `target[.., offset + i, ..] = source[.., i, ..]` along `axis`."""
    dims = memref_dims(memref_of(source))
    with emitter.loops(dims, emitter.next_label()) as indices:
        store_behind(emitter, emitter.value(LoadOp.at(source, indices)), target, indices, axis, offset)


def lower_scatter(op: ScatterOp, emitter: Emitter, memrefs: Memrefs, target: SSAValue) -> None:
    """
    A copy of the base, unless the target holds it, then a sequential nest: two points may write one element, the later
    one wins.
    """
    if (base := memrefs(op.base)) is not target:
        emitter.add(CopyOp(base, target))
    bodies = BodyEmitter(emitter, op.dims, memrefs)
    # Nothing has a place in a target without elements.
    some = [dim_min(dim, 1) for dim in memref_dims(memref_of(target)) if (lower_bound(dim) or 0) < 1]
    dims = [dim_prod([op.dims[0], *some]), *op.dims[1:]] if op.dims else []
    with emitter.loops(dims, emitter.next_label(), parallel=False) as indices:
        bodies.indices = indices
        loads = [
            bodies.load(tensor, affine_map, op.symbols.data, None)
            for tensor, affine_map in zip(op.inputs, op.input_maps, strict=True)
        ]
        *places, value = bodies.run(op.body.block, loads)
        places = bodies.clamp(places, memref_dims(memref_of(target)))
        if (combine := op.combine_block) is not None:
            old = emitter.value(LoadOp.at(target, places))
            (value,) = bodies.run(combine, [old, value])
        emitter.add(StoreOp.at(value, target, places))


def lower_scan(op: ScanOp, emitter: Emitter, memrefs: Memrefs, target: SSAValue) -> None:
    """Parallel loops over all axes but one, and inside them a sequential loop that carries the total."""
    dims, axis, source = dims_of(op.input.type), op.position, memrefs(op.input)
    others = [position for position in range(len(dims)) if position != axis]
    label, bodies = emitter.next_label(), BodyEmitter(emitter, dims, memrefs)
    with emitter.loops([dims[position] for position in others], label) as outer:

        def step(inner: list[SSAValue], totals: list[SSAValue]) -> list[SSAValue]:
            operands = [*outer, *inner]
            along: AffineExpr = AffineDimExpr(len(outer))
            if isinstance(op.reverse, UnitAttr):
                last = dims[axis] - 1
                if isinstance(last, SymExpr):
                    along = AffineDimExpr(len(operands)) - along
                    operands.append(emitter.size(last))
                else:
                    along = AffineConstantExpr(last) - along
            exprs: list[AffineExpr] = [AffineDimExpr(position) for position in range(len(others))]
            exprs.insert(axis, along)
            affine_map = AffineMap(len(operands), 0, tuple(exprs))
            (before,) = totals
            loaded = emitter.value(LoadOp(source, affine_map, operands))
            (total,) = bodies.run(op.body.block, [loaded, before])
            result = before if op.exclusive is not None else total
            if (finish := op.finish_block) is not None:
                (result,) = bodies.run(finish, [result])
            emitter.add(StoreOp(result, target, affine_map, operands))
            return [total]

        emitter.reduce([dims[axis]], label, len(others), [emitter.constant(op.init)], step)


LOWERED = (StructuredOp, BlocksOp, ConcatOp, ScatterOp, ScanOp, TopKOp, NonMaxSuppressionOp)


def lower_op(op: Operation, emitter: Emitter, memrefs: Memrefs, targets: Sequence[SSAValue]) -> None:
    """Lowers an op of one of the classes in `LOWERED`."""
    with emitter.located(op):
        match op:
            case StructuredOp():
                lower_structured(op, emitter, memrefs, targets)
            case BlocksOp():
                lower_blocks(op, emitter, memrefs, targets[0])
            case ConcatOp():
                lower_concat(op, emitter, memrefs, targets[0])
            case ScatterOp():
                lower_scatter(op, emitter, memrefs, targets[0])
            case ScanOp():
                lower_scan(op, emitter, memrefs, targets[0])
            case TopKOp():
                lower_top_k(op, emitter, memrefs(op.keys), targets[0])
            case NonMaxSuppressionOp():
                lower_non_max_suppression(op, emitter, [memrefs(operand) for operand in op.operands], targets)
            case _:
                raise ValueError(f"{op.name} is not lowered here")
