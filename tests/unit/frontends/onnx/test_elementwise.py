"""Arithmetic, comparison, logic and activations against formulas in numpy."""

import math

import ml_dtypes
import numpy as np
import pytest

from tests.unit.frontends.onnx.helper import run_op

NAN, INF = math.nan, math.inf
X = np.array([-3.5, -1.0, -0.25, 0.0, 0.5, 1.0, 2.75], np.float32)
POSITIVE = np.array([0.1, 0.5, 1.0, 2.0, 7.5], np.float32)
UNIT = np.array([-0.9, -0.3, 0.0, 0.2, 0.99], np.float32)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(value) for value in x], np.float64)


UNARY = [
    ("Abs", X, np.abs),
    ("Acos", UNIT, np.arccos),
    ("Acosh", POSITIVE + 1, np.arccosh),
    ("Asin", UNIT, np.arcsin),
    ("Asinh", X, np.arcsinh),
    ("Atan", X, np.arctan),
    ("Atanh", UNIT, np.arctanh),
    ("Ceil", X, np.ceil),
    ("Cos", X, np.cos),
    ("Cosh", X, np.cosh),
    ("Erf", X, _erf),
    ("Exp", X, np.exp),
    ("Floor", X, np.floor),
    ("HardSwish", X, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ("Log", POSITIVE, np.log),
    ("Mish", X, lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    ("Neg", X, lambda x: -x),
    ("Reciprocal", POSITIVE, lambda x: 1 / x),
    ("Relu", X, lambda x: np.maximum(x, 0)),
    ("Round", np.array([0.5, 1.5, -0.5, 2.4], np.float32), lambda x: np.array([0, 2, 0, 2])),
    ("Sigmoid", X, _sigmoid),
    ("Sign", X, np.sign),
    ("Sin", X, np.sin),
    ("Sinh", X, np.sinh),
    ("Softplus", X, lambda x: np.log1p(np.exp(x))),
    ("Softsign", X, lambda x: x / (1 + np.abs(x))),
    ("Sqrt", POSITIVE, np.sqrt),
    ("Tan", X, np.tan),
    ("Tanh", X, np.tanh),
]


@pytest.mark.parametrize("op, x, formula", UNARY, ids=[case[0] for case in UNARY])
def test_unary(op, x, formula):
    (result,) = run_op(op, [x], opset=18)
    assert result.dtype == x.dtype
    # A few roundings of f32.
    np.testing.assert_allclose(result, formula(x.astype(np.float64)), rtol=2e-6, atol=1e-7)


WITH_ATTRIBUTES = [
    ("Celu", {"alpha": 2.0}, lambda x: np.maximum(x, 0) + np.minimum(0, 2 * (np.exp(x / 2) - 1))),
    ("Elu", {"alpha": 0.5}, lambda x: np.where(x > 0, x, 0.5 * (np.exp(x) - 1))),
    ("Elu", {}, lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    ("Gelu", {}, lambda x: x / 2 * (1 + _erf(x / math.sqrt(2)))),
    (
        "Gelu",
        {"approximate": "tanh"},
        lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    ("HardSigmoid", {}, lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    ("HardSigmoid", {"alpha": 0.5, "beta": 0.25}, lambda x: np.clip(0.5 * x + 0.25, 0, 1)),
    ("LeakyRelu", {}, lambda x: np.where(x < 0, 0.01 * x, x)),
    ("LeakyRelu", {"alpha": 0.3}, lambda x: np.where(x < 0, 0.3 * x, x)),
    ("Selu", {}, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1))),
    ("Selu", {"alpha": 2.0, "gamma": 3.0}, lambda x: 3 * np.where(x > 0, x, 2 * (np.exp(x) - 1))),
    ("Shrink", {"lambd": 0.75, "bias": 0.5}, lambda x: np.where(x > 0.75, x - 0.5, np.where(x < -0.75, x + 0.5, 0))),
    ("ThresholdedRelu", {"alpha": 0.75}, lambda x: np.where(x > 0.75, x, 0)),
    ("ThresholdedRelu", {}, lambda x: np.where(x > 1, x, 0)),
    ("Swish", {}, lambda x: x * _sigmoid(x)),
    ("Swish", {"alpha": 1.5}, lambda x: x * _sigmoid(1.5 * x)),
]


@pytest.mark.parametrize("op, attributes, formula", WITH_ATTRIBUTES)
def test_attributes(op, attributes, formula):
    (result,) = run_op(op, [X], opset=24, **attributes)
    np.testing.assert_allclose(result, formula(X.astype(np.float64)), rtol=2e-6, atol=1e-6)


A = np.array([[1, -7, 3], [9, 2, -5]], np.int32)
B = np.array([2, 3, -2], np.int32)
BINARY = [
    ("Add", A, B, A + B),
    ("Sub", A, B, A - B),
    ("Mul", A, B, A * B),
    ("Div", A, B, np.array([[0, -2, -1], [4, 0, 2]], np.int32)),
    ("Mod", A, B, np.array([[1, 2, -1], [1, 2, -1]], np.int32)),
    ("Pow", A, np.array([2, 0, 3], np.int32), A ** np.array([2, 0, 3])),
    ("BitwiseAnd", A, B, A & B),
    ("BitwiseOr", A, B, A | B),
    ("BitwiseXor", A, B, A ^ B),
    ("Equal", A, np.array([1, 2, 3], np.int32), np.array([[True, False, True], [False, True, False]])),
    ("Greater", A, B, A > B),
    ("GreaterOrEqual", A, B, A >= B),
    ("Less", A, B, A < B),
    ("LessOrEqual", A, B, A <= B),
    ("Max", A, B, np.maximum(A, B)),
    ("Min", A, B, np.minimum(A, B)),
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("op, a, b, expected", BINARY, ids=[case[0] for case in BINARY])
def test_binary_broadcasts(op, a, b, expected, symbolic):
    (result,) = run_op(op, [a, b], opset=18, symbolic=symbolic)
    assert result.dtype == (np.bool_ if expected.dtype == np.bool_ else a.dtype)
    np.testing.assert_array_equal(result, expected)


def test_fmod_has_the_sign_of_the_dividend():
    a, b = np.array([5.5, -5.5, 5.5], np.float32), np.array([2, 2, -2], np.float32)
    (result,) = run_op("Mod", [a, b], fmod=1)
    np.testing.assert_array_equal(result, np.array([1.5, -1.5, 1.5], np.float32))


def test_integers_wrap():
    (result,) = run_op("Add", [np.array([250], np.uint8), np.array([10], np.uint8)])
    np.testing.assert_array_equal(result, np.array([4], np.uint8))


@pytest.mark.parametrize("op, numpy_op", [("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)])
def test_logic(op, numpy_op):
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    np.testing.assert_array_equal(run_op(op, [a, b])[0], numpy_op(a, b))


def test_not():
    np.testing.assert_array_equal(run_op("Not", [np.array([True, False])])[0], [False, True])


def test_bit_shift():
    x, n = np.array([1, 2, 200], np.uint8), np.array([1, 7, 3], np.uint8)
    np.testing.assert_array_equal(run_op("BitShift", [x, n], direction="LEFT")[0], np.array([2, 0, 64], np.uint8))
    np.testing.assert_array_equal(run_op("BitShift", [x, n], direction="RIGHT")[0], np.array([0, 0, 25], np.uint8))
    np.testing.assert_array_equal(run_op("BitwiseNot", [x], opset=18)[0], ~x)


@pytest.mark.parametrize(
    "base, exponent, expected",
    [
        (np.array([2.0, 9.0], np.float32), np.array([3, 2], np.int64), np.array([8, 81], np.float32)),
        (np.array([2, 3], np.int32), np.array([0.5, 2.0], np.float32), np.array([1, 9], np.int32)),
        (np.array([4.0], np.float32), np.array([0.5], np.float64), np.array([2.0], np.float32)),
        (np.array([3], np.int64), np.array([4], np.int32), np.array([81], np.int64)),
        # Odd, as an integer of 32 bits and in f64; not in f32 or bf16.
        (np.array([-2], np.float32), np.array([2**32 - 1], np.uint32), np.array([-np.inf], np.float32)),
        (np.array([-1], ml_dtypes.bfloat16), np.array([257], np.int16), np.array([-1], ml_dtypes.bfloat16)),
        # No exponent of 8 bits.
        (np.array([2], np.int8), np.array([256], np.int32), np.array([0], np.int8)),
        (np.array([1, 2], np.uint32), np.array([-1, -1], np.int8), np.array([1, 0], np.uint32)),
    ],
)
def test_pow_of_mixed_types_has_the_type_of_the_base(base, exponent, expected):
    (result,) = run_op("Pow", [base, exponent])
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_variadic():
    a, b, c = X, X[::-1].copy(), np.float32(2).reshape(())
    np.testing.assert_array_equal(run_op("Sum", [a, b, c])[0], a + b + c)
    np.testing.assert_array_equal(run_op("Max", [a, b, c])[0], np.maximum(np.maximum(a, b), c))
    np.testing.assert_array_equal(run_op("Min", [a])[0], a)
    np.testing.assert_allclose(run_op("Mean", [a, b, c])[0], (a + b + c) / 3, rtol=1e-6)


def test_nan_goes_through():
    x = np.array([NAN, 1.0, -INF], np.float32)
    np.testing.assert_array_equal(run_op("Relu", [x])[0], np.array([NAN, 1, 0], np.float32))
    np.testing.assert_array_equal(run_op("Max", [x, np.float32([0, NAN, 0])])[0], np.array([NAN, NAN, 0], np.float32))
    np.testing.assert_array_equal(
        run_op("Clip", [x, np.float32(-2).reshape(()), np.float32(0.5).reshape(())])[0],
        np.array([NAN, 0.5, -2], np.float32),
    )


def test_clip_of_both_versions():
    low, high = np.float32(-1).reshape(()), np.float32(0.75).reshape(())
    expected = np.clip(X, -1, 0.75)
    np.testing.assert_array_equal(run_op("Clip", [X], opset=9, min=-1.0, max=0.75)[0], expected)
    np.testing.assert_array_equal(run_op("Clip", [X, low, high], constant=[1, 2])[0], expected)
    np.testing.assert_array_equal(run_op("Clip", [X, low, high])[0], expected)
    np.testing.assert_array_equal(run_op("Clip", [X, None, high], opset=11)[0], np.minimum(X, 0.75))
    np.testing.assert_array_equal(run_op("Clip", [X, low])[0], np.maximum(X, -1))
    np.testing.assert_array_equal(run_op("Clip", [X])[0], X)
    # The upper bound wins where the two cross.
    np.testing.assert_array_equal(run_op("Clip", [X, high, low])[0], np.full_like(X, -1))


def test_clip_of_integers():
    x = np.array([-5, 0, 9], np.int64)
    bounds = [np.array(-1, np.int64), np.array(4, np.int64)]
    np.testing.assert_array_equal(run_op("Clip", [x, *bounds], constant=[1, 2])[0], [-1, 0, 4])


def test_is_inf_and_is_nan():
    x = np.array([NAN, INF, -INF, 1.0], np.float32)
    np.testing.assert_array_equal(run_op("IsNaN", [x])[0], [True, False, False, False])
    np.testing.assert_array_equal(run_op("IsInf", [x])[0], [False, True, True, False])
    np.testing.assert_array_equal(run_op("IsInf", [x], detect_negative=0)[0], [False, True, False, False])
    np.testing.assert_array_equal(run_op("IsInf", [x], detect_positive=0)[0], [False, False, True, False])
    np.testing.assert_array_equal(run_op("IsInf", [x], detect_positive=0, detect_negative=0)[0], [False] * 4)


CASTS = [
    (np.array([1.9, -1.9, 0.0], np.float32), np.int32, np.array([1, -1, 0])),
    (np.array([0.4, NAN, 0.0], np.float32), np.bool_, np.array([True, True, False])),
    (np.array([True, False]), np.float16, np.array([1, 0])),
    (np.array([300, -1], np.int32), np.uint8, np.array([44, 255])),
    (np.array([2**40], np.int64), np.int32, np.array([0])),
    (np.array([1.0, 65520.0, 1e-8], np.float32), np.float16, np.array([1, INF, 0])),
    (np.array([1.00390625, 3.0], np.float32), ml_dtypes.bfloat16, np.array([1, 3])),
]


@pytest.mark.parametrize("x, dtype, expected", CASTS)
def test_cast(x, dtype, expected):
    from onnx import helper

    (result,) = run_op("Cast", [x], opset=19, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    assert result.dtype == dtype
    np.testing.assert_array_equal(result.astype(np.float64), expected.astype(np.float64))
    (result,) = run_op("CastLike", [x, np.zeros(2, dtype)], opset=19)
    assert result.dtype == dtype


def test_where_and_prelu():
    condition, a, b = np.array([[True], [False]]), np.float32([1, 2, 3]), np.float32([[9]])
    np.testing.assert_array_equal(run_op("Where", [condition, a, b])[0], np.where(condition, a, b))
    slope = np.float32([[0.5], [2]])
    x = np.float32([[-1, 2], [-3, 4]])
    np.testing.assert_array_equal(run_op("PRelu", [x, slope])[0], np.where(x < 0, slope * x, x))


def test_dropout_is_the_identity():
    from tests.unit.frontends.onnx.helper import run_op as run

    result, mask = run("Dropout", [X, np.float32(0.5).reshape(())], outputs=2, constant=[1])
    np.testing.assert_array_equal(result, X)
    assert mask.dtype == np.bool_ and mask.all() and mask.shape == X.shape
    (result,) = run("Dropout", [X], opset=9, ratio=0.3)
    np.testing.assert_array_equal(result, X)
    np.testing.assert_array_equal(run("Identity", [X])[0], X)


def test_swiglu():
    value = np.linspace(-2, 2, X.size, dtype=np.float32)
    (result,) = run_op("SwiGLU", [X, value], opset=28)
    np.testing.assert_allclose(result, X * _sigmoid(X) * value, rtol=2e-6, atol=1e-6)
