"""Random nodes: contractions, windows, normalisations, quantisation, recurrences, attention."""

from __future__ import annotations

import numpy as np

from tests.unit.fuzz.builder import BOOL, F32, FLOATS, I8, I32, NUMBERS, U8, Builder, Skip, Tensor
from tests.unit.fuzz.recipes_elementwise import Recipe
from tests.unit.fuzz.schemas import common


def matmul(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "MatMul", g.opset), least_rank=1)
    kind = g.integer(0, 3)
    if kind == 0:
        y = g.matching((x.shape[-1],), x.dtype)
    elif kind == 1 and x.rank > 2:
        batch = [n if g.chance(0.6) else 1 for n in x.shape[:-2]]
        y = g.matching((*batch, x.shape[-1], g.size()), x.dtype)
    else:
        y = g.matching((x.shape[-1], g.size()), x.dtype)
    return g.add("MatMul", [x, y], exact=False)


def gemm(g: Builder) -> object:
    x = g.pick(common(FLOATS, "Gemm", g.opset), rank=2)
    trans_a, trans_b = g.integer(0, 1), g.integer(0, 1)
    rows, inner = x.shape[::-1] if trans_a else x.shape
    columns = g.size()
    y = g.matching((columns, inner) if trans_b else (inner, columns), x.dtype)
    bias = g.broadcasting((rows, columns), x.dtype) if g.chance(0.7) else None
    if bias is None and g.opset < 11:
        raise Skip("the bias is required")
    given: dict[str, object] = {name: 1 for name, on in (("transA", trans_a), ("transB", trans_b)) if on}
    given |= {name: float(g.choose((0.0, 0.5, 2.0))) for name in ("alpha", "beta") if g.chance(0.3)}  # type: ignore[arg-type]
    return g.add("Gemm", [x, y, bias], exact=False, **given)


EQUATIONS = (
    "ij,jk->ik",
    "bij,bjk->bik",
    "ij->ji",
    "ii->i",
    "ij->j",
    "i,j->ij",
    "ij,ij->",
    "...ij,...jk->...ik",
    "bij,bkj->bik",
)


def einsum(g: Builder) -> object:
    equation = str(g.choose(EQUATIONS))
    sizes = {letter: g.size() for letter in "ijkb"}
    dtype = g.choose(common((F32, F32, np.dtype(np.float64)), "Einsum", g.opset))
    assert isinstance(dtype, np.dtype)
    operands = []
    for term in equation.partition("->")[0].split(","):
        shape = [sizes[letter] for letter in term.replace(".", "")]
        if "..." in term:
            shape = [g.integer(2, 3) if g.chance(0.0) else 2, *shape]
        operands.append(g.matching(shape, dtype))
    return g.add("Einsum", operands, exact=False, equation=equation)


def window_of(g: Builder, rank: int, pools: bool) -> tuple[list[int], dict[str, object]]:
    """Kernel sizes, and attributes of a window."""
    kernel = [g.integer(1, 3) for _ in range(rank)]
    given: dict[str, object] = {}
    if g.chance(0.6):
        given["strides"] = [g.integer(1, 3) for _ in range(rank)]
    if g.chance(0.3):
        given["dilations"] = [g.integer(1, 2) for _ in range(rank)]
    way = g.integer(0, 3)
    if way == 0:
        most = [k - 1 if pools else 2 for k in kernel]
        given["pads"] = [g.integer(0, k) for k in (*most, *most)]
    elif way == 1 and not given.get("dilations"):
        given["auto_pad"] = g.choose(("SAME_UPPER", "SAME_LOWER", "VALID"))
    return kernel, given


def image_of(g: Builder, op: str, dtypes: tuple[np.dtype, ...] = FLOATS) -> Tensor:
    return g.pick(common(dtypes, op, g.opset), rank=g.integer(3, 4) if g.chance(0.95) else 5, least=1)


def conv(g: Builder) -> object:
    x = image_of(g, "Conv")
    kernel, given = window_of(g, x.rank - 2, pools=False)
    channels = x.shape[1]
    groups = int(g.choose([n for n in (1, 2, 4, channels) if n <= channels and channels % n == 0]))  # type: ignore[call-overload]
    results = groups * g.integer(1, 4)
    make = g.matching if groups == 1 and g.chance(0.2) else g.fixed
    w = make((results, channels // groups, *kernel), x.dtype)
    bias = g.matching((results,), x.dtype) if g.chance(0.5) else None
    given |= {"group": groups} if groups > 1 or g.chance(0.3) else {}
    given |= {"kernel_shape": kernel} if g.chance(0.5) else {}
    return g.add("Conv", [x, w, bias], exact=False, **given)


def conv_transpose(g: Builder) -> object:
    x = image_of(g, "ConvTranspose")
    kernel, given = window_of(g, x.rank - 2, pools=False)
    channels = x.shape[1]
    groups = int(g.choose([n for n in (1, 2) if channels % n == 0]))  # type: ignore[call-overload]
    w = g.fixed((channels, g.integer(1, 3), *kernel), x.dtype)
    bias = g.matching((groups * w.shape[1],), x.dtype) if g.chance(0.4) else None
    if groups > 1:
        given["group"] = groups
    strides = given.get("strides")
    if isinstance(strides, list) and g.chance(0.4):
        given["output_padding"] = [g.integer(0, s - 1) for s in strides]
    return g.add("ConvTranspose", [x, w, bias], exact=False, **given)


def max_pool(g: Builder) -> object:
    dtypes = FLOATS if g.opset < 12 else (*FLOATS, *FLOATS, I8, U8)
    x = image_of(g, "MaxPool", dtypes)
    kernel, given = window_of(g, x.rank - 2, pools=True)
    if g.opset >= 10 and g.chance(0.4):
        given["ceil_mode"] = 1
    if g.opset < 10:
        given.pop("dilations", None)
    return g.add("MaxPool", [x], kernel_shape=kernel, **given)


def average_pool(g: Builder) -> object:
    x = image_of(g, "AveragePool")
    kernel, given = window_of(g, x.rank - 2, pools=True)
    if g.opset < 19:
        given.pop("dilations", None)
    if g.opset >= 10 and g.chance(0.4):
        given["ceil_mode"] = 1
    if g.chance(0.5):
        given["count_include_pad"] = g.integer(0, 1)
    return g.add("AveragePool", [x], exact=False, kernel_shape=kernel, **given)


def global_pool(op: str, exact: bool) -> Recipe:
    def recipe(g: Builder) -> object:
        return g.add(op, [image_of(g, op)], exact=exact)

    return recipe


def batch_norm(g: Builder) -> object:
    x = g.pick(common(FLOATS, "BatchNormalization", g.opset), least_rank=2, least=1)
    c = (x.shape[1],)
    positive = g.weight(np.abs(g.rng.standard_normal(c)).astype(x.dtype) + np.asarray(0.5, x.dtype))
    parts = [x, g.matching(c, x.dtype), g.matching(c, x.dtype), g.matching(c, x.dtype), positive]
    return g.add("BatchNormalization", parts, exact=False, **({"epsilon": 1e-3} if g.chance(0.5) else {}))


def instance_norm(g: Builder) -> object:
    x = image_of(g, "InstanceNormalization")
    c = (x.shape[1],)
    return g.add("InstanceNormalization", [x, g.matching(c, x.dtype), g.matching(c, x.dtype)], exact=False)


def group_norm(g: Builder) -> object:
    x = image_of(g, "GroupNormalization")
    groups = int(g.choose([n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0]))  # type: ignore[call-overload]
    c = (x.shape[1] if g.opset >= 21 else groups,)
    parts = [x, g.matching(c, x.dtype), g.matching(c, x.dtype)]
    return g.add("GroupNormalization", parts, exact=False, num_groups=groups)


def layer_norm(g: Builder) -> object:
    x = g.pick(common(FLOATS, "LayerNormalization", g.opset), least_rank=1, least=1)
    axis = g.integer(-x.rank, x.rank - 1)
    shape = x.shape[axis:]
    bias = g.matching(shape, x.dtype) if g.chance(0.6) else None
    unnamed = [i for i in (1, 2) if g.chance(0.7)]
    return g.add(
        "LayerNormalization", [x, g.matching(shape, x.dtype), bias], 3, exact=False, unnamed=unnamed, axis=axis
    )


def rms_norm(g: Builder) -> object:
    x = g.pick(common(FLOATS, "RMSNormalization", g.opset), least_rank=1, least=1)
    axis = g.integer(-x.rank, x.rank - 1)
    return g.add("RMSNormalization", [x, g.matching(x.shape[axis:], x.dtype)], exact=False, axis=axis)


def lrn(g: Builder) -> object:
    x = image_of(g, "LRN", (F32,))
    return g.add("LRN", [x], exact=False, size=g.integer(1, 5), **({"alpha": 0.1} if g.chance(0.5) else {}))


def lp_norm(g: Builder) -> object:
    x = g.pick(common(FLOATS, "LpNormalization", g.opset), least_rank=1, least=1)
    return g.add("LpNormalization", [x], exact=False, axis=g.integer(-x.rank, x.rank - 1), p=g.integer(1, 2))


def mean_variance_norm(g: Builder) -> object:
    x = g.pick(common(FLOATS, "MeanVarianceNormalization", g.opset), rank=4, least=1)
    return g.add("MeanVarianceNormalization", [x], exact=False, **({"axes": [0, 2, 3]} if g.chance(0.5) else {}))


def along_axis(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick(common(FLOATS, op, g.opset), least_rank=1, exact=op == "Hardmax")
        if op == "Hardmax" and np.isnan(x.array.astype(np.float64)).any():
            raise Skip("the place of a NaN is left open")
        low = -x.rank if g.opset >= 11 else 0
        given = {"axis": g.integer(low, x.rank - 1)} if g.chance(0.8) else {}
        return g.add(op, [x], exact=op == "Hardmax", **given)

    return recipe


def dropout(g: Builder) -> object:
    x = g.pick(common(FLOATS, "Dropout", g.opset))
    return g.add("Dropout", [x])


def quantize(g: Builder) -> object:
    x = g.pick(common((F32,), "QuantizeLinear", g.opset), exact=True)
    if not np.isfinite(x.array).all():
        raise Skip("what an infinity or NaN becomes is left open")
    axis = g.integer(0, x.rank - 1) if x.rank and g.opset >= 13 and g.chance(0.4) else None
    shape = () if axis is None else (x.shape[axis],)
    scale = g.weight((np.abs(g.rng.standard_normal(shape)) * 0.1 + 0.01).astype(np.float32))
    dtype = g.choose((U8, I8))
    assert isinstance(dtype, np.dtype)
    low = 0 if dtype == U8 else -20
    zero = g.weight(np.asarray(g.rng.integers(low, 20, shape)).astype(dtype)) if g.chance(0.8) else None
    return g.add("QuantizeLinear", [x, scale, zero], **({} if axis is None else {"axis": axis}))


def dequantize(g: Builder) -> object:
    x = g.pick(common((U8, I8, I32), "DequantizeLinear", g.opset))
    axis = g.integer(0, x.rank - 1) if x.rank and g.opset >= 13 and g.chance(0.4) else None
    shape = () if axis is None else (x.shape[axis],)
    scale = g.weight((np.abs(g.rng.standard_normal(shape)) * 0.1 + 0.01).astype(np.float32))
    zero = None
    if x.dtype != I32 and g.chance(0.7):
        zero = g.weight(np.asarray(g.rng.integers(0, 20, shape)).astype(x.dtype))
    return g.add("DequantizeLinear", [x, scale, zero], **({} if axis is None else {"axis": axis}))


def matmul_integer(g: Builder) -> object:
    x = g.pick((U8, I8), rank=2)
    dtype = g.choose((U8, I8))
    assert isinstance(dtype, np.dtype)
    y = g.matching((x.shape[1], g.size()), dtype)
    a_zero = g.matching((), x.dtype) if g.chance(0.6) else None
    b_zero = g.matching((y.shape[1],) if g.chance(0.4) else (), dtype) if g.chance(0.6) else None
    return g.add("MatMulInteger", [x, y, a_zero, b_zero])


def conv_integer(g: Builder) -> object:
    x = g.pick((U8,), rank=4, least=1)
    kernel, given = window_of(g, 2, pools=False)
    w = g.matching((g.integer(1, 3), x.shape[1], *kernel), g.choose((U8, I8)))  # type: ignore[arg-type]
    zero = g.matching((), x.dtype) if g.chance(0.6) else None
    return g.add("ConvInteger", [x, w, zero], **given)


def recurrent(op: str) -> Recipe:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]

    def recipe(g: Builder) -> object:
        dtype = g.choose(common((F32, F32, np.dtype(np.float64)), op, g.opset))
        assert isinstance(dtype, np.dtype)
        length, batch, width, hidden = (g.integer(1, n) for n in (4, 3, 5, 5))
        direction = str(g.choose(("forward", "reverse", "bidirectional")))
        count = 2 if direction == "bidirectional" else 1
        x = g.matching((length, batch, width), dtype)
        w = g.fixed((count, gates * hidden, width), dtype)
        r = g.fixed((count, gates * hidden, hidden), dtype)
        bias = g.matching((count, 2 * gates * hidden), dtype) if g.chance(0.6) else None
        lens = None
        if g.chance(0.3):
            array = np.asarray(g.rng.integers(0 if g.chance(0.2) else 1, length + 1, (batch,))).astype(np.int32)
            lens = g.input(array)
        first = g.matching((count, batch, hidden), dtype) if g.chance(0.4) else None
        inputs = [x, w, r, bias, lens, first]
        given: dict[str, object] = {"hidden_size": hidden, "direction": direction}
        if op == "LSTM":
            inputs.append(g.matching((count, batch, hidden), dtype) if g.chance(0.4) else None)
            inputs.append(g.matching((count, 3 * hidden), dtype) if g.chance(0.3) else None)
        if op == "GRU" and g.chance(0.5):
            given["linear_before_reset"] = 1
        outputs = 3 if op == "LSTM" else 2
        unnamed = [int(g.integer(0, outputs - 1))] if g.chance(0.4) else []
        return g.add(op, inputs, outputs, exact=False, unnamed=unnamed, **given)

    return recipe


def attention(g: Builder) -> object:
    if not g.has("Attention"):
        raise Skip("no attention yet")
    batch, heads, queries, keys, width, values = (g.integer(1, n) for n in (2, 3, 4, 5, 4, 4))
    groups = int(g.choose([n for n in (1, heads) if heads % n == 0]))  # type: ignore[call-overload]
    if g.chance(0.5):
        q = g.matching((batch, heads, queries, width), F32)
        k = g.matching((batch, groups, keys, width), F32)
        v = g.matching((batch, groups, keys, values), F32)
        given: dict[str, object] = {}
    else:
        q = g.matching((batch, queries, heads * width), F32)
        k = g.matching((batch, keys, groups * width), F32)
        v = g.matching((batch, keys, groups * values), F32)
        given = {"q_num_heads": heads, "kv_num_heads": groups}
    mask = None
    if g.chance(0.5):
        mask = g.broadcasting((batch, heads, queries, keys), BOOL if g.chance(0.5) else F32)
        if mask.rank < 2 or mask.shape[-1] != keys:
            mask = g.matching((queries, keys), F32)
    if g.chance(0.3):
        given["is_causal"] = 1
    if g.chance(0.2):
        given["softcap"] = 2.0
    if g.chance(0.3):
        given["scale"] = 0.7
    return g.add("Attention", [q, k, v, mask], exact=False, **given)


def top_k(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "TopK", g.opset), least_rank=1, least=1, exact=True)
    if x.dtype.kind not in "iu" and np.isnan(x.array.astype(np.float64)).any():
        raise Skip("the place of a NaN is left open")
    axis = g.integer(-x.rank, x.rank - 1)
    k = g.integer(0 if g.chance(0.1) else 1, x.shape[axis])
    if g.opset < 10:
        return g.add("TopK", [x], 2, axis=axis, k=k)
    given = {"largest": g.integer(0, 1)} if g.opset >= 11 and g.chance(0.6) else {}
    return g.add("TopK", [x, g.integers([k])], 2, axis=axis, **given)


def non_zero(g: Builder) -> object:
    return g.add("NonZero", [g.pick(common(NUMBERS, "NonZero", g.opset), least_rank=1, exact=True)])


def compress(g: Builder) -> object:
    x = g.pick(common(NUMBERS, "Compress", g.opset), least_rank=1)
    axis = None if g.chance(0.3) else g.integer(-x.rank if g.opset >= 11 else 0, x.rank - 1)
    size = x.array.size if axis is None else x.shape[axis]
    return g.add("Compress", [x, g.matching((g.integer(min(1, size), size),), BOOL)], axis=axis)


def roi_align(g: Builder) -> object:
    x = g.pick((F32,), rank=4, least=1)
    count = g.integer(0, 3)
    corners = g.rng.uniform(0, 6, (count, 2))
    boxes = np.concatenate([corners, corners + g.rng.uniform(0, 6, (count, 2))], axis=1).astype(np.float32)
    batches = np.asarray(g.rng.integers(0, x.shape[0], count)).astype(np.int64)
    given: dict[str, object] = {"output_height": g.integer(1, 3), "output_width": g.integer(1, 3)}
    given |= {"mode": str(g.choose(("avg", "max"))), "sampling_ratio": g.integer(0, 2)}
    if g.opset >= 16:
        given["coordinate_transformation_mode"] = str(g.choose(("half_pixel", "output_half_pixel")))
    return g.add("RoiAlign", [x, g.input(boxes), g.input(batches)], exact=False, **given)


def max_roi_pool(g: Builder) -> object:
    x = image_of(g, "MaxRoiPool", (F32,))
    if x.rank != 4:
        raise Skip("boxes are for two axes")
    count = g.integer(0, 3)
    corners = g.rng.integers(0, 6, (count, 2))
    boxes = np.concatenate([g.rng.integers(0, x.shape[0], (count, 1)), corners, corners + g.integer(0, 5)], axis=1)
    given = {"pooled_shape": [g.integer(1, 3), g.integer(1, 3)], "spatial_scale": float(g.choose((1.0, 0.5)))}  # type: ignore[arg-type]
    return g.add("MaxRoiPool", [x, g.input(boxes.astype(np.float32))], exact=False, **given)


RECIPES: dict[str, Recipe] = {
    **{op: along_axis(op) for op in ("Softmax", "LogSoftmax", "Hardmax")},
    **{op: recurrent(op) for op in ("RNN", "GRU", "LSTM")},
    "Attention": attention,
    "AveragePool": average_pool,
    "BatchNormalization": batch_norm,
    "Compress": compress,
    "Conv": conv,
    "ConvInteger": conv_integer,
    "ConvTranspose": conv_transpose,
    "DequantizeLinear": dequantize,
    "Dropout": dropout,
    "Einsum": einsum,
    "Gemm": gemm,
    "GlobalAveragePool": global_pool("GlobalAveragePool", exact=False),
    "GlobalMaxPool": global_pool("GlobalMaxPool", exact=True),
    "GroupNormalization": group_norm,
    "InstanceNormalization": instance_norm,
    "LRN": lrn,
    "LayerNormalization": layer_norm,
    "LpNormalization": lp_norm,
    "MatMul": matmul,
    "MatMulInteger": matmul_integer,
    "MaxPool": max_pool,
    "MaxRoiPool": max_roi_pool,
    "MeanVarianceNormalization": mean_variance_norm,
    "NonZero": non_zero,
    "QuantizeLinear": quantize,
    "RMSNormalization": rms_norm,
    "RoiAlign": roi_align,
    "TopK": top_k,
}
