"""Branches that give their results the names of values outside, and sizes that no memory can hold."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

import aicc
from aicc.frontends.errors import ModelError


def _branch(node: NodeProto) -> GraphProto:
    return helper.make_graph([node], "branch", [], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])])


def _compiled(
    nodes: list[NodeProto], inputs: dict[str, tuple[int, list[int]]], **constants: int | list[int]
) -> aicc.Model:
    graph = helper.make_graph(
        nodes,
        "main",
        [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return aicc.compile(model, opt_level=0, cache=False)


def test_a_branch_may_call_its_result_what_the_if_does():
    neg, relu = _branch(helper.make_node("Neg", ["x"], ["y"])), _branch(helper.make_node("Relu", ["x"], ["y"]))
    inner = _branch(helper.make_node("If", ["c"], ["y"], then_branch=neg, else_branch=relu))
    node = helper.make_node("If", ["d"], ["y"], then_branch=inner, else_branch=relu)
    inputs = {name: (TensorProto.BOOL, list[int]()) for name in "cd"} | {"x": (TensorProto.FLOAT, [3])}
    model = _compiled([node], inputs)
    x = np.array([-1, 0, 2], np.float32)
    for c in (False, True):
        for d in (False, True):
            found = model.run({"c": np.array(c), "d": np.array(d), "x": x})["y"]
            np.testing.assert_array_equal(found, -x if c and d else np.maximum(x, 0))


def test_sizes_that_cannot_be_addressed():
    with pytest.raises(ModelError, match=r"'y' \(ConstantOfShape, opset 17\): shape .* has more than 2\*\*60 elements"):
        _compiled([helper.make_node("ConstantOfShape", ["s"], ["y"])], {}, s=[2**40, 2**40])
    nodes = [helper.make_node("Range", ["a", "b", "c"], ["r"]), helper.make_node("Cast", ["r"], ["y"], to=1)]
    with pytest.raises(ModelError, match=r"'r' \(Range, opset 17\): shape .* has more than 2\*\*60 elements"):
        _compiled(nodes, {}, a=0, b=2**62, c=1)
