"""
The two ways to join structured ops.

`inline_producer` computes a producer's element where a consumer reads it; `append_consumer` computes an elementwise
consumer right where its producer's element is finished. Each comes with the question whether it may be done.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.rewriter import InsertPoint

from aicc.dialects.graph.dims import Dim, dims_of, provably_at_least
from aicc.dialects.graph.scalars import scalar_constant
from aicc.dialects.tensor_ops import ExtractOp, IndexOp, SizeOp, StructuredOp, ViewOp, YieldOp
from aicc.dialects.tensor_ops.affine import (
    Simplifier,
    compose,
    linear_form,
    with_domain,
)
from aicc.dialects.tensor_ops.scalar_eval import ScalarEvaluator, scalar_array
from aicc.dialects.tensor_ops.structured import element_scalar
from aicc.transforms.locations import fuse_locations
from aicc.transforms.tensor_ops_editing import (
    IndexMaterializer,
    Operand,
    add_argument,
    clean,
    dim_bounds,
    erase_if_unused,
    index_stays_inside,
    merge_symbols,
    operands_of,
    set_operands,
)


def is_index_map(op: StructuredOp) -> bool:
    """The op only moves elements: each result element is an input element."""
    return not op.is_reduction and all(value in op.body.block.args for value in op.body_yield.values)


# Reading through a producer


def inline_producer(consumer: StructuredOp, position: int) -> None:
    """
    Replaces operand `position` of `consumer` (inputs, then finish inputs) by the operands of its producer.

    The operand is defined by a structured op without reduction, whose body is copied into the consumer's. Where the
    operand has a fill, the copied body's value is used inside its bounds only.

    Before: %p = structured (%x as f) body { g }             After: %c = structured (%x as f.m) body { h(g(..)) }
            %c = structured (%p as m) body { h }
    """
    inputs, finish = operands_of(consumer)
    in_body = position < len(inputs)
    group, offset = (inputs, 0) if in_body else (finish, len(consumer.inits.data))
    index = position if in_body else position - len(inputs)
    block = consumer.body.block if in_body else consumer.finish_block
    operand = group[index]
    producer = operand.value.owner
    assert isinstance(producer, StructuredOp) and block is not None
    symbols = list(consumer.symbols.data)
    renamed = merge_symbols(symbols, producer.symbols.data)
    guarded = _dims_out_of_bounds(operand, producer, consumer)
    fill = operand.fill if guarded else None
    replaced = _through(operand, producer, renamed, len(symbols))
    if fill is not None:
        replaced, fill = _with_fills(replaced, producer, fill, guarded)
    old = block.args[offset + index]
    arguments = [add_argument(block, new, offset + index + i) for i, new in enumerate(replaced)]
    value = _copy_body(producer, operand, block, arguments, consumer.dims, symbols)
    if fill is not None:
        value = _guarded_value(operand, producer, block, value, fill, guarded, consumer.dims, symbols)
    old.replace_all_uses_with(value)
    block.erase_arg(old)
    group[index : index + 1] = replaced
    set_operands(consumer, inputs, finish, symbols)
    clean(consumer)


def _through(operand: Operand, producer: StructuredOp, renamed: Sequence[AffineExpr], count: int) -> list[Operand]:
    """The producer's inputs as the consumer reads them through the producer."""
    outer = with_domain(operand.map, operand.map.num_dims, count)
    inputs, _ = operands_of(producer)
    return [
        Operand(i.value, with_domain(compose(i.map, outer, renamed), outer.num_dims, count), i.fill) for i in inputs
    ]


def _dims_out_of_bounds(operand: Operand, producer: StructuredOp, consumer: StructuredOp) -> list[int]:
    """The dimensions of the producer's result that a guarded operand may leave."""
    if operand.fill is None:
        return []
    found: list[int] = []
    for axis, (expr, extent) in enumerate(zip(operand.map.results, producer.parallel_dims, strict=True)):
        if not index_stays_inside(expr, extent, consumer.dims):
            found.append(axis)
    return found


def _covers(source: Operand, axis: int, extent: Dim) -> bool:
    """Whether the producer's `source` is out of bounds wherever the producer's index `axis` is."""
    for result, size in zip(source.map.results, dims_of(source.value.type), strict=True):
        form = linear_form(result)
        # The indices 0 .. extent - 1 are mapped to constant .. constant + extent - 1.
        moved = form.terms == {AffineDimExpr(axis): 1} and form.constant <= 0
        if moved and provably_at_least(extent + form.constant - size, 0):
            return True
    return False


def _with_fills(
    replaced: list[Operand], producer: StructuredOp, fill: Attribute, guarded: Sequence[int]
) -> tuple[list[Operand], Attribute | None]:
    """
    Fills for reads that may now be out of bounds; and the fill that a selection still has to give, if any.

    If every input leaves its bounds exactly with the producer's result and the body maps their fills to `fill`, no
    selection is needed: padding of an index map, or of `relu` by 0.
    """
    sources, _ = operands_of(producer)
    covered = all(_covers(source, axis, producer.dims[axis]) for source in sources for axis in guarded)
    if covered:
        # Integer attributes of value 0 are false.
        fills = [_default_fill(s, fill) if s.fill is None else s.fill for s in sources]
        if _maps_fills_to(producer, fills, fill):
            new = [Operand(r.value, r.map, f) for r, f in zip(replaced, fills, strict=True)]
            return new, None
    return [Operand(r.value, r.map, _zero(r) if r.fill is None else r.fill) for r in replaced], fill


def _zero(operand: Operand) -> Attribute:
    return scalar_constant(0, element_scalar(operand.value.type))


def _default_fill(source: Operand, fill: Attribute) -> Attribute:
    """`fill` itself where the types allow, else 0."""
    zero = _zero(source)
    return fill if getattr(zero, "type", None) == getattr(fill, "type", None) else zero


def _maps_fills_to(producer: StructuredOp, fills: Sequence[Attribute], fill: Attribute) -> bool:
    """Whether the producer's body gives `fill` for these values of its arguments."""
    block = producer.body.block
    if len(producer.res) != 1 or any(isinstance(op, IndexOp | SizeOp | ExtractOp) for op in block.ops):
        return False

    def no_tensors(value: SSAValue) -> None:
        raise AssertionError(f"{value} is read")

    evaluator = ScalarEvaluator((), no_tensors, {})  # pyright: ignore[reportArgumentType]
    (found,) = evaluator.run(block, [scalar_array(value) for value in fills])
    expected = scalar_array(fill)
    return found.tobytes() == expected.tobytes() or (bool(found == expected == 0) and isinstance(fill, FloatAttr))


def _copy_body(
    producer: StructuredOp,
    operand: Operand,
    block: Block,
    arguments: Sequence[SSAValue],
    dims: Sequence[Dim],
    symbols: Sequence[Dim],
) -> SSAValue:
    """Copies the producer's body to the start of `block`; returns the value of the result that `operand` reads."""
    source = producer.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(source.args, arguments, strict=True))
    builder = Builder(InsertPoint.at_start(block))
    indices = IndexMaterializer(builder, dims, symbols)
    for op in source.ops:
        if isinstance(op, YieldOp):
            break
        if isinstance(op, IndexOp):
            values[op.result] = indices.value(operand.map.results[op.position])
            continue
        copy = op.clone(values)
        builder.insert(copy)
        values.update(zip(op.results, copy.results, strict=True))
    result = list(producer.res).index(operand.value)  # pyright: ignore[reportArgumentType]
    yielded = producer.body_yield.values[result]
    return values.get(yielded, yielded)


def _guarded_value(
    operand: Operand,
    producer: StructuredOp,
    block: Block,
    value: SSAValue,
    fill: Attribute,
    guarded: Sequence[int],
    dims: Sequence[Dim],
    symbols: Sequence[Dim],
) -> SSAValue:
    """`value` where the operand's index is inside the producer's result, else `fill`."""
    # After the copied body: the selection uses its value, and the consumer's own ops use the selection.
    owner = value.owner
    point = InsertPoint.after(owner) if isinstance(owner, Operation) else InsertPoint.at_start(block)
    builder = Builder(point)
    indices = IndexMaterializer(builder, dims, symbols)
    condition: SSAValue | None = None
    for axis in guarded:
        index = indices.value(operand.map.results[axis])
        # As unsigned numbers negative indices are too large.
        inside = builder.insert(arith.CmpiOp(index, indices.size(producer.dims[axis]), "ult")).result
        condition = inside if condition is None else builder.insert(arith.AndIOp(condition, inside)).result
    assert condition is not None
    constant = builder.insert(arith.ConstantOp(fill)).result  # pyright: ignore[reportArgumentType]
    return builder.insert(arith.SelectOp(condition, value, constant)).result


# Reading through a view


Span = tuple[int, int]
"""A range of axes: the first, and one past the last."""


def view_groups(old: Sequence[Dim], new: Sequence[Dim]) -> list[tuple[Span, Span]] | None:
    """
    The axes of two shapes of equally many elements in groups that hold equally many, as small as possible.

    `None` where that cannot be told from the sizes.
    """
    groups: list[tuple[Span, Span]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        count_old, count_new = _group(old[i:], new[j:])
        if count_old is None or count_new is None:
            return None
        groups.append(((i, i + count_old), (j, j + count_new)))
        i, j = i + count_old, j + count_new
    return groups


def view_map(view: ViewOp) -> AffineMap | None:
    """
    The index of the view's input as an affine map of the view's own index.

    `None` where sizes that would have to be multiplied or divided by are not numbers.
    """
    old, new = dims_of(view.input.type), dims_of(view.result.type)
    groups = view_groups(old, new)
    if groups is None:
        return None
    results: list[AffineExpr] = []
    for (first, last), (new_first, new_last) in groups:
        if not _is_affine(old[first:last]) or not _is_affine(new[new_first:new_last]):
            return None
        flat: AffineExpr = AffineExpr.constant(0)
        for k in range(new_first, new_last):
            size = new[k]
            flat = (flat * size if k > new_first and isinstance(size, int) else flat) + AffineDimExpr(k)
        inner = 1
        parts: list[AffineExpr] = []
        for k in reversed(range(first, last)):
            size = old[k]
            part = flat // inner if inner != 1 else flat
            parts.append(part % size if k > first and isinstance(size, int) else part)
            inner *= size if k > first and isinstance(size, int) else 1
        results += parts[::-1]
    return AffineMap(len(new), 0, tuple(results))


def _is_affine(dims: Sequence[Dim]) -> bool:
    return all(isinstance(dim, int) and dim > 0 for dim in dims[1:])


def _group(old: Sequence[Dim], new: Sequence[Dim]) -> tuple[int | None, int | None]:
    """How many leading dimensions of each hold equally many elements, as few as possible."""
    i = j = 1
    if not old or not new:
        rest = old or new
        # Trailing dimensions of size 1 alone.
        return (len(old), len(new)) if all(dim == 1 for dim in rest) else (None, None)
    left, right = old[0], new[0]
    while left != right:
        if i < len(old) and (j >= len(new) or not _larger(left, right)):
            left, i = left * old[i], i + 1
        elif j < len(new):
            right, j = right * new[j], j + 1
        else:
            return None, None
    return i, j


def _larger(left: Dim, right: Dim) -> bool:
    """Whether `left` provably holds at least as many elements as `right`."""
    difference = left - right
    return provably_at_least(difference, 0)


def read_through_view(consumer: StructuredOp, position: int) -> bool:
    """
    Lets `consumer` read the input of the view that defines operand `position`; says whether that was possible.

    Refused where the indices would hold divisions: the view itself costs nothing.
    """
    inputs, finish = operands_of(consumer)
    group = inputs if position < len(inputs) else finish
    index = position if position < len(inputs) else position - len(inputs)
    operand = group[index]
    view = operand.value.owner
    assert isinstance(view, ViewOp)
    found = view_map(view)
    if found is None or operand.fill is not None:
        return False
    composed = compose(found, operand.map, ())
    simplifier = Simplifier(dim_bounds(consumer.dims))
    if not all(simplifier.linear(result).is_pure_linear for result in composed.results):
        return False
    group[index] = Operand(view.input, with_domain(composed, operand.map.num_dims, operand.map.num_symbols))
    set_operands(consumer, inputs, finish, list(consumer.symbols.data))
    return True


# Continuing a producer


def append_consumer(
    producer: StructuredOp, consumer: StructuredOp, keep: Sequence[int], before: Operation
) -> StructuredOp:
    """
    One op that yields results `keep` of `producer` and then those of `consumer`, inserted before `before`.

    `consumer` has no reduction and reads results of `producer` at its own index only, over the same parallel
    dimensions. The two old ops are erased.

    Before: %p = structured (..) body { .. } finish { f }      After: %c = structured (..) body { .. } finish { g(f) }
            %c = structured (%p as identity, %b as m) body { g }
    """
    inputs, finish = operands_of(producer)
    others, _ = operands_of(consumer)
    symbols = list(producer.symbols.data)
    renamed = merge_symbols(symbols, consumer.symbols.data)
    body, last = producer.detach_region(0), producer.detach_region(0)
    if producer.is_reduction and not last.blocks:
        last = _forwarding_region([element_scalar(result.type) for result in producer.res])
    block = last.block if producer.is_reduction else body.block
    group = finish if producer.is_reduction else inputs
    terminator = block.last_op
    assert isinstance(terminator, YieldOp)
    elements = dict(zip(producer.res, terminator.values, strict=True))
    values: dict[SSAValue, SSAValue] = {}
    for operand, arg in zip(others, consumer.body.block.args, strict=True):
        if operand.value in elements:
            values[arg] = elements[operand.value]  # pyright: ignore[reportArgumentType]
            continue
        extended = AffineMap(len(producer.dims), len(symbols), operand.map.results)
        shifted = compose(extended, AffineMap.identity(len(producer.dims)), renamed)
        group.append(Operand(operand.value, with_domain(shifted, len(producer.dims), len(symbols)), operand.fill))
        # Accumulators follow the inputs of a body, but there are none where inputs are appended to a body.
        values[arg] = block.insert_arg(arg.type, len(block.args))
    kept = [terminator.values[k] for k in keep]
    terminator.detach()
    terminator.erase()
    ending: list[SSAValue] = []
    for op in consumer.body.block.ops:
        if isinstance(op, YieldOp):
            ending = [values.get(value, value) for value in op.values]
            break
        copy = op.clone(values)
        block.add_op(copy)
        values.update(zip(op.results, copy.results, strict=True))
    block.add_op(YieldOp(*kept, *ending))
    joined = StructuredOp(
        [],
        producer.dims,
        producer.parallel_count,
        [],
        body,
        [producer.element_types[k] for k in keep] + list(consumer.element_types),
        inits=producer.inits.data,
        finish=last,
    )
    set_operands(joined, inputs, finish, symbols)
    assert before.parent is not None
    before.parent.insert_op_before(joined, before)
    joined.location = fuse_locations((producer.location, consumer.location))
    replaced = [producer.res[k] for k in keep] + list(consumer.res)
    for old, new in zip(replaced, joined.res, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase_if_unused(consumer)
    erase_if_unused(producer)
    clean(joined)
    return joined


def _forwarding_region(types: Sequence[Attribute]) -> Region:
    block = Block(arg_types=types)
    block.add_op(YieldOp(*block.args))
    return Region(block)


def positions_of(affine_map: AffineMap, dims: Sequence[Dim]) -> tuple[int, ...] | None:
    """
    The dimension that each result of a map is, `None` if one is something else or two are the same.

    Index 0 stands for a dimension of extent 1, each for another one, in order.
    """
    taken = {r.position for r in affine_map.results if isinstance(r, AffineDimExpr)}
    single = iter([d for d, extent in enumerate(dims) if extent == 1 and d not in taken])
    positions: list[int] = []
    for result in affine_map.results:
        if isinstance(result, AffineDimExpr):
            positions.append(result.position)
        elif result == AffineExpr.constant(0) and (free := next(single, None)) is not None:
            positions.append(free)
        else:
            return None
    return tuple(positions) if len(set(positions)) == len(positions) else None


def reads_identically(consumer: StructuredOp, value: SSAValue) -> bool:
    """Whether every read of `value` by `consumer` is at the consumer's own index, in bounds."""
    inputs, _ = operands_of(consumer)
    return all(
        operand.fill is None and positions_of(operand.map, consumer.dims) == tuple(range(consumer.parallel_count))
        for operand in inputs
        if operand.value is value
    )
