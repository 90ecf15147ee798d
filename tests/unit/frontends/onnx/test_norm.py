"""Normalisation and softmax against their formulas in f64."""

import numpy as np
import pytest

from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import run_op

RNG = np.random.default_rng(11)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def close(result, expected):
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_softmax_of_both_definitions(axis):
    x = floats(2, 3, 4) * 5
    attributes = {} if axis is None else {"axis": axis}
    exact = x.astype(np.float64)
    expected = softmax(exact, -1 if axis is None else axis)
    close(run_op("Softmax", [x], opset=13, symbolic=True, **attributes)[0], expected)
    close(run_op("LogSoftmax", [x], opset=13, **attributes)[0], np.log(expected))
    # Up to opset 12 all axes from the given one on are one.
    first = 1 if axis is None else axis % 3
    flat = softmax(exact.reshape(int(np.prod(x.shape[:first])), -1), 1).reshape(x.shape)
    close(run_op("Softmax", [x], opset=12, symbolic=True, **attributes)[0], flat)
    close(run_op("LogSoftmax", [x], opset=11, **attributes)[0], np.log(flat))


def test_softmax_of_special_rows():
    inf = np.inf
    x = np.array([[1e4, 1e4, -1e4], [-inf, -inf, -inf], [0, -inf, 0], [inf, 0, 0]], np.float32)
    (result,) = run_op("Softmax", [x])
    expected = np.array([[0.5, 0.5, 0], [np.nan] * 3, [0.5, 0, 0.5]], np.float32)
    np.testing.assert_array_equal(result[:3], expected)
    assert np.isnan(result[3]).any()


def test_softmax_of_f16_is_computed_in_f32():
    x = floats(3, 50).astype(np.float16)
    (result,) = run_op("Softmax", [x])
    np.testing.assert_array_equal(result, softmax(x.astype(np.float32), -1).astype(np.float16))


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3), (1, 3, 7)])
def test_batch_norm(shape):
    x, scale, bias, mean, variance = floats(*shape), floats(3), floats(3), floats(3), np.abs(floats(3))
    column = (3, *[1] * (len(shape) - 2))
    scaled = (x - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 1e-3)
    (result,) = run_op("BatchNormalization", [x, scale, bias, mean, variance], constant=range(1, 5), epsilon=1e-3)
    close(result, scaled * scale.reshape(column) + bias.reshape(column))


def test_running_statistics_are_of_training_mode():
    operands = [floats(1, 3, 2), *(floats(3) for _ in range(4))]
    with pytest.raises(ModelError, match="training mode only"):
        run_op("BatchNormalization", operands, outputs=3)


def normalised(x, axes, epsilon):
    x = x.astype(np.float64)
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axes, keepdims=True) + epsilon)


def test_instance_norm():
    x, scale, bias = floats(2, 3, 4, 5), floats(3), floats(3)
    expected = normalised(x, (2, 3), 1e-2) * scale[:, None, None] + bias[:, None, None]
    for symbolic in (False, True):
        close(run_op("InstanceNormalization", [x, scale, bias], epsilon=1e-2, symbolic=symbolic)[0], expected)


def test_group_norm_of_both_versions():
    x = floats(2, 6, 4)
    expected = normalised(x.reshape(2, 3, 2, 4), (2, 3), 1e-5).reshape(x.shape)
    per_channel = floats(6), floats(6)
    (result,) = run_op("GroupNormalization", [x, *per_channel], opset=21, num_groups=3)
    close(result, expected * per_channel[0][:, None] + per_channel[1][:, None])
    per_group = floats(3), floats(3)
    (result,) = run_op("GroupNormalization", [x, *per_group], opset=18, num_groups=3)
    wide = [np.repeat(value, 2)[:, None] for value in per_group]
    close(result, expected * wide[0] + wide[1])
    (result,) = run_op("GroupNormalization", [x, *per_group], opset=18, num_groups=3, symbolic=True)
    close(result, expected * wide[0] + wide[1])
    with pytest.raises(ModelError, match="num_groups is 4"):
        run_op("GroupNormalization", [x, *per_channel], opset=21, num_groups=4)


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layer_norm(axis):
    x = floats(2, 3, 4)
    scale, bias = floats(*x.shape[axis:]), floats(*x.shape[axis:])
    axes = tuple(range(axis % 3, 3))
    expected = normalised(x, axes, 1e-5) * scale + bias
    close(run_op("LayerNormalization", [x, scale, bias], axis=axis)[0], expected)
    close(run_op("LayerNormalization", [x, scale], axis=axis, symbolic=True)[0], expected - bias)


def test_layer_norm_gives_mean_and_inverse_deviation():
    x, scale = floats(2, 8), floats(8)
    result, mean, inverse = run_op("LayerNormalization", [x, scale], outputs=3, epsilon=1e-3)
    close(mean, x.mean(-1, keepdims=True))
    close(inverse, 1 / np.sqrt(x.var(-1, keepdims=True) + 1e-3))
    close(result, (x - mean) * inverse * scale)


def test_rms_norm():
    x, scale = floats(2, 3, 4), floats(4)
    expected = x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5) * scale
    close(run_op("RMSNormalization", [x, scale], opset=23, symbolic=True)[0], expected)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_lrn(size):
    x = floats(2, 5, 3, 2) * 4
    expected = np.zeros(x.shape)
    for c in range(5):
        first, last = max(0, c - (size - 1) // 2), min(4, c + size // 2)
        square = (x[:, first : last + 1].astype(np.float64) ** 2).sum(1)
        expected[:, c] = x[:, c] / (1.5 + 0.1 / size * square) ** 0.6
    close(run_op("LRN", [x], size=size, alpha=0.1, beta=0.6, bias=1.5, symbolic=True)[0], expected)


def test_lp_and_mean_variance_norm():
    x = floats(2, 3, 4)
    x[0, 1] = 0
    for p in (1, 2):
        norm = np.linalg.norm(x.astype(np.float64), p, axis=2, keepdims=True)
        expected = np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm))
        close(run_op("LpNormalization", [x], p=p, axis=-1)[0], expected)
    x = floats(2, 3, 4, 5)
    centred = x - x.mean((0, 2, 3), keepdims=True)
    expected = centred / (np.sqrt((centred**2).mean((0, 2, 3), keepdims=True)) + 1e-9)
    close(run_op("MeanVarianceNormalization", [x])[0], expected)
