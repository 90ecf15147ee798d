"""What is measured: a model with its inputs, and how much arithmetic and data it stands for."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

from benchmarks.models import sample_inputs

Inputs = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """
    One line of the tables.

    `name` starts with the family (`matmul/...`). `sizes` gives the model's symbolic dimensions. `inputs` makes other
    inputs than the seeded ones of `sample_inputs`; `bytes` overrides the data that must be moved at least (all inputs,
    weights and results once), for ops that read a part of an operand.
    """

    name: str
    build: Callable[[], onnx.ModelProto]
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    inputs: Callable[[], Inputs] | None = None
    bytes: int | None = None
    tolerance: float = 1e-3
    """Largest difference from the reference's results as a share of its largest one; a rounding in 8 bits is 1/255."""

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]

    def sample(self, model: onnx.ModelProto, seed: int = 0) -> Inputs:
        """`inputs` if there are any, whatever the seed."""
        return self.inputs() if self.inputs else sample_inputs(model, self.sizes, seed)


@dataclass(frozen=True)
class Work:
    """Operations of the contractions (a multiply-add counts as two; None if a shape is unknown) and bytes at least."""

    flops: int | None
    bytes: int


CONTRACTIONS = ("Conv", "ConvTranspose", "Gemm", "GRU", "LSTM", "MatMul", "MatMulInteger", "RNN")


def _attribute(node: onnx.NodeProto, name: str, default: int) -> int:
    return next((a.i for a in node.attribute if a.name == name), default)


def _node_flops(node: onnx.NodeProto, shapes: Mapping[str, Sequence[int]]) -> int:
    """2 x multiply-adds of one contraction; 0 for every other op. KeyError: a shape is not known."""
    if node.op_type == "Conv":
        return 2 * math.prod(shapes[node.output[0]]) * math.prod(shapes[node.input[1]][1:])
    if node.op_type == "ConvTranspose":
        return 2 * math.prod(shapes[node.input[0]]) * math.prod(shapes[node.input[1]][1:])
    if node.op_type in ("MatMul", "MatMulInteger"):
        return 2 * math.prod(shapes[node.output[0]]) * shapes[node.input[0]][-1]
    if node.op_type == "Gemm":
        rows = shapes[node.input[0]][0 if _attribute(node, "transA", 0) else 1]
        return 2 * math.prod(shapes[node.output[0]]) * rows
    if node.op_type in ("LSTM", "GRU", "RNN"):
        length, batch = shapes[node.input[0]][:2]
        return 2 * length * batch * (math.prod(shapes[node.input[1]]) + math.prod(shapes[node.input[2]]))
    return 0


def value_shapes(model: onnx.ModelProto, inputs: Inputs) -> dict[str, list[int]]:
    """The shape of every value that ONNX's own inference knows for these inputs."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    stored = {tensor.name for tensor in fixed.graph.initializer}
    for value in fixed.graph.input:
        if value.name in inputs:
            dims = value.type.tensor_type.shape.dim
            for dim, size in zip(dims, inputs[value.name].shape, strict=True):
                dim.dim_value = size
    for value in fixed.graph.output:
        value.type.tensor_type.ClearField("shape")
    del fixed.graph.value_info[:]
    # Inference needs no more of large weights than their shapes.
    shapes = {tensor.name: list(tensor.dims) for tensor in fixed.graph.initializer}
    fixed = _without_data(fixed, stored - set(inputs))
    _constants_as_initializers(fixed.graph)
    fixed = shape_inference.infer_shapes(fixed, data_prop=True)
    for value in (*fixed.graph.input, *fixed.graph.value_info, *fixed.graph.output):
        dims = value.type.tensor_type.shape.dim
        if value.type.tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
            shapes[value.name] = [dim.dim_value for dim in dims]
    return shapes


def _constants_as_initializers(graph: onnx.GraphProto) -> None:
    """Inference follows sizes through computations on initializers, and not on `Constant` nodes."""
    nodes = list(graph.node)
    del graph.node[:]
    for node in nodes:
        if node.op_type == "Constant" and node.attribute[0].HasField("t"):
            graph.initializer.add().CopyFrom(node.attribute[0].t)
            graph.initializer[-1].name = node.output[0]
        else:
            graph.node.add().CopyFrom(node)


def _without_data(model: onnx.ModelProto, names: Iterable[str]) -> onnx.ModelProto:
    """`model` with its large initializers turned into inputs of the same shape."""
    names = set(names)
    large = [t for t in model.graph.initializer if t.name in names and math.prod(t.dims) > 64]
    kept = [t for t in model.graph.initializer if not (t.name in names and math.prod(t.dims) > 64)]
    listed = {value.name for value in model.graph.input}
    model.graph.input.extend(
        helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in large if t.name not in listed
    )
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    return model


def _observed_shapes(model: onnx.ModelProto, inputs: Inputs) -> dict[str, list[int]]:
    """
    The shapes of all operands and results of contractions, as onnxruntime meets them in a run.

    Raises:
        KeyError: if it is not installed or cannot run the model.
    """
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    present = {value.name for value in (*shown.graph.input, *shown.graph.output)}
    present |= {tensor.name for tensor in shown.graph.initializer}
    wanted = [v for n in shown.graph.node if n.op_type in CONTRACTIONS for v in (n.input[0], n.input[1], n.output[0])]
    wanted = [name for name in dict.fromkeys(wanted) if name and name not in present]
    shown.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    try:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(shown.SerializeToString(), options, providers=["CPUExecutionProvider"])
        found: list[Any] = list(session.run(wanted, inputs))
        return {name: list(value.shape) for name, value in zip(wanted, found, strict=True)}
    except Exception as error:
        raise KeyError("shapes of contractions") from error


def _tensor_bytes(tensor: onnx.TensorProto) -> int:
    if tensor.data_type == TensorProto.STRING:
        return 0
    return math.prod(tensor.dims) * helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def work_of(model: onnx.ModelProto, inputs: Inputs, outputs: Sequence[np.ndarray], least: int | None = None) -> Work:
    """The work of one run of `model`; `least` is the number of bytes if it is known better."""
    shapes = value_shapes(model, inputs)
    constants = {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    shapes |= {name: list(numpy_helper.to_array(tensor).shape) for name, tensor in constants.items()}
    data = sum(array.nbytes for array in (*inputs.values(), *outputs))
    data += sum(_tensor_bytes(tensor) for tensor in model.graph.initializer)
    data = data if least is None else least
    for known in (lambda: shapes, lambda: shapes | _observed_shapes(model, inputs)):
        try:
            found = known()
            return Work(sum(_node_flops(node, found) for node in model.graph.node), data)
        except KeyError:
            continue
    return Work(None, data)
