"""`arith` and the simple `math` ops run natively on scalars and n-D vectors, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.unit.llvm.elementwise import run

BOTH = pytest.mark.parametrize("vector", [False, True], ids=["scalar", "vector"])
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
INTS = ["i8", "i16", "i32", "i64"]


def float_values(dtype: type, seed: int = 0, count: int = 200) -> np.ndarray:
    """Ordinary values and the special ones."""
    info = ml_dtypes.finfo(dtype)
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, float(info.max), float(info.tiny), 0.5, 2.5, -2.5, 1e-40]
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        return np.concatenate([np.array(special), rng.normal(size=count) * 8]).astype(dtype)


def int_values(name: str, seed: int = 0, count: int = 200) -> np.ndarray:
    """Random bits and the special values."""
    dtype = np.dtype(f"int{name[1:]}")
    info = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    special = [0, 1, -1, 2, 7, -7, info.min, info.max, info.min + 1]
    wide = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    small = rng.integers(-9, 9, count).astype(dtype)
    return np.concatenate([np.array(special, dtype), wide, small])


def pairs(values: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All of the first 13 with each other, then element by element."""
    head = np.repeat(values[:13], 13), np.tile(other[:13], 13)
    return np.concatenate([head[0], values]), np.concatenate([head[1], other])


def same(found: np.ndarray, expected: np.ndarray) -> None:
    """Bitwise equal but for the payloads of NaN."""
    wide_found, wide_expected = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(wide_found, wide_expected)
    known = ~np.isnan(wide_expected)
    np.testing.assert_array_equal(np.signbit(wide_found)[known], np.signbit(wide_expected)[known])


def through_f32(function, *arrays: np.ndarray) -> np.ndarray:
    """numpy's result, f16 and bf16 computed in f32 and rounded once."""
    dtype = arrays[0].dtype
    with np.errstate(all="ignore"):
        if dtype.itemsize == 2:
            return function(*(array.astype(np.float32) for array in arrays)).astype(dtype)
        return function(*arrays)


FLOAT_BINARY = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
}


@BOTH
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", FLOAT_BINARY)
def test_float_binary(op: str, name: str, vector: bool):
    a, b = pairs(float_values(FLOATS[name]), float_values(FLOATS[name], 1))
    found = run(f"%r = arith.{op} %x0, %x1 : {{r}}", [name, name], name, [a, b], vector)
    same(found, through_f32(FLOAT_BINARY[op], a, b))


@BOTH
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op, expected", [("maximumf", np.maximum), ("minimumf", np.minimum)])
def test_extrema_propagate_nan(op: str, expected, name: str, vector: bool):
    a, b = pairs(float_values(FLOATS[name]), float_values(FLOATS[name], 1))
    found = run(f"%r = arith.{op} %x0, %x1 : {{r}}", [name, name], name, [a, b], vector)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found.astype(np.float64), expected(a, b).astype(np.float64))


@BOTH
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op, expected", [("maxnumf", np.fmax), ("minnumf", np.fmin)])
def test_extrema_without_nan(op: str, expected, name: str, vector: bool):
    a, b = pairs(float_values(FLOATS[name]), float_values(FLOATS[name], 1))
    found = run(f"%r = arith.{op} %x0, %x1 : {{r}}", [name, name], name, [a, b], vector)
    np.testing.assert_array_equal(found.astype(np.float64), through_f32(expected, a, b).astype(np.float64))


FLOAT_UNARY = {
    "arith.negf": np.negative,
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.roundeven": np.rint,
    "math.round": lambda x: np.copysign(np.trunc(np.abs(x) + x.dtype.type(0.5)), x),
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.sqrt": np.sqrt,
    "math.trunc": np.trunc,
}


@BOTH
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", FLOAT_UNARY)
def test_float_unary(op: str, name: str, vector: bool):
    values = float_values(FLOATS[name])
    found = run(f"%r = {op} %x0 : {{r}}", [name], name, [values], vector)
    same(found, through_f32(FLOAT_UNARY[op], values))


@BOTH
@pytest.mark.parametrize("name", ["f32", "f64", "bf16"])
def test_fma_rounds_once(name: str, vector: bool):
    rng = np.random.default_rng(0)
    a, b, c = (rng.normal(size=100).astype(FLOATS[name]) for _ in range(3))
    found = run("%r = math.fma %x0, %x1, %x2 : {r}", [name] * 3, name, [a, b, c], vector)
    wide = np.longdouble
    exact = a.astype(wide) * b.astype(wide) + c.astype(wide)
    if name == "f64":  # long double holds neither the product exactly
        np.testing.assert_allclose(found, exact.astype(np.float64), rtol=3e-16)
    else:
        np.testing.assert_array_equal(found.astype(np.float64), exact.astype(np.float64).astype(FLOATS[name]))


PREDICATES = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "one": lambda a, b: (a < b) | (a > b),
    "ord": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "ueq": lambda a, b: ~((a < b) | (a > b)),
    "ugt": lambda a, b: ~(a <= b),
    "uge": lambda a, b: ~(a < b),
    "ult": lambda a, b: ~(a >= b),
    "ule": lambda a, b: ~(a > b),
    "une": lambda a, b: a != b,
    "uno": lambda a, b: np.isnan(a) | np.isnan(b),
    "false": lambda a, b: np.zeros(len(a), bool),
    "true": lambda a, b: np.ones(len(a), bool),
}


@BOTH
@pytest.mark.parametrize("name", ["f32", "bf16"])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_compare_floats(predicate: str, name: str, vector: bool):
    a, b = pairs(float_values(FLOATS[name]), float_values(FLOATS[name], 1))
    found = run(f"%r = arith.cmpf {predicate}, %x0, %x1 : {{0}}", [name, name], "i1", [a, b], vector)
    wide = a.astype(np.float64), b.astype(np.float64)
    np.testing.assert_array_equal(found, PREDICATES[predicate](*wide))


def unsigned(array: np.ndarray) -> np.ndarray:
    return array.view(f"u{array.dtype.name}")


def exact(function, a: np.ndarray, b: np.ndarray, signed: bool = True) -> np.ndarray:
    """`function` on Python integers, wrapped to the width."""
    dtype = a.dtype
    left, right = (a, b) if signed else (unsigned(a), unsigned(b))
    mask = (1 << 8 * dtype.itemsize) - 1
    values = [function(int(x), int(y)) & mask for x, y in zip(left, right, strict=True)]
    return np.array(values, f"uint{8 * dtype.itemsize}").view(dtype)


def truncated(x: int, y: int) -> int:
    return 0 if y == 0 else (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


def floored(x: int, y: int) -> int:
    return 0 if y == 0 else x // y


def raised(x: int, y: int) -> int:
    return 0 if y == 0 else -(-x // y)


def remainder(x: int, y: int) -> int:
    return 0 if y == 0 else x - y * truncated(x, y)


INT_BINARY = {
    "addi": (lambda x, y: x + y, True),
    "subi": (lambda x, y: x - y, True),
    "muli": (lambda x, y: x * y, True),
    "andi": (lambda x, y: x & y, True),
    "ori": (lambda x, y: x | y, True),
    "xori": (lambda x, y: x ^ y, True),
    "divsi": (truncated, True),
    "divui": (truncated, False),
    "floordivsi": (floored, True),
    "ceildivsi": (raised, True),
    "ceildivui": (raised, False),
    "remsi": (remainder, True),
    "remui": (remainder, False),
    "minsi": (min, True),
    "maxsi": (max, True),
    "minui": (min, False),
    "maxui": (max, False),
}


@BOTH
@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("op", INT_BINARY)
def test_int_binary(op: str, name: str, vector: bool):
    a, b = pairs(int_values(name), int_values(name, 1))
    found = run(f"%r = arith.{op} %x0, %x1 : {{r}}", [name, name], name, [a, b], vector)
    function, signed = INT_BINARY[op]
    np.testing.assert_array_equal(found, exact(function, a, b, signed))


@pytest.mark.parametrize("divisor", [-1, 0, 1, 3, -5, 8])
@pytest.mark.parametrize("op", ["divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui"])
def test_division_by_a_constant(op: str, divisor: int):
    a = int_values("i32")
    body = f"%c = arith.constant {divisor} : i32\n    %r = arith.{op} %x0, %c : i32"
    found = run(body, ["i32"], "i32", [a], vector=False)
    function, signed = INT_BINARY[op]
    np.testing.assert_array_equal(found, exact(function, a, np.full_like(a, divisor), signed))


SHIFTS = {
    "shli": lambda x, y, width: x << y if y < width else 0,
    "shrui": lambda x, y, width: x >> y if y < width else 0,
    "shrsi": lambda x, y, width: x >> min(y, width - 1),
}


@BOTH
@pytest.mark.parametrize("name", INTS)
@pytest.mark.parametrize("op", SHIFTS)
def test_shifts_past_the_width(op: str, name: str, vector: bool):
    width = int(name[1:])
    values = int_values(name)
    counts = np.resize(np.array([0, 1, 3, width - 1, width, width + 1, 100, -1]), len(values)).astype(values.dtype)
    found = run(f"%r = arith.{op} %x0, %x1 : {{r}}", [name, name], name, [values, counts], vector)
    left = values if op == "shrsi" else unsigned(values)
    mask = (1 << width) - 1
    numbers = [SHIFTS[op](int(x), int(y), width) & mask for x, y in zip(left, unsigned(counts), strict=True)]
    np.testing.assert_array_equal(found, np.array(numbers, f"uint{width}").view(values.dtype))


@BOTH
@pytest.mark.parametrize("name", ["i8", "i64"])
@pytest.mark.parametrize("predicate", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_compare_ints(predicate: str, name: str, vector: bool):
    a, b = pairs(int_values(name), int_values(name, 1))
    found = run(f"%r = arith.cmpi {predicate}, %x0, %x1 : {{0}}", [name, name], "i1", [a, b], vector)
    left, right = (unsigned(a), unsigned(b)) if predicate[0] == "u" else (a, b)
    compare = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal}
    compare |= {"gt": np.greater, "ge": np.greater_equal}
    np.testing.assert_array_equal(found, compare[predicate[-2:]](left, right))


@BOTH
@pytest.mark.parametrize("name", ["f32", "bf16", "i8", "i64", "i1"])
def test_select(name: str, vector: bool):
    rng = np.random.default_rng(0)
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i1": np.bool_}.get(name, f"int{name[1:]}")
    condition = rng.integers(0, 2, 60).astype(bool)
    a, b = rng.integers(0, 2, 60).astype(dtype), rng.integers(0, 90, 60).astype(dtype)
    types = "{0}, {r}" if vector else "{r}"
    found = run(f"%r = arith.select %x0, %x1, %x2 : {types}", ["i1", name, name], name, [condition, a, b], vector)
    np.testing.assert_array_equal(found, np.where(condition, a, b))


@BOTH
@pytest.mark.parametrize("op, expected", [("andi", np.logical_and), ("ori", np.logical_or), ("xori", np.logical_xor)])
def test_booleans(op: str, expected, vector: bool):
    a, b = np.array([0, 0, 1, 1], bool), np.array([0, 1, 0, 1], bool)
    found = run(f"%r = arith.{op} %x0, %x1 : {{r}}", ["i1", "i1"], "i1", [a, b], vector)
    np.testing.assert_array_equal(found, expected(a, b))


def test_any_byte_but_zero_is_true():
    raw = np.array([0, 1, 2, 255], np.uint8).view(bool)
    found = run("%r = arith.extui %x0 : {0} to {r}", ["i1"], "i8", [raw], vector=False)
    np.testing.assert_array_equal(found, [0, 1, 1, 1])


@BOTH
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_float_casts_round_once(source: str, target: str, vector: bool):
    order = ["f16", "bf16", "f32", "f64"]
    widths = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
    if widths[source] == widths[target]:
        return  # there is no cast between types of one width
    op = "extf" if widths[source] < widths[target] else "truncf"
    rng = np.random.default_rng(order.index(source))
    values = float_values(FLOATS[source])
    if op == "truncf":  # near ties of the shorter type
        near = rng.normal(size=400).astype(FLOATS[target]).astype(FLOATS[source])
        half = np.abs(near) * float(ml_dtypes.finfo(FLOATS[target]).eps) / 2
        values = np.concatenate([values, near, near + half, np.nextafter(near + half, 0), np.nextafter(near + half, 9)])
        values = np.concatenate([values, (values * 1e-5).astype(FLOATS[source])])
        values = values.astype(FLOATS[source])
    found = run(f"%r = arith.{op} %x0 : {{0}} to {{r}}", [source], target, [values], vector)
    with np.errstate(all="ignore"):
        if target == "bf16" and source == "f64":
            expected = round_to_bf16(values)
        else:
            expected = values.astype(FLOATS[target])
    same(found, expected)


def round_to_bf16(values: np.ndarray) -> np.ndarray:
    """f64 to bf16 with one rounding: ml_dtypes rounds twice."""
    result = np.empty(len(values), ml_dtypes.bfloat16)
    for index, value in enumerate(values):
        low = np.asarray(np.float32(value)).view(np.uint32) >> 16
        near = [np.uint16(min(max(int(low) + step, 0), 0xFFFF)).view(ml_dtypes.bfloat16) for step in (-1, 0, 1)]
        finite = [x for x in near if np.isfinite(float(x))]
        if not np.isfinite(value) or not finite or abs(value) > 3.4e38:
            result[index] = np.float32(value).astype(ml_dtypes.bfloat16)
            continue
        distances = [abs(float(x) - value) for x in finite]
        best = [x for x, d in zip(finite, distances, strict=True) if d == min(distances)]
        even = [x for x in best if int(x.view(np.uint16)) % 2 == 0]
        result[index] = (even or best)[0]
        if result[index] == 0:
            result[index] = np.copysign(np.float32(0), np.float32(value)).astype(ml_dtypes.bfloat16)
    return result


@BOTH
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("op", ["fptosi", "fptoui"])
def test_float_to_int_saturates(op: str, source: str, target: str, vector: bool):
    values = np.concatenate([float_values(FLOATS[source]), np.array([127.5, 128, -129, 255.9, 1e9, -1e9, 3e9])])
    with np.errstate(over="ignore"):
        values = values.astype(FLOATS[source])
    found = run(f"%r = arith.{op} %x0 : {{0}} to {{r}}", [source], target, [values], vector)
    info = np.iinfo(("" if op == "fptosi" else "u") + f"int{target[1:]}")
    numbers = [
        0
        if np.isnan(x)
        else info.max
        if x == np.inf
        else info.min
        if x == -np.inf
        else max(info.min, min(info.max, int(x)))
        for x in values.astype(np.float64)
    ]
    np.testing.assert_array_equal(found.view(info.dtype), np.array(numbers, info.dtype))


@BOTH
@pytest.mark.parametrize("source", ["i1", "i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("op", ["sitofp", "uitofp"])
def test_int_to_float_rounds_once(op: str, source: str, target: str, vector: bool):
    values = np.array([0, 1, 1, 0], bool) if source == "i1" else int_values(source)
    found = run(f"%r = arith.{op} %x0 : {{0}} to {{r}}", [source], target, [values], vector)
    wide = (
        (-values.astype(np.int8) if op == "sitofp" else values.astype(np.int8))
        if source == "i1"
        else (values if op == "sitofp" else unsigned(values))
    )
    with np.errstate(over="ignore"):
        exact_values = wide.astype(np.float64)
        if target == "bf16":
            expected = round_to_bf16(exact_values)
        elif target == "f32":
            expected = wide.astype(np.float32)
        else:
            expected = exact_values.astype(FLOATS[target])
    same(found, expected)


@BOTH
@pytest.mark.parametrize(
    "op, source, target",
    [
        ("extsi", "i8", "i32"),
        ("extui", "i8", "i64"),
        ("trunci", "i64", "i16"),
        ("extui", "i1", "i32"),
        ("trunci", "i32", "i1"),
    ],
)
def test_int_casts(op: str, source: str, target: str, vector: bool):
    values = np.array([0, 1, 1, 0], bool) if source == "i1" else int_values(source)
    found = run(f"%r = arith.{op} %x0 : {{0}} to {{r}}", [source], target, [values], vector)
    if target == "i1":
        expected = (values & 1).astype(bool)
    else:
        left = unsigned(values) if op == "extui" and source != "i1" else values
        expected = left.astype(f"int{target[1:]}")
    np.testing.assert_array_equal(found, expected)


@BOTH
@pytest.mark.parametrize("source, target", [("f32", "i32"), ("i64", "f64"), ("bf16", "i16"), ("i16", "f16")])
def test_bitcasts(source: str, target: str, vector: bool):
    values = float_values(FLOATS[source]) if source in FLOATS else int_values(source)
    found = run("%r = arith.bitcast %x0 : {0} to {r}", [source], target, [values], vector)
    np.testing.assert_array_equal(found.view(np.uint8), values.view(np.uint8))


@BOTH
def test_index_casts(vector: bool):
    values = int_values("i32")
    middle = "vector<3x4xindex>" if vector else "index"
    body = f"%k = arith.index_cast %x0 : {{0}} to {middle}\n    %r = arith.index_cast %k : {middle} to {{r}}"
    np.testing.assert_array_equal(run(body, ["i32"], "i64", [values], vector), values)


@BOTH
@pytest.mark.parametrize("name", ["i8", "i32", "i64"])
def test_bit_counts(name: str, vector: bool):
    values = int_values(name)
    width = int(name[1:])
    texts = [f"{int(value):0{width}b}" for value in unsigned(values)]
    expected = {
        "ctpop": [text.count("1") for text in texts],
        "ctlz": [width - len(text.lstrip("0")) for text in texts],
        "cttz": [width - len(text.rstrip("0")) for text in texts],
    }
    for op, numbers in expected.items():
        found = run(f"%r = math.{op} %x0 : {{r}}", [name], name, [values], vector)
        np.testing.assert_array_equal(found, np.array(numbers).astype(values.dtype))


@BOTH
def test_absolute_of_ints_wraps(vector: bool):
    values = int_values("i32")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run("%r = math.absi %x0 : {r}", ["i32"], "i32", [values], vector), np.abs(values))


@BOTH
def test_copysign(vector: bool):
    a, b = float_values(np.float32), float_values(np.float32, 1)
    same(run("%r = math.copysign %x0, %x1 : {r}", ["f32", "f32"], "f32", [a, b], vector), np.copysign(a, b))
