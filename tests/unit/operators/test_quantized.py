"""Operators on quantised tensors, of the standard and of `com.microsoft`, against their formulas in numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.unit.operators.helper import check, one_node

Array = np.ndarray[Any, Any]
MICROSOFT = "com.microsoft"
U8, I8, F32 = np.uint8, np.int8, np.float32


def quantized(x: Array, scale: Array | float, zero: Array | int, dtype: type = U8) -> Array:
    limits = np.iinfo(dtype)
    q = np.rint(x.astype(F32) / np.asarray(scale, F32)) + np.asarray(zero, F32)
    return np.clip(q, limits.min, limits.max).astype(dtype)


def floats(q: Array, scale: Array | float, zero: Array | int) -> Array:
    return ((q.astype(np.int32) - np.asarray(zero, np.int32)).astype(F32) * np.asarray(scale, F32)).astype(F32)


def requantized(total: Array, factor: Array, zero: int, dtype: type) -> Array:
    limits = np.iinfo(dtype)
    return np.clip(np.rint(total.astype(F32) * factor.astype(F32)) + zero, limits.min, limits.max).astype(dtype)


def scalar(value: float, dtype: type = F32) -> Array:
    return np.array(value, dtype)


def within_one(proto: Any, feeds: dict[str, Array], expected: Array) -> None:
    """Results of which a float before rounding may be another in its last bit."""
    from aicc import compile as compiled

    for level in (0, 2):
        (found,) = compiled(proto, opt_level=level, threads=1).run(feeds).values()
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert np.abs(found.astype(np.int64) - expected.astype(np.int64)).max(initial=0) <= 1


# Quantisation


def test_ties_go_to_even_and_results_saturate() -> None:
    x = np.array([-1e9, -3, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 250, 1e9, np.inf, -np.inf], F32)
    for zero, dtype in ((scalar(3, U8), U8), (scalar(-7, I8), I8), (scalar(100, np.int16), np.int16)):
        check(*one_node("QuantizeLinear", [x, scalar(1.0), zero]), [quantized(x, 1.0, zero, dtype)])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_per_axis(axis: int) -> None:
    rng = np.random.default_rng(axis % 3)
    x = rng.normal(0, 40, (3, 4, 5)).astype(F32)
    scale = rng.uniform(0.1, 2, x.shape[axis]).astype(F32)
    zero = rng.integers(0, 255, x.shape[axis]).astype(U8)
    shape = [1, 1, 1]
    shape[axis] = -1
    q = quantized(x, scale.reshape(shape), zero.reshape(shape))
    check(*one_node("QuantizeLinear", [x, scale, zero], axis=axis, symbolic=(0,)), [q])
    expected = floats(q, scale.reshape(shape), zero.reshape(shape))
    check(*one_node("DequantizeLinear", [q, scale, zero], axis=axis), [expected])


@pytest.mark.parametrize(("size", "block"), [(6, 3), (7, 3), (4, 8)])
def test_per_block(size: int, block: int) -> None:
    rng = np.random.default_rng(size)
    x = rng.normal(0, 40, (2, size, 3)).astype(F32)
    blocks = -(-size // block)
    scale = rng.uniform(0.1, 2, (2, blocks, 3)).astype(F32)
    zero = rng.integers(-100, 100, (2, blocks, 3)).astype(I8)
    s, z = (np.repeat(a, block, 1)[:, :size] for a in (scale, zero))
    q = quantized(x, s, z, I8)
    check(*one_node("QuantizeLinear", [x, scale, zero], axis=1, block_size=block), [q])
    check(*one_node("DequantizeLinear", [q, scale, zero], axis=1, block_size=block), [floats(q, s, z)])


@pytest.mark.parametrize("name", ["int4", "uint4"])
def test_four_bits(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    low, high = (-8, 7) if name == "int4" else (0, 15)
    x = np.linspace(-40, 40, 33).astype(F32)
    q = np.clip(np.rint(x / F32(2.5)) + 1, low, high).astype(np.int8).astype(dtype)
    zero = np.array(1, dtype)
    check(*one_node("QuantizeLinear", [x, scalar(2.5), zero]), [q])
    check(*one_node("DequantizeLinear", [q, scalar(2.5), zero]), [floats(q.astype(np.int8), 2.5, 1)])


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_floats_of_eight_bits(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    x = np.array([0, 1, -3.3, 17, 1e3], F32)
    q = (x / F32(2)).astype(dtype)
    largest = np.array(ml_dtypes.finfo(dtype).max, F32)
    check(*one_node("QuantizeLinear", [x, scalar(2), np.zeros((), dtype)]), [np.minimum(x / 2, largest).astype(dtype)])
    check(*one_node("DequantizeLinear", [q, scalar(2)]), [q.astype(F32) * F32(2)])


@pytest.mark.parametrize("dtype", [F32, np.float64])
@pytest.mark.parametrize("low", [-3.0, 0.5, -9.0])
def test_dynamic_quantisation_holds_zero(low: float, dtype: Any) -> None:
    """f64 is for references: the standard knows f32 alone."""
    x = np.linspace(low, low + 5, 24).reshape(4, 6).astype(dtype)
    smallest, largest = min(dtype(x.min()), dtype(0)), max(dtype(x.max()), dtype(0))
    scale = dtype(dtype(largest - smallest) / dtype(255))
    zero = int(np.clip(np.rint(dtype(0) - smallest / scale), 0, 255))
    expected = [quantized(x, scale, zero), np.array(scale), scalar(zero, U8)]
    check(*one_node("DynamicQuantizeLinear", [x], outputs=3, symbolic=True), expected)


# Products


def test_qlinear_matmul() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 256, (9, 20)).astype(U8), rng.integers(-128, 128, (20, 12)).astype(I8)
    scales, zeros = rng.uniform(0.01, 0.1, 12).astype(F32), rng.integers(-9, 9, 12).astype(I8)
    total = (a.astype(np.int64) - 101) @ (b.astype(np.int64) - zeros)
    expected = requantized(total, F32(0.05) * scales / F32(0.7), 99, U8)
    inputs = [a, scalar(0.05), scalar(101, U8), b, scales, zeros, scalar(0.7), scalar(99, U8)]
    check(*one_node("QLinearMatMul", inputs, constant=[1, 2, 3, 4, 5, 6, 7], symbolic=(0,)), [expected])


def test_qlinear_conv_of_one_tap_with_bias() -> None:
    rng = np.random.default_rng(2)
    x, w = rng.integers(0, 256, (2, 6, 4, 5)).astype(U8), rng.integers(-128, 128, (8, 6, 1, 1)).astype(I8)
    scales, bias = rng.uniform(0.01, 0.1, 8).astype(F32), rng.integers(-2000, 2000, 8).astype(np.int32)
    total = np.einsum("nchw,mc->nmhw", x.astype(np.int64) - 120, w[:, :, 0, 0].astype(np.int64))
    total += bias.reshape(-1, 1, 1)
    expected = requantized(total, (F32(0.03) * scales / F32(0.9)).reshape(-1, 1, 1), 110, U8)
    zeros = np.zeros(8, I8)
    inputs = [x, scalar(0.03), scalar(120, U8), w, scales, zeros, scalar(0.9), scalar(110, U8), bias]
    check(*one_node("QLinearConv", inputs, constant=range(1, 9)), [expected])


def test_padding_of_a_quantised_convolution_is_the_zero_point() -> None:
    x, w = np.full((1, 2, 3, 3), 50, U8), np.ones((1, 2, 3, 3), I8)
    inputs = [x, scalar(1), scalar(40, U8), w, scalar(1), scalar(0, I8), scalar(1), scalar(7, U8)]
    taps = np.array([[4, 6, 4], [6, 9, 6], [4, 6, 4]])
    expected = (taps * 2 * 10 + 7).astype(U8).reshape(1, 1, 3, 3)
    check(*one_node("QLinearConv", inputs, pads=[1, 1, 1, 1]), [expected])


def test_products_of_com_microsoft() -> None:
    rng = np.random.default_rng(3)
    a = rng.normal(0, 2, (5, 16)).astype(F32)
    b, bias = rng.integers(-128, 128, (16, 6)).astype(I8), rng.normal(0, 1, 6).astype(F32)
    scales = rng.uniform(0.01, 0.02, 6).astype(F32)
    low, high = min(a.min(), F32(0)), max(a.max(), F32(0))
    scale = F32(F32(high - low) / F32(255))
    zero = int(np.rint(F32(0) - low / scale))
    q = quantized(a, scale, zero)
    expected = ((q.astype(np.int64) - zero) @ b.astype(np.int64)).astype(F32) * (scale * scales) + bias
    model = one_node("DynamicQuantizeMatMul", [a, b, scales, None, bias], constant=[1, 2, 4], domain=MICROSOFT)
    check(*model, [expected], rtol=1e-5, atol=1e-5)
    inputs = [q, b, scalar(0.5), scales, scalar(zero, U8), None, bias]
    expected = ((q.astype(np.int64) - zero) @ b.astype(np.int64)).astype(F32) * (F32(0.5) * scales) + bias
    check(
        *one_node("MatMulIntegerToFloat", inputs, constant=[1, 3], domain=MICROSOFT), [expected], rtol=1e-5, atol=1e-5
    )


def test_quantised_gemm() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 256, (7, 10)).astype(U8), rng.integers(-128, 128, (5, 10)).astype(I8)
    bias = rng.integers(-500, 500, 5).astype(np.int32)
    total = (a.astype(np.int64) - 3) @ (b.T.astype(np.int64)) + bias
    inputs = [a, scalar(0.1), scalar(3, U8), b, scalar(0.2), scalar(0, I8), bias, scalar(0.9), scalar(5, U8)]
    expected = requantized(total, F32(0.1) * F32(0.2) / F32(0.9), 5, U8)
    check(*one_node("QGemm", inputs, transB=1, domain=MICROSOFT), [expected])
    expected = total.astype(F32) * (F32(0.1) * F32(0.2))
    check(*one_node("QGemm", inputs[:7], transB=1, domain=MICROSOFT), [expected], rtol=1e-6)


@pytest.mark.parametrize("with_zeros", [False, True])
@pytest.mark.parametrize(("bits", "depth"), [(4, 40), (8, 32)])
def test_matmul_of_few_bits(bits: int, depth: int, with_zeros: bool) -> None:
    rng = np.random.default_rng(bits)
    columns, block = 6, 16
    blocks = -(-depth // block)
    numbers = rng.integers(0, 1 << bits, (columns, blocks, block)).astype(U8)
    scales = rng.uniform(0.1, 1, (columns, blocks)).astype(F32)
    zeros = rng.integers(0, 1 << bits, (columns, blocks)).astype(U8) if with_zeros else None
    a = rng.normal(0, 1, (3, depth)).astype(F32)

    def packed(array: Array) -> Array:
        if bits == 8:
            return array
        padded = np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, array.shape[-1] % 2)])
        return (padded[..., 0::2] | (padded[..., 1::2] << 4)).astype(U8)

    centre = (1 << (bits - 1)) if zeros is None else zeros[:, :, None].astype(F32)
    weight = ((numbers.astype(F32) - centre) * scales[:, :, None]).reshape(columns, -1)[:, :depth]
    inputs = [a, packed(numbers), scales, None if zeros is None else packed(zeros)]
    model = one_node(
        "MatMulNBits", inputs, constant=[1, 2], domain=MICROSOFT, K=depth, N=columns, bits=bits, block_size=block
    )
    check(*model, [a @ weight.T], rtol=1e-4, atol=1e-4)


# Tensors that stay quantised


def test_sums_and_products_of_quantised_tensors() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 256, (2, 3, 4)).astype(U8), rng.integers(0, 256, (3, 1)).astype(U8)
    inputs = [a, scalar(0.1), scalar(9, U8), b, scalar(0.3), scalar(70, U8), scalar(0.4), scalar(100, U8)]
    x, y = floats(a, 0.1, 9), floats(b, 0.3, 70)
    for name, value in (("QLinearAdd", x + y), ("QLinearMul", x * y)):
        within_one(*one_node(name, inputs, domain=MICROSOFT), quantized(value, 0.4, 100))


def test_concatenation_of_quantised_tensors() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-128, 128, (2, 3)).astype(I8), rng.integers(-128, 128, (2, 5)).astype(I8)
    inputs = [scalar(0.5), scalar(-3, I8), a, scalar(0.2), scalar(4, I8), b, scalar(0.9), scalar(-20, I8)]
    joined = np.concatenate([floats(a, 0.2, 4), floats(b, 0.9, -20)], 1)
    within_one(*one_node("QLinearConcat", inputs, axis=1, domain=MICROSOFT), quantized(joined, 0.5, -3, I8))


def test_functions_of_quantised_tensors() -> None:
    rng = np.random.default_rng(7)
    q = rng.integers(0, 256, (3, 8)).astype(U8)
    inputs = [q, scalar(0.05), scalar(128, U8), scalar(1 / 256), scalar(0, U8)]
    x = floats(q, 0.05, 128)
    exponentials = np.exp(x - x.max(-1, keepdims=True))
    for name, value, extra in (
        ("QLinearSigmoid", 1 / (1 + np.exp(-x)), {}),
        ("QLinearLeakyRelu", np.where(x < 0, x * F32(0.25), x), {"alpha": 0.25}),
        ("QLinearSoftmax", exponentials / exponentials.sum(-1, keepdims=True), {"axis": -1, "opset": 13}),
    ):
        within_one(*one_node(name, inputs, domain=MICROSOFT, **extra), quantized(value, 1 / 256, 0))


@pytest.mark.parametrize("last", [0, 1])
def test_pools_of_quantised_images(last: int) -> None:
    rng = np.random.default_rng(8)
    q = rng.integers(0, 256, (1, 2, 4, 6)).astype(U8)
    x = floats(q, 0.1, 30)
    halves = x.reshape(1, 2, 2, 2, 3, 2).mean((3, 5))
    whole = x.mean((2, 3), keepdims=True)

    def moved(array: Array) -> Array:
        return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if last else array

    inputs = [moved(q), scalar(0.1), scalar(30, U8), scalar(0.2), scalar(10, U8)]
    kernel = {"kernel_shape": [2, 2], "strides": [2, 2]}
    model = one_node("QLinearAveragePool", inputs, domain=MICROSOFT, channels_last=last, **kernel)
    within_one(*model, moved(quantized(halves, 0.2, 10)))
    model = one_node("QLinearGlobalAveragePool", inputs, domain=MICROSOFT, channels_last=last)
    within_one(*model, moved(quantized(whole, 0.2, 10)))
    if last:
        expected = moved(q.reshape(1, 2, 2, 2, 3, 2).max((3, 5)))
        check(*one_node("NhwcMaxPool", inputs[:1], domain=MICROSOFT, **kernel), [expected])


# The LSTM


@pytest.mark.parametrize("per_column", [False, True])
def test_quantised_lstm(per_column: bool) -> None:
    rng = np.random.default_rng(9)
    steps, batch, inputs, units = 4, 2, 6, 5
    x = rng.normal(0, 1, (steps, batch, inputs)).astype(F32)
    w = rng.integers(-128, 128, (2, inputs, 4 * units)).astype(I8)
    r = rng.integers(-128, 128, (2, units, 4 * units)).astype(I8)
    width = (2, 4 * units) if per_column else (2,)
    w_scale, r_scale = (rng.uniform(0.002, 0.004, width).astype(F32) for _ in range(2))
    w_zero, r_zero = (rng.integers(-20, 20, width).astype(I8) for _ in range(2))
    bias = rng.normal(0, 0.1, (2, 8 * units)).astype(F32)

    def product(value: Array, weights: Array, scale: Array, zero: Array) -> Array:
        low, high = min(value.min(), F32(0)), max(value.max(), F32(0))
        own = F32(F32(high - low) / F32(255))
        if own == 0:
            return np.zeros((len(value), weights.shape[1]), F32)
        offset = int(np.clip(np.rint(F32(0) - low / own), 0, 255))
        total = (quantized(value, own, offset).astype(np.int64) - offset) @ (weights.astype(np.int64) - zero)
        return total.astype(F32) * (own * scale)

    def sigmoid(value: Array) -> Array:
        return 1 / (1 + np.exp(-value))

    y = np.zeros((steps, 2, batch, units), F32)
    last: list[tuple[Array, Array]] = []
    for direction in range(2):
        h = c = np.zeros((batch, units), F32)
        gates = product(x.reshape(-1, inputs), w[direction], w_scale[direction], w_zero[direction].astype(np.int64))
        gates = gates.reshape(steps, batch, -1)
        for step in range(steps)[:: -1 if direction else 1]:
            total = gates[step] + product(h, r[direction], r_scale[direction], r_zero[direction].astype(np.int64))
            total = total + bias[direction, : 4 * units] + bias[direction, 4 * units :]
            i, o, f, g = np.split(total, 4, 1)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            h = (sigmoid(o) * np.tanh(c)).astype(F32)
            y[step, direction] = h
        last.append((h, c))
    given = [x, w, r, bias, None, None, None, None, w_scale, w_zero, r_scale, r_zero]
    model = one_node(
        "DynamicQuantizeLSTM",
        given,
        outputs=3,
        constant=[1, 2, 3, 8, 9, 10, 11],
        symbolic=(0,) if per_column else False,
        domain=MICROSOFT,
        direction="bidirectional",
        hidden_size=units,
    )
    expected = [y, np.stack([h for h, _ in last]), np.stack([c for _, c in last])]
    # A state next to a border between two integers may fall to either side.
    check(*model, expected, atol=2e-3)


def test_choice_between_scales() -> None:
    rng = np.random.default_rng(4)
    condition, x, y = rng.random((3, 1)) < 0.5, rng.integers(0, 256, (3, 4)).astype(U8), scalar(77, U8)
    inputs = [condition, x, scalar(0.1), scalar(9, U8), y, scalar(0.3), scalar(5, U8), scalar(0.2), scalar(100, U8)]
    expected = quantized(np.where(condition, floats(x, 0.1, 9), floats(y, 0.3, 5)), 0.2, 100)
    within_one(*one_node("QLinearWhere", inputs, domain=MICROSOFT), expected)


@pytest.mark.parametrize("per_column", [False, True])
def test_attention_with_quantised_weights(per_column: bool) -> None:
    rng = np.random.default_rng(5)
    batch, length, width, heads, size, past = 2, 3, 4, 2, 3, 2
    hidden = heads * size
    x, w = (
        rng.integers(0, 256, (batch, length, width)).astype(U8),
        rng.integers(-99, 99, (width, 3 * hidden)).astype(I8),
    )
    per = (3 * hidden,) if per_column else ()
    w_scale, w_zero = rng.uniform(0.01, 0.02, per).astype(F32), rng.integers(-9, 9, per).astype(I8)
    bias, before = rng.normal(size=3 * hidden).astype(F32), rng.normal(size=(2, batch, heads, past, size)).astype(F32)
    projected = floats(x, 0.02, 120).astype(np.float64) @ floats(w, w_scale, w_zero.astype(int)) + bias
    q, k, v = (
        part.reshape(batch, length, heads, size).transpose(0, 2, 1, 3) for part in np.split(projected, 3, axis=2)
    )
    k, v = np.concatenate([before[0], k], 2), np.concatenate([before[1], v], 2)
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(size)
    scores[..., np.arange(past + length) > np.arange(length)[:, None] + past] = -np.inf
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    result = (weights / weights.sum(-1, keepdims=True)) @ v
    inputs = [x, w, bias, scalar(0.02), w_scale, None, scalar(120, U8), w_zero, before]
    model = one_node(
        "QAttention",
        inputs,
        outputs=2,
        constant=[1, 4, 7],
        symbolic=[0],
        domain=MICROSOFT,
        num_heads=heads,
        unidirectional=1,
    )
    expected = [result.transpose(0, 2, 1, 3).reshape(batch, length, hidden).astype(F32), np.stack([k, v]).astype(F32)]
    check(*model, expected, rtol=1e-4, atol=1e-4)


def test_constant_images_tell_the_number_of_channels() -> None:
    """The kernel's own number of channels is a symbol, which nothing that is packed before the model runs knows."""
    rng = np.random.default_rng(7)
    x, w = rng.integers(0, 256, (2, 6, 3, 5)).astype(U8), rng.integers(-128, 128, (4, 6, 1, 1)).astype(I8)
    a, b = rng.integers(-128, 128, (7, 20)).astype(I8), rng.integers(0, 256, (20, 5)).astype(U8)
    for inputs, pads in (([x, w], [0, 1, 0, 1]), ([x, w], [0] * 4)):
        whole = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (0, 0), (pads[1], pads[3])))
        expected = np.einsum("nchw,mc->nmhw", whole, w[:, :, 0, 0].astype(np.int64)).astype(np.int32)
        check(*one_node("ConvInteger", inputs, constant=[0], symbolic=(1,), pads=pads), [expected])
    expected = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    for known, unknown in ((0, 1), (1, 0)):
        check(*one_node("MatMulInteger", [a, b], constant=[known], symbolic=(unknown,)), [expected])
