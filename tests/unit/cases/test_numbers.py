"""Corners of numbers: NaN, infinities, signs of zero, extreme integers, conversions, identities of reductions."""

import numpy as np

from tests.unit.cases.case import (
    BF16,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    INF,
    LARGEST,
    NAN,
    SMALLEST,
    U8,
    U16,
    U32,
    U64,
    Case,
    array,
    cases,
    check,
    node,
    one,
)

ODD = array([NAN, -INF, INF, -0.0, 0.0, -2.5])
SPECIAL = (F32, F64, F16, BF16)


def narrow(values: list[float], dtype: object) -> np.ndarray:
    return np.array(values, F32).astype(dtype)  # type: ignore[call-overload]


NAN_GOES_THROUGH = [
    *(
        one("Relu", [narrow([NAN, -INF, INF, 0, -2.5], d)], narrow([NAN, 0, INF, 0, 0], d), name=f"Relu {d.__name__}")
        for d in SPECIAL
    ),
    one("Abs", [ODD], array([NAN, INF, INF, 0, 0, 2.5])),
    one("Sign", [array([NAN, -INF, INF, 0, -2.5])], array([NAN, -1, 1, 0, -1])),
    one("Clip", [ODD, array(-1.0), array(1.0)], array([NAN, -1, 1, -0.0, 0, -1]), constant=(1, 2)),
    one("Clip", [ODD, array(-1.0), array(1.0)], array([NAN, -1, 1, -0.0, 0, -1]), name="Clip by inputs"),
    one("Min", [ODD, array(1.0)], array([NAN, -INF, 1, -0.0, 0, -2.5])),
    one("Max", [ODD, array(1.0)], array([NAN, 1, INF, 1, 1, 1])),
    one("Max", [array(1.0), array([NAN, 2.0])], array([NAN, 2]), name="Max second"),
    one("Min", [array([1.0, NAN]), array([NAN, 1.0])], array([NAN, NAN]), name="Min both places"),
    one("LeakyRelu", [ODD], array([NAN, -INF, INF, -0.0, 0, -1.25]), alpha=0.5),
    one("PRelu", [ODD, array(0.5)], array([NAN, -INF, INF, -0.0, 0, -1.25])),
    # "y = x for x > alpha, 0 otherwise": NaN is not greater.
    one("ThresholdedRelu", [array([NAN, INF, 2, 1, -INF])], array([0, INF, 2, 0, 0]), alpha=1.0),
    one("Floor", [ODD], array([NAN, -INF, INF, -0.0, 0, -3])),
    one("Ceil", [ODD], array([NAN, -INF, INF, -0.0, 0, -2])),
    one("Round", [array([NAN, INF, 0.5, 1.5, -0.5, -2.5])], array([NAN, INF, 0, 2, -0.0, -2])),
    one("Sqrt", [array([NAN, INF, -1.0, -0.0, 4.0])], array([NAN, INF, NAN, -0.0, 2])),
    one("Softsign", [array([NAN, 0.0, 1.0])], array([NAN, 0, 0.5])),
    one("HardSigmoid", [array([NAN, INF, -INF, 0.0])], array([NAN, 1, 0, 0.5])),
    *(
        one(op, [array([[1, NAN, 3], [1, 2, 3]])], array([NAN, value]), name=f"{op} of NaN", keepdims=0, axes=[1])
        for op, value in (("ReduceMax", 3), ("ReduceMin", 1), ("ReduceProd", 6), ("ReduceMean", 2))
    ),
    *(
        one(
            "ReduceMax",
            [np.roll(array([NAN] + [1.0] * 36), place)],
            array(NAN),
            name=f"ReduceMax NaN at {place}",
            keepdims=0,
        )
        for place in (0, 1, 7, 8, 15, 16, 31, 32, 36)
    ),
    one("MaxPool", [array([[[1, NAN, 2, 3, 4]]])], array([[[NAN, NAN, 3, 4]]]), kernel_shape=[2]),
    one("GlobalMaxPool", [array([[[1, NAN, 2], [1, 2, 3]]])], array([[[NAN], [3]]])),
    one("Mul", [array([NAN, INF, -1.0]), array(0.0)], array([NAN, NAN, -0.0]), name="Mul by zero", constant=(1,)),
    one("Where", [array([True, False], bool), array([NAN, 1.0]), array([2.0, NAN])], array([NAN, NAN])),
    one("IsNaN", [ODD], array([True, False, False, False, False, False], bool)),
    one("IsInf", [ODD], array([False, True, True, False, False, False], bool)),
    one(
        "IsInf", [ODD], array([False, False, True, False, False, False], bool), name="IsInf positive", detect_negative=0
    ),
]


@cases(*NAN_GOES_THROUGH)
def test_nan_and_infinities(case: Case, level: int):
    check(case, level)


X = array([1e20, -1e20, 3.0])
FLOAT_ALGEBRA = [
    Case(
        "sqrt of a square",
        [node("Mul", "x x", "s"), node("Abs", "s", "a"), node("Sqrt", "a")],
        {"x": X},
        {"y": array([INF, INF, 3])},
    ),
    Case(
        "sqrt of a power",
        [node("Pow", "x two", "s"), node("Sqrt", "s")],
        {"x": X},
        {"y": array([INF, INF, 3])},
        weights={"two": array(2.0)},
    ),
    Case(
        "log of exp",
        [node("Exp", "x", "e"), node("Log", "e")],
        {"x": array([100.0, -200, 0, 1])},
        {"y": array([INF, -INF, 0, 1])},
        tolerance=1e-6,
    ),
    Case(
        "exp of log",
        [node("Log", "x", "e"), node("Exp", "e")],
        {"x": array([-1.0, 0, INF])},
        {"y": array([NAN, 0, INF])},
    ),
    Case(
        "sub of add",
        [node("Add", "x one", "t"), node("Sub", "x t")],
        {"x": array([1e10])},
        {"y": array([0.0])},
        weights={"one": array(1.0)},
    ),
    Case(
        "add of sub",
        [node("Sub", "x c", "t"), node("Add", "t c")],
        {"x": array([1.0])},
        {"y": array([0.0])},
        weights={"c": array(1e10)},
    ),
    Case(
        "div of mul",
        [node("Mul", "x c", "t"), node("Div", "t c")],
        {"x": array([1e10, 0, INF])},
        {"y": array([INF, 0, INF])},
        weights={"c": array(1e30)},
    ),
    Case(
        "mul by reciprocal",
        [node("Reciprocal", "c", "r"), node("Mul", "x r")],
        {"x": array([0.0, 1.0]), "c": array([0.0, INF])},
        {"y": array([NAN, 0])},
    ),
    Case("x minus x", [node("Sub", "x x")], {"x": array([INF, NAN, 1.0])}, {"y": array([NAN, NAN, 0])}),
    Case("x by x", [node("Div", "x x")], {"x": array([0.0, INF, NAN, 2.0])}, {"y": array([NAN, NAN, NAN, 1])}),
    Case(
        "plus zero",
        [node("Add", "x z")],
        {"x": array([-0.0, 0.0])},
        {"y": array([0.0, 0.0])},
        weights={"z": array(0.0)},
    ),
    Case(
        "plus minus zero",
        [node("Add", "x z")],
        {"x": array([-0.0, 0.0])},
        {"y": array([-0.0, 0.0])},
        weights={"z": array(-0.0)},
    ),
    Case(
        "zero minus x",
        [node("Sub", "z x")],
        {"x": array([0.0, 1.0])},
        {"y": array([0.0, -1.0])},
        weights={"z": array(0.0)},
    ),
    Case("neg", [node("Neg", "x")], {"x": array([0.0, -0.0, NAN])}, {"y": array([-0.0, 0.0, NAN])}),
    Case(
        "two products",
        [node("Mul", "a x", "p"), node("Mul", "b x", "q"), node("Add", "p q")],
        {"x": array([1e20])},
        {"y": array([NAN])},
        weights={"a": array(1e30), "b": array(-1e30)},
    ),
    Case(
        "no fused multiply-add",
        [node("Mul", "x x", "p"), node("Sub", "p c")],
        {"x": array([1 + 2.0**-12])},
        {"y": array([0.0])},
        weights={"c": array(1 + 2.0**-11)},
    ),
    Case(
        "constants only",
        [
            node("Constant", "", "c", value_floats=[-1.0, 2.0]),
            node("Constant", "", "d", value_floats=[3.0, 1.0]),
            node("Min", "c d", "e"),
            node("Mul", "e x"),
        ],
        {"x": array([2.0, 4.0])},
        {"y": array([-2.0, 4.0])},
    ),
    Case(
        "relu of relu",
        [node("Relu", "x", "t"), node("Relu", "t")],
        {"x": array([NAN, -1.0, 2.0])},
        {"y": array([NAN, 0, 2])},
    ),
]


@cases(*FLOAT_ALGEBRA)
def test_float_algebra_is_left_alone(case: Case, level: int):
    check(case, level)


def signed_extremes(dtype: type) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, -1, 7, -7], dtype)


BIG = array([SMALLEST, LARGEST, 1 << 32, -(1 << 32), (1 << 53) + 1, 0], I64)
INTEGERS = [
    one(
        "Div",
        [array([7, -7, 7, -7], I64), array([2, 2, -2, -2], I64)],
        array([3, -3, -3, 3], I64),
        name="Div truncates",
    ),
    *(
        one(
            "Div",
            [signed_extremes(d), array([-1, 1, -1, 2, 2], d)],
            array([np.iinfo(d).min, np.iinfo(d).max, 1, 3, -3], d),
            name=f"Div {d.__name__} extremes",
            opset=14,
        )
        for d in (I8, I16, I32, I64)
    ),
    *(
        one(
            "Mod",
            [array([7, -7, 7, -7], d), array([3, 3, -3, -3], d)],
            array([1, 2, -2, -1], d),
            name=f"Mod {d.__name__} has the divisor's sign",
        )
        for d in (I8, I16, I32, I64)
    ),
    *(
        one(
            "Mod",
            [array([7, -7, 7, -7], d), array([3, 3, -3, -3], d)],
            array([1, -1, 1, -1], d),
            name=f"fmod {d.__name__} has the dividend's sign",
            fmod=1,
        )
        for d in (I8, I32, I64, F32, F64)
    ),
    *(
        one(
            "Mod",
            [signed_extremes(d), array([-1, -1, -1, -1, -1], d)],
            array([0] * 5, d),
            name=f"Mod {d.__name__} by -1",
        )
        for d in (I8, I16, I32, I64)
    ),
    one(
        "Mod", [array([5.5, -5.5, 6.0]), array([2.0, 2.0, -2.0])], array([1.5, -1.5, 0]), name="fmod of floats", fmod=1
    ),
    one("Sign", [BIG], array([-1, 1, 1, -1, 1, 0], I64), name="Sign of 64 bits"),
    one("Abs", [BIG], array([SMALLEST, LARGEST, 1 << 32, 1 << 32, (1 << 53) + 1, 0], I64), name="Abs of 64 bits"),
    one("Neg", [BIG], array([SMALLEST, -LARGEST, -(1 << 32), 1 << 32, -(1 << 53) - 1, 0], I64), name="Neg of 64 bits"),
    one("Max", [BIG, array(1 << 32, I64)], np.maximum(BIG, 1 << 32), name="Max of 64 bits"),
    one(
        "Clip",
        [BIG, array(-5, I64), array(1 << 40, I64)],
        np.clip(BIG, -5, 1 << 40),
        name="Clip of 64 bits",
        constant=(1, 2),
    ),
    one(
        "Mul",
        [BIG, array(3, I64)],
        array([SMALLEST, LARGEST - 2, 3 << 32, -(3 << 32), 3 * ((1 << 53) + 1), 0], I64),
        name="Mul wraps",
    ),
    *(
        one(
            "Add",
            [array([np.iinfo(d).max], d), array([1], d)],
            array([np.iinfo(d).min], d),
            name=f"Add {d.__name__} wraps",
            opset=14,
        )
        for d in (I8, U8, I16, U16, I32, U32, I64, U64)
    ),
    *(
        one("Less", [array([1], d), array([np.iinfo(d).max], d)], array([True], bool), name=f"Less {d.__name__}")
        for d in (U8, U16, U32, U64)
    ),
    *(
        one(
            "Div",
            [array([np.iinfo(d).max], d), array([2], d)],
            array([np.iinfo(d).max // 2], d),
            name=f"Div {d.__name__}",
            opset=14,
        )
        for d in (U8, U16, U32, U64)
    ),
    one("BitShift", [array([1, 255, 128], U8), array([7, 1, 1], U8)], array([128, 254, 0], U8), direction="LEFT"),
    one(
        "BitShift",
        [array([128, 255], U8), array([7, 1], U8)],
        array([1, 127], U8),
        name="BitShift right",
        direction="RIGHT",
    ),
    one("Pow", [array([3, -2, 2], I64), array([4, 3, 40], I64)], array([81, -8, 1 << 40], I64)),
    Case(
        "constant division",
        [node("Div", "a b", "q"), node("Add", "q x")],
        {"x": array([1, 1], I64)},
        {"y": array([9007199254740994, -3074457345618258601], I64)},
        weights={"a": array([9007199254740993, -LARGEST], I64), "b": array([1, 3], I64)},
    ),
    Case(
        "constant products",
        [node("Mul", "a b", "q"), node("Add", "q x")],
        {"x": array([0], I64)},
        {"y": array([(1 << 62) + (1 << 31)], I64)},
        weights={"a": array([(1 << 31) + 1], I64), "b": array([1 << 31], I64)},
    ),
    one("ReduceMin", [np.full(37, 200, U8)], array(200, U8), name="ReduceMin u8 of 37", keepdims=0),
    one("ReduceMax", [np.full(37, -100, I8)], array(-100, I8), name="ReduceMax i8 of 37", keepdims=0),
    *(
        one(op, [np.full(n, value, d)], array(value, d), name=f"{op} {d.__name__} of {n}", keepdims=0, opset=18)
        for op, d, value in (
            ("ReduceMin", I32, 9),
            ("ReduceMax", I64, -9),
            ("ReduceMax", F32, -2.5),
            ("ReduceMin", F16, 2.5),
            ("ReduceMax", BF16, -2.5),
            ("ReduceMin", U64, 1 << 63),
        )
        for n in (1, 7, 33)
    ),
    one("ReduceProd", [np.full(37, -1, I32)], array(-1, I32), name="ReduceProd of 37", keepdims=0),
    one(
        "ReduceSum",
        [np.full(37, LARGEST // 36, I64)],
        array(np.full(37, LARGEST // 36, I64).sum(), I64),
        name="ReduceSum wraps",
        keepdims=0,
    ),
    one(
        "CumSum",
        [array([LARGEST, 1, 1], I64), array(0, I64)],
        array([LARGEST, SMALLEST, SMALLEST + 1], I64),
        constant=(1,),
    ),
]


@cases(*INTEGERS)
def test_integers_at_full_width(case: Case, level: int):
    check(case, level)


CONVERSIONS = [
    Case(
        "float to int to bool",
        [node("Cast", "x", "t", to=6), node("Cast", "t", "y", to=9)],
        {"x": array([0.5, -0.9, 1.5, 0, -1, 2, -0.0])},
        {"y": array([0, 0, 1, 0, 1, 1, 0], bool)},
    ),
    Case(
        "float to bool",
        [node("Cast", "x", "y", to=9)],
        {"x": array([0.5, NAN, INF, 0, -0.0, 1e-45])},
        {"y": array([1, 1, 1, 0, 0, 1], bool)},
    ),
    Case(
        "int to bool to float",
        [node("Cast", "x", "t", to=9), node("Cast", "t", "y", to=1)],
        {"x": array([0, 2, -1], I32)},
        {"y": array([0.0, 1, 1])},
    ),
    Case(
        "i64 to i32 to i64",
        [node("Cast", "x", "t", to=6), node("Cast", "t", "y", to=7)],
        {"x": array([1 << 32, (1 << 31) + 5, -1], I64)},
        {"y": array([0, -(1 << 31) + 5, -1], I64)},
    ),
    Case(
        "i32 to i8 to i32",
        [node("Cast", "x", "t", to=3), node("Cast", "t", "y", to=6)],
        {"x": array([300, 128, -129], I32)},
        {"y": array([44, -128, 127], I32)},
    ),
    Case(
        "u8 to i8 to u8",
        [node("Cast", "x", "t", to=3), node("Cast", "t", "y", to=2)],
        {"x": array([200, 7], U8)},
        {"y": array([200, 7], U8)},
    ),
    Case(
        "f64 to f32 to f64",
        [node("Cast", "x", "t", to=1), node("Cast", "t", "y", to=11)],
        {"x": array([0.1, 1e300], F64)},
        {"y": array([float(F32(0.1)), INF], F64)},
    ),
    Case(
        "f32 to f16 to f32",
        [node("Cast", "x", "t", to=10), node("Cast", "t", "y", to=1)],
        {"x": array([65520.0, 2049.0, 1e-8])},
        {"y": array([INF, 2048, 0])},
    ),
    Case(
        "i64 to f32",
        [node("Cast", "x", "y", to=1)],
        {"x": array([(1 << 24) + 1, LARGEST], I64)},
        {"y": array([16777216.0, 2.0**63])},
    ),
    Case(
        "NaN of a constant to bool",
        [node("Constant", "", "c", value_floats=[2.0]), node("Asin", "c", "n"), node("Cast", "n", "y", to=9)],
        {},
        {"y": array([True], bool)},
    ),
    one(
        "QuantizeLinear",
        [array([-5, -3, -1, 1, 3, 5, 2000]), array(2.0), array(0, I8)],
        array([-2, -2, 0, 0, 2, 2, 127], I8),
        name="quantize ties to even",
        opset=13,
    ),
    one(
        "QuantizeLinear",
        [array([-5, -3, 3, 5, 1000]), array(2.0), array(128, U8)],
        array([126, 126, 130, 130, 255], U8),
        name="the zero point is added before saturation",
        opset=13,
    ),
    one(
        "QuantizeLinear",
        [array([300.0, -300.0]), array(1.0), array(-100, I8)],
        array([127, -128], I8),
        name="saturation after the zero point",
        opset=13,
    ),
    one("DequantizeLinear", [array([0, 255], U8), array(0.5), array(128, U8)], array([-64.0, 63.5]), name="dequantize"),
]


@cases(*CONVERSIONS)
def test_conversions(case: Case, level: int):
    check(case, level)


HUGE = array([[1000.0, 1001, 1002], [-1000, -1000, -1000], [-INF, 0, -INF]])
REDUCTIONS = [
    one(
        "ReduceLogSumExp",
        [HUGE],
        array([1002.4076, -998.9014, 0]),
        name="log of a sum of huge ones",
        opset=13,
        tolerance=1e-6,
        axes=[1],
        keepdims=0,
    ),
    one(
        "ReduceLogSumExp",
        [array([[-INF, -INF], [INF, 0.0]])],
        array([-INF, INF]),
        name="log of a sum of nothing",
        opset=13,
        axes=[1],
        keepdims=0,
    ),
    one(
        "Softmax",
        [array([[1000.0, 1000, -1000], [-INF, 0, -INF], [-INF, -INF, -INF], [NAN, 0, 0]])],
        array([[0.5, 0.5, 0], [0, 1, 0], [NAN] * 3, [NAN] * 3]),
        name="softmax of extreme rows",
        axis=-1,
    ),
    one(
        "Softmax",
        [array([[1000.0, -INF, NAN], [1000, 0, 0]])],
        array([[0.5, 0, NAN], [0.5, 1, NAN]]),
        name="softmax of extreme columns",
        axis=0,
    ),
    one(
        "LogSoftmax",
        [array([[1000.0, 1000], [0, -INF]])],
        array([[-np.log(2), -np.log(2)], [0, -INF]]),
        tolerance=1e-6,
        axis=-1,
    ),
    one(
        "ReduceSumSquare",
        [array([[1.0, -2], [3, 4]])],
        array([[1.0, 4], [9, 16]]),
        name="no axes, no reduction: squares",
        opset=18,
        noop_with_empty_axes=1,
    ),
    one(
        "ReduceL1",
        [array([[1.0, -2], [3, 4]])],
        array([[1.0, 2], [3, 4]]),
        name="no axes, no reduction: sizes",
        opset=18,
        noop_with_empty_axes=1,
    ),
    one(
        "ReduceL2",
        [array([[1.0, -2]])],
        array([[1.0, 2]]),
        name="no axes, no reduction: roots",
        opset=18,
        noop_with_empty_axes=1,
    ),
    one(
        "ReduceLogSum",
        [array([[1.0, 1.0]])],
        array([[0.0, 0.0]]),
        name="no axes, no reduction: logs",
        opset=18,
        noop_with_empty_axes=1,
    ),
    one(
        "ReduceSum",
        [array([[1.0, -2]])],
        array([[1.0, -2]]),
        name="no axes, no reduction",
        opset=13,
        noop_with_empty_axes=1,
    ),
    one("ReduceSum", [array([[1.0, -2]])], array([[-1.0]]), name="no axes, all reduced", opset=13),
    one(
        "ReduceL1",
        [array([[[1.0, -2], [3, -4]]]), array([-1], I64)],
        array([[[3.0], [7.0]]]),
        name="axes as an input",
        opset=18,
        constant=(1,),
    ),
    *(
        one(op, [np.zeros((2, 0), F32)], array([value] * 2), name=f"{op} of nothing", opset=13, axes=[1], keepdims=0)
        for op, value in (
            ("ReduceMax", -INF),
            ("ReduceMin", INF),
            ("ReduceProd", 1.0),
            ("ReduceL1", 0.0),
            ("ReduceL2", 0.0),
            ("ReduceSumSquare", 0.0),
            ("ReduceLogSumExp", -INF),
            ("ReduceLogSum", -INF),
        )
    ),
    one(
        "ReduceMax", [np.zeros((0,), I32)], array(np.iinfo(I32).min, I32), name="the largest of no integers", keepdims=0
    ),
    one(
        "ArgMax",
        [array([[1, INF, INF], [-INF, -INF, -INF], [2, 1, 2]])],
        array([1, 0, 0], I64),
        name="ArgMax ties",
        opset=13,
        axis=-1,
        keepdims=0,
    ),
    one(
        "ArgMax",
        [array([[1, INF, INF], [-INF, -INF, -INF], [2, 1, 2]])],
        array([2, 2, 2], I64),
        name="ArgMax last of ties",
        opset=13,
        axis=-1,
        keepdims=0,
        select_last_index=1,
    ),
    one("ArgMin", [array([[1, 0, 0], [5, 5, 5]], U8)], array([[1], [0]], I64), name="ArgMin ties", axis=1),
    one(
        "ArgMax",
        [np.r_[np.zeros(40), 1, np.zeros(20), 1].astype(F32)],
        array([40], I64),
        name="ArgMax across lanes",
        axis=0,
    ),
]


@cases(*REDUCTIONS)
def test_reductions(case: Case, level: int):
    check(case, level)
