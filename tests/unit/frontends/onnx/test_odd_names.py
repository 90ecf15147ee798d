"""Names that are no identifiers: of dimensions, values, nodes, inputs and outputs."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

import aicc

NAMES = [
    "\\",
    "\\n",
    "`",
    "a`b",
    '"',
    "a b",
    "x/y:0",
    "%0",
    "@main",
    "main",
    "min",
    "1",
    "-N",
    "N,M",
    "]>",
    "\n",
    "名",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name(name: str):
    x = helper.make_tensor_value_info(name or "x", onnx.TensorProto.FLOAT, [name, 3])
    y = helper.make_tensor_value_info(name + "y", onnx.TensorProto.FLOAT, [name, 3])
    nodes = [
        helper.make_node("Neg", [x.name], [name + "z"], name=name),
        helper.make_node("Relu", [name + "z"], [y.name], name=name),
    ]
    model = helper.make_model(helper.make_graph(nodes, name, [x], [y]), opset_imports=[helper.make_opsetid("", 17)])
    compiled = aicc.compile(model, opt_level=0, cache=False)
    for size in (0, 2):
        given = np.linspace(-1, 1, 3 * size, dtype=np.float32).reshape(size, 3)
        np.testing.assert_array_equal(compiled.run({x.name: given})[y.name], np.maximum(-given, 0))
