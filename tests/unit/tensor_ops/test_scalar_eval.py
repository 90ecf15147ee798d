"""Scalar ops over arrays, against Python integers and floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects import math as math_dialect
from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, IntegerAttr, IntegerType, f32, f64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from aicc.dialects.graph.dtypes import numpy_dtype
from aicc.dialects.tensor_ops import YieldOp
from aicc.dialects.tensor_ops.scalar_eval import ScalarEvaluator, scalar_array

Array = np.ndarray[Any, Any]


def evaluate(build: Callable[..., Operation], types: list[Attribute], *args: Array) -> Array:
    """The op that `build` makes, over arrays."""
    block = Block(arg_types=types)
    op = build(*block.args)
    block.add_ops([op, YieldOp(op.results[0])])

    def nothing(value: SSAValue) -> Array:
        raise AssertionError(value)

    (result,) = ScalarEvaluator((), nothing, {}).run(block, args)
    return result


def wrap(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def truncated(x: int, y: int) -> int:
    return 0 if y == 0 else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


SIGNED: dict[Any, Callable[[int, int, int], int]] = {
    arith.AddiOp: lambda x, y, b: x + y,
    arith.SubiOp: lambda x, y, b: x - y,
    arith.MuliOp: lambda x, y, b: x * y,
    arith.AndIOp: lambda x, y, b: x & y,
    arith.OrIOp: lambda x, y, b: x | y,
    arith.XOrIOp: lambda x, y, b: x ^ y,
    arith.DivSIOp: lambda x, y, b: truncated(x, y),
    arith.RemSIOp: lambda x, y, b: 0 if y == 0 else x - y * truncated(x, y),
    arith.FloorDivSIOp: lambda x, y, b: 0 if y == 0 else x // y,
    arith.CeilDivSIOp: lambda x, y, b: 0 if y == 0 else -(-x // y),
    arith.MaxSIOp: lambda x, y, b: max(x, y),
    arith.MinSIOp: lambda x, y, b: min(x, y),
    arith.ShRSIOp: lambda x, y, b: x >> min(y % (1 << b), b - 1),
}
UNSIGNED: dict[Any, Callable[[int, int, int], int]] = {
    arith.DivUIOp: lambda x, y, b: 0 if y == 0 else x // y,
    arith.CeilDivUIOp: lambda x, y, b: 0 if y == 0 else -(-x // y),
    arith.RemUIOp: lambda x, y, b: 0 if y == 0 else x % y,
    arith.MaxUIOp: lambda x, y, b: max(x, y),
    arith.MinUIOp: lambda x, y, b: min(x, y),
    arith.ShLIOp: lambda x, y, b: x << y if y < b else 0,
    arith.ShRUIOp: lambda x, y, b: x >> y if y < b else 0,
}


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("op", [*SIGNED, *UNSIGNED], ids=lambda op: op.name)
def test_integers(op: Any, bits: int):
    top = 1 << (bits - 1)
    values = [0, 1, 2, 3, 7, bits - 1, bits, top - 1, -1, -2, -7, -top, 1 - top]
    pairs = [(x, y) for x in values for y in values]
    dtype = numpy_dtype(IntegerType(bits))
    x, y = (np.array(column, dtype) for column in zip(*pairs, strict=True))
    found = evaluate(op, [IntegerType(bits)] * 2, x, y)
    if op in SIGNED:
        expected = [wrap(SIGNED[op](a, b, bits), bits) for a, b in pairs]
    else:
        expected = [wrap(UNSIGNED[op](a % (1 << bits), b % (1 << bits), bits), bits) for a, b in pairs]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(expected, dtype))


# Shifts by the width and -1 / -1 are undefined for one bit.
UNDEFINED_FOR_BOOLEANS = (
    arith.ShLIOp,
    arith.ShRUIOp,
    arith.ShRSIOp,
    arith.DivSIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
)


@pytest.mark.parametrize(
    "op", [op for op in [*SIGNED, *UNSIGNED] if op not in UNDEFINED_FOR_BOOLEANS], ids=lambda op: op.name
)
def test_booleans(op: Any):
    """i1 is an integer of one bit: 0 and -1, or 0 and 1 where unsigned."""
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    found = evaluate(op, [IntegerType(1)] * 2, x, y)
    table = SIGNED if op in SIGNED else UNSIGNED
    sign = -1 if op in SIGNED else 1
    expected = [table[op](sign * int(a), sign * int(b), 1) & 1 for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(found, np.array(expected, bool))


COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("prefix", ["s", "u"])
def test_integer_comparisons(name: str, prefix: str):
    values = [-128, -1, 0, 1, 127]
    x, y = (np.array(column, np.int8) for column in zip(*[(a, b) for a in values for b in values], strict=True))
    predicate = name if name in ("eq", "ne") else prefix + name
    found = evaluate(lambda a, b: arith.CmpiOp(a, b, predicate), [IntegerType(8)] * 2, x, y)
    modulus = 256 if prefix == "u" else 1
    expected = [
        COMPARISONS[name](int(a) % modulus if modulus > 1 else int(a), int(b) % modulus if modulus > 1 else int(b))
        for a, b in zip(x, y, strict=True)
    ]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("ordered", [True, False])
def test_float_comparisons(name: str, ordered: bool):
    values = [-1.0, -0.0, 0.0, 2.0, math.inf, math.nan]
    x, y = (np.array(column, np.float32) for column in zip(*[(a, b) for a in values for b in values], strict=True))
    found = evaluate(lambda a, b: arith.CmpfOp(a, b, ("o" if ordered else "u") + name), [f32] * 2, x, y)
    expected = [
        not ordered if math.isnan(a) or math.isnan(b) else COMPARISONS[name](a, b)
        for a, b in zip(x.tolist(), y.tolist(), strict=True)
    ]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("type", [Float16Type(), BFloat16Type()], ids=str)
@pytest.mark.parametrize("op", [arith.AddfOp, arith.MulfOp, arith.DivfOp, arith.SubfOp, math_dialect.PowFOp])
def test_narrow_floats_are_rounded_once(type: Any, op: Any):
    dtype = numpy_dtype(type)
    rng = np.random.default_rng(2)
    x, y = (np.abs(rng.standard_normal(50)).astype(dtype) for _ in range(2))
    exact = {
        arith.AddfOp: np.add,
        arith.SubfOp: np.subtract,
        arith.MulfOp: np.multiply,
        arith.DivfOp: np.divide,
        math_dialect.PowFOp: np.power,
    }[op](x.astype(np.float32), y.astype(np.float32))
    found = evaluate(op, [type] * 2, x, y)
    np.testing.assert_array_equal(found, exact.astype(dtype))


def test_casts():
    i8, i1 = IntegerType(8), IntegerType(1)
    values = np.array([-128, -1, 0, 1, 127], np.int8)
    np.testing.assert_array_equal(
        evaluate(lambda a: arith.ExtUIOp(a, IntegerType(32)), [i8], values), [128, 255, 0, 1, 127]
    )
    np.testing.assert_array_equal(evaluate(lambda a: arith.ExtSIOp(a, IntegerType(64)), [i8], values), values)
    as_unsigned = [128, 255, 0, 1, 127]
    np.testing.assert_array_equal(evaluate(lambda a: arith.UIToFPOp(a, f32), [i8], values), as_unsigned)
    np.testing.assert_array_equal(
        evaluate(lambda a: arith.TruncIOp(a, i1), [i8], values), [False, True, False, True, True]
    )
    truth = np.array([False, True])
    np.testing.assert_array_equal(evaluate(lambda a: arith.ExtSIOp(a, i8), [i1], truth), [0, -1])
    np.testing.assert_array_equal(evaluate(lambda a: arith.UIToFPOp(a, f64), [i1], truth), [0, 1])
    floats = np.array([-2.7, 2.7, 200.0], np.float32)
    np.testing.assert_array_equal(evaluate(lambda a: arith.FPToSIOp(a, IntegerType(16)), [f32], floats), [-2, 2, 200])
    np.testing.assert_array_equal(evaluate(lambda a: arith.FPToUIOp(a, i8), [f32], floats[1:]), [2, -56])
    np.testing.assert_array_equal(
        evaluate(lambda a: arith.BitcastOp(a, IntegerType(32)), [f32], floats), floats.view(np.int32)
    )


@pytest.mark.parametrize(
    "op, oracle",
    [
        (math_dialect.ErfOp, math.erf),
        (math_dialect.ExpM1Op, math.expm1),
        (math_dialect.Log1pOp, math.log1p),
        (math_dialect.RsqrtOp, lambda x: 1 / math.sqrt(x)),
        (math_dialect.CbrtOp, lambda x: x ** (1 / 3)),
        (math_dialect.RoundOp, lambda x: math.floor(x + 0.5)),
        (math_dialect.RoundEvenOp, round),
        (math_dialect.TruncOp, math.trunc),
        (math_dialect.TanhOp, math.tanh),
    ],
)
def test_functions(op: Any, oracle: Callable[[float], float]):
    x = np.array([0.1, 0.5, 1.5, 2.5, 3.7])
    np.testing.assert_allclose(evaluate(op, [f64], x), [oracle(v) for v in x.tolist()], rtol=1e-14)


def test_bit_counts_and_powers():
    i16 = IntegerType(16)
    x = np.array([0, 1, -1, 40, -32768], np.int16)
    bits = [int(v) & 0xFFFF for v in x]

    def count(op: Any) -> list[int]:
        return evaluate(op, [i16], x).tolist()

    assert count(math_dialect.CtPopOp) == [b.bit_count() for b in bits]
    assert count(math_dialect.CountLeadingZerosOp) == [16 - b.bit_length() for b in bits]
    assert count(math_dialect.CountTrailingZerosOp) == [(b & -b).bit_length() - 1 if b else 16 for b in bits]
    base, power = np.array([3, -1, -1, 2, 0, 1], np.int16), np.array([9, -3, -2, -1, 0, -5], np.int16)
    found = evaluate(math_dialect.IPowIOp, [i16] * 2, base, power)
    np.testing.assert_array_equal(found, [19683, -1, 1, 0, 1, 1])


def test_constants_of_every_kind():
    assert scalar_array(IntegerAttr(-1, IntegerType(8))) == np.int8(-1)
    assert scalar_array(IntegerAttr(1, IntegerType(1))).dtype == bool
    assert scalar_array(FloatAttr(0.1, BFloat16Type())).dtype == np.dtype(ml_dtypes.bfloat16)
