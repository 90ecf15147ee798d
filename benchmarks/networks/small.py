"""A perceptron for single samples, recurrent taggers, and the smallest model of all."""

import numpy as np
import onnx

from benchmarks.builder import F32, I64, Builder
from benchmarks.networks.layers import ConvBuilder

GATES = {"LSTM": 4, "GRU": 3}


def mlp(batch: int | str = 1, widths: tuple[int, ...] = (784, 1024, 1024, 10), seed: int = 0) -> onnx.ModelProto:
    """A perceptron with a ReLU after every layer but the last."""
    b = ConvBuilder(seed)
    x = "input"
    for layer in range(len(widths) - 1):
        x = b.linear(f"/layers/layers.{2 * layer}", x, widths[layer], widths[layer + 1], 1.4)
        if layer < len(widths) - 2:
            x = b.relu(f"/layers/layers.{2 * layer + 1}", x)
    return b.model("main_graph", 17, {"input": (F32, (batch, widths[0]))}, {"output": (x, (batch, widths[-1]))})


def tagger(
    cell: str = "LSTM",
    *,
    vocabulary: int = 5000,
    width: int = 128,
    hidden: int = 256,
    layers: int = 2,
    tags: int = 20,
    batch: int | str = "N",
    length: int | str = "S",
    seed: int = 0,
) -> onnx.ModelProto:
    """
    A bidirectional recurrent tagger; `cell` is `LSTM` or `GRU`.

    Input `input_ids` `[batch, length]` i64, result `logits` `[batch, length, tags]`.
    """
    b = Builder(seed)
    x = b.node(
        "Gather", "/embedding/Gather", b.weight("embedding.weight", "linear", (vocabulary, width), 1), "input_ids"
    )
    shape = b.node("Shape", "/Shape", "input_ids")
    index = b.constant("/Constant", 0, np.int64)
    rows = b.node(
        "Unsqueeze", "/Unsqueeze", b.node("Gather", "/Gather", shape, index, axis=0), b.constant("/Axes", [0], np.int64)
    )
    parts = [b.constant("/Two", [2], np.int64), rows, b.constant("/Hidden", [hidden], np.int64)]
    zero = b.node(
        "ConstantOfShape",
        "/ConstantOfShape",
        b.node("Concat", "/Concat", *parts, axis=0),
        value=onnx.numpy_helper.from_array(np.zeros(1, np.float32)),
    )
    x = b.node("Transpose", "/Transpose", x, perm=[1, 0, 2])
    inputs, gates = width, GATES[cell]
    for layer in range(layers):
        path = f"/rnn/{cell}{'_' + str(layer) if layer else ''}"
        w = b.weight(f"{path}.weight_ih", "linear", (2, gates * hidden, inputs), inputs)
        r = b.weight(f"{path}.weight_hh", "linear", (2, gates * hidden, hidden), hidden)
        bias = b.weight(f"{path}.bias", "offset", (2, 2 * gates * hidden))
        states = [zero, zero] if cell == "LSTM" else [zero]
        attributes = {"linear_before_reset": 1} if cell == "GRU" else {}
        y, *_ = b.node_of(
            cell, path, 2, x, w, r, bias, "", *states, direction="bidirectional", hidden_size=hidden, **attributes
        )
        y = b.node("Transpose", f"{path}/Transpose", y, perm=[0, 2, 1, 3])
        x = b.node("Reshape", f"{path}/Reshape", y, b.constant(f"{path}/Constant", [0, 0, -1], np.int64))
        inputs = 2 * hidden
    x = b.node("Transpose", "/Transpose_1", x, perm=[1, 0, 2])
    weight = b.weight("onnx::MatMul_0", "linear", (inputs, tags), inputs)
    x = b.node(
        "Add", "/tags/Add", b.weight("tags.bias", "offset", (tags,)), b.node("MatMul", "/tags/MatMul", x, weight)
    )
    return b.model(
        "main_graph",
        17,
        {"input_ids": (I64, (batch, length))},
        {"logits": (x, (batch, length, tags))},
        {"vocabulary": str(vocabulary)},
    )


def adds_two_vectors(size: int = 8) -> onnx.ModelProto:
    """`c = a + b`: what is left is the cost of a call."""
    b = Builder()
    return b.model("add", 17, {"a": (F32, [size]), "b": (F32, [size])}, {"c": (b.node("Add", "add", "a", "b"), [size])})
