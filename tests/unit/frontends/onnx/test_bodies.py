"""Graphs of `If`, `Loop`, `Scan` and `SequenceMap` that do not fit their node: the reason says what does not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, TypeProto, helper

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import Shape, model

TRUE = np.array(True)


def body(inputs: Sequence[str], outputs: Sequence[str], nodes: Sequence[NodeProto] = ()) -> GraphProto:
    taken, given = ([helper.make_value_info(name, TypeProto()) for name in names] for names in (inputs, outputs))
    return helper.make_graph(list(nodes), "inner", taken, given)


def scan(inputs: Sequence[str] = ("s", "x"), outputs: Sequence[str] = ("s", "x"), **attributes: Any) -> NodeProto:
    attributes = {"num_scan_inputs": 1, **attributes}
    return helper.make_node("Scan", ["a", "b"], ["y", "z"], "node", body=body(inputs, outputs), **attributes)


def conditional(then: GraphProto, other: GraphProto, condition: str = "c") -> NodeProto:
    return helper.make_node("If", [condition], ["y"], "node", then_branch=then, else_branch=other)


def loop(inputs: Sequence[str], outputs: Sequence[str], carried: str = "a") -> NodeProto:
    return helper.make_node("Loop", ["", "true", carried], ["y"], "node", body=body(inputs, outputs))


GOOD = body([], ["a"])

CASES = [
    (scan(num_scan_inputs=5), "num_scan_inputs is 5, expected 1 to 2"),
    (scan(num_scan_inputs=0), "num_scan_inputs is 0, expected 1 to 2"),
    (scan(num_scan_inputs=-1), "num_scan_inputs is -1, expected 1 to 2"),
    (scan(inputs=["s"], outputs=["s"]), "the number of inputs of its body is 1, expected 2"),
    (scan(outputs=[]), "the number of outputs of its body is 0, expected at least 1"),
    (scan(scan_input_directions=[2]), "scan_input_directions is [2], expected 0 or 1 for each"),
    (scan(scan_output_directions=[-1]), "scan_output_directions is [-1], expected 0 or 1 for each"),
    (scan(scan_input_axes=[0, 0]), "the number of entries of scan_input_axes is 2, expected 1"),
    (scan(scan_output_axes=[0, 0]), "the number of entries of scan_output_axes is 2, expected 1"),
    (scan(scan_input_axes=[3]), "axis 3"),
    (conditional(GOOD, body([], [])), "the number of outputs of its else branch is 0, expected 1"),
    (conditional(body([], []), GOOD, "true"), "the number of outputs of its then branch is 0, expected 1"),
    (conditional(body(["p"], ["p"]), GOOD), "the number of inputs of its graph 'inner' is 1, expected 0"),
    (loop(["i", "c", "s", "t"], ["c", "s"]), "the number of inputs of its body is 4, expected 3"),
    (loop(["i", "c", "s"], ["c"]), "the number of outputs of its body is 1, expected at least 2"),
    (loop(["i"], [], "q"), "the number of inputs of its body is 1, expected 3"),
    (
        helper.make_node("SequenceMap", ["q"], ["y"], "node", body=body([], ["a"])),
        "its body has 0 inputs, expected 1",
    ),
]


@pytest.mark.parametrize(("node", "reason"), CASES, ids=[f"{node.op_type}: {reason}" for node, reason in CASES])
def test_a_body_that_does_not_fit(node: NodeProto, reason: str):
    sequence = helper.make_node("SequenceConstruct", ["a"], ["q"])
    inputs: Mapping[str, tuple[type, Shape]] = {"a": (np.float32, [2]), "b": (np.float32, [3, 2]), "c": (np.bool_, [])}
    with pytest.raises(ModelError) as caught:
        import_onnx(model([sequence, node], inputs, ["y"], 18, {"true": TRUE}))
    assert reason in str(caught.value) and "node 'node'" in str(caught.value)
    assert "internal fault" not in str(caught.value)


@pytest.mark.parametrize("count", [1, 2])
def test_a_condition_that_only_follows_itself(count: int):
    nodes = [helper.make_node("Identity", [f"t{(k + 1) % count}"], [f"t{k}"], f"n{k}") for k in range(count)]
    inner = body(["i", "c", "s"], ["t0", "s"], nodes)
    node = helper.make_node("Loop", ["n", "true", "a"], ["y"], "node", body=inner)
    inputs: dict[str, tuple[Any, Shape]] = {"a": (np.float32, [2]), "n": (np.int64, [])}
    with pytest.raises(ModelError, match="nodes depend on each other in a cycle: 'n0'"):
        import_onnx(model([node], inputs, ["y"], weights={"true": TRUE}))


def test_a_condition_made_of_nothing():
    inner = body(["i", "c", "s"], ["t", "s"], [helper.make_node("Identity", [], ["t"], "n")])
    node = helper.make_node("Loop", ["n", "true", "a"], ["y"], "node", body=inner)
    inputs: dict[str, tuple[Any, Shape]] = {"a": (np.float32, [2]), "n": (np.int64, [])}
    with pytest.raises(ModelError, match=r"node 'n' .*: input 0 \('input'\) is missing"):
        import_onnx(model([node], inputs, ["y"], weights={"true": TRUE}))
