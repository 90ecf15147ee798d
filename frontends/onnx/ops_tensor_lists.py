"""
Sequences and optionals.

Which tensors a sequence holds, and whether an optional has an element, must be known when the model is imported: then
they cost nothing when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue

from aicc.dialects.graph.dims import Dim, ceildiv, dims_of, provably_equal, shape_text
from aicc.dialects.graph.indexing import GatherOp
from aicc.dialects.graph.movement import ConcatOp, ReshapeOp, SliceOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.formulas import Formula
from aicc.frontends.onnx.numbers import Numbers
from aicc.frontends.onnx.values import AnyValue, NoValue, TensorList, Value, computed_value, constant_value

MOST_PARTS = 1 << 16
"""Tensors that a tensor is split into."""


def _construct(ctx: NodeContext) -> TensorList:
    return TensorList(tuple(ctx.value(i) for i in range(len(ctx.inputs))))


def _empty(ctx: NodeContext) -> TensorList:
    del ctx
    return TensorList(())


def _position(ctx: NodeContext, position: int, count: int, *, past_end: bool = False) -> int:
    """A place in a sequence of `count` tensors; negative ones count from the end."""
    ctx.expect_one(position, "position")
    (place,) = ctx.numbers(position, "position")
    if not -count <= place < count + past_end:
        ctx.fail(f"position {place} is out of range for {count} tensors")
    return place + count if place < 0 else place


def _insert(ctx: NodeContext) -> TensorList:
    items = ctx.tensor_list(0).items
    place = _position(ctx, 2, len(items), past_end=True) if ctx.has(2) else len(items)
    return TensorList((*items[:place], ctx.value(1), *items[place:]))


def _erase(ctx: NodeContext) -> TensorList:
    items = ctx.tensor_list(0).items
    if not items:
        ctx.fail("the sequence has no tensors")
    place = _position(ctx, 1, len(items)) if ctx.has(1) else len(items) - 1
    return TensorList((*items[:place], *items[place + 1 :]))


def _at(ctx: NodeContext) -> Result:
    """By a position that only a run tells, of tensors of one shape: a part of all of them in one."""
    items = ctx.tensor_list(0).items
    if ctx.is_known(1):
        return items[_position(ctx, 1, len(items))]
    if not items or any(item.type != items[0].type for item in items):
        shapes = ", ".join(shape_text(item.dims) for item in items) or "none"
        ctx.fail(f"position (input 1) is computed at run time, and the tensors are of unlike shapes ({shapes})")
    numbers, f = Numbers(ctx), Formula(ctx)
    ctx.expect_one(1, "position")
    (place,) = numbers.of(1, "position")
    index = ctx.defined_size(numbers.tensor(numbers.from_end(place, len(items))), "position", len(items) - 1)
    return ctx.emit(GatherOp(_joined(ctx, items, 0, new_axis=True), f.size(index, i64), 0))


def _length(ctx: NodeContext) -> Value:
    return constant_value(np.array(len(ctx.tensor_list(0).items), np.int64), ctx.node.output[0])


def _joined(ctx: NodeContext, items: Sequence[Value], axis: int, *, new_axis: bool) -> SSAValue:
    parts = [ctx.materialise(item) for item in items]
    if new_axis:
        parts = [ctx.emit(ReshapeOp(x, (*dims_of(x.type)[:axis], 1, *dims_of(x.type)[axis:]))) for x in parts]
    return ctx.emit(ConcatOp(parts, axis))


def _concat(ctx: NodeContext) -> SSAValue:
    items, new_axis = ctx.tensor_list(0).items, bool(ctx.attr_int("new_axis", 0))
    if not items:
        ctx.fail("the sequence has no tensors")
    axis = ctx.axis(ctx.attr_int("axis"), len(items[0].dims) + new_axis)
    return _joined(ctx, items, axis, new_axis=new_axis)


def _split(ctx: NodeContext) -> TensorList:
    """Into parts of one size (the last may be smaller), of given sizes, or of size 1, whose axis may be dropped."""
    x, dims = ctx.ssa(0), ctx.dims(0)
    axis = ctx.axis(ctx.attr_int("axis", 0), len(dims))
    keep = True
    if not ctx.has(1):
        keep = bool(ctx.attr_int("keepdims", 1))
        lengths = _equal_parts(ctx, dims[axis], 1, axis)
    elif ctx.rank(1) == 0:
        lengths = _equal_parts(ctx, dims[axis], ctx.size(1, "split"), axis)
    else:
        lengths = ctx.sizes(1, "split", most=MOST_PARTS)
    parts: list[Value] = []
    first: Dim = 0
    for length in lengths:
        start, sizes = [0 if i != axis else first for i in range(len(dims))], list(dims)
        sizes[axis] = length
        part = ctx.emit(SliceOp(x, start, sizes))
        parts.append(computed_value(part if keep else ctx.emit(ReshapeOp(part, (*dims[:axis], *dims[axis + 1 :])))))
        first = first + length
    if not provably_equal(first, dims[axis]):
        if isinstance(first, int) and isinstance(dims[axis], int):
            ctx.fail(f"split (input 1) adds up to {first}, expected the size {dims[axis]} of axis {axis}")
        text = f"node '{ctx.name}': split adds up to {first}, and axis {axis} has size {dims[axis]}"
        ctx.check_sizes(first, dims[axis], text)
    return TensorList(tuple(parts))


def _equal_parts(ctx: NodeContext, size: Dim, length: Dim, axis: int) -> list[Dim]:
    if length == 0:
        ctx.fail("split (input 1) is 0")
    if not isinstance(size, int) or not isinstance(length, int):
        ctx.fail(f"the number of parts of axis {axis} of size {size} is only known at run time")
    count = ceildiv(size, length)
    assert isinstance(count, int)
    if count > MOST_PARTS:
        ctx.fail(f"it makes {count} tensors, expected at most {MOST_PARTS}")
    return [min(length, size - i * length) for i in range(count)]


def _map(ctx: NodeContext) -> list[Result]:
    """A graph applied to each element, with those of further sequences in the same place, and with tensors as such."""
    graph, count = ctx.attr_graph("body"), len(ctx.tensor_list(0).items)
    given = [ctx.any_value(i) for i in range(len(ctx.inputs))]
    if len(graph.input) != len(given):
        ctx.fail(f"its body has {len(graph.input)} inputs, expected {len(given)}")
    for i, value in enumerate(given):
        if isinstance(value, TensorList) and len(value.items) != count:
            ctx.fail(f"input {i} has {len(value.items)} tensors, expected {count} as input 0")
    results: list[list[Value]] = [[] for _ in graph.output]
    for place in range(count):
        arguments = [value.items[place] if isinstance(value, TensorList) else value for value in given]
        made = ctx.scope.import_subgraph(graph, ctx.block, arguments)
        for items, value in zip(results, ctx.tensors(made, "output of its body"), strict=True):
            items.append(value)
    return [TensorList(tuple(items)) for items in results]


def _optional(ctx: NodeContext) -> AnyValue:
    return ctx.any_value(0) if ctx.has(0) else NoValue()


def _has_element(ctx: NodeContext) -> Value:
    there = ctx.has(0) and not isinstance(ctx.any_value(0), NoValue)
    return constant_value(np.array(there), ctx.node.output[0])


def _get_element(ctx: NodeContext) -> AnyValue:
    value = ctx.any_value(0)
    if isinstance(value, NoValue):
        ctx.fail("the optional has no element")
    return value


HANDLERS: Mapping[str, Handler] = {
    "ConcatFromSequence": _concat,
    "Optional": _optional,
    "OptionalGetElement": _get_element,
    "OptionalHasElement": _has_element,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SequenceMap": _map,
    "SplitToSequence": _split,
}
