"""Constant weights times an unknown number of rows: every number of rows left over, on one thread and two."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import aicc


@pytest.mark.parametrize(("steps", "columns"), [(70, 256), (33, 48), (40, 100), (20, 1024)])
def test_numbers_of_rows(steps: int, columns: int):
    rng = np.random.default_rng(0)
    weight, bias = rng.standard_normal((steps, columns), dtype=np.float32), rng.standard_normal(columns, np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["m"]),
            helper.make_node("Add", ["m", "b"], ["a"]),
            helper.make_node("Relu", ["a"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", steps])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", columns])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = aicc.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))
    for rows in (0, 1, 2, 3, 4, 5, 6, 7, 11, 64, 128):
        x = rng.standard_normal((rows, steps), dtype=np.float32)
        found = model.with_threads(1).run({"x": x})["y"]
        expected = np.maximum(x.astype(np.float64) @ weight + bias, 0.0)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * steps**0.5)
        assert np.array_equal(found, model.with_threads(2).run({"x": x})["y"])
