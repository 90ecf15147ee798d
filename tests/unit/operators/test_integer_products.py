"""Products of 8-bit integers with zero points: equal to numpy's in i32, to the last bit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.unit.operators.helper import check, one_node

PAIRS = list(product((np.uint8, np.int8), repeat=2))
SHAPES = [((7, 5), (5, 9)), ((33, 64), (64, 48)), ((1, 17), (17, 1)), ((2, 3, 10), (10, 33)), ((1, 256), (256, 96))]


def extremes(rng: np.random.Generator, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Any integers, many of them the smallest and the largest, so that sums of two products pass 16 bits."""
    limits = np.iinfo(dtype)
    array = rng.integers(limits.min, limits.max + 1, shape)
    ends = rng.choice([limits.min, limits.max], shape)
    return np.where(rng.random(shape) < 0.5, ends, array).astype(dtype)


def centred(array: np.ndarray, zero: np.ndarray | None) -> np.ndarray:
    return array.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))


@pytest.mark.parametrize("number", range(0, len(PAIRS) * len(SHAPES), 2))
def test_matmul_integer(number: int) -> None:
    rng = np.random.default_rng(number)
    (left, right), (a_shape, b_shape) = PAIRS[number % 7 % len(PAIRS)], SHAPES[number // len(PAIRS)]
    a, b = extremes(rng, a_shape, left), extremes(rng, b_shape, right)
    zeros = [None, extremes(rng, (), left)][number % 2], [None, extremes(rng, (b_shape[-1],), right)][number // 2 % 2]
    expected = centred(a, zeros[0]) @ centred(b, zeros[1])
    constant = [1, 3] if number % 3 else []
    inputs = [a, b, *zeros]
    model, feeds = one_node(
        "MatMulInteger", inputs, constant=[k for k in constant if inputs[k] is not None], symbolic=(0,)
    )
    check(model, feeds, [expected.astype(np.int32)])


def test_zero_points_per_row_and_for_one_element() -> None:
    rng = np.random.default_rng(0)
    a, b = extremes(rng, (6, 11), np.uint8), extremes(rng, (11, 4), np.uint8)
    rows, one = extremes(rng, (6,), np.uint8), extremes(rng, (1,), np.uint8)
    expected = centred(a, rows[:, None]) @ centred(b, one)
    check(*one_node("MatMulInteger", [a, b, rows, one], constant=[1]), [expected.astype(np.int32)])


def test_sums_wrap() -> None:
    a, b = np.full((1, 40000), 255, np.uint8), np.full((40000, 2), 255, np.uint8)
    expected = (centred(a, None) @ centred(b, None)).astype(np.int32)
    assert (expected < 0).all()
    check(*one_node("MatMulInteger", [a, b], constant=[1]), [expected], levels=(2,))


def convolved(x: np.ndarray, w: np.ndarray, stride: int, pad: int, groups: int) -> np.ndarray:
    """A convolution of two spatial axes, tap by tap."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    (count, channels, *space), (outputs, depth, *kernel) = x.shape, w.shape
    sizes = [(size - taps) // stride + 1 for size, taps in zip(space, kernel, strict=True)]
    result = np.zeros((count, outputs, *sizes), np.int64)
    for group in range(groups):
        own = slice(group * outputs // groups, (group + 1) * outputs // groups)
        part = x[:, group * channels // groups : (group + 1) * channels // groups]
        assert part.shape[1] == depth
        for i, j in product(*map(range, kernel)):
            window = part[:, :, i : i + stride * sizes[0] : stride, j : j + stride * sizes[1] : stride]
            result[:, own] += np.einsum("nchw,mc->nmhw", window, w[own, :, i, j])
    return result


@pytest.mark.parametrize(
    ("x_shape", "w_shape", "stride", "pad", "groups"),
    [
        ((1, 3, 7, 6), (8, 3, 3, 3), 1, 1, 1),
        ((2, 16, 9, 9), (24, 16, 3, 3), 2, 1, 1),
        ((1, 20, 5, 5), (16, 20, 1, 1), 1, 0, 1),
        ((1, 8, 6, 6), (12, 4, 3, 3), 1, 1, 2),
        ((1, 8, 6, 6), (8, 1, 3, 3), 1, 1, 8),
        ((1, 6, 6, 6), (4, 3, 2, 2), 1, 0, 2),
        ((2, 16, 1, 9), (8, 16, 3, 3), 1, 1, 1),
        ((1, 16, 7, 1), (8, 16, 3, 3), 2, 1, 1),
    ],
)
def test_conv_integer(x_shape: tuple[int, ...], w_shape: tuple[int, ...], stride: int, pad: int, groups: int) -> None:
    rng = np.random.default_rng(x_shape[1] + stride)
    left, right = PAIRS[(x_shape[1] + groups + stride) % len(PAIRS)]
    x, w = extremes(rng, x_shape, left), extremes(rng, w_shape, right)
    x_zero, w_zero = extremes(rng, (), left), extremes(rng, (w_shape[0],), right)
    expected = convolved(centred(x, x_zero), centred(w, w_zero.reshape(-1, 1, 1, 1)), stride, pad, groups)
    inputs = [x, w, x_zero, w_zero]
    model, feeds = one_node(
        "ConvInteger",
        inputs,
        constant=[1, 3],
        strides=[stride] * 2,
        pads=[pad] * 4,
        group=groups,
        symbolic=() if groups > 1 else (0,),
    )
    check(model, feeds, [expected.astype(np.int32)])


@pytest.mark.parametrize("symbolic", [(), (0,)])
@pytest.mark.parametrize("kind", [np.uint8, np.int8])
def test_bytes_may_lie_at_any_address(kind: type, symbolic: tuple[int, ...]) -> None:
    rng = np.random.default_rng(9)
    memory = extremes(rng, (6 * 64 + 1,), kind)
    a, b = memory[1:].reshape(6, 64), extremes(rng, (64, 48), np.int8)
    expected = centred(a, None) @ centred(b, None)
    model, feeds = one_node("MatMulInteger", [a, b], constant=[1], symbolic=symbolic)
    assert any(fed.ctypes.data % 4 for fed in feeds.values())
    check(model, feeds, [expected.astype(np.int32)])


@pytest.mark.parametrize(("kind", "zero"), [(np.uint8, 0), (np.uint8, 200), (np.int8, -7)])
@pytest.mark.parametrize(("channels", "stride"), [(35, 1), (64, 2)])
def test_depthwise_convolutions(kind: type, zero: int, channels: int, stride: int) -> None:
    rng = np.random.default_rng(channels + stride)
    x, w = extremes(rng, (1, channels, 11, 9), kind), extremes(rng, (channels, 1, 3, 3), np.int8)
    padded = np.pad(centred(x, np.array(zero)), ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows, columns = -(-11 // stride), -(-9 // stride)
    expected = np.zeros((1, channels, rows, columns), np.int64)
    for i, j in product(range(3), repeat=2):
        taps = padded[:, :, i : i + (rows - 1) * stride + 1 : stride, j : j + (columns - 1) * stride + 1 : stride]
        expected += taps * w[:, 0, i, j].astype(np.int64)[:, None, None]
    model, feeds = one_node(
        "ConvInteger",
        [x, w, np.array(zero, kind)],
        constant=[1, 2],
        group=channels,
        pads=[1] * 4,
        strides=[stride] * 2,
    )
    check(model, feeds, [expected.astype(np.int32)])
