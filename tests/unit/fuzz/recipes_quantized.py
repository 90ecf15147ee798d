"""Random nodes on quantised tensors: the standard's, and those that quantisers write (`com.microsoft`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.unit.fuzz.builder import BOOL, F32, I8, I32, U8, Builder, Skip, Tensor
from tests.unit.fuzz.recipes_elementwise import Recipe
from tests.unit.fuzz.recipes_nn import window_of

MICROSOFT = "com.microsoft"


def scale(g: Builder, shape: Sequence[int] = ()) -> Tensor:
    return g.weight(np.asarray(np.abs(g.rng.standard_normal(shape)) * 0.1 + 0.01).astype(np.float32))


def zero(g: Builder, dtype: np.dtype, shape: Sequence[int] = ()) -> Tensor:
    low = 0 if dtype == U8 else -20
    return g.weight(np.asarray(g.rng.integers(low, 20, shape)).astype(dtype))


def kind(g: Builder) -> np.dtype:
    dtype = g.choose((U8, I8))
    assert isinstance(dtype, np.dtype)
    return dtype


def result_of(g: Builder, dtype: np.dtype) -> list[Tensor]:
    """The scale and zero point of a result."""
    return [g.weight(np.float32(g.rng.uniform(0.02, 0.2))), zero(g, dtype)]


def finite(g: Builder, rank: int | None = None, least_rank: int = 0, least: int = 0) -> Tensor:
    """f32 without NaN and infinities, whose place among integers is left open."""
    return g.pick((F32,), rank, least_rank, least, condition=lambda v: bool(np.isfinite(v.array).all()))


def dynamic_quantize(g: Builder) -> object:
    x = g.pick((F32,), least=1, exact=True, condition=lambda v: bool(np.isfinite(v.array).all()))
    return g.add("DynamicQuantizeLinear", [x], 3, exact=False)


def qlinear_matmul(g: Builder) -> object:
    x = g.pick((U8, I8), rank=g.integer(2, 3))
    other = kind(g)
    y = g.matching((x.shape[-1], g.size()), other)
    columns = (y.shape[1],) if g.chance(0.3) else ()
    left, right = [x, scale(g), zero(g, x.dtype)], [y, scale(g, columns), zero(g, other, columns)]
    return g.add("QLinearMatMul", [*left, *right, *result_of(g, x.dtype)], exact=False)


def qlinear_conv(g: Builder) -> object:
    x = g.pick((U8, I8), rank=g.integer(3, 4), least=1)
    kernel, given = window_of(g, x.rank - 2, pools=False)
    channels = x.shape[1]
    groups = int(g.choose([n for n in (1, 2, channels) if channels % n == 0]))  # type: ignore[call-overload]
    results = groups * g.integer(1, 3)
    dtype = U8 if x.dtype == U8 and g.chance(0.3) else I8
    w = g.fixed((results, channels // groups, *kernel), dtype)
    per = (results,) if g.chance(0.4) else ()
    zeros = g.weight(np.zeros(per, dtype)) if dtype == I8 else zero(g, dtype)
    operands = [x, scale(g), zero(g, x.dtype), w, scale(g, per), zeros, *result_of(g, x.dtype)]
    if g.chance(0.5):
        operands.append(g.weight(np.asarray(g.rng.integers(-99, 99, results)).astype(np.int32)))
    return g.add("QLinearConv", operands, exact=False, **given, **({"group": groups} if groups > 1 else {}))


def binary(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick((U8, I8))
        y = g.broadcasting(x.shape, x.dtype)
        parts = [x, scale(g), zero(g, x.dtype), y, scale(g), zero(g, x.dtype), *result_of(g, x.dtype)]
        return g.add(op, parts, exact=False, domain=MICROSOFT)

    return recipe


def unary(op: str) -> Recipe:
    def recipe(g: Builder) -> object:
        x = g.pick((U8, I8), least_rank=1)
        given: dict[str, object] = {"alpha": 0.2} if op == "QLinearLeakyRelu" and g.chance(0.5) else {}
        if op == "QLinearSoftmax":
            given = {"axis": g.choose((-1, x.rank - 1)), "opset": 13}
        parts = [x, scale(g), zero(g, x.dtype), *result_of(g, x.dtype)]
        return g.add(op, parts, exact=False, domain=MICROSOFT, **given)

    return recipe


def concat(g: Builder) -> object:
    x = g.pick((U8, I8), least_rank=1)
    axis = g.integer(-x.rank, x.rank - 1)
    parts = result_of(g, x.dtype)
    for i in range(g.integer(1, 3)):
        shape = list(x.shape)
        shape[axis] = g.size()
        parts += [x if i == 0 else g.matching(shape, x.dtype), scale(g), zero(g, x.dtype)]
    return g.add("QLinearConcat", parts, exact=False, domain=MICROSOFT, axis=axis)


def average_pool(g: Builder) -> object:
    x = g.pick((U8, I8), rank=4, least=1)
    kernel, given = window_of(g, 2, pools=True)
    given.pop("dilations", None)
    given["count_include_pad"] = g.integer(0, 1)
    given["channels_last"] = g.integer(0, 1)
    parts = [x, scale(g), zero(g, x.dtype), *result_of(g, x.dtype)]
    return g.add("QLinearAveragePool", parts, exact=False, domain=MICROSOFT, kernel_shape=kernel, **given)


def global_average_pool(g: Builder) -> object:
    x = g.pick((U8, I8), rank=4, least=1)
    parts = [x, scale(g), zero(g, x.dtype), *result_of(g, x.dtype)]
    last = {"channels_last": g.integer(0, 1)} if g.chance(0.6) else {}
    return g.add("QLinearGlobalAveragePool", parts, exact=False, domain=MICROSOFT, **last)


def channels_last_max_pool(g: Builder) -> object:
    x = g.pick((U8, I8), rank=4, least=1)
    kernel, given = window_of(g, 2, pools=True)
    return g.add("NhwcMaxPool", [x], domain=MICROSOFT, kernel_shape=kernel, **given)


def product_of_floats(g: Builder) -> object:
    """An operand that is quantised while the model runs."""
    x, dtype = finite(g, least_rank=2, least=1), kind(g)
    y = g.fixed((x.shape[-1], g.size(1)), dtype)
    columns = (y.shape[1],) if g.chance(0.5) else ()
    bias = g.matching((y.shape[1],), F32) if g.chance(0.5) else None
    zeros = zero(g, dtype, columns) if g.chance(0.6) else None
    return g.add("DynamicQuantizeMatMul", [x, y, scale(g, columns), zeros, bias], exact=False, domain=MICROSOFT)


def product_to_floats(g: Builder) -> object:
    x, dtype = g.pick((U8, I8), least_rank=2), kind(g)
    y = g.matching((x.shape[-1], g.size()), dtype)
    columns = (y.shape[1],) if g.chance(0.5) else ()
    bias = g.matching((y.shape[1],), F32) if g.chance(0.5) else None
    parts = [x, y, scale(g), scale(g, columns), zero(g, x.dtype), zero(g, dtype, columns), bias]
    return g.add("MatMulIntegerToFloat", parts, exact=False, domain=MICROSOFT)


def gemm(g: Builder) -> object:
    x, dtype = g.pick((U8, I8), rank=2), kind(g)
    trans_a, trans_b = g.integer(0, 1), g.integer(0, 1)
    inner, columns = x.shape[0 if trans_a else 1], g.size(1)
    y = g.fixed((columns, inner) if trans_b else (inner, columns), dtype)
    per = (columns,) if g.chance(0.4) else ()
    bias = g.weight(np.asarray(g.rng.integers(-99, 99, columns)).astype(np.int32)) if g.chance(0.5) else None
    parts = [x, scale(g), zero(g, x.dtype), y, scale(g, per), zero(g, dtype, per), bias]
    if g.chance(0.6):
        parts += result_of(g, x.dtype)
    return g.add("QGemm", parts, exact=False, domain=MICROSOFT, transA=trans_a, transB=trans_b, alpha=1.0)


def few_bits(g: Builder) -> object:
    """A weight of 4 or 8 bits per number, in blocks."""
    bits, block, columns = int(g.choose((4, 8))), int(g.choose((16, 32))), g.integer(1, 5)  # type: ignore[call-overload]
    x = g.pick((F32,), least_rank=2, least=1)
    depth = x.shape[-1]
    blocks = -(-depth // block)
    packed = g.weight(np.asarray(g.rng.integers(0, 256, (columns, blocks, block * bits // 8))).astype(np.uint8))
    parts: list[Tensor | None] = [x, packed, scale(g, (columns * blocks,))]
    if g.chance(0.5):
        row = -(-blocks * bits // 8)
        parts.append(g.weight(np.asarray(g.rng.integers(0, 256, columns * row)).astype(np.uint8)))
    given = {"K": depth, "N": columns, "bits": bits, "block_size": block}
    return g.add("MatMulNBits", parts, exact=False, domain=MICROSOFT, **given)


def lstm(g: Builder) -> object:
    length, batch, width, hidden = (g.integer(1, n) for n in (4, 3, 5, 5))
    direction = str(g.choose(("forward", "reverse", "bidirectional")))
    count, dtype = (2 if direction == "bidirectional" else 1), kind(g)
    x = finite(g, 3, least=1) if g.chance(0.5) else g.input(g.rng.standard_normal((length, batch, width)).astype(F32))
    length, batch, width = x.shape
    if x.array.size > 200:
        raise Skip("too long a sequence")
    per = (count,) if g.chance(0.5) else (count, 4 * hidden)
    w, r = (g.fixed((count, n, 4 * hidden), dtype) for n in (width, hidden))
    bias = g.weight(g.rng.standard_normal((count, 8 * hidden)).astype(F32)) if g.chance(0.6) else None
    states = [
        g.input(g.rng.standard_normal((count, batch, hidden)).astype(F32)) if g.chance(0.4) else None for _ in range(2)
    ]
    quantisation = [scale(g, per), zero(g, dtype, per), scale(g, per), zero(g, dtype, per)]
    inputs = [x, w, r, bias, None, *states, None, *quantisation]
    given = {"hidden_size": hidden, "direction": direction}
    return g.add("DynamicQuantizeLSTM", inputs, 3, exact=False, domain=MICROSOFT, **given)


def blocked(g: Builder) -> object:
    """A scale for each block of neighbours, and other types of the quantised side."""
    if g.opset < 21:
        raise Skip("no blocks yet")
    x = g.pick((F32,), least_rank=1, least=1, exact=True, condition=lambda v: bool(np.isfinite(v.array).all()))
    axis, block = g.integer(0, x.rank - 1), g.integer(1, 4)
    shape = list(x.shape)
    shape[axis] = -(-shape[axis] // block)
    dtype = g.choose((U8, I8, np.dtype(np.int16), np.dtype(np.uint16)))
    assert isinstance(dtype, np.dtype)
    factors, zeros = scale(g, shape), zero(g, dtype, shape) if dtype.kind == "i" or dtype == U8 else None
    given = {"axis": axis, "block_size": block}
    if zeros is None:
        zeros = g.weight(np.full(shape, 1000, dtype))
    (found,) = g.add("QuantizeLinear", [x, factors, zeros], **given)
    return g.add("DequantizeLinear", [found, factors, zeros], **given)


def matmul_integer_of_few(g: Builder) -> object:
    """Zero points for each row."""
    x = g.pick((U8, I8), rank=2)
    y = g.matching((x.shape[1], g.size()), kind(g))
    return g.add("MatMulInteger", [x, y, zero(g, x.dtype, (x.shape[0],))])


def dequantize_i32(g: Builder) -> object:
    return g.add("DequantizeLinear", [g.pick((I32,)), scale(g)])


def where(g: Builder) -> object:
    x = g.pick((U8, I8))
    parts = [x, scale(g), zero(g, x.dtype), g.broadcasting(x.shape, x.dtype), scale(g), zero(g, x.dtype)]
    parts = [g.broadcasting(x.shape, BOOL), *parts, *result_of(g, x.dtype)]
    return g.add("QLinearWhere", parts, exact=False, domain=MICROSOFT)


def attention(g: Builder) -> object:
    batch, length, heads, size = (g.integer(1, n) for n in (2, 4, 3, 3))
    width, hidden, dtype = g.integer(1, 5), heads * size, kind(g)
    x = g.matching((batch, length, width), U8)
    per = (3 * hidden,) if g.chance(0.4) else ()
    parts: list[Tensor | None] = [x, g.fixed((width, 3 * hidden), dtype), drawn_bias(g, 3 * hidden), scale(g)]
    parts += [scale(g, per), None, zero(g, U8), zero(g, dtype, per)]
    past = g.integer(1, 3) if g.chance(0.3) else 0
    if past:
        parts.append(g.input(g.rng.standard_normal((2, batch, heads, past, size)).astype(F32)))
    given = {"num_heads": heads, "unidirectional": g.integer(0, 1)}
    return g.add("QAttention", parts, 2 if past else 1, exact=False, domain=MICROSOFT, **given)


def drawn_bias(g: Builder, size: int) -> Tensor:
    return g.weight(g.rng.standard_normal(size).astype(F32))


RECIPES: dict[str, Recipe] = {
    **{op: binary(op) for op in ("QLinearAdd", "QLinearMul")},
    **{op: unary(op) for op in ("QLinearLeakyRelu", "QLinearSigmoid", "QLinearSoftmax")},
    "DequantizeLinear of i32": dequantize_i32,
    "DynamicQuantizeLSTM": lstm,
    "DynamicQuantizeLinear": dynamic_quantize,
    "DynamicQuantizeMatMul": product_of_floats,
    "MatMulInteger by row": matmul_integer_of_few,
    "MatMulIntegerToFloat": product_to_floats,
    "MatMulNBits": few_bits,
    "NhwcMaxPool": channels_last_max_pool,
    "QAttention": attention,
    "QGemm": gemm,
    "QLinearAveragePool": average_pool,
    "QLinearConcat": concat,
    "QLinearConv": qlinear_conv,
    "QLinearGlobalAveragePool": global_average_pool,
    "QLinearMatMul": qlinear_matmul,
    "QLinearWhere": where,
    "QuantizeLinear in blocks": blocked,
}
