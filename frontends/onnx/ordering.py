"""Order of the nodes of a graph: each after those that make what it reads, also through its subgraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aicc.frontends.errors import ModelError

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto


def node_name(node: NodeProto) -> str:
    """What errors and locations call a node: its name, or its first result's."""
    return node.name or next((name for name in node.output if name), "") or node.op_type


def sorted_nodes(graph: GraphProto) -> list[NodeProto]:
    """
    The nodes in an order that can be executed; as they are stored wherever that is one.

    Raises:
        ModelError: if two nodes define one value, or nodes depend on each other in a cycle.
    """
    nodes = list(graph.node)
    producer: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in filter(None, node.output):
            if name in producer:
                raise ModelError(
                    f"'{name}' is the result of two nodes, '{node_name(nodes[producer[name]])}' and '{node_name(node)}'"
                )
            producer[name] = i
    needs = [sorted({producer[name] for name in used_names(node) if name in producer}) for node in nodes]
    if all(not needed or needed[-1] < i for i, needed in enumerate(needs)):
        return nodes
    return [nodes[i] for i in _sort(needs, nodes)]


def _sort(needs: Sequence[Sequence[int]], nodes: Sequence[NodeProto]) -> list[int]:
    """Depth-first, with a stack of our own: chains may be very long."""
    order: list[int] = []
    state = [0] * len(needs)  # 0 new, 1 being visited, 2 done
    for root in range(len(needs)):
        stack: list[tuple[int, Iterator[int]]] = []
        if not state[root]:
            state[root] = 1
            stack.append((root, iter(needs[root])))
        while stack:
            i, rest = stack[-1]
            for j in rest:
                if state[j] == 1:
                    path = [k for k, _ in stack]
                    names = [node_name(nodes[k]) for k in path[path.index(j) :]]
                    shown = ", ".join(f"'{name}'" for name in names[:8]) + (", ..." if len(names) > 8 else "")
                    raise ModelError(f"nodes depend on each other in a cycle: {shown}")
                if not state[j]:
                    state[j] = 1
                    stack.append((j, iter(needs[j])))
                    break
            else:
                state[i] = 2
                order.append(i)
                stack.pop()
    return order


def used_names(node: NodeProto) -> set[str]:
    """Names of the values a node reads, including what its subgraphs read from outside."""
    names = {name for name in node.input if name}
    for attribute in node.attribute:
        for graph in subgraphs(attribute):
            names |= _names_from_outside(graph)
    return names


def _names_from_outside(graph: GraphProto) -> set[str]:
    """
    Names that a subgraph reads and does not define.

    The standard wants names unique over all nested graphs, yet exporters give a branch's result the name of the `If`
    itself. The recursion is as deep as graphs are nested, which protobuf limits to 100.
    """
    names = {value.name for value in graph.output}
    for inner in graph.node:
        names |= used_names(inner)
    own = {name for inner in graph.node for name in inner.output}
    return names - own - {value.name for value in (*graph.input, *graph.initializer)}


def subgraphs(attribute: AttributeProto) -> list[GraphProto]:
    """The graphs that an attribute holds."""
    graphs = list(attribute.graphs)
    if attribute.HasField("g"):
        graphs.append(attribute.g)
    return graphs
