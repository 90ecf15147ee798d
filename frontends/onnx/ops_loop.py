"""
`Loop` and `Scan` become `graph.while` over the iteration number, the condition, the carried values and the outputs that
get a slice in each iteration.

Where the number of iterations is a size, such an output is a tensor that slices are written into. Otherwise it is one
that grows: its elements in a row, to which those of a slice are appended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Block, Region, SSAValue

from aicc.dialects.graph.arithmetic import AddOp, AndOp, SubOp
from aicc.dialects.graph.comparison import LtOp
from aicc.dialects.graph.control import WhileOp, YieldOp
from aicc.dialects.graph.dims import Dim, dim_prod, dims_of, sym, symbols_of, tensor_type
from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.graph.indexing import GatherOp, ScatterNdOp
from aicc.dialects.graph.interfaces import element_type_of
from aicc.dialects.graph.movement import ConcatOp, ExpandOp, ReshapeOp, TransposeOp
from aicc.frontends.onnx.context import Handler, NodeContext, Result
from aicc.frontends.onnx.loop_state import LoopState
from aicc.frontends.onnx.numbers import Numbers
from aicc.frontends.onnx.values import (
    NoValue,
    TensorList,
    Value,
    computed_value,
    constant_value,
    object_array,
    sizes_value,
)

if TYPE_CHECKING:
    from onnx import GraphProto

ImportBody = Callable[[Sequence[SSAValue]], "tuple[Value | None, list[Value]]"]
"""
Puts an iteration into the context's block, given its number, the condition and the carried values; gives the condition
to go on (None: always), the carried values and the slices.
"""


@dataclass(frozen=True)
class _Output:
    """An output that gets a slice per iteration, as it is carried."""

    initial: SSAValue
    type: object
    append: Callable[[SSAValue, SSAValue, Value], SSAValue]
    """The next state, for the state, the iteration and the slice."""
    finish: Callable[[SSAValue], SSAValue]
    """The output, from the last state."""
    symbols: Sequence[tuple[str, Dim, Dim]] = ()


@dataclass(frozen=True)
class LoopPlan:
    """What `Loop` and `Scan` have in common."""

    ctx: NodeContext
    carried: Sequence[SSAValue]
    body: ImportBody
    count: Dim | None
    """The number of iterations, if it is a size and nothing else ends the loop."""
    most: SSAValue | None
    """The number of iterations at most."""
    starts: SSAValue
    """The condition to start."""

    def run(self, reversed_slices: Sequence[bool] | None = None) -> list[SSAValue]:
        """The last carried values and the outputs with a slice per iteration; some are filled from the end."""
        ctx = self.ctx
        known = ctx.scope.symbols
        state = LoopState(
            [value.type for value in self.carried],  # pyright: ignore[reportArgumentType]
            [dims_of(value.type) for value in self.carried],
            lambda: ctx.fresh_symbol("size"),
        )
        block, condition, results = self._import(state)
        count = len(self.carried)
        slices = results[count:]
        outputs = [
            self._output(value, known, bool(reversed_slices and reversed_slices[k])) for k, value in enumerate(slices)
        ]
        accumulators = [block.insert_arg(output.type, len(block.args)) for output in outputs]  # pyright: ignore
        with ctx.into(block):
            iteration, go_on = block.args[:2]
            last = [
                ctx.emit(AddOp(iteration, ctx.scalar(1, i64))),
                go_on if condition is None else ctx.materialise(condition),
                *(ctx.materialise(value) for value in results[:count]),
            ]
            for output, accumulator, value in zip(outputs, accumulators, slices, strict=True):
                last.append(output.append(accumulator, iteration, value))
            ctx.emit_all(YieldOp(last))
        inputs = [ctx.scalar(0, i64), self.starts, *self.carried, *(output.initial for output in outputs)]
        symbols = dict.fromkeys([*state.symbols(), *(symbol for output in outputs for symbol in output.symbols)])
        loop = WhileOp(inputs, Region(self._condition(block)), Region(block), list(symbols))
        finals = ctx.emit_all(loop)[2:]
        ends = [output.finish(final) for output, final in zip(outputs, finals[count:], strict=True)]
        return [*finals[:count], *ends]

    def _import(self, state: LoopState) -> tuple[Block, Value | None, list[Value]]:
        """The body with the sizes of the state that fit what it gives."""
        ctx = self.ctx
        while True:
            block = Block(arg_types=[tensor_type([], i64), tensor_type([], i1), *state.types()])
            with ctx.into(block):
                condition, results = self.body(block.args)
                if condition is not None and condition.dims == (1,):
                    scalar = ctx.emit(ReshapeOp(ctx.materialise(condition), ()))
                    condition = Value(tensor_type([], i1), condition.name, scalar, condition.content)
            again = state.update(results[: len(self.carried)])
            if isinstance(again, str):
                ctx.fail(f"carried {again}")
            if not again:
                return block, condition, results
            ctx.scope.discard(block)

    def _condition(self, body: Block) -> Block:
        """Whether the body asked to go on and the iterations are not all done."""
        block = Block(arg_types=[argument.type for argument in body.args])
        with self.ctx.into(block):
            iteration, go_on = block.args[:2]
            if self.most is not None:
                go_on = self.ctx.emit(AndOp(go_on, self.ctx.emit(LtOp(iteration, self.most))))
            self.ctx.emit_all(YieldOp([go_on]))
        return block

    def _output(self, value: Value, known: frozenset[str], from_end: bool) -> _Output:
        """How the slices `value` are put together; `known` are the symbols that mean the same outside of the loop."""
        if self.count is not None and known.issuperset(symbols_of(value.dims)):
            return self._written(value, self.count, from_end)
        return self._appended(value, known, from_end)

    def _written(self, value: Value, count: Dim, from_end: bool) -> _Output:
        """Slices are written to their places in a tensor of zeros."""
        ctx = self.ctx
        shape = (count, *value.dims)
        initial = ctx.emit(ExpandOp(ctx.scalar(0, value.type.element_type), shape))

        def append(state: SSAValue, iteration: SSAValue, part: Value) -> SSAValue:
            place = iteration
            if from_end:
                last = sizes_value(object_array([count - 1], ()), np.dtype(np.int64), f"{ctx.name}_last")
                place = ctx.emit(SubOp(ctx.materialise(last), iteration))
            index = ctx.emit(ReshapeOp(place, (1, 1)))
            return ctx.emit(ScatterNdOp(state, index, ctx.emit(ReshapeOp(ctx.materialise(part), (1, *part.dims)))))

        return _Output(initial, initial.type, append, lambda state: state)

    def _appended(self, value: Value, known: frozenset[str], in_front: bool) -> _Output:
        """
        Elements are appended to those before, or put in front of them. Sizes that do not mean the same outside are 0
        where there is no slice.
        """
        ctx, element = self.ctx, value.type.element_type
        name = ctx.fresh_symbol("count")
        symbols: list[tuple[str, Dim, Dim]] = [(name, 0, sym(name) + 1)]
        dims: list[Dim] = list(value.dims)
        length = sym(name) * dim_prod(dims)
        told = [axis for axis, dim in enumerate(dims) if not known.issuperset(symbols_of([dim]))]
        if told:
            total = ctx.fresh_symbol("elements")
            length = sym(total)
            symbols.append((total, 0, length + dim_prod(value.dims)))
        for axis in told:
            inner = ctx.fresh_symbol("part")
            symbols.append((inner, 0, dims[axis]))
            dims[axis] = sym(inner)
        empty = ctx.constant(np.zeros(0, numpy_dtype(element)))

        def append(state: SSAValue, iteration: SSAValue, part: Value) -> SSAValue:
            del iteration
            row = ctx.emit(ReshapeOp(ctx.materialise(part), (dim_prod(part.dims),)))
            return ctx.emit(ConcatOp([row, state] if in_front else [state, row], 0))

        def finish(state: SSAValue) -> SSAValue:
            return ctx.emit(ReshapeOp(state, (sym(name), *dims)))

        return _Output(empty, tensor_type([length], element), append, finish, symbols)


def _import_graph(ctx: NodeContext, graph: GraphProto, inputs: Sequence[SSAValue]) -> list[Value]:
    arguments = [computed_value(value, formal.name) for value, formal in zip(inputs, graph.input, strict=True)]
    return ctx.tensors(ctx.scope.import_subgraph(graph, ctx.block, arguments), "output of its body")


def _is_true(value: Value) -> bool:
    return value.content is not None and value.content.dtype != object and bool(value.content.all())


def scalar_input(ctx: NodeContext, position: int) -> SSAValue:
    """An input of one element as a tensor of rank 0."""
    if isinstance(count := dim_prod(ctx.dims(position)), int) and count != 1:
        ctx.fail(f"input {position} has {count} elements, expected 1")
    return ctx.emit(ReshapeOp(ctx.ssa(position), ())) if ctx.rank(position) else ctx.ssa(position)


def _loop(ctx: NodeContext) -> Sequence[Result]:
    graph = ctx.attr_graph("body")
    _check_body(ctx, graph, inputs=max(len(ctx.inputs), 2), outputs=max(len(ctx.inputs), 2) - 1)
    if any(isinstance(value, TensorList | NoValue) for value in ctx.inputs):
        return _unrolled(ctx, graph)
    carried = [ctx.ssa(i) for i in range(2, len(ctx.inputs))]
    always = False

    def body(state: Sequence[SSAValue]) -> tuple[Value | None, list[Value]]:
        nonlocal always
        condition, *results = _import_graph(ctx, graph, state)
        always = _is_true(condition) or condition.ssa is state[1]
        return (None if always else condition), results

    starts = scalar_input(ctx, 1) if ctx.has(1) else ctx.scalar(True, i1)
    plan = LoopPlan(ctx, carried, body, None, scalar_input(ctx, 0) if ctx.has(0) else None, starts)
    if ctx.has(0) and (not ctx.has(1) or _is_true(ctx.value(1))) and _goes_on_always(ctx, graph):
        numbers = Numbers(ctx)
        trips = numbers.of(0, "trip count")
        if len(trips) != 1:
            ctx.fail(f"the trip count has {len(trips)} elements, expected 1")
        plan = LoopPlan(ctx, carried, body, numbers.size(numbers.max(trips[0], 0), "trip count"), plan.most, starts)
    return plan.run()


def _check_body(ctx: NodeContext, graph: GraphProto, *, inputs: int, outputs: int) -> None:
    """Checks that a body takes as many inputs, and gives at least as many outputs."""
    if len(graph.input) != inputs:
        ctx.fail(f"the number of inputs of its body is {len(graph.input)}, expected {inputs}")
    if len(graph.output) < outputs:
        ctx.fail(f"the number of outputs of its body is {len(graph.output)}, expected at least {outputs}")


MOST_UNROLLED = 1024
"""Iterations of a loop that are put one after the other."""


def _unrolled(ctx: NodeContext, graph: GraphProto) -> Sequence[Result]:
    """
    A loop that carries sequences: one iteration after the other, as each may have sequences of another length.
    """
    if (ctx.has(1) and not _is_true(ctx.value(1))) or not _goes_on_always(ctx, graph):
        ctx.fail("it carries sequences, and what ends it is only known at run time")
    trips = Numbers(ctx).of(0, "trip count")
    if len(trips) != 1 or not isinstance(count := trips[0], int):
        ctx.fail("it carries sequences, and the number of its iterations is only known at run time")
    if count > MOST_UNROLLED:
        ctx.fail(f"it carries sequences through {count} iterations, expected at most {MOST_UNROLLED}")
    state = [ctx.any_value(position) for position in range(2, len(ctx.inputs))]
    slices: list[list[SSAValue]] = [[] for _ in range(len(graph.output) - 1 - len(state))]
    for iteration in range(count):
        first = constant_value(np.array(iteration), f"{ctx.name}_iteration")
        going = constant_value(np.array(True), f"{ctx.name}_condition")
        _, *results = ctx.scope.import_subgraph(graph, ctx.block, [first, going, *state])
        for parts, value in zip(slices, ctx.tensors(results[len(state) :], "slice"), strict=True):
            parts.append(ctx.emit(ReshapeOp(ctx.materialise(value), (1, *value.dims))))
        state = results[: len(state)]
    if slices and not count:
        ctx.fail("it carries sequences and gives slices, but has no iterations")
    return [*state, *(ctx.emit(ConcatOp(parts, 0)) for parts in slices)]


def _goes_on_always(ctx: NodeContext, graph: GraphProto) -> bool:
    """Whether the condition that the body gives is the one it gets, or a constant that is true."""
    name = graph.output[0].name
    made = {output: node for node in graph.node for output in node.output}
    # Taken out, for nodes of a damaged model may go round in a circle.
    while name in made and made[name].op_type == "Identity" and made[name].input:
        name = made.pop(name).input[0]
    if name == graph.input[1].name:
        return True
    stored = [tensor for tensor in graph.initializer if tensor.name == name]
    if name in made and made[name].op_type == "Constant":
        stored += [attribute.t for attribute in made[name].attribute if attribute.name == "value"]
    if stored:
        return bool(ctx.scope.tensor(stored[0]).all())
    inside = name in made or name in {value.name for value in graph.input}
    found = None if inside else ctx.scope.find(name)
    return found is not None and _is_true(found)


def _scan(ctx: NodeContext) -> list[SSAValue]:
    if ctx.version < 9:
        return _scan_of_batches(ctx)
    graph, scans, states = _scan_parts(ctx, len(ctx.inputs))
    outputs = len(graph.output) - states
    axes = _per_slice(ctx, "scan_input_axes", scans)
    return _scan_along(
        ctx,
        graph,
        [ctx.ssa(position) for position in range(states)],
        [ctx.ssa(states + k) for k in range(scans)],
        [ctx.axis(axis, ctx.rank(states + k)) for k, axis in enumerate(axes)],
        _directions(ctx, "scan_input_directions", scans),
        _directions(ctx, "scan_output_directions", outputs),
        _per_slice(ctx, "scan_output_axes", outputs),
    )


def _scan_parts(ctx: NodeContext, count: int) -> tuple[GraphProto, int, int]:
    """The body of a scan, and how many of its `count` inputs are sliced and how many are states."""
    graph = ctx.attr_graph("body")
    scans = ctx.attr_int("num_scan_inputs")
    if not 1 <= scans <= count:
        ctx.fail(f"num_scan_inputs is {scans}, expected 1 to {count}")
    states = count - scans
    _check_body(ctx, graph, inputs=count, outputs=states)
    return graph, scans, states


def _per_slice(ctx: NodeContext, name: str, count: int) -> tuple[int, ...]:
    """An attribute that has a number for each of `count` inputs or outputs, by default 0."""
    found = ctx.attr_ints(name, ()) or (0,) * count
    if len(found) != count:
        ctx.fail(f"the number of entries of {name} is {len(found)}, expected {count}")
    return found


def _directions(ctx: NodeContext, name: str, count: int) -> tuple[int, ...]:
    """For each of `count` inputs or outputs, 0 for forward or 1 for backward."""
    found = _per_slice(ctx, name, count)
    if not {0, 1}.issuperset(found):
        ctx.fail(f"{name} is {list(found)}, expected 0 or 1 for each")
    return found


def _scan_along(
    ctx: NodeContext,
    graph: GraphProto,
    states: Sequence[SSAValue],
    inputs: Sequence[SSAValue],
    axes: Sequence[int],
    directions: Sequence[int],
    output_directions: Sequence[int],
    output_axes: Sequence[int],
) -> list[SSAValue]:
    """A loop over the slices of `inputs` along `axes`, of some from the last to the first."""
    count = dims_of(inputs[0].type)[axes[0]]
    numbers = Numbers(ctx)

    def body(state: Sequence[SSAValue]) -> tuple[None, list[Value]]:
        parts: list[SSAValue] = []
        for value, axis, backwards in zip(inputs, axes, directions, strict=True):
            dims = dims_of(value.type)
            if dims[axis] == 0:  # There is no slice, and no iteration either.
                zero = ctx.scalar(0, element_type_of(value))
                parts.append(ctx.emit(ExpandOp(zero, (*dims[:axis], *dims[axis + 1 :]))))
                continue
            place = numbers.tensor(numbers.sub(count - 1, state[0])) if backwards else state[0]
            parts.append(ctx.emit(GatherOp(value, place, axis)))
        return None, _import_graph(ctx, graph, [*state[2:], *parts])

    most = numbers.tensor(count)
    plan = LoopPlan(ctx, states, body, count, most, ctx.scalar(True, i1))
    results = plan.run([bool(direction) for direction in output_directions])
    for k, axis in enumerate(output_axes):
        place = len(states) + k
        rank = len(dims_of(results[place].type))
        if axis := ctx.axis(axis, rank):
            order = list(range(1, rank))
            order.insert(axis, 0)
            results[place] = ctx.emit(TransposeOp(results[place], order))
    return results


def _scan_of_batches(ctx: NodeContext) -> list[SSAValue]:
    """
    Version 8: all tensors have a batch axis in front, and each batch is a scan of its own along the axis after it, of
    as many steps as `sequence_lens` says; slices behind those are 0.
    """
    if ctx.has(0):
        ctx.fail("sequence_lens (input 0) is given; only scans over whole sequences are supported")
    graph, scans, states = _scan_parts(ctx, len(ctx.inputs) - 1)
    values = [ctx.ssa(position) for position in range(1, len(ctx.inputs))]
    directions = _directions(ctx, "directions", scans)
    batches = dims_of(values[0].type)[0]
    outputs = len(graph.output) - states

    def body(state: Sequence[SSAValue]) -> tuple[None, list[Value]]:
        parts = [ctx.emit(GatherOp(value, state[0], 0)) for value in values]
        results = _scan_along(
            ctx, graph, parts[:states], parts[states:], (0,) * scans, directions, (0,) * outputs, (0,) * outputs
        )
        return None, [computed_value(result) for result in results]

    most = Numbers(ctx).tensor(batches)
    return LoopPlan(ctx, [], body, batches, most, ctx.scalar(True, i1)).run()


HANDLERS: Mapping[str, Handler] = {"Loop": _loop, "Scan": _scan}
"""Loops by name."""
