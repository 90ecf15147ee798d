"""ReverseSequence, TensorScatter, STFT and TfIdfVectorizer, against loops over single elements."""

from __future__ import annotations

import numpy as np
import pytest

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.operators.helper import check, one_node

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(("batch_axis", "time_axis"), [(1, 0), (0, 1)])
def test_reverse_sequence(batch_axis, time_axis):
    x = RNG.standard_normal((4, 3, 2)).astype(np.float32)
    lengths = np.array([2, 4, 0] if batch_axis else [1, 3, 2, 0], np.int64)
    expected = x.copy()
    for b, length in enumerate(lengths):
        for t in range(length):
            at, source = ((t, b), (length - 1 - t, b)) if batch_axis else ((b, t), (b, length - 1 - t))
            expected[at] = x[source]
    for symbolic in (False, True):
        case = one_node("ReverseSequence", [x, lengths], batch_axis=batch_axis, time_axis=time_axis, symbolic=symbolic)
        check(*case, [expected], levels=[2])


def test_reverse_sequence_refuses_other_axes():
    proto, _ = one_node("ReverseSequence", [np.zeros((2, 2)), np.int64([1, 1])], batch_axis=1, time_axis=1)
    with pytest.raises(ModelError, match="batch_axis is 1 and time_axis 1, expected 0 and 1 in some order"):
        import_onnx(proto)


@pytest.mark.parametrize(
    ("mode", "axis", "starts"), [("linear", -2, [1, 0]), ("circular", 1, [3, 2]), ("linear", 2, None)]
)
def test_tensor_scatter(mode, axis, starts):
    cache = RNG.standard_normal((2, 5, 4, 3)).astype(np.float16)
    shape = list(cache.shape)
    shape[axis] = 2
    update = RNG.standard_normal(shape).astype(np.float16)
    expected = cache.copy()
    moved, new = np.moveaxis(expected, axis, 1), np.moveaxis(update, axis, 1)
    for b in range(2):
        for s in range(2):
            moved[b, ((starts or [0, 0])[b] + s) % moved.shape[1]] = new[b, s]
    indices = None if starts is None else np.array(starts, np.int64)
    check(*one_node("TensorScatter", [cache, update, indices], mode=mode, axis=axis), [expected])


def spectrum(x: np.ndarray, step: int, length: int, window: np.ndarray, onesided: bool) -> np.ndarray:
    complex_x = x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    frames = (x.shape[1] - length) // step + 1
    bins = length // 2 + 1 if onesided else length
    result = np.zeros((x.shape[0], frames, bins), complex)
    for frame in range(frames):
        part = complex_x[:, frame * step : frame * step + length] * window
        for k in range(bins):
            result[:, frame, k] = (part * np.exp(-2j * np.pi * k * np.arange(length) / length)).sum(-1)
    return np.stack([result.real, result.imag], -1)


@pytest.mark.parametrize(
    ("parts", "onesided", "windowed", "given", "known"),
    [(1, 1, True, False, True), (2, 0, False, True, True), (1, 0, True, True, False)],
)
def test_stft(parts, onesided, windowed, given, known):
    x = RNG.standard_normal((2, 40, parts)).astype(np.float32)
    window = RNG.random(12).astype(np.float32) if windowed else None
    inputs = [x, np.int64(5), window, np.int64(12) if given else None]
    constant = [i for i in (1, 3) if known and inputs[i] is not None]
    expected = spectrum(x, 5, 12, np.ones(12) if window is None else window, bool(onesided)).astype(np.float32)
    case = one_node("STFT", inputs, opset=17, constant=constant, onesided=onesided)
    check(*case, [expected], atol=2e-5)


def test_n_grams():
    pool, counts, places = [2, 3, 5, 5, 5, 6, 7, 2, 2, 3], [0, 2], [3, 0, 1, 4, 2, 5]
    grams = [(2,), (3,), (5, 5), (5, 6), (7, 2), (2, 3)]
    weights = [1.0, 0.5, 2.0, 3.0, 4.0, 0.25]
    x = np.array([[2, 5, 5, 3, 5, 6], [7, 1, 2, 3, 2, 2]], np.int32)
    for mode in ("TF", "IDF", "TFIDF"):
        expected = np.zeros((2, 6), np.float32)
        for row in range(2):
            for gram, place, weight in zip(grams, places, weights, strict=True):
                found = 0
                for distance in range(1, 3 if len(gram) > 1 else 2):
                    reach = distance * (len(gram) - 1)
                    starts = range(x.shape[1] - reach)
                    found += sum(tuple(x[row, i : i + reach + 1 : distance]) == gram for i in starts)
                value = {"TF": found, "IDF": min(found, 1) * weight, "TFIDF": found * weight}[mode]
                expected[row, place] += value
        attributes = {
            "pool_int64s": pool, "ngram_counts": counts, "ngram_indexes": places, "weights": weights, "mode": mode,
            "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 1,
        }  # fmt: skip
        check(*one_node("TfIdfVectorizer", [x], **attributes), [expected], levels=[2])
        check(*one_node("TfIdfVectorizer", [x[0]], **attributes), [expected[0]], levels=[])


def test_n_grams_are_not_looked_for_past_the_end_of_a_row():
    """At no distance, and of no length; else neither would be done with in this life."""
    x, most = np.array([[3, 1, 2, 5, 1]]), (1 << 62)
    expected = np.zeros((1, 2), np.float32)
    for distance in range(1, 5):
        for start in range(5 - distance):
            expected[0, 1] += x[0, start] == 1 and x[0, start + distance] == 5
            expected[0, 0] += x[0, start] == 3 and x[0, start + distance] == 1
    attributes = {
        "pool_int64s": [3, 1, 1, 5], "ngram_counts": [0, 0], "ngram_indexes": [0, 1], "mode": "TF",
        "min_gram_length": 2, "max_gram_length": most, "max_skip_count": most,
    }  # fmt: skip
    check(*one_node("TfIdfVectorizer", [x], **attributes), [expected], levels=[2])
    model, _ = one_node("TfIdfVectorizer", [np.zeros((1, 5000), np.int64)], **attributes)
    with pytest.raises(ModelError, match="2-grams are looked for at 4999 distances, expected at most 1024"):
        import_onnx(model)
