"""Results of fixed shape whose number of elements only the data tells: checked before they are written."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aicc
from aicc.tools.driver_api import parse_module

BEYOND = 1000
LIST = """
func.func @main(%n: tensor<i64>, %y: tensor<3xi64>) -> tensor<6xi64> {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %none = graph.constant dense<> : tensor<0xi64>
  %1, %2 = graph.while %zero, %none {initial = [0], following = [3+elements], symbols = ["elements"]} while {
  ^bb0(%i: tensor<i64>, %list: tensor<?xi64, #graph.dims<elements>>):
    %more = graph.lt %i, %n : tensor<i64>, tensor<i64> -> tensor<i1>
    graph.yield %more : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>, %list: tensor<?xi64, #graph.dims<elements>>):
    %next = graph.add %i, %one : tensor<i64>, tensor<i64> -> tensor<i64>
    %longer = graph.concat %list, %y {axis = 0} : tensor<?xi64, #graph.dims<elements>>, tensor<3xi64>
        -> tensor<?xi64, #graph.dims<3+elements>>
    graph.yield %next, %longer : tensor<i64>, tensor<?xi64, #graph.dims<3+elements>>
  } : tensor<i64>, tensor<0xi64>
  %r = graph.reshape %2 {shape = [6]} : tensor<?xi64, #graph.dims<elements>> -> tensor<6xi64>
  func.return %r : tensor<6xi64>
}
"""


def places_of_five() -> onnx.ModelProto:
    """The places of what is not 0, of which there must be five."""
    nodes = [helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Reshape", ["places", "five"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "places",
        [helper.make_tensor_value_info("x", TensorProto.BOOL, ["N"])],
        [helper.make_tensor_value_info("y", TensorProto.INT64, [5])],
        [helper.make_tensor("five", TensorProto.INT64, [1], [5])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize("level", [0, 2])
def test_nothing_is_written_beyond_a_result_that_is_too_small(level: int):
    model = aicc.compile(places_of_five(), opt_level=level)
    np.testing.assert_array_equal(model.run({"x": np.array([1, 0, 1, 1, 1, 1], bool)})["y"], [0, 2, 3, 4, 5])
    memory = np.full(5 + BEYOND, -7)
    with pytest.raises(aicc.InputError, match="differ in the number of elements"):
        model.run({"x": np.ones(900, bool)}, out={"y": memory[:5]})
    assert (memory[5:] == -7).all()


@pytest.mark.parametrize("level", [0, 2])
def test_a_list_that_a_loop_makes_is_a_result_of_fixed_shape(level: int):
    model = aicc.compile(parse_module(LIST), opt_level=level)
    memory = np.full(6 + BEYOND, -7)
    (found,) = model(np.int64(2), np.array([4, 5, 6]))
    np.testing.assert_array_equal(found, [4, 5, 6, 4, 5, 6])
    names = list(model.run({"input0": np.int64(2), "input1": np.array([4, 5, 6])}))
    with pytest.raises(aicc.InputError, match="differ in the number of elements"):
        model.run({"input0": np.int64(9), "input1": np.array([4, 5, 6])}, out={names[0]: memory[:6]})
    assert (memory[6:] == -7).all()


def of_two(operator: str, inputs: list[tuple[str, int, list[str]]]) -> onnx.ModelProto:
    """A model of one operator on tensors of unknown sizes."""
    values = [helper.make_tensor_value_info(*given) for given in inputs]
    node = helper.make_node(operator, [given[0] for given in inputs], ["y"])
    graph = helper.make_graph([node], "one", values, [helper.make_tensor_value_info("y", TensorProto.INT64, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.mark.parametrize("level", [0, 2])
def test_an_axis_without_elements_has_no_places(level: int):
    x, i, u = (("x", TensorProto.INT64, ["N"]), ("i", TensorProto.INT64, ["M"]), ("u", TensorProto.INT64, ["M"]))
    empty, first, three = np.zeros(0, np.int64), np.zeros(3, np.int64), np.full(3, 7)
    gather = aicc.compile(of_two("Gather", [x, i]), opt_level=level)
    np.testing.assert_array_equal(gather.run({"x": empty, "i": first})["y"], [0, 0, 0])
    np.testing.assert_array_equal(gather.run({"x": three, "i": first})["y"], [7, 7, 7])
    scatter = aicc.compile(of_two("ScatterElements", [x, i, u]), opt_level=level)
    assert scatter.run({"x": empty, "i": first, "u": three})["y"].shape == (0,)
    np.testing.assert_array_equal(scatter.run({"x": first, "i": first, "u": three})["y"], [7, 0, 0])
