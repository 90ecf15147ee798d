"""ViT-B/16 (Dosovitskiy et al. 2021) as torchvision's is exported: one matmul makes queries, keys and values."""

import math

import numpy as np
import onnx

from benchmarks.builder import F32
from benchmarks.networks.layers import ConvBuilder


def vit(
    batch: int | str = 1,
    size: int = 224,
    patch: int = 16,
    layers: int = 12,
    width: int = 768,
    heads: int = 12,
    classes: int = 1000,
    seed: int = 0,
) -> onnx.ModelProto:
    """Input `input` `[batch, 3, size, size]`, result `output` `[batch, classes]`."""
    b = ConvBuilder(seed)
    per_head, tokens = width // heads, (size // patch) ** 2 + 1

    def ints(name: str, *values: int) -> str:
        return b.constant(name, values, np.int64)

    def linear(path: str, x: str, inputs: int, outputs: int, gain: float = 1.0) -> str:
        weight = b.weight(f"onnx::MatMul_{len(b.weights)}", "linear", (inputs, outputs), inputs, gain)
        bias = b.weight(f"{path[1:].replace('/', '.')}.bias", "offset", (outputs,))
        return b.node("Add", f"{path}/Add", bias, b.node("MatMul", f"{path}/MatMul", x, weight))

    def norm(path: str, x: str) -> str:
        scale = b.weight(f"{path}.weight", "scale", (width,))
        offset = b.weight(f"{path}.bias", "offset", (width,))
        return b.node("LayerNormalization", f"{path}/LayerNormalization", x, scale, offset, axis=-1, epsilon=1e-6)

    def gelu(path: str, x: str) -> str:
        scaled = b.node("Div", f"{path}/Div", x, b.constant(f"{path}/Constant", math.sqrt(2.0), np.float32))
        erf = b.node("Erf", f"{path}/Erf", scaled)
        shifted = b.node("Add", f"{path}/Add", erf, b.constant(f"{path}/Constant_1", 1.0, np.float32))
        product = b.node("Mul", f"{path}/Mul", x, shifted)
        return b.node("Mul", f"{path}/Mul_1", product, b.constant(f"{path}/Constant_2", 0.5, np.float32))

    weight = b.weight("conv_proj.weight", "linear", (width, 3, patch, patch), 3 * patch * patch)
    bias = b.weight("conv_proj.bias", "offset", (width,))
    x = b.node("Conv", "/conv_proj/Conv", "input", weight, bias, kernel_shape=[patch] * 2, strides=[patch] * 2)
    x = b.node("Reshape", "/Reshape", x, ints("/Shape", 0, width, tokens - 1))
    x = b.node("Transpose", "/Transpose", x, perm=[0, 2, 1])
    token = b.weight("class_token", "linear", (1, 1, width), 1)
    if batch != 1:
        first = b.node("Slice", "/Slice", b.node("Shape", "/Shape_1", x), ints("/Zero", 0), ints("/One", 1))
        shape = b.node("Concat", "/Concat", first, ints("/Tail", 1, width), axis=0)
        token = b.node("Expand", "/Expand", token, shape)
    x = b.node("Concat", "/Concat_1", token, x, axis=1)
    x = b.node("Add", "/encoder/Add", x, b.weight("encoder.pos_embedding", "linear", (1, tokens, width), 4))
    for layer in range(layers):
        path = f"/encoder/layers/encoder_layer_{layer}"
        y = norm(f"{path}/ln_1", x)
        attention = f"{path}/self_attention"
        y = linear(f"{attention}/in_proj", y, width, 3 * width, 1.5)
        y = b.node("Reshape", f"{attention}/Reshape", y, ints(f"{attention}/Shape", 0, tokens, 3, heads, per_head))
        y = b.node("Transpose", f"{attention}/Transpose", y, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            b.node("Gather", f"{attention}/Gather_{i}", y, b.constant(f"{attention}/Index_{i}", i, np.int64), axis=0)
            for i in range(3)
        )
        scale = b.constant(f"{attention}/Scale", per_head**-0.25, np.float32)
        key = b.node("Transpose", f"{attention}/Transpose_1", key, perm=[0, 1, 3, 2])
        query = b.node("Mul", f"{attention}/Mul", query, scale)
        key = b.node("Mul", f"{attention}/Mul_1", key, scale)
        weights = b.node(
            "Softmax", f"{attention}/Softmax", b.node("MatMul", f"{attention}/MatMul", query, key), axis=-1
        )
        mixed = b.node("MatMul", f"{attention}/MatMul_1", weights, value)
        mixed = b.node("Transpose", f"{attention}/Transpose_2", mixed, perm=[0, 2, 1, 3])
        mixed = b.node("Reshape", f"{attention}/Reshape_1", mixed, ints(f"{attention}/Shape_1", 0, tokens, width))
        x = b.node("Add", f"{path}/Add", linear(f"{attention}/out_proj", mixed, width, width), x)
        y = gelu(f"{path}/mlp/mlp.1", linear(f"{path}/mlp/mlp.0", norm(f"{path}/ln_2", x), width, 4 * width))
        x = b.node("Add", f"{path}/Add_1", x, linear(f"{path}/mlp/mlp.3", y, 4 * width, width))
    x = norm("/encoder/ln", x)
    x = b.node("Gather", "/Gather", x, b.constant("/Index", 0, np.int64), axis=1)
    x = b.linear("/heads/head", x, width, classes)
    return b.model("main_graph", 17, {"input": (F32, (batch, 3, size, size))}, {"output": (x, (batch, classes))})
