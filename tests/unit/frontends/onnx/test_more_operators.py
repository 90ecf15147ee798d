"""Transposed convolution, einsum, resizing, quantisation, one-hot and friends, loops, and operators by definition."""

import itertools
import math

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import model, run, run_op

RNG = np.random.default_rng(17)


def floats(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def close(result, expected):
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


def naive_conv_transpose(x, w, strides, pads, dilations, groups, extra):
    """Each input element adds its multiple of the filter to the result."""
    space, per_group = x.ndim - 2, w.shape[1]
    sizes = [
        strides[i] * (x.shape[2 + i] - 1) + extra[i] + (w.shape[2 + i] - 1) * dilations[i] + 1 for i in range(space)
    ]
    whole = np.zeros((x.shape[0], per_group * groups, *sizes))
    for n, c, *at in np.ndindex(*x.shape):
        group = c // (x.shape[1] // groups)
        for m, *k in np.ndindex(*w.shape[1:]):
            place = tuple(at[i] * strides[i] + k[i] * dilations[i] for i in range(space))
            whole[(n, group * per_group + m, *place)] += float(x[(n, c, *at)]) * float(w[(c, m, *k)])
    cut = [slice(pads[i], sizes[i] - pads[space + i]) for i in range(space)]
    return whole[(slice(None), slice(None), *cut)]


CONV_TRANSPOSES = [
    ((1, 2, 3, 4), (2, 3, 3, 2), (1, 1), (0, 0, 0, 0), (1, 1), 1, (0, 0)),
    ((2, 4, 3, 3), (4, 1, 2, 3), (2, 3), (1, 0, 0, 2), (1, 1), 2, (1, 0)),
    ((1, 1, 4), (1, 2, 3), (2,), (1, 1), (2,), 1, (1,)),
    ((1, 2, 3, 3), (2, 1, 1, 1), (2, 2), (0, 0, 0, 0), (1, 1), 2, (0, 0)),
    ((1, 1, 3, 3), (1, 1, 2, 2), (1, 1), (1, 1, 1, 1), (1, 1), 1, (0, 0)),
    # Phases: taps a multiple of the stride or not, fewer than it, cut off within a phase and by whole ones.
    ((1, 3, 4, 5), (3, 2, 2, 2), (2, 2), (0, 0, 0, 0), (1, 1), 1, (0, 0)),
    ((2, 2, 4, 3), (2, 3, 4, 4), (2, 2), (1, 1, 1, 1), (1, 1), 1, (0, 0)),
    ((1, 4, 3, 2), (4, 2, 5, 3), (3, 2), (4, 1, 2, 0), (1, 1), 2, (2, 1)),
    ((1, 2, 3, 3), (2, 2, 1, 3), (2, 1), (0, 1, 1, 0), (1, 2), 1, (0, 0)),
    ((1, 2, 5), (2, 2, 3), (4,), (0, 5), (1,), 1, (3,)),
    ((1, 2, 2, 3, 2), (2, 3, 2, 3, 2), (2, 2, 1), (0, 1, 0, 0, 1, 0), (1, 1, 1), 1, (0, 1, 0)),
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("shape, weight, strides, pads, dilations, groups, extra", CONV_TRANSPOSES)
def test_conv_transpose(shape, weight, strides, pads, dilations, groups, extra, symbolic):
    x, w = floats(*shape), floats(*weight)
    bias = floats(weight[1] * groups)
    attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": groups, "output_padding": extra}
    (result,) = run_op("ConvTranspose", [x, w, bias], constant=[1, 2], symbolic=symbolic, **attributes)
    expected = naive_conv_transpose(x, w, strides, pads, dilations, groups, extra)
    close(result, expected + bias.reshape(-1, *[1] * (x.ndim - 2)))


def test_conv_transpose_by_an_infinite_weight_counts_zeros_beside_the_input():
    x, w = np.array([[[1, 2, 3, 4]]], np.float32), np.array([[[1, np.inf, 2]]], np.float32)
    with np.errstate(invalid="ignore"):
        (found,) = run_op("ConvTranspose", [x, w])
    np.testing.assert_array_equal(found, [[[np.nan, np.inf, np.inf, np.inf, np.inf, np.nan]]])


@pytest.mark.parametrize("auto_pad, low", [("SAME_UPPER", 0), ("SAME_LOWER", 1)])
def test_conv_transpose_pads_by_itself(auto_pad, low):
    x, w = floats(1, 1, 4), floats(1, 1, 3)
    # 2 * (4 - 1) + 3 = 9 elements, of which 8 are kept.
    (result,) = run_op("ConvTranspose", [x, w], constant=[1], auto_pad=auto_pad, strides=[2])
    close(result, naive_conv_transpose(x, w, [2], [low, 1 - low], [1], 1, [0]))
    (result,) = run_op("ConvTranspose", [x, w], constant=[1], output_shape=[7], strides=[2])
    close(result, naive_conv_transpose(x, w, [2], [1, 1], [1], 1, [0]))


EINSUMS = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("...ij,...jk->...ik", [(2, 2, 3), (1, 3, 2)]),
    ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("bij, bj -> bi", [(2, 3, 4), (2, 4)]),
    ("ij,kl->il", [(2, 3), (4, 5)]),
    ("i,j->ij", [(2,), (3,)]),
    ("ij,ij->ij", [(2, 3), (2, 3)]),
    ("ij->ji", [(2, 3)]),
    ("ijk->j", [(2, 3, 4)]),
    ("ij->", [(2, 3)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("b...d,d->b...", [(2, 3, 4, 5), (5,)]),
]

DIAGONALS = [
    ("ii->i", [(3, 3)]),
    ("iji", [(4, 2, 4)]),
    ("ii", [(3, 3)]),
    ("iiji->ij", [(3, 3, 2, 3)]),
    ("...ii->...i", [(2, 4, 3, 3)]),
    ("ibi,ij->bj", [(3, 4, 3), (3, 5)]),
    ("ii->i", [(0, 0)]),
]


@pytest.mark.parametrize("equation, shapes", EINSUMS)
def test_einsum(equation, shapes):
    operands = [floats(*shape) for shape in shapes]
    (result,) = run_op("Einsum", operands, equation=equation)
    close(result, np.einsum(equation.replace(" ", ""), *operands))


@pytest.mark.parametrize("equation, shapes", DIAGONALS)
def test_einsum_of_diagonals(equation, shapes):
    operands = [floats(*shape) for shape in shapes]
    for symbolic in (False, True):
        (result,) = run_op("Einsum", operands, equation=equation, symbolic=symbolic)
        close(result, np.einsum(equation, *operands))


@pytest.mark.parametrize(
    "equation, message",
    [
        ("ij->ik", "label of its own|one of its own"),
        ("i,j->ij", "2 operands"),
        ("ij-ji", "malformed"),
    ],
)
def test_einsum_refuses(equation, message):
    with pytest.raises(ModelError, match=message):
        run_op("Einsum", [floats(3, 3)], equation=equation)
    with pytest.raises(ModelError, match="label 'i' names axes 0 and 1 of sizes 3 and 4"):
        run_op("Einsum", [floats(3, 4)], equation="ii->i")


def places(mode, size, count, scale):
    i = np.arange(count)
    match mode:
        case "half_pixel":
            return (i + 0.5) / scale - 0.5
        case "asymmetric":
            return i / scale
        case "align_corners":
            return i * (size - 1) / (count - 1)
        case "pytorch_half_pixel":
            return (i + 0.5) / scale - 0.5 if count > 1 else i * 0.0


@pytest.mark.parametrize("mode", ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
@pytest.mark.parametrize("height, width", [(6, 8), (2, 3), (9, 2), (3, 4)])
def test_resize(mode, height, width):
    x = floats(1, 2, 3, 4)
    sizes = np.array([1, 2, height, width], np.int64)
    rows, columns = places(mode, 3, height, height / 3), places(mode, 4, width, width / 4)
    linear = np.zeros((1, 2, height, width))
    for i, j in np.ndindex(height, width):
        for (a, p), (b, q) in itertools.product(taps(rows[i], 3), taps(columns[j], 4)):
            linear[:, :, i, j] += a * b * x[:, :, p, q]
    attributes = {"coordinate_transformation_mode": mode}
    (result,) = run_op("Resize", [x, None, None, sizes], constant=[3], mode="linear", **attributes)
    close(result, linear)
    for rounding, function in (("floor", np.floor), ("ceil", np.ceil), ("round_prefer_floor", half_down)):
        nearest = x[:, :, index(function(rows), 3)][..., index(function(columns), 4)]
        (result,) = run_op("Resize", [x, None, None, sizes], constant=[3], nearest_mode=rounding, **attributes)
        np.testing.assert_array_equal(result, nearest)


def taps(place, size):
    low = math.floor(place)
    weight = place - low
    return [(1 - weight, min(max(low, 0), size - 1)), (weight, min(max(low + 1, 0), size - 1))]


def half_down(values):
    return np.ceil(values - 0.5)


def index(values, size):
    return np.clip(values, 0, size - 1).astype(int)


def test_resize_by_an_integer_repeats_symbolic_sizes():
    x = floats(1, 2, 3, 4)
    expected = x.repeat(2, 2).repeat(3, 3)
    scales = np.float32([1, 1, 2, 3])
    (result,) = run_op("Resize", [x, None, scales], constant=[2], symbolic=True)
    np.testing.assert_array_equal(result, expected)
    (result,) = run_op("Upsample", [x, scales], opset=9, constant=[1], symbolic=True)
    np.testing.assert_array_equal(result, expected)
    with pytest.raises(ModelError, match="mode is 'bilinear', expected nearest, linear or cubic"):
        run_op("Resize", [x, None, scales], constant=[2], mode="bilinear")


def test_quantize_rounds_half_to_even_and_saturates():
    x = np.float32([-1.5, -0.5, 0.5, 1.5, 2.5, 300, -300])
    scale, zero = np.float32(1).reshape(()), np.array(3, np.uint8)
    (result,) = run_op("QuantizeLinear", [x, scale, zero])
    assert result.dtype == np.uint8
    np.testing.assert_array_equal(result, [1, 3, 3, 5, 5, 255, 0])
    (result,) = run_op("QuantizeLinear", [x, scale])
    np.testing.assert_array_equal(result, [0, 0, 0, 2, 2, 255, 0])


def test_quantize_and_dequantize_along_an_axis():
    x = floats(2, 3, 4)
    scale, zero = np.float32([0.1, 0.5, 2]), np.array([0, -5, 9], np.int8)
    column = (3, 1)
    (q,) = run_op("QuantizeLinear", [x, scale, zero], axis=1)
    expected = np.clip(np.rint(x / scale.reshape(column)) + zero.reshape(column), -128, 127).astype(np.int8)
    np.testing.assert_array_equal(q, expected)
    (back,) = run_op("DequantizeLinear", [q, scale, zero], axis=-2)
    close(back, (q.astype(np.int32) - zero.reshape(column)) * scale.reshape(column))
    with pytest.raises(ModelError, match="input 1 has 3 blocks, expected 2"):
        run_op("QuantizeLinear", [x, floats(2, 3, 2)], opset=21, block_size=2)


def test_dynamic_quantization_by_its_definition():
    x = np.float32([0, 2, -3, -2.5, 1.34, 0.5])
    y, scale, zero = run_op("DynamicQuantizeLinear", [x], outputs=3)
    expected = np.float32((2 - -3) / 255)
    np.testing.assert_allclose(scale, expected, rtol=1e-6)
    assert zero == round(3 / expected)
    np.testing.assert_array_equal(y, np.clip(np.rint(x / expected) + zero, 0, 255))


def test_integer_products():
    a, b = RNG.integers(0, 255, (2, 3)).astype(np.uint8), RNG.integers(-128, 127, (3, 4)).astype(np.int8)
    a_zero, b_zero = np.array([7, 9], np.uint8), np.array([1, -2, 3, 0], np.int8)
    (result,) = run_op("MatMulInteger", [a, b, a_zero, b_zero])
    expected = (a.astype(np.int32) - a_zero[:, None].astype(np.int32)) @ (b.astype(np.int32) - b_zero)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, expected)
    x, w = np.arange(2, 6, dtype=np.uint8).reshape(1, 1, 4), np.array([[[1, 2]]], np.uint8)
    (result,) = run_op("ConvInteger", [x, w, np.array(2, np.uint8)], pads=[1, 0])
    np.testing.assert_array_equal(result, [[[0, 2, 5, 8]]])


def test_one_hot_hardmax_eye_like():
    indices = np.array([[0, 2], [-1, 5]], np.int64)
    values = np.float32([-1, 4])
    for depth in (np.array(3, np.int64), np.array(3, np.float32)):
        (result,) = run_op("OneHot", [indices, depth, values], constant=[1], axis=1)
        expected = np.full((2, 3, 2), -1, np.float32)
        expected[0, 0, 0] = expected[0, 2, 1] = expected[1, 2, 0] = 4
        np.testing.assert_array_equal(result, expected)
    x = np.float32([[3, 0, 3], [1, 2, 0]])
    for opset in (11, 13):
        (result,) = run_op("Hardmax", [x], opset=opset)
        np.testing.assert_array_equal(result, [[1, 0, 0], [0, 1, 0]])
    (result,) = run_op("EyeLike", [x], k=1, dtype=TensorProto.INT32)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, np.eye(2, 3, 1))


def test_cumsum_along_an_axis_from_data():
    x = floats(2, 3, 4)
    for axis in (0, 1, 2, -1, -3):
        (result,) = run_op("CumSum", [x, np.array(axis, np.int32)])
        close(result, np.cumsum(x, axis))


def loop(condition_op="Identity"):
    """`acc += step` and scans of `acc` and the iteration number."""
    body = helper.make_graph(
        [
            helper.make_node(condition_op, ["go"], ["go_out"]),
            helper.make_node("Add", ["acc", "step"], ["acc_out"]),
            helper.make_node("Identity", ["acc_out"], ["scan"]),
            helper.make_node("Identity", ["i"], ["i_out"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("acc", TensorProto.FLOAT, [2]),
        ],
        [
            helper.make_value_info(name, helper.make_tensor_type_proto(1, None))
            for name in ("go_out", "acc_out", "scan", "i_out")
        ],
    )
    return helper.make_node("Loop", ["count", "", "start"], ["end", "scans", "numbers"], "loop", body=body)


INPUTS = {"start": (np.float32, [2]), "step": (np.float32, [2])}
FEEDS = {"start": np.float32([1, 2]), "step": np.float32([10, -1])}


@pytest.mark.parametrize("count", [0, 1, 4])
def test_loop_of_a_known_number_of_iterations(count):
    proto = model([loop()], INPUTS, ["end", "scans", "numbers"], weights={"count": np.array(count)})
    end, scans, numbers = run(proto, FEEDS)
    steps = np.arange(1, count + 1, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(end, FEEDS["start"] + count * FEEDS["step"])
    np.testing.assert_array_equal(scans, FEEDS["start"] + steps * FEEDS["step"])
    np.testing.assert_array_equal(numbers, np.arange(count))


def test_loop_over_a_size():
    nodes = [helper.make_node("Size", ["x"], ["count"]), loop()]
    proto = model(nodes, INPUTS | {"x": (np.float32, ["N"])}, ["end", "numbers"])
    end, numbers = run(proto, FEEDS | {"x": np.zeros(3, np.float32)})
    np.testing.assert_array_equal(end, [31, -1])
    np.testing.assert_array_equal(numbers, [0, 1, 2])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_loop_of_a_number_of_iterations_from_data(count):
    proto = model([loop()], INPUTS | {"count": (np.int64, [])}, ["end", "scans", "numbers"])
    end, scans, numbers = run(proto, FEEDS | {"count": np.array(count)})
    steps = np.arange(1, count + 1, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(end, FEEDS["start"] + count * FEEDS["step"])
    np.testing.assert_array_equal(scans, FEEDS["start"] + steps * FEEDS["step"])
    np.testing.assert_array_equal(numbers, np.arange(count))


def test_loop_with_a_value_that_grows():
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["more"]),
            helper.make_node("Concat", ["v", "v", "step"], ["next"], axis=0),
            helper.make_node("Identity", ["next"], ["slice"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, [None]),
        ],
        [helper.make_tensor_value_info(name, kind, None) for name, kind in (("more", 9), ("next", 1))],
    )
    node = helper.make_node("Loop", ["count", "", "start"], ["end"], "loop", body=body)
    proto = model([node], INPUTS | {"count": (np.int64, [])}, ["end"])
    expected = FEEDS["start"]
    for count in range(4):
        (end,) = run(proto, FEEDS | {"count": np.array(count)})
        np.testing.assert_array_equal(end, expected)
        expected = np.concatenate([expected, expected, FEEDS["step"]])


def test_scan_forwards_and_backwards():
    body = helper.make_graph(
        [
            helper.make_node("Add", ["sum", "x"], ["next"]),
            helper.make_node("Identity", ["next"], ["part"]),
        ],
        "body",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("sum", "x")],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in ("next", "part")],
    )
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    for backwards in (0, 1):
        node = helper.make_node(
            *("Scan", ["start", "x"], ["end", "parts"], "scan"),
            body=body,
            num_scan_inputs=1,
            scan_input_directions=[backwards],
            scan_output_directions=[backwards],
            scan_output_axes=[1],
        )
        proto = model([node], {"start": (np.float32, [2]), "x": (np.float32, ["T", 2])}, ["end", "parts"])
        end, parts = run(proto, {"start": FEEDS["start"], "x": x})
        rows = x[::-1] if backwards else x
        sums = FEEDS["start"] + np.cumsum(rows, 0)
        np.testing.assert_array_equal(end, sums[-1])
        np.testing.assert_array_equal(parts, (sums[::-1] if backwards else sums).T)


def test_loop_that_stops_by_itself():
    proto = model([loop("Not")], INPUTS, ["end"], weights={"count": np.array(9)})
    np.testing.assert_array_equal(run(proto, FEEDS)[0], FEEDS["start"] + FEEDS["step"])


def test_while_without_a_count():
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["acc", "two"], ["acc_out"]),
            helper.make_node("Less", ["acc_out", "bound"], ["go_out"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("acc", TensorProto.FLOAT, []),
        ],
        [helper.make_value_info(name, helper.make_tensor_type_proto(1, None)) for name in ("go_out", "acc_out")],
        [numpy_helper.from_array(np.float32(2).reshape(()), "two")],
    )
    node = helper.make_node("Loop", ["", "go0", "start"], ["end"], body=body)
    inputs = {"start": (np.float32, []), "bound": (np.float32, []), "go0": (np.bool_, [])}
    proto = model([node], inputs, ["end"])
    feeds = {"start": np.float32(3).reshape(()), "bound": np.float32(50).reshape(())}
    assert run(proto, feeds | {"go0": np.array(True)})[0] == 96
    assert run(proto, feeds | {"go0": np.array(False)})[0] == 3


def test_operators_by_their_definition():
    x = floats(1, 2, 3, 4)
    cosines, sines = floats(3, 2), floats(3, 2)
    (result,) = run_op("RotaryEmbedding", [x, cosines[None], sines[None]], opset=23)
    first, second = x[..., :2], x[..., 2:]
    expected = np.concatenate([first * cosines - second * sines, second * cosines + first * sines], -1)
    close(result, expected)


def test_what_a_definition_needs_is_named():
    with pytest.raises(ModelError, match=r"node 'n' \(LinearAttention, opset 27\): the operator is not supported"):
        run_op(
            "LinearAttention", [floats(1, 2, 3, 4)] * 3 + [None] * 3, opset=27, outputs=2, q_num_heads=2, kv_num_heads=2
        )
