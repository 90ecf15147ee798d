"""Random nodes of `com.microsoft` that fuse several of the standard, as optimisers write them."""

from __future__ import annotations

import numpy as np

from tests.unit.fuzz.builder import F16, F32, F64, I64, Builder, Tensor
from tests.unit.fuzz.recipes_elementwise import Recipe
from tests.unit.fuzz.recipes_nn import image_of, window_of
from tests.unit.fuzz.recipes_quantized import MICROSOFT

KINDS = (F32, F32, F32, F16)


def _add(g: Builder, op: str, inputs: list[Tensor | None], outputs: int = 1, **given: object) -> list[Tensor]:
    unnamed = given.pop("unnamed", ())
    return g.add(op, inputs, outputs, exact=False, unnamed=unnamed, domain=MICROSOFT, **given)  # type: ignore[arg-type]


def gelu(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(KINDS, least_rank=1)
        wanted = op == "BiasGelu" or (op == "FastGelu" and g.chance(0.5))
        given = {"alpha": 1.2} if op == "QuickGelu" and g.chance(0.5) else {}
        return _add(g, op, [x, g.matching((x.shape[-1],), x.dtype) if wanted else None], **given)

    return recipe


def bias_split_gelu(g: Builder) -> object:
    width = 2 * g.integer(1, 5)
    dtype = g.choose(KINDS)
    assert isinstance(dtype, np.dtype)
    return _add(g, "BiasSplitGelu", [g.matching((2, 3, width), dtype), g.matching((width,), dtype)])


def bias_softmax(g: Builder) -> object:
    x = g.pick(KINDS, least_rank=2, least=1)
    given = {"axis": g.integer(1, x.rank - 1), "is_inner_broadcast": 0}
    return _add(g, "BiasSoftmax", [x, g.matching(x.shape, x.dtype)], **given)


def bias_add(g: Builder) -> object:
    x = g.pick(KINDS, rank=3)
    return _add(g, "BiasAdd", [x, g.matching((x.shape[-1],), x.dtype), g.matching(x.shape, x.dtype)])


def skip_norm(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick((F32,), rank=3, least=1)
        row = (x.shape[-1],)
        parts: list[Tensor | None] = [x, g.matching(x.shape, F32), g.matching(row, F32)]
        if op == "SkipLayerNormalization":
            parts.append(g.matching(row, F32) if g.chance(0.6) else None)
        parts.append(g.matching(row, F32) if g.chance(0.5) else None)
        given = {"epsilon": 1e-5} if g.chance(0.5) else {}
        if g.chance(0.5):
            return _add(g, op, parts, **given)
        return _add(g, op, parts, 4, unnamed=(1, 2), **given)

    return recipe


def rms_norm(g: Builder) -> object:
    """Of the standard's domain by name only."""
    from onnx import helper

    x = g.pick((F32,), least_rank=1, least=1)
    weight = g.matching((x.shape[-1],), F32)
    name = g.fresh()
    node = helper.make_node("SimplifiedLayerNormalization", [x.name, weight.name], [name], axis=-1, epsilon=1e-5)
    return g.add_node(node, [x, weight], exact=False)


def embed_norm(g: Builder) -> object:
    batch, length, width = g.integer(1, 3), g.integer(1, 5), g.integer(1, 6)
    words, places, segments = g.integer(1, 7), length + g.integer(0, 3), 2

    def ids(most: int) -> Tensor:
        return g.input(np.asarray(g.rng.integers(0, most, (batch, length))).astype(np.int32))

    tables = [g.fixed((n, width), F32) for n in (words, places)]
    has_segments = g.chance(0.6)
    parts: list[Tensor | None] = [ids(words), ids(segments) if has_segments else None, *tables]
    parts.append(g.fixed((segments, width), F32) if has_segments else None)
    parts += [g.matching((width,), F32), g.matching((width,), F32)]
    parts.append(ids(2) if g.chance(0.5) else None)
    return _add(g, "EmbedLayerNormalization", parts, 2)


def group_norm(g: Builder) -> object:
    x = g.pick(KINDS, rank=4, least=1)
    last = g.integer(0, 1)
    channels = x.shape[-1 if last else 1]
    groups = int(g.choose([n for n in range(1, channels + 1) if channels % n == 0]))  # type: ignore[call-overload]
    parts: list[Tensor | None] = [x, g.matching((channels,), F32), g.matching((channels,), F32)]
    return _add(g, "GroupNorm", parts, groups=groups, activation=g.integer(0, 1), channels_last=last)


ACTIVATIONS = (
    ("Relu", ()),
    ("Tanh", ()),
    ("Sigmoid", ()),
    ("LeakyRelu", (0.1,)),
    ("HardSigmoid", (0.2, 0.5)),
    ("Clip", (-0.5, 0.5)),
)


def fused_conv(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = image_of(g, "Conv", (F32,))
        last = op.startswith("Nhwc")
        kernel, given = window_of(g, x.rank - 2, pools=False)
        channels, results = x.shape[-1 if last else 1], g.integer(1, 4)
        shape = (results, *kernel, channels) if last else (results, channels, *kernel)
        bias = g.matching((results,), F32) if g.chance(0.5) else None
        if op != "NhwcConv":
            name, parameters = g.choose(ACTIVATIONS)  # type: ignore[misc]
            given |= {"activation": name}
            if parameters:
                given["activation_params"] = list(parameters)
        return _add(g, op, [x, g.fixed(shape, F32), bias], **given)

    return recipe


def fused_gemm(g: Builder) -> object:
    x = g.pick((F32,), rank=2)
    trans_a, trans_b = g.integer(0, 1), g.integer(0, 1)
    rows, inner = x.shape[::-1] if trans_a else x.shape
    columns = g.size()
    y = g.matching((columns, inner) if trans_b else (inner, columns), F32)
    bias = g.broadcasting((rows, columns), F32) if g.chance(0.7) else None
    activation = str(g.choose(("Relu", "Tanh", "LeakyRelu")))
    given = {"activation_alpha": 0.1} if activation == "LeakyRelu" else {}
    return _add(g, "FusedGemm", [x, y, bias], transA=trans_a, transB=trans_b, activation=activation, **given)


def fused_matmul(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick((F32, F32, F64), least_rank=2)
        trans_a, trans_b = g.integer(0, 1), g.integer(0, 1)
        inner, columns = x.shape[-2 if trans_a else -1], g.size()
        end = (columns, inner) if trans_b else (inner, columns)
        y = g.matching((*x.shape[:-2], *end) if g.chance(0.4) else end, x.dtype)
        given: dict[str, object] = {"transA": trans_a, "transB": trans_b, "alpha": float(g.choose((1.0, 0.5)))}  # type: ignore[arg-type]
        if op == "FusedMatMulActivation":
            given["activation"] = "Relu"
        return _add(g, op, [x, y], **given)

    return recipe


def attention(g: Builder) -> object:
    batch, length, heads, size = (g.integer(1, n) for n in (2, 4, 3, 3))
    width, hidden = g.integer(1, 5), heads * size
    x = g.matching((batch, length, width), F32)
    parts: list[Tensor | None] = [x, g.fixed((width, 3 * hidden), F32), g.fixed((3 * hidden,), F32)]
    given: dict[str, object] = {"num_heads": heads, "unidirectional": g.integer(0, 1)}
    past = g.integer(1, 3) if g.chance(0.3) else 0
    parts.append(_mask(g, batch, length + past))
    if past:
        parts.append(g.matching((2, batch, heads, past, size), F32))
    return _add(g, "Attention", parts, 2 if past else 1, **given)


def _mask(g: Builder, batch: int, keys: int) -> Tensor | None:
    """Which keys count: how many, or each."""
    way = g.integer(0, 2)
    if way == 0:
        return None
    if way == 1:
        return g.input(np.asarray(g.rng.integers(1, keys + 1, batch)).astype(np.int32))
    return g.input(np.asarray(g.rng.integers(0, 2, (batch, keys))).astype(np.int32))


def multi_head_attention(g: Builder) -> object:
    batch, queries, keys, heads, size = (g.integer(1, n) for n in (2, 4, 5, 3, 3))
    hidden = heads * size
    q, k, v = (g.matching((batch, n, hidden), F32) for n in (queries, keys, keys))
    bias = g.matching((3 * hidden,), F32) if g.chance(0.4) else None
    return _add(g, "MultiHeadAttention", [q, k, v, bias, _mask(g, batch, keys)], num_heads=heads)


def grouped_attention(g: Builder) -> object:
    """A prompt, or one more place behind a cache."""
    batch, groups, size = g.integer(1, 2), g.integer(1, 2), 2 * g.integer(1, 3)
    heads, past = groups * g.integer(1, 2), g.integer(1, 4) if g.chance(0.5) else 0
    length = 1 if past else g.integer(1, 4)
    total = past + length
    q, k, v = (g.matching((batch, length, n * size), F32) for n in (heads, groups, groups))
    caches = [g.matching((batch, groups, past, size), F32) if past else None for _ in range(2)]
    ends = g.input(np.full(batch, total - 1, np.int32))
    parts = [q, k, v, *caches, ends, g.weight(np.array(total, np.int32))]
    given: dict[str, object] = {"num_heads": heads, "kv_num_heads": groups}
    if g.chance(0.3):
        given["local_window_size"] = g.integer(1, 4)
    if g.chance(0.3):
        given["softcap"] = 2.0
    if g.chance(0.4):
        parts += [g.weight(g.rng.uniform(-1, 1, (total + 2, size // 2)).astype(F32)) for _ in range(2)]
        given |= {"do_rotary": 1, "rotary_interleaved": g.integer(0, 1)}
    return _add(g, "GroupQueryAttention", parts, 3, **given)


def rotary(g: Builder) -> object:
    batch, length, heads, size = g.integer(1, 2), g.integer(1, 4), g.integer(1, 3), 2 * g.integer(1, 4)
    x = g.matching((batch, heads, length, size) if g.chance(0.5) else (batch, length, heads * size), F32)
    rows = length + 3
    tables = [g.weight(g.rng.uniform(-1, 1, (rows, size // 2)).astype(F32)) for _ in range(2)]
    if g.chance(0.5):
        places = g.input(np.asarray(g.rng.integers(0, rows, (batch, length))).astype(I64))
    else:
        places = g.integers([g.integer(0, 3)])
    given = {"interleaved": g.integer(0, 1), **({"num_heads": heads} if x.rank == 3 else {})}
    return _add(g, "RotaryEmbedding", [x, places, *tables], **given)


RECIPES: dict[str, Recipe] = {
    **{f"{op} of com.microsoft": gelu(op) for op in ("Gelu", "BiasGelu", "FastGelu", "QuickGelu")},
    **{op: fused_conv(op) for op in ("FusedConv", "NhwcConv", "NhwcFusedConv")},
    **{op: fused_matmul(op) for op in ("FusedMatMul", "FusedMatMulActivation", "TransposeMatMul")},
    **{op: skip_norm(op) for op in ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
    "Attention of com.microsoft": attention,
    "BiasAdd": bias_add,
    "BiasSoftmax": bias_softmax,
    "BiasSplitGelu": bias_split_gelu,
    "EmbedLayerNormalization": embed_norm,
    "FusedGemm": fused_gemm,
    "GroupNorm": group_norm,
    "GroupQueryAttention": grouped_attention,
    "MultiHeadAttention": multi_head_attention,
    "RotaryEmbedding of com.microsoft": rotary,
    "SimplifiedLayerNormalization": rms_norm,
}
