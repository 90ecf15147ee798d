"""Convolution, pooling, matrix products and attention against loops over indices, written for these tests."""

import itertools
import math

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

import aicc
from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import model, onnxruntime_results, run, run_op

RNG = np.random.default_rng(5)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def taps(o, size, kernel, stride, dilation, low):
    """(tap, position) pairs of window `o` that lie inside an axis."""
    return [(k, p) for k in range(kernel) if 0 <= (p := o * stride + k * dilation - low) < size]


def naive_conv(x, w, b, strides, pads, dilations, groups):
    space = x.ndim - 2
    counts = [
        (x.shape[2 + i] + pads[i] + pads[space + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1
        for i in range(space)
    ]
    result = np.zeros((x.shape[0], w.shape[0], *counts))
    per_group = w.shape[0] // groups
    for n, m, *o in np.ndindex(*result.shape):
        first = m // per_group * w.shape[1]
        axes = [taps(o[i], x.shape[2 + i], w.shape[2 + i], strides[i], dilations[i], pads[i]) for i in range(space)]
        for places in itertools.product(*axes):
            at = tuple(p for _, p in places)
            k = tuple(k for k, _ in places)
            for c in range(w.shape[1]):
                result[(n, m, *o)] += float(x[(n, first + c, *at)]) * float(w[(m, c, *k)])
        result[(n, m, *o)] += b[m]
    return result


CONVS = [
    ((2, 3, 5, 6), (4, 3, 3, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    ((1, 4, 7, 5), (6, 2, 3, 2), (2, 1), (1, 0, 2, 1), (1, 2), 2),
    ((1, 4, 5, 5), (4, 1, 3, 3), (1, 2), (1, 1, 1, 1), (1, 1), 4),
    ((2, 3, 9), (2, 3, 3), (3,), (2, 1), (2,), 1),
    ((1, 2, 4, 4), (3, 2, 1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 1),
    ((1, 1, 3, 4, 3), (2, 1, 2, 2, 2), (1, 1, 1), (0, 1, 0, 0, 0, 0), (1, 1, 1), 1),
    ((0, 2, 4, 4), (3, 2, 3, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
    ((1, 2, 2, 4), (3, 2, 3, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("shape, weight, strides, pads, dilations, groups", CONVS)
def test_conv(shape, weight, strides, pads, dilations, groups, symbolic):
    x, w, b = floats(*shape), floats(*weight), floats(weight[0])
    attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": groups}
    (result,) = run_op("Conv", [x, w, b], constant=[1, 2], symbolic=symbolic, **attributes)
    np.testing.assert_allclose(result, naive_conv(x, w, b, strides, pads, dilations, groups), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("level", [0, 2])
@pytest.mark.parametrize(
    "shape, strides, pads, dilations",
    [
        ((1, 2, 9, 8), (1, 1), (1 << 20, 3, 1 << 20, 3), (1 << 20, 3)),  # Nothing but the middle row of taps.
        ((2, 2, 5, 7), (1, 2), (6, 0, 1, 9), (3, 4)),
        ((1, 2, 4, 4), (2, 3), (8, 5, 8, 3), (4, 4)),
        ((1, 2, 3, 4), (1, 1), (9, 4, 9, 4), (8, 4)),  # Windows that no tap of is inside, at the edges.
    ],
)
def test_conv_with_taps_in_padding_alone(shape, strides, pads, dilations, level):
    x, w, b = floats(*shape), floats(3, 2, 3, 3), floats(3)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], strides=strides, pads=pads, dilations=dilations)]
    made = model(nodes, {"x": (np.float32, shape)}, ["y"], weights={"w": w, "b": b})
    found = aicc.compile(made, opt_level=level, cache=False).run({"x": x})["y"]
    np.testing.assert_allclose(found, naive_conv(x, w, b, strides, pads, dilations, 1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("size, kernel, stride, dilation", [(5, 2, 1, 1), (6, 3, 2, 1), (7, 3, 2, 2), (5, 1, 3, 1)])
@pytest.mark.parametrize("symbolic", [False, True])
def test_auto_pad(auto_pad, size, kernel, stride, dilation, symbolic):
    x, w = floats(1, 1, size), floats(1, 1, kernel)
    span = (kernel - 1) * dilation + 1
    total = max((math.ceil(size / stride) - 1) * stride + span - size, 0) if auto_pad != "VALID" else 0
    low = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
    expected = naive_conv(x, w, [0], [stride], [low, total - low], [dilation], 1)
    (result,) = run_op(
        "Conv", [x, w], constant=[1], symbolic=symbolic, auto_pad=auto_pad, strides=[stride], dilations=[dilation]
    )
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_conv_refuses():
    x, w = floats(1, 3, 4, 4), floats(2, 3, 3, 3)
    for operands, attributes, message in (
        ([x, w], {"kernel_shape": [2, 2]}, r"kernel_shape is \[2, 2\]"),
        ([x, w], {"group": 2}, "input channels are 3"),
        ([x, floats(2, 4, 3, 3)], {}, "weight's second size is 4"),
        ([x, w], {"strides": [0, 1]}, r"strides\[0\] is 0"),
        ([x, w], {"dilations": [3, 3]}, "does not fit"),
        ([x, w], {"pads": [1, 1]}, "pads has 2 entries"),
        ([x, w, floats(3)], {}, "bias's size is 3"),
        ([x[0], w], {}, "weight has rank 4, expected 3"),
        ([x, w], {"auto_pad": "SAME"}, "auto_pad is 'SAME'"),
    ):
        with pytest.raises(ModelError, match=message):
            run_op("Conv", operands, **attributes)


def naive_pool(x, kernel, strides, pads, dilations, ceil_mode, reduce):
    """`reduce(values inside, taps inside the padded input)` for each window."""
    space = x.ndim - 2
    counts = []
    for i in range(space):
        size = x.shape[2 + i]
        slack = size + pads[i] + pads[space + i] - (kernel[i] - 1) * dilations[i] - 1
        count = (math.ceil(slack / strides[i]) if ceil_mode else slack // strides[i]) + 1
        while (count - 1) * strides[i] >= size + pads[i] and ceil_mode:
            count -= 1
        counts.append(count)
    result = np.zeros((*x.shape[:2], *counts))
    for n, c, *o in np.ndindex(*result.shape):
        inside, padded = [], []
        for i in range(space):
            size = x.shape[2 + i]
            inside.append([p for _, p in taps(o[i], size, kernel[i], strides[i], dilations[i], pads[i])])
            whole = size + pads[i] + pads[space + i]
            padded.append(len(taps(o[i], whole, kernel[i], strides[i], dilations[i], 0)))
        values = [x[(n, c, *at)] for at in itertools.product(*inside)]
        result[(n, c, *o)] = reduce(np.array(values), math.prod(padded))
    return result


POOLS = [
    ((1, 2, 6, 7), (2, 3), (2, 1), (0, 0, 0, 0), (1, 1)),
    ((2, 1, 7, 7), (3, 3), (2, 2), (1, 1, 1, 1), (1, 1)),
    ((1, 1, 8, 6), (2, 2), (3, 3), (0, 1, 1, 0), (2, 1)),
    ((1, 2, 9), (7,), (3,), (3, 3), (1,)),
    ((1, 1, 2, 2), (1, 1), (2, 2), (0, 0, 0, 0), (1, 1)),
    ((0, 1, 4, 4), (2, 2), (1, 1), (0, 0, 0, 0), (1, 1)),
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("shape, kernel, strides, pads, dilations", POOLS)
def test_pools(shape, kernel, strides, pads, dilations, ceil_mode, symbolic):
    x = floats(*shape)
    attributes = {
        "kernel_shape": kernel,
        "strides": strides,
        "pads": pads,
        "dilations": dilations,
        "ceil_mode": ceil_mode,
    }
    window = (kernel, strides, pads, dilations, ceil_mode)
    (result,) = run_op("MaxPool", [x], opset=22, symbolic=symbolic, **attributes)
    np.testing.assert_array_equal(result, naive_pool(x, *window, lambda v, n: v.max()))
    (result,) = run_op("AveragePool", [x], opset=22, symbolic=symbolic, **attributes)
    np.testing.assert_allclose(result, naive_pool(x, *window, lambda v, n: v.mean()), rtol=1e-5, atol=1e-6)
    (result,) = run_op("AveragePool", [x], opset=22, symbolic=symbolic, count_include_pad=1, **attributes)
    np.testing.assert_allclose(result, naive_pool(x, *window, lambda v, n: v.sum() / n), rtol=1e-5, atol=1e-6)


def test_max_pool_of_integers_and_nan():
    x = np.array([[[3, -7, 2, -9]]], np.int8)
    (result,) = run_op("MaxPool", [x], kernel_shape=[3], pads=[1, 1])
    np.testing.assert_array_equal(result, np.array([[[3, 3, 2, 2]]], np.int8))
    x = np.array([[[1, np.nan, 2, 0]]], np.float32)
    (result,) = run_op("MaxPool", [x], kernel_shape=[2])
    np.testing.assert_array_equal(result, np.array([[[np.nan, np.nan, 2]]], np.float32))


def test_positions_of_maxima_are_found_if_they_are_asked_for():
    from onnx import helper

    pool = helper.make_node("MaxPool", ["x"], ["y", "places"], "pool", kernel_shape=[2])
    x = np.float32([[[3, 1, 4, 1]]])
    (result,) = run(model([pool], {"x": (np.float32, x.shape)}, ["y"]), {"x": x})
    assert result.tolist() == [[[3, 4, 4]]]
    _, places = run(model([pool], {"x": (np.float32, x.shape)}, ["y", "places"]), {"x": x})
    assert places.tolist() == [[[0, 2, 2]]]


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 2, 7), (2, 3)])
def test_global_pools(shape):
    x = floats(*shape)
    space = tuple(range(2, len(shape)))
    (mean,) = run_op("GlobalAveragePool", [x], symbolic=True)
    np.testing.assert_allclose(mean, x.mean(space, keepdims=True), rtol=1e-5, atol=1e-6)
    (largest,) = run_op("GlobalMaxPool", [x], symbolic=True)
    np.testing.assert_array_equal(largest, x.max(space, keepdims=True))


@pytest.mark.parametrize(
    "left, right",
    [((3, 4), (4, 2)), ((2, 1, 3, 4), (5, 4, 2)), ((4,), (4,)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((2, 0), (0, 3))],
)
@pytest.mark.parametrize("symbolic", [False, True])
def test_matmul(left, right, symbolic):
    if symbolic and 1 in left:
        return  # A symbolic size of 1 is not broadcast.
    a, b = floats(*left), floats(*right)
    (result,) = run_op("MatMul", [a, b], symbolic=symbolic)
    expected = np.matmul(a.astype(np.float64), b)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_matmul_refuses():
    with pytest.raises(ModelError, match="number of rows of the right operand is 3, expected 4"):
        run_op("MatMul", [floats(2, 4), floats(3, 2)])
    with pytest.raises(ModelError, match="rank 0"):
        run_op("MatMul", [floats(2, 4), floats()])


@pytest.mark.parametrize("transpose_a", [0, 1])
@pytest.mark.parametrize("transpose_b", [0, 1])
@pytest.mark.parametrize("alpha, beta", [(1.0, 1.0), (0.5, 2.0), (1.0, 0.0)])
@pytest.mark.parametrize("bias", [None, (4,), (3, 1), (3, 4), ()])
def test_gemm(transpose_a, transpose_b, alpha, beta, bias):
    a, b = floats(3, 2), floats(2, 4)
    c = None if bias is None else floats(*bias)
    operands = [a.T if transpose_a else a, b.T if transpose_b else b, *([] if c is None else [c])]
    attributes = {"transA": transpose_a, "transB": transpose_b, "alpha": alpha, "beta": beta}
    (result,) = run_op("Gemm", operands, constant=[1, 2], **attributes)
    expected = alpha * a.astype(np.float64) @ b + (0 if c is None else beta * c)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_floats_are_summed_in_f32(dtype):
    # One large and many small numbers: a sum in f16 or bf16 would lose the small ones.
    a = np.array([[2048.0] + [1.0] * 512], dtype)
    (result,) = run_op("MatMul", [a, np.ones((513, 1), dtype)])
    assert result.dtype == dtype and float(result[0, 0]) == 2560
    (result,) = run_op("Conv", [a[None], np.ones((1, 1, 513), dtype)])
    assert result.dtype == dtype and float(result[0, 0, 0]) == 2560


def naive_attention(q, k, v, allowed=None, bias=None, scale=None, softcap=0.0):
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    groups = q.shape[1] // k.shape[1]
    result = np.zeros((*q.shape[:3], v.shape[-1]))
    for b, h, i in np.ndindex(*q.shape[:3]):
        keys = k[b, h // groups].astype(np.float64)
        scores = keys @ q[b, h, i].astype(np.float64) * scale
        if softcap:
            scores = softcap * np.tanh(scores / softcap)
        if bias is not None:
            scores = scores + np.broadcast_to(bias, (*q.shape[:3], len(keys)))[b, h, i]
        if allowed is not None:
            scores = np.where(np.broadcast_to(allowed, (*q.shape[:3], len(keys)))[b, h, i], scores, -np.inf)
        if np.isneginf(scores).all():
            continue
        weights = np.exp(scores - scores.max())
        result[b, h, i] = weights / weights.sum() @ v[b, h // groups]
    return result


def close(result, expected):
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def test_attention():
    q, k, v = floats(2, 3, 4, 8), floats(2, 3, 5, 8), floats(2, 3, 5, 6)
    close(run_op("Attention", [q, k, v], opset=23)[0], naive_attention(q, k, v))
    close(run_op("Attention", [q, k, v], opset=23, scale=0.3)[0], naive_attention(q, k, v, scale=0.3))
    close(run_op("Attention", [q, k, v], opset=23, softcap=0.5)[0], naive_attention(q, k, v, softcap=0.5))
    causal = np.tri(4, 5, dtype=bool)
    close(run_op("Attention", [q, k, v], opset=23, is_causal=1)[0], naive_attention(q, k, v, causal))
    bias = floats(2, 1, 4, 5)
    close(run_op("Attention", [q, k, v, bias], opset=23)[0], naive_attention(q, k, v, bias=bias))
    allowed = RNG.random((4, 5)) < 0.6
    allowed[2] = False
    close(run_op("Attention", [q, k, v, allowed], opset=23)[0], naive_attention(q, k, v, allowed))


def test_attention_of_grouped_queries_in_rank_3():
    q, k, v = floats(2, 6, 3, 4), floats(2, 2, 5, 4), floats(2, 2, 5, 4)
    allowed = RNG.random((2, 6, 3, 5)) < 0.7
    expected = naive_attention(q, k, v, allowed)
    close(run_op("Attention", [q, k, v, allowed], opset=23)[0], expected)
    merged = [x.transpose(0, 2, 1, 3).reshape(2, x.shape[2], -1) for x in (q, k, v)]
    (result,) = run_op("Attention", [*merged, allowed], opset=23, q_num_heads=6, kv_num_heads=2)
    close(result, expected.transpose(0, 2, 1, 3).reshape(2, 3, -1))


def test_attention_with_a_cache():
    q, k, v = floats(1, 2, 2, 4), floats(1, 2, 2, 4), floats(1, 2, 2, 4)
    past_k, past_v = floats(1, 2, 3, 4), floats(1, 2, 3, 4)
    all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    result, present_k, present_v = run_op(
        "Attention", [q, k, v, None, past_k, past_v], opset=23, outputs=3, is_causal=1
    )
    close(result, naive_attention(q, all_k, all_v, np.tri(2, 5, 3, dtype=bool)))
    np.testing.assert_array_equal(present_k, all_k)
    np.testing.assert_array_equal(present_v, all_v)


def test_onnxruntime_agrees_on_convolution_and_pooling():
    from onnx import helper

    x, w = floats(2, 4, 11, 9), floats(6, 2, 3, 3)
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], group=2, pads=[1, 2, 0, 1], strides=[2, 1], dilations=[1, 2]),
        helper.make_node("MaxPool", ["c"], ["m"], kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1),
        helper.make_node("AveragePool", ["c"], ["a"], kernel_shape=[2, 3], auto_pad="SAME_UPPER"),
    ]
    proto = model(nodes, {"x": (np.float32, ["N", 4, "H", "W"])}, ["c", "m", "a"], 17, {"w": w})
    for result, expected in zip(run(proto, {"x": x}), onnxruntime_results(proto, {"x": x}), strict=True):
        close(result, expected)
