"""Fused operators of com.microsoft, against plain numpy in f64."""

from __future__ import annotations

import math

import numpy as np
import pytest

import aicc
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.frontends.onnx.helper import run
from tests.unit.operators.helper import check, one_node

RNG = np.random.default_rng(11)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def norm(x, scale, bias, epsilon):
    x = x.astype(np.float64)
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + epsilon) * scale + bias


def rms(x, scale, epsilon):
    x = x.astype(np.float64)
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + epsilon) * scale


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def fast_gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def verify(op, inputs, expected, *, outputs=None, compiled=True, domain="com.microsoft", **attributes):
    """`outputs` are the positions of those that are compared."""
    count = max(outputs) + 1 if outputs else len(expected)
    proto, feeds = one_node(op, inputs, opset=17, outputs=count, domain=domain, **attributes)
    if outputs:
        for i in reversed(range(count)):
            if i not in outputs:
                proto.graph.node[0].output[i] = ""
                del proto.graph.output[i]
    wanted = [array.astype(np.float32) if array.dtype == np.float64 else array for array in expected]
    check(proto, feeds, wanted, rtol=2e-5, atol=3e-6, levels=[2] if compiled else [])


X, Y, V8 = floats(2, 5, 8), floats(2, 5, 8), floats(8)


def test_activations():
    x, bias = X.astype(np.float64), V8.astype(np.float64)
    verify("Gelu", [X], [gelu(x)], compiled=False)
    verify("BiasGelu", [X, V8], [gelu(x + bias)])
    verify("FastGelu", [X], [fast_gelu(x)], compiled=False)
    verify("FastGelu", [X, V8], [fast_gelu(x + bias)], compiled=False)
    verify("QuickGelu", [X], [x / (1 + np.exp(-1.5 * x))], alpha=1.5)
    verify("BiasSplitGelu", [X, V8], [(x + bias)[..., :4] * gelu((x + bias)[..., 4:])])


def test_small_results_of_gelu_keep_their_digits():
    # 1 + tanh(y) has none left where tanh(y) is nearly -1.
    x = np.linspace(-6, 6, 4001).astype(np.float32)
    proto, feeds = one_node("FastGelu", [x], opset=17, domain="com.microsoft")
    (result,) = aicc.compile(proto).run(feeds).values()
    wide = x.astype(np.float64)
    exact = wide / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
    np.testing.assert_allclose(result, exact, rtol=1e-5)


def test_norms():
    scale, beta, bias = floats(8), floats(8), floats(8)
    total = X + Y + bias
    verify("SkipLayerNormalization", [X, Y, scale, beta, bias], [norm(total, scale, beta, 1e-5), total], outputs=[0, 3],
           epsilon=1e-5)  # fmt: skip
    verify("SkipLayerNormalization", [X, Y[0], scale], [norm(X + Y[0], scale, 0, 1e-12)], compiled=False)
    verify("SkipSimplifiedLayerNormalization", [X, Y, scale, bias], [rms(total, scale, 1e-5), total], outputs=[0, 3],
           epsilon=1e-5)  # fmt: skip
    verify("SimplifiedLayerNormalization", [X, scale], [rms(X, scale, 1e-5)], domain="", epsilon=1e-5)
    x = floats(2, 3, 3, 8)
    groups = x.reshape(2, 9, 4, 2).transpose(0, 2, 1, 3).reshape(2, 4, 18)
    y = norm(groups, 1, 0, 1e-5).reshape(2, 4, 9, 2).transpose(0, 2, 1, 3).reshape(x.shape) * scale + beta
    verify("GroupNorm", [x, scale, beta], [y / (1 + np.exp(-y))], groups=4, activation=1)


def test_embedding():
    ids = RNG.integers(0, 11, (2, 5)).astype(np.int32)
    segments, places = RNG.integers(0, 2, (2, 5)).astype(np.int32), RNG.integers(0, 6, (2, 5)).astype(np.int32)
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    words, positions, kinds, scale, bias = floats(11, 8), floats(6, 8), floats(2, 8), floats(8), floats(8)
    total = words[ids] + positions[:5] + kinds[segments]
    verify("EmbedLayerNormalization", [ids, segments, words, positions, kinds, scale, bias, mask],
           [norm(total, scale, bias, 1e-12), np.array([3, 5], np.int32), total])  # fmt: skip
    total = words[ids] + positions[places]
    verify("EmbedLayerNormalization", [ids, None, words, positions, None, scale, bias, None, places],
           [norm(total, scale, bias, 1e-12), np.zeros(2, np.int32)], compiled=False)  # fmt: skip


def test_products():
    a, b = floats(3, 4, 5), floats(3, 6, 5)
    product = 0.5 * (a.astype(np.float64) @ b.swapaxes(1, 2))
    verify("FusedMatMul", [a, b], [product], transB=1, alpha=0.5)
    verify("TransposeMatMul", [a.swapaxes(1, 2).copy(), b], [product], transA=1, transB=1, alpha=0.5, compiled=False)
    verify("FusedMatMul", [a.transpose(1, 0, 2).copy(), b], [2 * product], transBatchA=1, transB=1, compiled=False)
    verify("FusedMatMulActivation", [a, b], [np.maximum(2 * product, 0)], transB=1, activation="Relu", compiled=False)
    a, b, c = floats(3, 5), floats(4, 5), floats(4)
    product = a.astype(np.float64) @ b.T + c
    leaky = np.where(product >= 0, product, 0.2 * product)
    verify("FusedGemm", [a, b, c], [leaky], transB=1, activation="LeakyRelu", activation_alpha=0.2)


@pytest.mark.parametrize(
    ("name", "parameters", "meaning"),
    [
        ("Relu", [0.0], lambda x: np.maximum(x, 0)),
        ("Tanh", [0.0], np.tanh),
        ("Clip", [-1.0, 0.5], lambda x: np.clip(x, -1, 0.5)),
        ("HardSigmoid", [0.3, 0.4], lambda x: np.clip(0.3 * x + 0.4, 0, 1)),
    ],
)
def test_convolutions(name, parameters, meaning):
    x, w, b, z = floats(1, 3, 7, 6), floats(4, 3, 2, 2), floats(4), floats(1, 4, 6, 5)
    plain = b[:, None, None] + z
    for i, j in np.ndindex(2, 2):
        plain = plain + np.einsum("nchw,oc->nohw", x[:, :, i : i + 6, j : j + 5].astype(np.float64), w[:, :, i, j])
    verify("FusedConv", [x, w, b, z], [meaning(plain)], activation=name, activation_params=parameters, compiled=False)
    last = [np.moveaxis(array, 1, -1).copy() for array in (x, w, z)]
    verify("NhwcFusedConv", [last[0], last[1], b, last[2]], [np.moveaxis(meaning(plain), 1, -1)], activation=name,
           activation_params=parameters, compiled=name == "Relu")  # fmt: skip


def test_biased_softmax():
    x, bias = floats(2, 3, 4, 5), floats(2, 1, 1, 5)
    verify("BiasSoftmax", [x, bias], [softmax(x + bias)], axis=3, is_inner_broadcast=1, compiled=False)
    both = softmax((x + bias).reshape(2, 3, 20)).reshape(x.shape)
    verify("BiasSoftmax", [x, bias], [both], axis=2, is_inner_broadcast=1)


def attended(query, key, value, count, *, added=0.0, scale=None, causal=False):
    """Of `[batch, length, width]`; keys and values may be `[batch, heads, length, size]`."""

    def heads(x):
        if x.ndim == 4:
            return x.astype(np.float64)
        return x.reshape(*x.shape[:2], count, -1).transpose(0, 2, 1, 3).astype(np.float64)

    q, k, v = heads(query), heads(key), heads(value)
    scores = q @ k.swapaxes(2, 3) * (scale or 1 / math.sqrt(q.shape[-1])) + added
    if causal:
        rows, columns = scores.shape[2:]
        scores = np.where(np.arange(rows)[:, None] + columns - rows >= np.arange(columns), scores, -np.inf)
    result = softmax(scores) @ v
    return result.transpose(0, 2, 1, 3).reshape(*query.shape[:2], -1)


def test_multi_head_attention():
    q, k, v, bias = floats(2, 5, 12), floats(2, 7, 12), floats(2, 7, 6), floats(30)
    verify("MultiHeadAttention", [q, k, v, bias],
           [attended(q + bias[:12], k + bias[12:24], v + bias[24:], 3, scale=0.7)], num_heads=3, scale=0.7)  # fmt: skip
    mask, added = np.array([[1] * 5 + [0] * 2, [1] * 7], np.int32), floats(2, 3, 5, 7)
    masked = np.where(mask == 0, -10000.0, 0)[:, None, None, :] + added
    verify("MultiHeadAttention", [q, k, v, None, mask, added], [attended(q, k, v, 3, added=masked)], num_heads=3)
    ends = np.array([5, 7], np.int32)
    masked = np.where(np.arange(7) < ends[:, None], 0, -50.0)[:, None, None, :]
    verify("MultiHeadAttention", [q, k, v, None, ends], [attended(q, k, v, 3, added=masked)], num_heads=3,
           mask_filter_value=-50.0, compiled=False)  # fmt: skip
    packed = floats(2, 5, 3, 3, 4)
    parts = [packed[:, :, :, i].reshape(2, 5, 12) for i in range(3)]
    verify("MultiHeadAttention", [packed], [attended(*parts, 3)], num_heads=3, compiled=False)


def test_multi_head_attention_with_past():
    q, k, v, past_key, past_value = (
        floats(2, 5, 12),
        floats(2, 5, 12),
        floats(2, 5, 12),
        floats(2, 3, 4, 4),
        floats(2, 3, 4, 4),
    )

    def present(past, new):
        return np.concatenate([past, new.reshape(2, 5, 3, 4).transpose(0, 2, 1, 3)], 2)

    keys, values = present(past_key, k), present(past_value, v)
    verify("MultiHeadAttention", [q, k, v, None, None, None, past_key, past_value],
           [attended(q, keys, values, 3, causal=True), keys, values], num_heads=3, unidirectional=1)  # fmt: skip


def test_attention():
    x, weights, bias = floats(2, 5, 8), floats(8, 30), floats(30)
    q, k, v = np.split(x.astype(np.float64) @ weights + bias, [12, 24], -1)
    sizes = {"num_heads": 3, "qkv_hidden_sizes": [12, 12, 6]}
    verify("Attention", [x, weights, bias], [attended(q, k, v, 3, causal=True)], unidirectional=1, **sizes)
    columns = np.arange(5)
    for mask, kept in (
        (np.array([3, 5, 0, 2], np.int32), (columns < [[3], [5]]) & (columns >= [[0], [2]])),
        (np.array([[1, 1, 0, 0, 0], [1, 0, 1, 1, 1]], np.int32), np.array([[1, 1, 0, 0, 0], [1, 0, 1, 1, 1]]) == 1),
    ):
        added = np.where(kept, 0, -10000.0)[:, None, None, :]
        verify("Attention", [x, weights, bias, mask], [attended(q, k, v, 3, added=added)], compiled=False, **sizes)
    whole = (RNG.random((2, 1, 9, 9)) < 0.6).astype(np.int32)
    past = floats(2, 2, 3, 4, 4)
    weights = floats(8, 36)
    q, k, v = np.split(x.astype(np.float64) @ weights, 3, -1)
    k, v = (
        np.concatenate([old, new.reshape(2, 5, 3, 4).transpose(0, 2, 1, 3)], 2)
        for old, new in zip(past, (k, v), strict=True)
    )
    added = np.where(whole[:, :, 4:] == 0, -10000.0, 0)
    expected = [attended(q, k, v, 3, added=added), np.stack([k, v])]
    verify("Attention", [x, weights, None, whole, past], expected, num_heads=3)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved):
    x, places = floats(2, 3, 5, 8), RNG.integers(0, 9, (2, 5))
    for pairs, given in ((4, places), (2, places), (4, np.array([3], np.int64))):
        angle = floats(9, pairs)
        cosine, sine = np.cos(angle), np.sin(angle)
        rows = given if given.ndim == 2 else given + np.arange(5)[None]
        c, s = (table[rows][:, None].astype(np.float64) for table in (cosine, sine))
        expected = x.astype(np.float64)
        first, second = (
            (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)) if interleaved else (slice(pairs), slice(pairs, 2 * pairs))
        )
        a, b = expected[..., first].copy(), expected[..., second].copy()
        expected[..., first], expected[..., second] = a * c - b * s, a * s + b * c
        flat, turned = (array.transpose(0, 2, 1, 3).reshape(2, 5, 24) for array in (x, expected))
        how = {"interleaved": interleaved, "num_heads": 3, "rotary_embedding_dim": 2 * pairs}
        verify("RotaryEmbedding", [x, given, cosine, sine], [expected], compiled=False, **how)
        verify("RotaryEmbedding", [flat.copy(), given, cosine, sine], [turned], compiled=pairs == 4, **how)


def test_what_is_not_supported():
    proto, _ = one_node("Gelu", [X], domain="com.microsoft", outputs=1)
    proto.graph.node[0].op_type = "LongformerAttention"
    with pytest.raises(ModelError, match=r"com.microsoft::LongformerAttention, opset 1.: the operator is not"):
        import_onnx(proto)
    proto, _ = one_node("FusedGemm", [floats(2, 2), floats(2, 2)], domain="com.microsoft", activation="Erf")
    with pytest.raises(ModelError, match="activation 'Erf' is not supported"):
        import_onnx(proto)
    proto, feeds = one_node("FusedGemm", [floats(2, 2), floats(2, 2)], domain="com.microsoft")
    assert run(proto, feeds)[0].shape == (2, 2)


@pytest.mark.parametrize("heads", [0, -1])
def test_attention_of_no_heads_is_refused(heads: int) -> None:
    x = np.zeros((1, 2, 3), np.float32)
    with pytest.raises(ModelError, match=f"number of heads is {heads}, expected at least 1"):
        import_onnx(one_node("MultiHeadAttention", [x, x, x], domain="com.microsoft", num_heads=heads)[0])
