"""Functions of the model's own: right values, and one diagnostic for those that cannot be put in place."""

import numpy as np
import onnx
import pytest
from onnx import helper

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import model, run

OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
X = np.array([1.0, -2.0, 3.0], np.float32)


def function(name: str, *calls: str, inputs: int = 1) -> onnx.FunctionProto:
    """A function that calls others one after the other; a call in lower case is a standard operator."""
    nodes = [
        helper.make_node(
            call.title() if call.islower() else call, [f"t{i}"], [f"t{i + 1}"], domain="" if call.islower() else "own"
        )
        for i, call in enumerate(calls)
    ]
    return helper.make_function(
        "own", name, ["t0", *(f"u{i}" for i in range(1, inputs))], [f"t{len(calls)}"], nodes, OPSETS
    )


def calling(functions: list[onnx.FunctionProto], inputs: int = 1) -> onnx.ModelProto:
    node = helper.make_node(functions[0].name, ["x"] * inputs, ["y"], "call", domain="own")
    proto = model([node], {"x": (np.float32, X.shape)}, ["y"], domains={"own": 1})
    proto.functions.extend(functions)
    return proto


def test_functions_that_call_functions():
    functions = [function("Outer", "Inner", "relu", "Inner"), function("Inner", "neg")]
    np.testing.assert_array_equal(run(calling(functions), {"x": X})[0], -np.maximum(-X, 0))


def test_an_unused_function_may_hold_anything():
    functions = [function("F", "neg"), function("G", "nosuchthing")]
    np.testing.assert_array_equal(run(calling(functions), {"x": X})[0], -X)


@pytest.mark.parametrize(
    ("functions", "inputs", "message"),
    [
        ([function("F", "F")], 1, "the model's functions call each other in a cycle: own::F$"),
        ([function("F", "neg", "G"), function("G", "F")], 1, "call each other in a cycle: own::F, own::G"),
        ([function("F", "neg")], 2, "node 'call' has 2 inputs, expected at most 1 for function own::F"),
        (
            [function(f"F{i}", f"F{i + 1}", f"F{i + 1}") for i in range(40)] + [function("F40", "neg")],
            1,
            f"the model has {1 << 40} nodes once its functions are put in place, expected at most 1000000",
        ),
    ],
    ids=["itself", "each other", "too many inputs", "doubling"],
)
def test_functions_that_cannot_be_put_in_place(functions, inputs, message):
    with pytest.raises(ModelError, match=message):
        import_onnx(calling(functions, inputs))
