"""A BERT encoder with random weights, built node by node as `torch.onnx` exports it."""

import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from benchmarks.builder import F32, I64, Builder


def encoder_transformer(
    layers: int = 12,
    width: int = 384,
    heads: int = 6,
    *,
    vocabulary: int = 1000,
    positions: int = 512,
    batch: int | str = "N",
    length: int | str = "S",
    fused_norm: bool = True,
    seed: int = 0,
) -> onnx.ModelProto:
    """
    A BERT encoder (Devlin et al. 2019) as exported: shapes computed from `Shape`, GELU through `Erf`, bias adds apart.

    Inputs `input_ids` and `attention_mask`: `[batch, length]` i64; results `last_hidden_state`: `[batch, length,
    width]` and `pooler_output`: `[batch, width]`, f32. `fused_norm` takes `LayerNormalization` of opset 17; without it
    the norm is spelt out (`ReduceMean`, `Sub`, `Pow`, `Sqrt`, `Div`) in opset 14. `length` may not exceed `positions`.
    """
    b = Builder(seed)
    per_head = width // heads

    def linear(path: str, x: str, inputs: int, outputs: int, gain: float = 1.0) -> str:
        weight = b.weight(f"onnx::MatMul_{len(b.weights)}", "linear", (inputs, outputs), inputs, gain)
        bias = b.weight(f"{path[1:].replace('/', '.')}.bias", "offset", (outputs,))
        return b.node("Add", f"{path}/Add", bias, b.node("MatMul", f"{path}/MatMul", x, weight))

    def norm(path: str, x: str) -> str:
        scale = b.weight(f"{path[1:].replace('/', '.')}.weight", "scale", (width,))
        offset = b.weight(f"{path[1:].replace('/', '.')}.bias", "offset", (width,))
        if fused_norm:
            return b.node("LayerNormalization", f"{path}/LayerNormalization", x, scale, offset, axis=-1, epsilon=1e-12)
        centred = b.node("Sub", f"{path}/Sub", x, b.node("ReduceMean", f"{path}/ReduceMean", x, axes=[-1]))
        square = b.node("Pow", f"{path}/Pow", centred, b.constant(f"{path}/Constant", 2.0, np.float32))
        variance = b.node("ReduceMean", f"{path}/ReduceMean_1", square, axes=[-1])
        shifted = b.node("Add", f"{path}/Add", variance, b.constant(f"{path}/Constant_1", 1e-12, np.float32))
        unit = b.node("Div", f"{path}/Div", centred, b.node("Sqrt", f"{path}/Sqrt", shifted))
        return b.node("Add", f"{path}/Add_1", b.node("Mul", f"{path}/Mul", unit, scale), offset)

    def size_of(path: str, x: str, axis: int, tag: str) -> str:
        """One dimension of `x` as a vector of length 1."""
        shape = b.node("Shape", f"{path}/Shape{tag}", x)
        size = b.node("Gather", f"{path}/Gather{tag}", shape, b.constant(f"{path}/Axis{tag}", axis, np.int64), axis=0)
        return b.node("Unsqueeze", f"{path}/Unsqueeze{tag}", size, b.constant(f"{path}/Zero{tag}", [0], np.int64))

    def regroup(path: str, x: str, tail: Sequence[int], tag: str) -> str:
        """Reshapes `x` to its first two dimensions followed by `tail`."""
        parts = [size_of(path, x, axis, f"{tag}_{axis}") for axis in (0, 1)]
        parts += [b.constant(f"{path}/Tail{tag}_{i}", [value], np.int64) for i, value in enumerate(tail)]
        return b.node("Reshape", f"{path}/Reshape{tag}", x, b.node("Concat", f"{path}/Concat{tag}", *parts, axis=0))

    def split_heads(path: str, x: str, tag: str, perm: Sequence[int]) -> str:
        return b.node("Transpose", f"{path}/Transpose{tag}", regroup(path, x, (heads, per_head), tag), perm=perm)

    # Additive mask: 0 where a token counts, the most negative float where it does not.
    mask = b.node("Unsqueeze", "/Unsqueeze", "attention_mask", b.constant("/Constant", [1], np.int64))
    mask = b.node("Unsqueeze", "/Unsqueeze_1", mask, b.constant("/Constant_1", [2], np.int64))
    mask = b.node("Cast", "/Cast", mask, to=F32)
    mask = b.node("Sub", "/Sub", b.constant("/Constant_2", 1.0, np.float32), mask)
    mask = b.node("Mul", "/Mul", mask, b.constant("/Constant_3", np.finfo(np.float32).min, np.float32))

    path = "/embeddings"
    words = b.weight("embeddings.word_embeddings.weight", "linear", (vocabulary, width), 1)
    places = b.weight("embeddings.position_embeddings.weight", "linear", (positions, width), 4)
    ids = np.arange(positions, dtype=np.int64)[None]
    b.weights.append(numpy_helper.from_array(ids, "embeddings.position_ids"))
    start, axis, step = (b.constant(f"{path}/Constant_{i}", [value], np.int64) for i, value in enumerate((0, 1, 1)))
    stop = size_of(path, "input_ids", 1, "")
    ids_here = b.node("Slice", f"{path}/Slice", "embeddings.position_ids", start, stop, axis, step)
    word = b.node("Gather", f"{path}/word_embeddings/Gather", words, "input_ids")
    place = b.node("Gather", f"{path}/position_embeddings/Gather", places, ids_here)
    x = norm(f"{path}/LayerNorm", b.node("Add", f"{path}/Add", word, place))

    for layer in range(layers):
        path = f"/encoder/layer.{layer}/attention/self"
        # A gain of 1.5 on queries and keys keeps the attention weights away from uniform.
        query = split_heads(path, linear(f"{path}/query", x, width, width, 1.5), "", (0, 2, 1, 3))
        key = split_heads(path, linear(f"{path}/key", x, width, width, 1.5), "_1", (0, 2, 3, 1))
        value = split_heads(path, linear(f"{path}/value", x, width, width), "_2", (0, 2, 1, 3))
        scores = b.node("MatMul", f"{path}/MatMul", query, key)
        scores = b.node("Div", f"{path}/Div", scores, b.constant(f"{path}/Scale", math.sqrt(per_head), np.float32))
        weights = b.node("Softmax", f"{path}/Softmax", b.node("Add", f"{path}/Add", scores, mask), axis=-1)
        mixed = b.node(
            "Transpose", f"{path}/Transpose_3", b.node("MatMul", f"{path}/MatMul_1", weights, value), perm=(0, 2, 1, 3)
        )
        mixed = regroup(path, mixed, (width,), "_3")
        path = f"/encoder/layer.{layer}/attention/output"
        mixed = linear(f"{path}/dense", mixed, width, width)
        x = norm(f"{path}/LayerNorm", b.node("Add", f"{path}/Add", mixed, x))

        path = f"/encoder/layer.{layer}/intermediate"
        inner = linear(f"{path}/dense", x, width, 4 * width)
        path += "/intermediate_act_fn"
        scaled = b.node("Div", f"{path}/Div", inner, b.constant(f"{path}/Constant", math.sqrt(2.0), np.float32))
        shifted = b.node(
            "Add",
            f"{path}/Add",
            b.node("Erf", f"{path}/Erf", scaled),
            b.constant(f"{path}/Constant_1", 1.0, np.float32),
        )
        inner = b.node("Mul", f"{path}/Mul", inner, shifted)
        inner = b.node("Mul", f"{path}/Mul_1", inner, b.constant(f"{path}/Constant_2", 0.5, np.float32))
        path = f"/encoder/layer.{layer}/output"
        outer = linear(f"{path}/dense", inner, 4 * width, width)
        x = norm(f"{path}/LayerNorm", b.node("Add", f"{path}/Add", outer, x))

    first = b.node("Gather", "/pooler/Gather", x, b.constant("/pooler/Constant", 0, np.int64), axis=1)
    weight = b.weight("pooler.dense.weight", "linear", (width, width), width)
    bias = b.weight("pooler.dense.bias", "offset", (width,))
    pooled = b.node("Gemm", "/pooler/dense/Gemm", first, weight, bias, alpha=1.0, beta=1.0, transB=1)
    pooled = b.node("Tanh", "/pooler/activation/Tanh", pooled)
    return b.model(
        "main_graph",
        17 if fused_norm else 14,
        {"input_ids": (I64, (batch, length)), "attention_mask": (I64, (batch, length))},
        {"last_hidden_state": (x, (batch, length, width)), "pooler_output": (pooled, (batch, width))},
        {"vocabulary": str(vocabulary)},
    )
