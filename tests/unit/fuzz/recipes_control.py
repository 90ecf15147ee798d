"""Random nodes with graphs inside: `If` and `Loop`."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

from tests.unit.fuzz.builder import ALL, BOOL, I64, Builder, Skip, Tensor

MOST_DEPTH = 2


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


def _graph(g: Builder, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[Tensor]) -> onnx.GraphProto:
    results = [_info(value, value.name) for value in outputs]
    return helper.make_graph(g.nodes, name, inputs, results)


def _info(value: Tensor, name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)


def _captured(outer: Builder, *inner: Builder) -> list[Tensor]:
    """What the inner graphs read of the outer ones, initializers included."""
    known = {value.name: value for value in outer.seen()}
    read = set().union(*(graph.read for graph in inner))
    found = [value for name, value in known.items() if name in read]
    weights = outer.shared.weights
    found += [Tensor(name, weights[name], exact=True, known=True) for name in sorted(read) if name in weights]
    return found


def if_(g: Builder) -> object:
    if g.depth >= MOST_DEPTH:
        raise Skip("deep enough")
    branches = [Builder(g.shared, g, g.depth + 1) for _ in range(2)]
    first, second = branches
    _grow(first, g.integer(1, 3))
    if not first.values:
        raise Skip("an empty branch")
    outputs = [v for v in g.some(first.values, 1, 2) if isinstance(v, Tensor)]
    if g.chance(0.6):
        _grow(second, g.integer(0, 2))
    others = [_like(second, v.shape, v.dtype, exact=False) for v in outputs]
    constant = g.chance(0.1)
    flag = np.array(g.chance(0.5))
    condition = g.weight(flag) if constant else g.input(flag)
    if not constant and g.chance(0.2):
        condition = g.pick((BOOL,), rank=0, exact=True)
    node = helper.make_node(
        "If",
        [condition.name],
        [g.fresh() for _ in outputs],
        then_branch=_graph(first, "then", [], outputs),
        else_branch=_graph(second, "else", [], others),
    )
    exact = all(v.exact for v in (*outputs, *others))
    return g.add_node(node, [condition, *_without(_captured(g, first, second), condition)], exact)


def _without(values: list[Tensor], *given: Tensor) -> list[Tensor]:
    names = {value.name for value in given}
    return [value for value in values if value.name not in names]


def loop(g: Builder) -> object:
    if g.depth >= MOST_DEPTH:
        raise Skip("deep enough")
    trips = g.integer(0, 4)
    carried = [g.pick(ALL) for _ in range(g.integer(1, 2))]
    body = Builder(g.shared, g, g.depth + 1)
    number = Tensor(g.fresh("i"), np.array(0, np.int64), exact=True)
    go_on = Tensor(g.fresh("c"), np.array(True), exact=True)
    inner = [Tensor(g.fresh("b"), value.array, exact=False) for value in carried]
    body.values += [number, go_on, *inner]
    arguments = [_info(v, v.name) for v in (number, go_on, *inner)]
    _grow(body, g.integer(1, 3))
    results: list[Tensor] = []
    for value in inner:
        options = [v for v in body.values if v.shape == value.shape and v.dtype == value.dtype and v.name != value.name]
        if options and g.chance(0.8):
            results.append(options[-1])
        else:
            results.append(body.add("Identity", [value])[0])
    made = [v for v in body.values if v.name not in {a.name for a in (number, go_on, *inner)}]
    scans = [v for v in g.some(made, 0, 2) if isinstance(v, Tensor) and v.array.size < 100]
    (last,) = body.add("Identity", [go_on])
    graph = _graph(body, "body", arguments, [last, *results, *scans])
    count = g.number(trips, I64) if g.chance(0.7) else g.input(np.array(trips, np.int64))
    condition = g.number(True, BOOL) if g.chance(0.3) else None
    node = helper.make_node(
        "Loop",
        [count.name, "" if condition is None else condition.name, *(v.name for v in carried)],
        [g.fresh() for _ in (*results, *scans)],
        body=graph,
    )
    given = [count, *([] if condition is None else [condition]), *{v.name: v for v in carried}.values()]
    return g.add_node(node, [*given, *_without(_captured(g, body), *given)], exact=False)


RECIPES = {"If": if_, "Loop": loop}
