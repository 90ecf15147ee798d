"""A model's own functions, put in place of the nodes that call them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from aicc.frontends.errors import ModelError

if TYPE_CHECKING:
    from onnx import FunctionProto, ModelProto, NodeProto

MOST_NODES = 1_000_000
"""Nodes of a model with all calls replaced: functions that call each other twice double with every level."""

_Key: TypeAlias = tuple[str, str, str]


def inlined(proto: ModelProto) -> ModelProto:
    """
    The model without functions of its own.

    Raises:
        ModelError: for functions that call themselves, calls that do not fit, or too many nodes.
    """
    if not proto.functions:
        return proto
    functions = {(_domain(f.domain), f.name, f.overload): f for f in proto.functions}
    counts = _node_counts(functions)
    total = 0
    for node in _all_nodes(proto.graph.node):
        function = functions.get(_key(node))
        if function is not None:
            _check_call(node, function)
        total += counts.get(_key(node), 1)
    if total > MOST_NODES:
        raise ModelError(
            f"the model has {total} nodes once its functions are put in place, expected at most {MOST_NODES}"
        )
    from onnx.checker import ValidationError
    from onnx.inliner import inline_local_functions

    try:
        return inline_local_functions(proto)
    except (RuntimeError, ValidationError) as error:
        raise ModelError(f"the model's functions cannot be put in place: {str(error).partition(chr(10))[0]}") from error


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _key(node: NodeProto) -> _Key:
    return _domain(node.domain), node.op_type, node.overload


def _all_nodes(nodes: Sequence[NodeProto]) -> Iterator[NodeProto]:
    """`nodes` and those in their subgraphs."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        for attribute in node.attribute:
            for graph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                pending += graph.node


def _check_call(node: NodeProto, function: FunctionProto) -> None:
    counts = (("inputs", node.input, function.input), ("outputs", node.output, function.output))
    for what, found, most in counts:
        if len(found) > len(most):
            name = node.name or next(iter(node.output), "") or node.op_type
            text = f"node '{name}' has {len(found)} {what}, expected at most {len(most)} for function"
            raise ModelError(f"{text} {function.domain}::{function.name}")


def _node_counts(functions: dict[_Key, FunctionProto]) -> dict[_Key, int]:
    """
    Of each function, the nodes that a call of it becomes.

    Raises:
        ModelError: if functions call each other in a cycle.
    """
    counts: dict[_Key, int] = {}
    callees = {key: list(_all_nodes(function.node)) for key, function in functions.items()}
    for root in functions:
        stack = [root] if root not in counts else []
        open_calls: dict[_Key, None] = {}
        while stack:
            key = stack[-1]
            if key in counts:
                stack.pop()
                continue
            open_calls[key] = None
            waiting = [_key(node) for node in callees[key] if _key(node) in functions and _key(node) not in counts]
            for callee in waiting:
                if callee in open_calls:
                    names = ", ".join(f"{domain}::{name}" for domain, name, _ in open_calls)
                    raise ModelError(f"the model's functions call each other in a cycle: {names}")
            if waiting:
                stack.append(waiting[0])
                continue
            for node in callees[key]:
                if (callee := functions.get(_key(node))) is not None:
                    _check_call(node, callee)
            counts[key] = sum(counts.get(_key(node), 1) for node in callees[key])
            del open_calls[key]
            stack.pop()
    return counts
