"""
The networks that tests and benchmarks run, as `onnx.ModelProto` built in memory: none of them is stored in the repo.

- `light(name)`: the real graphs that the `onnx` package ships with constant weights, here with seeded random ones.
- `mobilenet_v2()` and `encoder_transformer()`: two networks of `benchmarks/networks/`, as `torch.onnx` exports them.
- `sample_inputs(model, sizes)`: seeded inputs for any of them.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from benchmarks.networks.bert import encoder_transformer
from benchmarks.networks.mobile import mobilenet_v2
from benchmarks.weights import draw, weight_roles

__all__ = ["LIGHT", "encoder_transformer", "light", "mobilenet_v2", "sample_inputs"]

LIGHT = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
"""Names that `light` takes, in alphabetical order."""

_HEAD_GAIN = {"resnet50": 3.0, "shufflenet": 0.07, "squeezenet": 6.0}
"""Factor on the last layer's weights that brings the logits to a standard deviation near 1.5; 1 where it is missing."""

F32 = TensorProto.FLOAT


def light(name: str, seed: int = 0) -> onnx.ModelProto:
    """
    The graph `light_<name>.onnx` of the `onnx` package with random weights in place of its equal ones.

    Nodes, names and opset stay as they are; only the `ConstantOfShape` nodes that stand for weights become
    initializers.

    Raises:
        ValueError: if `name` is not in `LIGHT`.
    """
    if name not in LIGHT:
        raise ValueError(f"unknown light model '{name}'; expected one of {', '.join(LIGHT)}")
    model = onnx.load(Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx")
    graph = model.graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer if tensor.data_type == F32}
    stored = {tensor.name: tensor for tensor in graph.initializer}
    fillers = {
        node.output[0]: node for node in graph.node if node.op_type == "ConstantOfShape" and node.input[0] in stored
    }
    shapes |= {out: tuple(numpy_helper.to_array(stored[node.input[0]]).tolist()) for out, node in fillers.items()}

    rng = np.random.default_rng(seed)
    roles = weight_roles(graph.node, shapes)
    last_kernel = [weight for weight, (role, _) in roles.items() if role == "kernel"][-1]
    drawn: list[onnx.TensorProto] = []
    for weight, (role, fan_in) in roles.items():
        value = draw(rng, role, shapes[weight], fan_in)
        if weight == last_kernel:
            value *= np.float32(_HEAD_GAIN.get(name, 1.0))
        drawn.append(numpy_helper.from_array(value, weight))

    dead = set(roles) | {fillers[weight].input[0] for weight in roles if weight in fillers}
    kept = [tensor for tensor in graph.initializer if tensor.name not in dead]
    nodes = [node for node in graph.node if not (node.op_type == "ConstantOfShape" and node.output[0] in roles)]
    inputs = [value for value in graph.input if value.name not in dead]
    # IR version 3 wants every initializer among the inputs too.
    inputs += [helper.make_tensor_value_info(tensor.name, F32, tensor.dims) for tensor in drawn]
    for field, values in ((graph.node, nodes), (graph.initializer, kept + drawn), (graph.input, inputs)):
        del field[:]
        field.extend(values)  # pyright: ignore[reportArgumentType]
    return model


def sample_inputs(
    model: onnx.ModelProto, sizes: Mapping[str, int] | None = None, seed: int = 0
) -> dict[str, np.ndarray]:
    """
    Seeded inputs by name: floats from N(0, 1), masks of ones with a tail of zeros, other integers as token ids.

    Token ids stay below `vocabulary` of the model's metadata (2 if it has none). `sizes` gives every symbolic dimension
    of the model.

    Raises:
        KeyError: if a symbol of the model is not in `sizes`.
    """
    rng = np.random.default_rng(seed)
    vocabulary = {entry.key: entry.value for entry in model.metadata_props}.get("vocabulary", "2")
    weights = {tensor.name for tensor in model.graph.initializer}
    inputs: dict[str, np.ndarray] = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        tensor = value.type.tensor_type
        shape = [(sizes or {})[dim.dim_param] if dim.dim_param else dim.dim_value for dim in tensor.shape.dim]
        if tensor.elem_type == F32:
            inputs[value.name] = rng.standard_normal(shape, dtype=np.float32)
        elif value.name.endswith("mask"):
            kept = rng.integers(1, shape[1] + 1, (shape[0], 1))
            inputs[value.name] = (np.arange(shape[1]) < kept).astype(np.int64)
        else:
            inputs[value.name] = rng.integers(0, int(vocabulary), shape)
    return inputs
