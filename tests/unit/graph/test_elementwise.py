"""
The numpy meaning of elementwise ops against plain Python, one element at a time, at special values of every dtype; and
the scalar expressions that are compiled against the numpy meaning.
"""

import math

import numpy as np
import pytest
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph import functions
from aicc.dialects.graph.dims import sym, tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.elementwise import ElementwiseOp
from aicc.dialects.graph.evaluator import EvaluationError, evaluate_function
from aicc.dialects.graph.ops import (
    AbsOp,
    AddOp,
    AndOp,
    Atan2Op,
    BitNotOp,
    CastOp,
    CeluOp,
    ClipOp,
    DivOp,
    EluOp,
    EqOp,
    GeluOp,
    GeOp,
    GtOp,
    HardSigmoidOp,
    HardSwishOp,
    IsInfOp,
    IsNanOp,
    LeakyReluOp,
    LeOp,
    LtOp,
    MaxOp,
    MinOp,
    MishOp,
    ModOp,
    MulOp,
    NegOp,
    NeOp,
    NotOp,
    OrOp,
    PowOp,
    PreluOp,
    ReciprocalOp,
    ReluOp,
    RemOp,
    RoundOp,
    RsqrtOp,
    SeluOp,
    ShiftLeftOp,
    ShiftRightOp,
    SigmoidOp,
    SignOp,
    SiluOp,
    SoftplusOp,
    SoftsignOp,
    SubOp,
    ThresholdedReluOp,
    WhereOp,
    XorOp,
)
from aicc.tools.driver_api import run_pipeline
from tests.unit.graph.helpers import (
    BF16,
    FLOATS,
    INTEGERS,
    SIGNED,
    assert_same,
    module_of,
    run,
    special_pairs,
    specials,
    types_of,
)

nan, inf = math.nan, math.inf


def wrap(value: int, dtype: np.dtype) -> int:
    """`value` as an integer of `dtype`, wrapped."""
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def trunc_div(a: int, b: int) -> int:
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def int_power(a: int, b: int, dtype: np.dtype) -> int:
    if b >= 0:
        return wrap(pow(a, b, 1 << (8 * dtype.itemsize)), dtype)
    return 1 if a == 1 else (1 if b % 2 == 0 else -1) if a == -1 else 0


def shift(a: int, b: int, dtype: np.dtype, *, left: bool) -> int:
    inside = 0 <= b < 8 * dtype.itemsize
    if left:
        return wrap(a << b, dtype) if inside else 0
    return a >> b if inside else (-1 if a < 0 else 0)


INTEGER_BINARY = {
    AddOp: lambda a, b, d: wrap(a + b, d),
    SubOp: lambda a, b, d: wrap(a - b, d),
    MulOp: lambda a, b, d: wrap(a * b, d),
    DivOp: lambda a, b, d: wrap(trunc_div(a, b), d),
    RemOp: lambda a, b, d: a - b * trunc_div(a, b) if b else 0,
    ModOp: lambda a, b, d: a % b if b else 0,
    PowOp: int_power,
    MinOp: lambda a, b, d: min(a, b),
    MaxOp: lambda a, b, d: max(a, b),
    AndOp: lambda a, b, d: a & b,
    OrOp: lambda a, b, d: a | b,
    XorOp: lambda a, b, d: a ^ b,
    ShiftLeftOp: lambda a, b, d: shift(a, b, d, left=True),
    ShiftRightOp: lambda a, b, d: shift(a, b, d, left=False),
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("op", INTEGER_BINARY)
def test_integer_arithmetic(op, dtype):
    a, b = special_pairs(dtype)
    expected = [INTEGER_BINARY[op](int(x), int(y), dtype) for x, y in zip(a, b, strict=True)]
    assert_same(run(op, a, b), np.array(expected, dtype))


def fmod(a: float, b: float) -> float:
    return nan if math.isinf(a) or b == 0 or math.isnan(a + b) else math.fmod(a, b)


def floor_mod(a: float, b: float) -> float:
    if math.isinf(a) or b == 0 or math.isnan(a) or math.isnan(b):
        return nan
    if math.isinf(b):
        return a if a == 0 or (a < 0) == (b < 0) else b
    return a % b


def divide(a: float, b: float) -> float:
    if b != 0 or math.isnan(a):
        return a / b if b != 0 else nan
    return nan if a == 0 else math.copysign(inf, math.copysign(1, a) * math.copysign(1, b))


FLOAT_BINARY = {
    AddOp: lambda a, b: a + b,
    SubOp: lambda a, b: a - b,
    MulOp: lambda a, b: a * b,
    DivOp: divide,
    RemOp: fmod,
    MinOp: lambda a, b: nan if math.isnan(a) or math.isnan(b) else min(a, b),
    MaxOp: lambda a, b: nan if math.isnan(a) or math.isnan(b) else max(a, b),
}


def rounded(values: list[float], dtype: np.dtype) -> np.ndarray:
    """Exact results in double precision, rounded to `dtype`; f16 and bf16 by way of f32, as the ops say."""
    with np.errstate(all="ignore"):
        array = np.array(values, np.float64)
        return array.astype(np.float32).astype(dtype) if dtype.itemsize == 2 else array.astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FLOAT_BINARY)
def test_float_arithmetic(op, dtype):
    a, b = special_pairs(dtype)
    expected = [FLOAT_BINARY[op](float(x), float(y)) for x, y in zip(a, b, strict=True)]
    found, expected = run(op, a, b), rounded(expected, dtype)
    # Which zero is the smaller one is not defined.
    zero = (found == 0) & (expected == 0) if op in (MinOp, MaxOp) else np.zeros(a.shape, bool)
    assert_same(found[~zero], expected[~zero])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_float_mod_has_the_sign_of_the_divisor(dtype):
    a, b = special_pairs(dtype)
    expected = rounded([floor_mod(float(x), float(y)) for x, y in zip(a, b, strict=True)], dtype)
    assert_same(run(ModOp, a, b), expected, ulps=1)


def test_power_of_floats():
    a, b = special_pairs(np.dtype(np.float64))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(PowOp, a, b), np.float_power(a, b))
    assert_same(run(PowOp, np.float16([3, 2, 0]), np.float16([2, 0.5, 0])), np.float16([9, 2**0.5, 1]))


COMPARISONS = {
    EqOp: lambda a, b: a == b,
    NeOp: lambda a, b: a != b,
    LtOp: lambda a, b: a < b,
    LeOp: lambda a, b: a <= b,
    GtOp: lambda a, b: a > b,
    GeOp: lambda a, b: a >= b,
}


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, np.dtype(np.bool_)], ids=str)
@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons(op, dtype):
    a, b = special_pairs(dtype)
    expected = [COMPARISONS[op](x.item(), y.item()) for x, y in zip(a, b, strict=True)]
    assert_same(run(op, a, b), np.array(expected))


FLOAT_UNARY = {
    NegOp: (lambda x: -x, 0),
    AbsOp: (abs, 0),
    SignOp: (lambda x: x if x == 0 or math.isnan(x) else math.copysign(1, x), 0),
    RoundOp: (lambda x: x if not math.isfinite(x) else math.copysign(round(x), x), 0),
    ReciprocalOp: (lambda x: divide(1.0, x), 0),
    ReluOp: (lambda x: x if math.isnan(x) or x > 0 else 0.0, 0),
    RsqrtOp: (lambda x: nan if x < 0 or math.isnan(x) else divide(1.0, math.copysign(math.sqrt(x), x)), 1),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FLOAT_UNARY)
def test_float_functions(op, dtype):
    values = specials(dtype)
    function, ulps = FLOAT_UNARY[op]
    found, expected = run(op, values), rounded([function(float(x)) for x in values], dtype)
    zero = (found == 0) & (expected == 0) if op in (ReluOp, SignOp) else np.zeros(values.shape, bool)
    assert_same(found[~zero], expected[~zero], ulps)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integer_functions(dtype):
    values = specials(dtype)
    items = [int(x) for x in values]
    assert_same(run(NegOp, values), np.array([wrap(-x, dtype) for x in items], dtype))
    assert_same(run(AbsOp, values), np.array([wrap(abs(x), dtype) for x in items], dtype))
    assert_same(run(SignOp, values), np.array([(x > 0) - (x < 0) for x in items], dtype))
    assert_same(run(BitNotOp, values), np.array([wrap(~x, dtype) for x in items], dtype))


NAMED = ["Floor", "Ceil", "Trunc", "Sqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan"]
NAMED += ["Sinh", "Cosh", "Tanh", "Asinh", "Acosh", "Atanh", "Erf"]


@pytest.mark.parametrize("name", NAMED)
def test_named_functions(name):
    op = getattr(functions, f"{name}Op")
    function = getattr(math, name.lower())
    values = np.array([-2.5, -1.0, -0.75, -0.0, 0.0, 0.3, 1.0, 1.5, 20.0])

    def python(x):
        try:
            return float(function(x))
        except ValueError:
            # Poles and arguments outside the domain: numpy's limits.
            limits = {("log", 0.0): -inf, ("log1p", -1.0): -inf, ("atanh", 1.0): inf, ("atanh", -1.0): -inf}
            return limits.get((name.lower(), x), nan)

    for dtype in FLOATS:
        array = values.astype(dtype)
        exact = [python(float(x)) for x in array]
        assert_same(run(op, array), rounded(exact, dtype), ulps=4)
    result = run(op, np.array([nan, inf, -inf]))
    assert math.isnan(result[0])


def test_rounding_ties_go_to_the_even_one():
    found = run(RoundOp, np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]))
    assert_same(found, np.array([-2.0, -2.0, -0.0, 0.0, 2.0, 2.0, 4.0]))


def test_logic():
    a, b = special_pairs(np.dtype(np.bool_))
    assert_same(run(AndOp, a, b), np.array([x and y for x, y in zip(a, b, strict=True)]))
    assert_same(run(OrOp, a, b), np.array([x or y for x, y in zip(a, b, strict=True)]))
    assert_same(run(XorOp, a, b), np.array([x is not y for x, y in zip(a.tolist(), b.tolist(), strict=True)]))
    assert_same(run(NotOp, a), np.array([not x for x in a]))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_float_classes(dtype):
    values = specials(dtype)
    assert_same(run(IsNanOp, values), np.array([math.isnan(float(x)) for x in values]))
    assert_same(run(IsInfOp, values), np.array([math.isinf(float(x)) for x in values]))


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def softplus(x):
    return x if x > 700 else math.log1p(math.exp(x))


ACTIVATIONS = {
    "sigmoid": (SigmoidOp, sigmoid),
    "silu": (SiluOp, lambda x: x * sigmoid(x)),
    "softplus": (SoftplusOp, softplus),
    "softsign": (SoftsignOp, lambda x: x / (1 + abs(x))),
    "mish": (MishOp, lambda x: x * math.tanh(softplus(x))),
    "hard_swish": (HardSwishOp, lambda x: x * min(max(x / 6 + 0.5, 0), 1)),
    "gelu": (GeluOp, lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
    "gelu_tanh": (
        lambda x: GeluOp(x, "tanh"),
        lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    ),
    "leaky_relu": (lambda x: LeakyReluOp(x, 0.25), lambda x: x if x >= 0 else 0.25 * x),
    "thresholded_relu": (lambda x: ThresholdedReluOp(x, 0.5), lambda x: x if x > 0.5 else 0.0),
    "elu": (lambda x: EluOp(x, 0.5), lambda x: x if x > 0 else 0.5 * math.expm1(x)),
    "celu": (lambda x: CeluOp(x, 2.0), lambda x: max(x, 0) + min(2 * math.expm1(min(x, 0) / 2), 0)),
    "selu": (
        lambda x: SeluOp(x, 1.5, 1.25),
        lambda x: 1.25 * (x if x > 0 else 1.5 * math.expm1(x)),
    ),
    "hard_sigmoid": (lambda x: HardSigmoidOp(x, 0.25, 0.5), lambda x: min(max(0.25 * x + 0.5, 0), 1)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name):
    op, function = ACTIVATIONS[name]
    values = np.array([-90.0, -5.0, -1.0, -0.25, 0.0, 0.25, 0.5, 1.0, 3.0, 30.0])
    for dtype in (np.float64, np.float32):
        expected = np.array([function(float(x)) for x in values])
        np.testing.assert_allclose(run(op, values.astype(dtype)), expected, rtol=1e-5, atol=1e-7)
    # The 1 in 1 + erf(x) and the like limits how small a result can be told from 0.
    half = run(op, values.astype(np.float16)).astype(np.float64)
    np.testing.assert_allclose(half, expected, rtol=2e-3, atol=1e-5)
    # Only this one asks nothing but whether x > alpha.
    at_nan = run(op, np.array([nan]))[0]
    assert at_nan == 0 if name == "thresholded_relu" else np.isnan(at_nan)


def test_prelu_broadcasts_its_slopes():
    x = np.float32([[-2, 2, nan], [-4, 4, -0.0]])
    assert_same(run(PreluOp, x, np.float32([[0.5], [0.25]])), np.float32([[-1, 2, nan], [-1, 4, -0.0]]))


def test_where_broadcasts_and_moves_bits_only():
    condition = np.array([[True], [False]])
    a, b = np.array([1, 2], BF16), np.array(nan, BF16)
    assert_same(run(WhereOp, condition, a, b), np.array([[1, 2], [nan, nan]], BF16))


def test_clip():
    x = np.float32([-3, -0.5, 0.5, 3, nan])
    low, high = np.float32(-1), np.float32(1)
    assert_same(run(ClipOp, x, low, high), np.float32([-1, -0.5, 0.5, 1, nan]))
    assert_same(run(lambda a, m: ClipOp(a, None, m), x, high), np.float32([-3, -0.5, 0.5, 1, nan]))
    assert_same(run(lambda a: ClipOp(a), x), x)
    # The upper bound wins where the two cross.
    assert_same(run(ClipOp, np.int8([-5, 5]), np.int8(3), np.int8(-3)), np.int8([-3, -3]))
    assert np.isnan(run(ClipOp, np.float32([1]), np.float32(nan), high)).all()


def cast(x: float | int, source: np.dtype, target: np.dtype, *, saturate: bool = False) -> float | int:
    if target == np.bool_:
        return x != 0
    if target in FLOATS:
        return float(x)
    info = np.iinfo(target)
    if source in FLOATS:
        if math.isnan(x):
            return 0
        return (
            info.max if x >= info.max + 1 else info.min if x <= info.min - 1 else min(max(int(x), info.min), info.max)
        )
    return min(max(int(x), info.min), info.max) if saturate else wrap(int(x), target)


ALL = [*FLOATS, *INTEGERS, np.dtype(np.bool_)]


@pytest.mark.parametrize("source", ALL, ids=str)
@pytest.mark.parametrize("target", ALL, ids=str)
def test_casts(source, target):
    values = specials(source)
    found = run(lambda x: CastOp(x, element_type(target)), values)
    exact = [cast(x.item() if source not in FLOATS else float(x), source, target) for x in values]
    expected = rounded(exact, target) if target in FLOATS else np.array(exact, target)
    assert_same(found, expected)


@pytest.mark.parametrize("source", [*INTEGERS, np.dtype(np.bool_)], ids=str)
@pytest.mark.parametrize("target", INTEGERS, ids=str)
def test_saturating_casts(source, target):
    values = specials(source)
    found = run(lambda x: CastOp(x, element_type(target), saturate=True), values)
    assert_same(found, np.array([cast(x.item(), source, target, saturate=True) for x in values], target))


def test_index_elements_are_64_bits_wide():
    module, function = module_of(lambda x: CastOp(x, IntegerType(8)), [tensor_type([2], IndexType())])
    (result,) = evaluate_function(function, [np.int64([255, 2**40 + 1])], module)
    assert_same(result, np.int8([-1, 1]))


@pytest.mark.parametrize("shapes", [((), (3,)), ((0, 2), (2,)), ((2, 1), (1, 0)), ((1, 3, 1), (2, 1, 4)), ((), ())])
def test_broadcasting(shapes):
    a, b = (np.arange(math.prod(shape), dtype=np.int32).reshape(shape) for shape in shapes)
    assert_same(run(SubOp, a, b), np.subtract(a, b))


def test_sizes_that_turn_out_different_are_an_error():
    types = [
        tensor_type([sym("N")], element_type(np.dtype("f4"))),
        tensor_type([sym("M")], element_type(np.dtype("f4"))),
    ]
    module, function = module_of(AddOp, types)
    ones = np.ones(3, np.float32)
    assert_same(evaluate_function(function, [ones, ones], module)[0], ones + ones)
    with pytest.raises(EvaluationError, match="does not match"):
        evaluate_function(function, [ones, np.ones(2, np.float32)], module)


def test_wrong_inputs_are_named():
    module, function = module_of(NegOp, types_of([np.ones(3, np.float32)]))
    for bad, message in (
        (np.ones((3, 1), np.float32), "shape"),
        (np.ones(3), "dtype"),
        (np.ones(2, np.float32), "size"),
    ):
        with pytest.raises(EvaluationError, match=message):
            evaluate_function(function, [bad], module)


REFUSED = [
    (AddOp, (np.bool_, np.bool_)),
    (AddOp, (np.int32, np.float32)),
    (AndOp, (np.float32, np.float32)),
    (ShiftLeftOp, (np.bool_, np.bool_)),
    (NotOp, (np.int8,)),
    (BitNotOp, (np.bool_,)),
    (SigmoidOp, (np.int32,)),
    (Atan2Op, (np.int32, np.int32)),
    (WhereOp, (np.int32, np.int32, np.int32)),
    (WhereOp, (np.bool_, np.int32, np.int64)),
]


@pytest.mark.parametrize("op, dtypes", REFUSED)
def test_element_types_are_checked(op, dtypes):
    with pytest.raises(VerifyException, match="element type"):
        module_of(op, types_of([np.zeros(2, dtype) for dtype in dtypes]))


def allowed_dtypes(op: type[ElementwiseOp], count: int) -> list[np.dtype]:
    found = []
    for dtype in ALL:
        try:
            op(*module_arguments(dtype, count))
        except VerifyException:
            continue
        found.append(dtype)
    return found


def module_arguments(dtype: np.dtype, count: int):
    from xdsl.ir import Block

    return Block(arg_types=[tensor_type([1], element_type(dtype))] * count).args


def compiled_meaning(make, arrays):
    """What the scalar expression says, by way of `tensor_ops`, whose bodies numpy runs as well."""
    module, _ = module_of(make, types_of(arrays))
    run_pipeline(module, "convert-graph-to-tensor-ops")
    function = module.body.block.first_op
    return evaluate_function(function, arrays, module)[0]


UNARY_OPS = [*FLOAT_UNARY, BitNotOp, NotOp, IsNanOp, IsInfOp]
UNARY_OPS += [op for op, _ in ACTIVATIONS.values() if isinstance(op, type)]


@pytest.mark.parametrize("op", UNARY_OPS, ids=lambda op: op.__name__)
def test_scalar_expressions_of_one_operand(op):
    for dtype in allowed_dtypes(op, 1):
        values = specials(dtype)
        assert_same(compiled_meaning(op, [values]) + 0, run(op, values) + 0, ulps=4 if dtype in FLOATS else 0)


BINARY_OPS = [*INTEGER_BINARY, *COMPARISONS, Atan2Op, PreluOp]


@pytest.mark.parametrize("op", BINARY_OPS, ids=lambda op: op.__name__)
def test_scalar_expressions_of_two_operands(op):
    for dtype in allowed_dtypes(op, 2):
        pair = special_pairs(dtype)
        found, expected = compiled_meaning(op, list(pair)), run(op, *pair)
        if dtype in FLOATS and op in (RemOp, ModOp):
            # numpy does not say which zero a remainder of 0 is.
            found, expected = found + 0, expected + 0
        assert_same(found | False if dtype == np.bool_ else found, expected, ulps=1 if op is PowOp else 0)


@pytest.mark.parametrize("source", ALL, ids=str)
@pytest.mark.parametrize("saturate", [False, True])
def test_scalar_expressions_of_casts(source, saturate):
    values = specials(source)
    for target in ALL:

        def make(x, target=target):
            return CastOp(x, element_type(target), saturate=saturate)

        assert_same(compiled_meaning(make, [values]), run(make, values))


def test_float_remainder_is_exact_over_the_whole_range():
    rng = np.random.default_rng(5)
    for dtype in (np.float32, np.float64):
        bits = rng.integers(0, 2**63, 4000, dtype=np.uint64)
        unsigned = np.uint32 if dtype is np.float32 else np.uint64
        a, b = bits[:2000].astype(unsigned).view(dtype), bits[2000:].astype(unsigned).view(dtype)
        with np.errstate(all="ignore"):
            expected = np.fmod(a, b)
        assert_same(compiled_meaning(RemOp, [a, b]), expected)


def test_bf16_results_are_rounded_to_nearest_even():
    x = np.array([1.0, 1.0078125], BF16)
    # Half of the last place: a tie, once with an even and once with an odd neighbour below.
    assert_same(run(AddOp, x, np.array(2.0**-8, BF16)), np.array([1.0, 1.015625], BF16))


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_the_smallest_integer(dtype):
    low = np.array([np.iinfo(dtype).min], dtype)
    assert_same(run(DivOp, low, np.array([-1], dtype)), low)
    assert_same(run(RemOp, low, np.array([-1], dtype)), np.array([0], dtype))
    assert_same(run(AbsOp, low), low)
