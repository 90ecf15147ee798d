"""Attention: `softmax(q @ k^T * scale + mask) @ v`, from separate operands and from one product of width 3 x heads."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import onnx

from benchmarks.builder import F32, Builder
from benchmarks.cases import Case


def attention(heads: int, queries: int, keys: int, width: int, *, masked: bool) -> onnx.ModelProto:
    """Inputs `q` `[1, heads, queries, width]`, `k`, `v` `[1, heads, keys, width]`, `mask` `[1, 1, queries, keys]`."""
    b = Builder()
    inputs = {"q": (F32, (1, heads, queries, width)), "k": (F32, (1, heads, keys, width))}
    inputs |= {"v": (F32, (1, heads, keys, width))}
    scores = b.node("MatMul", "scores", "q", b.node("Transpose", "transpose", "k", perm=[0, 1, 3, 2]))
    scores = b.node("Mul", "scale", scores, b.constant("factor", 1 / math.sqrt(width), np.float32))
    if masked:
        inputs |= {"mask": (F32, (1, 1, queries, keys))}
        scores = b.node("Add", "masked", scores, "mask")
    values = b.node("MatMul", "values", b.node("Softmax", "softmax", scores, axis=-1), "v")
    return b.model("attention", 17, inputs, {"y": (values, None)})


def packed_attention(tokens: int, heads: int, width: int) -> onnx.ModelProto:
    """Input `qkv` `[1, tokens, 3 * heads * width]`, result `[1, tokens, heads * width]`."""
    b = Builder()
    parts = b.node_of("Split", "split", 3, "qkv", axis=2)

    def heads_of(i: int, perm: list[int]) -> str:
        shape = b.constant(f"shape_{i}", [1, tokens, heads, width], np.int64)
        return b.node("Transpose", f"transpose_{i}", b.node("Reshape", f"reshape_{i}", parts[i], shape), perm=perm)

    query, key, value = (heads_of(i, perm) for i, perm in enumerate(([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])))
    scores = b.node("MatMul", "scores", query, key)
    scores = b.node("Div", "scale", scores, b.constant("root", math.sqrt(width), np.float32))
    mixed = b.node("MatMul", "values", b.node("Softmax", "softmax", scores, axis=-1), value)
    mixed = b.node("Transpose", "transpose_3", mixed, perm=[0, 2, 1, 3])
    mixed = b.node("Reshape", "reshape_3", mixed, b.constant("flat", [1, tokens, heads * width], np.int64))
    return b.model("attention", 13, {"qkv": (F32, (1, tokens, 3 * heads * width))}, {"y": (mixed, None)})


def attention_cases() -> Iterator[Case]:
    for heads, queries, keys, width in (
        (12, 128, 128, 64),
        (12, 197, 197, 64),
        (12, 512, 512, 64),
        (8, 2048, 2048, 64),
    ):
        for masked in (False, True):
            build = partial(attention, heads, queries, keys, width, masked=masked)
            yield Case(f"attention/{heads}x{queries}x{width}{'-masked' if masked else ''}", build)
    yield Case("attention/one-query-12x1x1024x64", partial(attention, 12, 1, 1024, 64, masked=False))
    for tokens in (128, 512):
        yield Case(f"attention/packed-{tokens}x12x64", partial(packed_attention, tokens, 12, 64))
