"""Shapes of graphs and names that real models have, and errors that name all that is wrong."""

import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects.builtin import NameLoc

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import function, model, run

X = np.array([1.0, -2.0], np.float32)
INPUT = {"x": (np.float32, [2])}


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name, **attributes)


def test_an_input_that_is_an_output():
    proto = model([], INPUT, ["x"])
    np.testing.assert_array_equal(run(proto, {"x": X})[0], X)


def test_one_value_returned_twice():
    first, second = run(model([node("Neg", "x", "y")], INPUT, ["y", "y"]), {"x": X})
    np.testing.assert_array_equal(first, -X)
    np.testing.assert_array_equal(second, -X)


def test_an_initializer_that_is_an_output_and_one_listed_as_input():
    weight = np.float32([5, 6])
    proto = model([node("Add", "x w", "y")], INPUT | {"w": (np.float32, [2])}, ["w", "y"], weights={"w": weight})
    out, total = run(proto, {"x": X})
    np.testing.assert_array_equal(out, weight)
    np.testing.assert_array_equal(total, X + weight)


def test_unused_outputs_and_dead_nodes():
    nodes = [
        helper.make_node("Split", ["x"], ["first", "unused"], axis=0),
        helper.make_node("Dropout", ["first"], ["y", ""]),
        node("Sin", "x", "dead"),
    ]
    np.testing.assert_array_equal(run(model(nodes, INPUT, ["y"]), {"x": X})[0], X[:1])


def test_names_that_are_no_identifiers():
    names = {"in": "输入/α:0", "weight": "layer.1-weight;é", "sum": "10", "out": 'out put"\\'}
    nodes = [
        helper.make_node("Add", [names["in"], names["weight"]], [names["sum"]], "node 1"),
        helper.make_node("Neg", [names["sum"]], [names["out"]]),
    ]
    proto = model(nodes, {names["in"]: (np.float32, [2])}, [names["out"]], weights={names["weight"]: X})
    (result,) = run(proto, {names["in"]: X})
    np.testing.assert_array_equal(result, -2 * X)
    module = import_onnx(proto)
    main, text = function(module), str(module)
    assert r"\"" in text and "layer" in text
    # Hints must be such that they can be given to another value.
    values = [*main.body.block.args, *(result for op in main.body.block.ops for result in op.results)]
    assert all(value.name_hint != "" for value in values)


def test_nodes_that_are_not_in_order():
    nodes = [node("Neg", "b", "y"), node("Abs", "a", "b"), node("Sqrt", "x", "a")]
    np.testing.assert_array_equal(run(model(nodes, INPUT, ["y"]), {"x": X * X})[0], -np.abs(X))


def test_nodes_out_of_order_through_a_branch():
    inner = helper.make_graph(
        [node("Neg", "late", "t")], "then", [], [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
    )
    other = helper.make_graph(
        [node("Abs", "x", "e")], "else", [], [helper.make_tensor_value_info("e", TensorProto.FLOAT, None)]
    )
    nodes = [node("If", "c", "y", then_branch=inner, else_branch=other), node("Sqrt", "x", "late")]
    proto = model(nodes, INPUT | {"c": (np.bool_, [])}, ["y"])
    np.testing.assert_array_equal(run(proto, {"x": X * X, "c": np.array(True)})[0], -np.abs(X))


def test_cycles_are_named():
    nodes = [node("Add", "x b", "a", "first"), node("Relu", "a", "b", "second")]
    with pytest.raises(ModelError, match="cycle: 'first', 'second'"):
        import_onnx(model(nodes, INPUT, ["b"]))


def test_a_long_chain():
    count = 10_000
    nodes = [node("Neg", f"v{i}" if i else "x", f"v{i + 1}") for i in range(count)]
    start = time.perf_counter()
    main = function(import_onnx(model(nodes, INPUT, [f"v{count}"])))
    seconds = time.perf_counter() - start
    assert len(list(main.body.block.ops)) == count + 1
    # In reverse order, too.
    main = function(import_onnx(model(nodes[::-1], INPUT, [f"v{count}"])))
    assert len(list(main.body.block.ops)) == count + 1
    assert seconds < 20


def test_a_wide_graph():
    nodes = [node("Neg", "x", f"v{i}") for i in range(2000)]
    nodes.append(helper.make_node("Sum", [f"v{i}" for i in range(2000)], ["y"]))
    np.testing.assert_array_equal(run(model(nodes, INPUT, ["y"]), {"x": X})[0], -2000 * X)


def test_locations_are_the_names_of_nodes():
    nodes = [node("Gemm", "a b", "t", "layer/Gemm", alpha=2.0), node("Relu", "t", "y")]
    inputs = {"a": (np.float32, [2, 3]), "b": (np.float32, [3, 2])}
    ops = list(function(import_onnx(model(nodes, inputs, ["y"]))).body.block.ops)
    found = [(op.name, op.location.desc.data) for op in ops if isinstance(op.location, NameLoc)]
    assert ("graph.matmul", "layer/Gemm") in found and ("graph.mul", "layer/Gemm") in found
    assert ("graph.relu", "y") in found


def test_all_that_is_not_supported_is_listed_at_once():
    nodes = [
        helper.make_node("Frobnicate", ["x"], ["a"], "one", domain="ai.unknown"),
        node("Neg", "a", "b", "fine but unreachable"),
        node("Zorp", "b", "c", "two"),
        node("Clip", "x bound", "d", "three"),
        node("Concat", "x", "e", "four"),
        helper.make_node("Other", ["x"], ["f"], "five", domain="no.opset"),
    ]
    proto = model(nodes, INPUT | {"bound": (np.float32, [3])}, ["c", "d", "e", "f"], domains={"ai.unknown": 1})
    with pytest.raises(ModelError) as error:
        import_onnx(proto)
    first, *lines = str(error.value).splitlines()
    assert first == "the model: 4 nodes cannot be imported:"
    assert lines[0] == "  node 'one' (ai.unknown::Frobnicate, opset 1): the operator is not supported"
    assert lines[1] == "  node 'two' (Zorp, opset 17): the operator is not supported"
    assert lines[2].startswith("  node 'three' (Clip, opset 17): ")
    assert lines[3].startswith("  node 'five' (no.opset::Other, no opset given): ")


@pytest.mark.parametrize("condition", ["unknown", "flag"])
@pytest.mark.parametrize("wrapper", ["If", "Wrap"])
def test_unknown_operators_in_subgraphs_are_listed_with_all_others(wrapper, condition):
    """Of an `If` that is imported, that reads what is missing, and of a node whose operator is unknown itself."""

    def branch(*nodes):
        return helper.make_graph(list(nodes), "b", [], [helper.make_value_info("r", onnx.TypeProto())])

    inner = branch(node("Zorp", "x", "q", "deep"), node("Relu", "q", "r", "good"))
    nodes = [
        node("Foo", "flag", "unknown", "first"),
        node(
            wrapper,
            condition,
            "y",
            "outer",
            then_branch=branch(node("Foo", "x", "p", "then"), node("Neg", "p", "r", "behind")),
            else_branch=branch(node("If", "flag", "r", "nested", then_branch=inner, else_branch=inner)),
        ),
        node("Foo", "y", "z", "last"),
    ]
    with pytest.raises(ModelError) as error:
        import_onnx(model(nodes, INPUT | {"flag": (np.bool_, [])}, ["z"]))
    own = ["outer"] if wrapper == "Wrap" else []
    assert {problem.reason for problem in error.value.problems} == {"the operator is not supported"}
    found = sorted(problem.node for problem in error.value.problems)
    assert found == sorted(["first", *own, "then", "deep", "last"])


def test_the_branch_that_is_not_taken_is_not_judged():
    result = [helper.make_value_info("r", onnx.TypeProto())]
    taken, other = (helper.make_graph([node(op, "x", "r", op)], "b", [], result) for op in ("Foo", "Zorp"))
    nodes = [node("If", "yes", "y", "outer", then_branch=taken, else_branch=other)]
    with pytest.raises(ModelError) as error:
        import_onnx(model(nodes, INPUT, ["y"], weights={"yes": np.array(True)}))
    assert [problem.node for problem in error.value.problems] == ["Foo"]


@pytest.mark.parametrize(
    "nodes, outputs, message",
    [
        ([node("Add", "x nowhere", "y", "n")], ["y"], "node 'n' .*: its input 'nowhere' is no result"),
        ([node("Relu", "", "y", "n")], ["y"], r"node 'n' .*: input 0 \('X'\) is missing"),
        ([node("Relu", "x", "y")], ["z"], "output 'z' is no result"),
        ([node("Relu", "x", "y", "a"), node("Neg", "x", "y", "b")], ["y"], "'y' is the result of two nodes, 'a' and"),
        ([node("Relu", "i", "x", "n")], ["x"], "'x' of node 'n' is also an input"),
        ([node("Add", "x i", "y", "n")], ["y"], "node 'n' .*: operands have element types f32 and i64"),
        ([node("Softmax", "x", "y", "n", axis=1)], ["y"], "node 'n' .*: axis 1 is out of range for rank 1"),
        ([node("Softmax", "x", "y", "n", axis=1.5)], ["y"], "attribute 'axis' is of another kind"),
        ([node("Cast", "x", "y", "n", to=8)], ["y"], "element type string"),
        ([node("Cast", "x", "y", "n", to=99)], ["y"], "element type of unknown number 99"),
        ([node("Cast", "x", "y", "n")], ["y"], "attribute 'to' is missing"),
    ],
)
def test_graphs_that_are_wrong(nodes, outputs, message):
    with pytest.raises(ModelError, match=message):
        import_onnx(model(nodes, INPUT | {"i": (np.int64, [2])}, outputs))


def test_operator_sets():
    proto = model([node("Relu", "x", "y")], INPUT, ["y"])
    del proto.opset_import[:]
    with pytest.raises(ModelError, match="names no operator set"):
        import_onnx(proto)
    for version in (0, 99):
        with pytest.raises(ModelError, match=f"opset {version} of the standard operators, expected 6 to"):
            import_onnx(model([node("Relu", "x", "y")], INPUT, ["y"], opset=version))
    for version in (0, -1, 1 << 31, (1 << 63) - 1):
        with pytest.raises(ModelError, match=f"opset {version} of domain 'com.microsoft', expected 1 to 2147483647"):
            import_onnx(model([node("Relu", "x", "y")], INPUT, ["y"], domains={"com.microsoft": version}))
    # An old set is taken as far as its operators mean the same in the oldest one that is known.
    with pytest.raises(ModelError, match=r"Relu, opset 5.*: the operator is only supported from opset 6 on"):
        import_onnx(model([node("Relu", "x", "y")], INPUT, ["y"], opset=5))
    np.testing.assert_array_equal(run(model([node("Transpose", "x", "y")], INPUT, ["y"], opset=1), {"x": X})[0], X)
    proto = model([node("Relu", "x", "y")], INPUT, ["y"])
    proto.opset_import[0].domain = "ai.onnx"
    np.testing.assert_array_equal(run(proto, {"x": X})[0], [1, 0])


@pytest.mark.parametrize("version", [None, 0, -1, 2, 15, (1 << 63) - 1])
def test_versions_of_the_format(version: int | None):
    proto = model([node("Relu", "x", "y")], INPUT, ["y"])
    if version is None:
        proto.ClearField("ir_version")
    else:
        proto.ir_version = version
    found = "not given" if version is None else version
    with pytest.raises(ModelError, match=rf"format \(ir_version\) is {found}, expected 3 to 14"):
        import_onnx(proto)


def test_inputs_that_are_no_tensors_of_known_rank():
    proto = model([node("Relu", "x", "y")], INPUT, ["y"])
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    with pytest.raises(ModelError, match="input 'x' has no shape"):
        import_onnx(proto)
    proto.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type = 1
    with pytest.raises(ModelError, match="input 'x' has a sequence, expected a tensor"):
        import_onnx(proto)
    proto = model([node("Relu", "x", "y")], {"x": (TensorProto.STRING, [2])}, ["y"])
    with pytest.raises(ModelError, match="input 'x' has element type string"):
        import_onnx(proto)


def test_local_functions_are_inlined():
    body = [node("Neg", "a", "t"), node("Add", "a t", "b")]
    made = helper.make_function("local", "Zero", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    call = helper.make_node("Zero", ["x"], ["z"], "call", domain="local")
    proto = model([call, node("Add", "z x", "y")], INPUT, ["y"], domains={"local": 1})
    proto.functions.append(made)
    np.testing.assert_array_equal(run(proto, {"x": X})[0], X)


def test_sparse_initializers_are_refused_if_they_are_read():
    values = numpy_helper.from_array(np.float32([3]), "w")
    indices = numpy_helper.from_array(np.int64([1]), "w_indices")
    proto = model([node("Add", "x w", "y", "n")], INPUT, ["y"])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2]))
    with pytest.raises(ModelError, match="sparse tensors are not supported"):
        import_onnx(proto)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (node("Relu", "x x x", "y", "n"), "has 3 inputs, expected at most 1"),
        (node("Add", "x", "y", "n"), "input 1 .'B'. is missing"),
        (node("Clip", "x x x x", "y", "n"), "has 4 inputs, expected at most 3"),
        (node("Relu", "x", "y z", "n"), "has 2 outputs, expected at most 1"),
    ],
)
def test_numbers_of_inputs_and_outputs(wrong, message):
    with pytest.raises(ModelError, match=message):
        import_onnx(model([wrong], INPUT, ["y"]))


def contradiction(kind):
    """A model that says two things of one."""
    proto = model([node("Add", "x w", "y")], INPUT, ["y"], weights={"w": np.ones(2, np.float32)})
    if kind == "weights":
        proto.graph.initializer.append(numpy_helper.from_array(np.zeros(2, np.float32), "w"))
    elif kind == "opsets":
        proto.opset_import.add(domain="ai.onnx", version=9)
    else:
        proto.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    return proto


@pytest.mark.parametrize(
    "kind, message",
    [
        ("weights", "2 initializers are called 'w', expected one"),
        ("opsets", "the model names opsets 17 and 9 of the standard operators, expected one"),
        ("types", "output 'y' is declared int64, but its nodes give float32"),
    ],
)
def test_models_that_contradict_themselves(kind, message):
    with pytest.raises(ModelError, match=message):
        import_onnx(contradiction(kind))


def test_shapes_of_outputs_are_what_nodes_give():
    proto = model([node("Neg", "x", "y")], INPUT, ["y"])
    proto.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 7]))
    np.testing.assert_array_equal(run(proto, {"x": X})[0], -X)


def test_graphs_that_protobuf_does_not_read():
    inner = helper.make_graph([node("Neg", "x", "y")], "g", [], [helper.make_value_info("y", onnx.TypeProto())])
    data = inner.SerializeToString()
    for _ in range(60):
        branch = onnx.AttributeProto(name="then_branch", type=onnx.AttributeProto.GRAPH).SerializeToString()
        for number in (6, 5, 1):  # attribute.g, node.attribute, graph.node
            data = bytes([number << 3 | 2]) + length(len(data)) + data
            if number == 6:
                data = branch + data
    data = onnx.ModelProto(ir_version=8).SerializeToString() + bytes([7 << 3 | 2]) + length(len(data)) + data
    with pytest.raises(ModelError, match="graphs are nested more deeply than protobuf reads"):
        import_onnx(data)


def length(number):
    """A length as protobuf writes it."""
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])
