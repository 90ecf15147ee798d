"""Builds ONNX graphs node by node, with seeded random weights, in the manner of `torch.onnx`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.weights import draw

F32 = TensorProto.FLOAT
I64 = TensorProto.INT64


class Builder:
    """Collects nodes and weights of one graph; values are named after the node that makes them, as exporters do."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, op: str, name: str, *inputs: str, **attributes: Any) -> str:
        """Adds a node with one result `<name>_output_0` and returns the name of that result."""
        (result,) = self.node_of(op, name, 1, *inputs, **attributes)
        return result

    def node_of(self, op: str, name: str, results: int, *inputs: str, **attributes: Any) -> list[str]:
        """As `node`, with several results."""
        names = [f"{name}_output_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name, **attributes))
        return names

    def constant(self, name: str, value: object, dtype: type[np.generic]) -> str:
        """A `Constant` node: exporters write scalars and shapes so."""
        tensor = numpy_helper.from_array(np.array(value, dtype))
        return self.node("Constant", name, value=tensor)

    def weight(self, name: str, role: str, shape: Sequence[int], fan_in: int = 0, gain: float = 1.0) -> str:
        """A random initializer; `role` and `fan_in` as in `draw`."""
        return self.initializer(name, draw(self.rng, role, shape, fan_in) * np.float32(gain))

    def initializer(self, name: str, value: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def model(
        self,
        name: str,
        opset: int,
        inputs: Mapping[str, tuple[int, Sequence[int | str]]],
        outputs: Mapping[str, tuple[str, Sequence[int | str] | None]],
        metadata: Mapping[str, str] | None = None,
    ) -> onnx.ModelProto:
        """The finished, checked model; `outputs` maps a result's name to its value and its shape (None: inferred)."""
        final = {value: result for result, (value, _) in outputs.items()}
        for node in self.nodes:
            for operands in (node.input, node.output):
                for i, value in enumerate(operands):
                    operands[i] = final.get(value, value)
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info(key, dtype, shape) for key, (dtype, shape) in inputs.items()],
            [helper.make_tensor_value_info(key, F32, shape) for key, (_, shape) in outputs.items()],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        if metadata:
            helper.set_model_props(model, dict(metadata))
        if any(shape is None for _, shape in outputs.values()):
            model = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        onnx.checker.check_model(model)
        return model
