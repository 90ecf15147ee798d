"""A small model of which one weight is packed and another is read as it is."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INDICES = np.array([3, 1], np.int64)
"""The input that `weighted` tells the result for."""


def weighted(path: Path, *, external: bool = False, factor: float = 1.0) -> np.ndarray:
    """Writes `Gather(table, i) @ weight` with weights of a few KiB, and returns the expected result for i = [3, 1]."""
    generator = np.random.default_rng(0)
    table = generator.standard_normal((64, 48)).astype(np.float32)
    weight = (factor * generator.standard_normal((48, 40))).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "i"], ["rows"]),
        helper.make_node("MatMul", ["rows", "weight"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("i", TensorProto.INT64, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 40])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(weight, "weight")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if external:
        (path.parent / "data.bin").unlink(missing_ok=True)
        onnx.save(model, path, save_as_external_data=True, location="data.bin", size_threshold=1024)
    else:
        onnx.save(model, path)
    return table[[3, 1]] @ weight
