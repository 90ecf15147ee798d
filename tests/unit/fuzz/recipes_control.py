"""Random nodes with graphs inside: `If`, `Loop` and `Scan`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper

from tests.unit.fuzz.builder import ALL, BOOL, I64, Builder, Skip, Tensor

MOST_DEPTH = 3
LARGE = 100
"""Elements from which on slices are not kept."""


def _grow(g: Builder, count: int) -> None:
    from tests.unit.fuzz.generator import step

    for _ in range(count):
        step(g)


def _like(g: Builder, shape: tuple[int, ...], dtype: np.dtype, exact: bool) -> Tensor:
    """A result of a node of `g` with this shape and dtype."""
    options = [v for v in g.values if v.shape == shape and v.dtype == dtype and (v.exact or not exact)]
    if options:
        chosen = g.choose(options)
        assert isinstance(chosen, Tensor)
        return chosen
    (made,) = g.add("Identity", [g.matching(shape, dtype, exact)])
    if made.shape != shape:
        raise Skip("another shape")
    return made


def _of_rank(g: Builder, like: Tensor) -> Tensor:
    """A result of a node of `g` with this rank and dtype, of any size."""
    options = [v for v in g.values if v.rank == like.rank and v.dtype == like.dtype]
    if options and g.chance(0.6):
        chosen = g.choose(options)
        assert isinstance(chosen, Tensor)
        return chosen
    return g.add("Identity", [g.pick([like.dtype], rank=like.rank)])[0]


def _graph(g: Builder, name: str, inputs: list[onnx.ValueInfoProto], outputs: Sequence[Tensor]) -> onnx.GraphProto:
    return helper.make_graph(g.nodes, name, inputs, [_info(value) for value in outputs])


def _info(value: Tensor, fixed: bool = False) -> onnx.ValueInfoProto:
    shape = value.shape if fixed else [None] * value.rank
    return helper.make_tensor_value_info(value.name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)


def _captured(outer: Builder, *inner: Builder) -> list[Tensor]:
    """What the inner graphs read of the outer ones, initializers included."""
    known = {value.name: value for value in outer.seen()}
    read = set().union(*(graph.read for graph in inner))
    found = [value for name, value in known.items() if name in read]
    weights = outer.shared.weights
    found += [Tensor(name, weights[name], exact=True, known=True) for name in sorted(read) if name in weights]
    return found


def _told(g: Builder, value: bool | int, others: Sequence[bool | int]) -> Tensor:
    """An input of the model that decides the way, to be tried with other values, too."""
    dtype = BOOL if isinstance(value, bool) else I64
    tensor = g.input(np.array(value, dtype))
    g.shared.controls[tensor.name] = [np.array(other, dtype) for other in others]
    return tensor


def if_(g: Builder) -> object:
    if g.depth >= MOST_DEPTH:
        raise Skip("deep enough")
    first, second = (Builder(g.shared, g, g.depth + 1) for _ in range(2))
    _grow(first, g.integer(1, 3))
    if not first.values:
        raise Skip("an empty branch")
    outputs = [v for v in g.some(first.values, 1, 2) if isinstance(v, Tensor)]
    if g.chance(0.6):
        _grow(second, g.integer(0, 2))
    unlike = g.chance(0.5)
    others = _distinct(
        second, [_of_rank(second, v) if unlike else _like(second, v.shape, v.dtype, exact=False) for v in outputs]
    )
    value = g.chance(0.5)
    condition = g.number(value, BOOL) if g.chance(0.1) else _told(g, value, [not value])
    if not condition.known and g.chance(0.3):
        condition = g.pick((BOOL,), rank=0, exact=True)
    node = helper.make_node(
        "If",
        [condition.name],
        [g.fresh() for _ in outputs],
        then_branch=_graph(first, "then", [], outputs),
        else_branch=_graph(second, "else", [], others),
    )
    exact = all(v.exact for v in (*outputs, *others))
    return g.add_node(node, [condition, *_without(_captured(g, first, second), [condition])], exact)


def _distinct(body: Builder, values: Sequence[Tensor]) -> list[Tensor]:
    """The values, each once: onnxruntime mixes up those that a graph gives twice."""
    found: list[Tensor] = []
    for value in values:
        found.append(body.add("Identity", [value])[0] if value in found else value)
    return found


def _without(values: Sequence[Tensor], given: Sequence[Tensor]) -> list[Tensor]:
    names = {value.name for value in given}
    return [value for value in values if value.name not in names]


def _arguments(g: Builder, values: Sequence[Tensor]) -> list[Tensor]:
    """Values of a body that stand for `values`; exact as these, which holds if what the body gives for them is."""
    return [Tensor(g.fresh("b"), value.array, exact=value.exact) for value in values]


def _following(body: Builder, value: Tensor, resize: bool) -> Tensor:
    """What the body gives for a carried value: of its shape, or of another with `resize`."""
    exact = value.exact
    if resize and value.rank:
        axis = body.integer(0, value.rank - 1)
        kind = body.integer(0, 3)
        if kind <= 1:
            shape = list(value.shape)
            shape[axis] = body.integer(0, 2)
            more = [body.new(shape, value.dtype)] if body.chance(0.6) else [value]
            parts = [value, *more] if kind or body.chance(0.7) else [*more, value]
            return body.add("Concat", parts, axis=axis)[0]
        if kind == 2 and body.opset >= 10:
            bounds = [body.integers([n]) for n in (body.integer(0, 1), body.integer(-1, 9), axis)]
            return body.add("Slice", [value, *bounds])[0]
        options = [v for v in body.values if v.rank == value.rank and v.dtype == value.dtype and v.exact >= exact]
        if options:
            return _made(body, options[-1])
    options = [
        v
        for v in body.values
        if v.shape == value.shape and v.dtype == value.dtype and v.name != value.name and v.exact >= exact
    ]
    return _made(body, options[-1] if options and body.chance(0.8) else value)


def _made(body: Builder, value: Tensor) -> Tensor:
    """`value` as the result of a node: onnxruntime mixes up arguments that a body gives back as they are."""
    results = {name for node in body.nodes for name in node.output}
    return value if value.name in results else body.add("Identity", [value])[0]


def _goes_on(body: Builder, number: Tensor, go_on: Tensor) -> Tensor:
    """The condition that a body gives."""
    kind = body.integer(0, 9)
    if kind < 4:
        return body.add("Identity", [go_on])[0]
    if kind < 5:
        return body.add("Identity", [body.number(body.chance(0.7), BOOL)])[0]
    limit = body.number(body.integer(0, 3), I64) if kind < 7 else _told(body, body.integer(0, 3), [0, 5])
    if kind == 9:
        flags = [v for v in body.values if v.dtype == BOOL and v.rank == 0 and v.exact and v is not go_on]
        if flags:
            return body.add("Identity", [flags[-1]])[0]
    (less,) = body.add("Less", [number, limit])
    return body.add("And", [go_on, less])[0] if body.chance(0.4) else less


def loop(g: Builder) -> object:
    if g.depth >= MOST_DEPTH:
        raise Skip("deep enough")
    trips = g.integer(0, 4)
    carried = [g.pick(ALL) for _ in range(g.integer(0, 3))]
    body = Builder(g.shared, g, g.depth + 1)
    number = Tensor(g.fresh("i"), np.array(0, np.int64), exact=True)
    go_on = Tensor(g.fresh("c"), np.array(True), exact=True)
    inner = _arguments(g, carried)
    arguments = [number, go_on, *inner]
    body.values += arguments
    _grow(body, g.integer(1, 3))
    resize = g.chance(0.4)
    results = _distinct(body, [_following(body, value, resize and g.chance(0.6)) for value in inner])
    if any(value.exact and not result.exact for value, result in zip(inner, results, strict=True)):
        raise Skip("an iteration rounds what the next one takes for exact")
    made = _without(body.values, [*arguments, *results])
    scans = [v for v in g.some(made, 0 if carried else 1, 2) if isinstance(v, Tensor) and v.array.size < LARGE]
    if not carried and not scans:
        raise Skip("no results")
    last = _goes_on(body, number, go_on)
    graph = _graph(body, "body", [_info(v) for v in arguments], [last, *results, *scans])
    endless = g.chance(0.15)
    count = None if endless else g.number(trips, I64) if g.chance(0.4) else _told(g, trips, [0, 1, trips + 3])
    condition = g.number(True, BOOL) if g.chance(0.3) else None
    if g.chance(0.2):
        condition = _told(g, g.chance(0.8), [True, False])
    outputs = [g.fresh() for _ in (*results, *scans)]
    first = ["" if value is None else value.name for value in (count, condition)]
    node = helper.make_node("Loop", [*first, *(v.name for v in carried)], outputs, body=graph)
    given = list({v.name: v for v in (count, condition, *carried) if v is not None}.values())
    if endless and node.attribute[0].g.output[0].name == last.name and not _ends(body, last):
        raise Skip("it may not end")
    exact = all(v.exact for v in (*results, *scans))
    return g.add_node(node, [*given, *_without(_captured(g, body), given)], exact)


def _ends(body: Builder, last: Tensor) -> bool:
    """Whether the condition compares the number of the iteration with a limit."""
    made = {name: node for node in body.nodes for name in node.output}
    node = made[last.name]
    return node.op_type == "Less" or any(made[name].op_type == "Less" for name in node.input if name in made)


def scan(g: Builder) -> object:
    if g.depth >= MOST_DEPTH or g.opset < 9:
        raise Skip("deep enough, or another operator")
    states = [g.pick(ALL) for _ in range(g.integer(0, 2))]
    source = g.pick(least_rank=1)
    axes = [g.integer(0, source.rank - 1)]
    length = source.shape[axes[0]]
    sources = [source]
    if g.chance(0.5):
        shape = g.shape(g.integer(0, 2))
        axes.append(g.integer(0, len(shape)))
        sources.append(g.matching([*shape[: axes[1]], length, *shape[axes[1] :]], g.choose(ALL)))  # type: ignore[arg-type]
    body = Builder(g.shared, g, g.depth + 1)
    inner = _arguments(g, states)
    slices = [
        Tensor(
            g.fresh("s"),
            np.take(v.array, 0, axis) if length else np.zeros(v.shape[:axis] + v.shape[axis + 1 :], v.dtype),
            v.exact,
        )
        for v, axis in zip(sources, axes, strict=True)
    ]
    arguments = [*inner, *slices]
    body.values += arguments
    _grow(body, g.integer(1, 3))
    results = _distinct(body, [_following(body, value, False) for value in inner])
    if any(value.exact and not result.exact for value, result in zip(inner, results, strict=True)):
        raise Skip("a step rounds what the next one takes for exact")
    made = _without(body.values, [*arguments, *results])
    scans = [v for v in g.some(made, 0 if states else 1, 2) if isinstance(v, Tensor) and v.array.size < LARGE]
    if not results and not scans:
        raise Skip("no results")
    attributes: dict[str, object] = {"num_scan_inputs": len(sources)}
    if any(axes) or g.chance(0.3):
        attributes["scan_input_axes"] = [
            axis - v.rank if g.opset >= 11 and g.chance(0.3) else axis for axis, v in zip(axes, sources, strict=True)
        ]
    if g.chance(0.5):
        attributes["scan_input_directions"] = [g.integer(0, 1) for _ in sources]
    if scans and g.chance(0.4):
        attributes["scan_output_axes"] = [g.integer(0, v.rank) for v in scans]
    if scans and g.chance(0.4):
        attributes["scan_output_directions"] = [g.integer(0, 1) for _ in scans]
    graph = _graph(body, "body", [_info(v) for v in arguments], [*results, *scans])
    outputs = [g.fresh() for _ in (*results, *scans)]
    given = [*states, *sources]
    node = helper.make_node("Scan", [v.name for v in given], outputs, body=graph, **attributes)
    given = list({v.name: v for v in given}.values())
    exact = all(v.exact for v in (*results, *scans))
    return g.add_node(node, [*given, *_without(_captured(g, body), given)], exact)


RECIPES = {"If": if_, "Loop": loop, "Scan": scan}
