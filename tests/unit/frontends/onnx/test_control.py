"""`If` with a constant condition, and with one from data."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from aicc.dialects.graph.evaluator import EvaluationError
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import function, model, run, run_module

X = np.array([1.0, -2.0], np.float32)


def branch(name, op, output, weights=()):
    """A graph without inputs that reads `x` (or a weight) from around it."""
    node = helper.make_node(op, ["x", *[w.name for w in weights]], [output])
    info = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph([node], name, [], [info], list(weights))


def conditional(condition="c"):
    weight = numpy_helper.from_array(np.float32([10, 20]), "w")
    return helper.make_node(
        "If",
        [condition],
        ["y"],
        then_branch=branch("then", "Neg", "t"),
        else_branch=branch("else", "Add", "e", [weight]),
    )


@pytest.mark.parametrize("shape", [(), (1,)])
def test_condition_from_data(shape):
    proto = model([conditional()], {"x": (np.float32, [2]), "c": (np.bool_, shape)}, ["y"])
    for value, expected in ((True, -X), (False, np.add(X, [10, 20]))):
        (result,) = run(proto, {"x": X, "c": np.full(shape, value)})
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("value", [True, False])
def test_constant_condition_leaves_one_branch(value):
    proto = model([conditional()], {"x": (np.float32, [2])}, ["y"], weights={"c": np.array(value)})
    module = import_onnx(proto)
    assert "graph.if" not in [op.name for op in function(module).body.block.ops]
    (result,) = run_module(module, {"x": X})
    np.testing.assert_array_equal(result, -X if value else np.add(X, [10, 20]))


def test_condition_on_a_rank_is_decided_at_import():
    """As `squeeze` is exported: the branch that does not fit the shape is never looked at."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Equal", ["n", "two"], ["c"]),
        conditional(),
    ]
    weights = {"zero": np.array(0), "two": np.array(2)}
    (result,) = run(model(nodes, {"x": (np.float32, [2])}, ["y"], weights=weights), {"x": X})
    np.testing.assert_array_equal(result, -X)


def test_problems_inside_branches_are_listed():
    bad = helper.make_graph(
        [helper.make_node("Frob", ["x"], ["t"], "inner")],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=bad, else_branch=branch("else", "Neg", "e"))
    proto = model([node], {"x": (np.float32, [2]), "c": (np.bool_, [])}, ["y"])
    with pytest.raises(ModelError, match=r"node 'inner' \(Frob, opset 17\): the operator is not supported"):
        import_onnx(proto)


def test_branches_of_different_shapes():
    wide = helper.make_graph(
        [helper.make_node("Concat", ["x", "x"], ["t"], axis=0)],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )
    choice = helper.make_node("If", ["c"], ["y"], "choice", then_branch=wide, else_branch=branch("else", "Neg", "e"))
    proto = model([choice, helper.make_node("Abs", ["y"], ["z"])], {"x": (np.float32, [2]), "c": (np.bool_, [])}, ["z"])
    for value, expected in ((True, [1, 2, 1, 2]), (False, [1, 2])):
        (result,) = run(proto, {"x": X, "c": np.array(value)})
        assert result.tolist() == expected


def test_of_branches_of_different_ranks_one_can_be_taken():
    flat = helper.make_graph(
        [helper.make_node("ReduceSum", ["x"], ["t"], keepdims=0)],
        "then",
        [],
        [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)],
    )
    choice = helper.make_node("If", ["c"], ["y"], "choice", then_branch=flat, else_branch=branch("else", "Neg", "e"))
    proto = model([choice], {"x": (np.float32, [2]), "c": (np.bool_, [])}, ["y"])
    (result,) = run(proto, {"x": X, "c": np.array(True)})
    assert result == X.sum()
    with pytest.raises(EvaluationError, match=r"node 'choice' gives tensors of ranks \[0\] in its then branch"):
        run(proto, {"x": X, "c": np.array(False)})
