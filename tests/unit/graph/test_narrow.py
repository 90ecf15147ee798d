"""Floats of 8 and 4 bits and integers of 4 and 2: every code and every rounding, in numpy and compiled."""

from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType
from xdsl.utils.exceptions import VerifyException

import aicc
from aicc.dialects.graph.buffers import (
    BufferAttr,
    array_to_constant_attr,
    constant_array,
    inline_constants,
    save_buffers,
    search_folder,
)
from aicc.dialects.graph.constants import ConstantOp
from aicc.dialects.graph.dims import tensor_type
from aicc.dialects.graph.dtypes import element_type
from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.ops import AddOp, CastOp, ConcatOp, GatherOp, PadOp, ReshapeOp, TransposeOp, WhereOp
from aicc.lowering.parse import parse_module
from tests.unit.graph.helpers import module_of, types_of

FLOATS = [
    np.dtype(t)
    for t in (
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e5m2fnuz,
        ml_dtypes.float4_e2m1fn,
    )
]
POWERS = np.dtype(ml_dtypes.float8_e8m0fnu)
INTEGERS = [np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2)]
BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}


def codes(dtype: np.dtype) -> np.ndarray:
    """Every value of a type."""
    return np.arange(1 << BITS.get(dtype.name, 8), dtype=np.uint8).view(dtype)


def both_ways(make, *arrays: np.ndarray, opt_level: int = 2) -> list[np.ndarray]:
    """The result of one op in numpy and compiled, which must have equal bits (all NaN are one)."""
    module, function = module_of(make, types_of(arrays))
    (meant,) = evaluate_function(function, list(arrays), module)
    (compiled,) = aicc.compile(module, opt_level=opt_level, cache=False, threads=1)(*arrays)
    assert compiled.dtype == meant.dtype
    if meant.dtype.itemsize == 1:
        np.testing.assert_array_equal(compiled.view(np.uint8), meant.view(np.uint8))
    else:
        np.testing.assert_array_equal(compiled, meant)
        if meant.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(compiled[meant == 0]), np.signbit(meant[meant == 0]))
    return compiled


@pytest.mark.parametrize("dtype", [*FLOATS, POWERS, *INTEGERS], ids=str)
@pytest.mark.parametrize("target", [np.float32, np.float16, np.float64, np.int8, np.int32], ids=lambda t: t.__name__)
def test_widening(dtype: np.dtype, target: type):
    x = codes(dtype)
    result = both_ways(lambda v: CastOp(v, element_type(np.dtype(target))), x)
    if np.dtype(target).kind == "f":
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(result, x.astype(np.float64).astype(target))


def interesting(dtype: np.dtype, wide: type) -> np.ndarray:
    """The numbers of `dtype`, those half way between them, and the closest numbers of `wide` to these; specials."""
    values = codes(dtype).astype(wide)
    values = np.unique(values[np.isfinite(values)])
    halves = ((values[1:] + values[:-1]) / 2).astype(wide)
    largest = values[-1]
    past = np.array([largest * 1.01, largest * 1.1, largest * 1.2, largest * 3, 1e30, np.inf, np.nan, -0.0], wide)
    points = np.concatenate([values, halves, past, -past, np.array([1e-30, 1e-9, 3e-7], wide)])
    with np.errstate(over="ignore"):
        return np.concatenate([points, np.nextafter(points, wide(np.inf)), np.nextafter(points, wide(-np.inf))])


def nearest(x: float, dtype: np.dtype) -> float:
    """The number of `dtype` closest to a finite `x` in its range; of two, the one with the even code."""
    table = {float(v): int(c) for c, v in enumerate(codes(dtype).astype(np.float64)) if np.isfinite(v)}
    return min(table, key=lambda v: (abs(Fraction(v) - Fraction(x)), table[v] & 1))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("wide", [np.float32, np.float64], ids=lambda t: t.__name__)
def test_narrowing_rounds_to_the_nearest_even(dtype: np.dtype, wide: type):
    x = interesting(dtype, wide)
    largest = float(ml_dtypes.finfo(dtype).max)
    result = both_ways(lambda v: CastOp(v, element_type(dtype), saturate=True), x).astype(np.float64)
    for given, found in zip(x, result, strict=True):
        if np.isnan(given):
            assert np.isnan(found) or (dtype.name == "float4_e2m1fn" and found == 0)
        else:
            assert found == nearest(float(np.clip(given, -largest, largest)), dtype), given


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("wide", [np.float32, np.float64, np.float16], ids=lambda t: t.__name__)
def test_narrowing_past_the_range(dtype: np.dtype, wide: type):
    with np.errstate(over="ignore"):
        x = interesting(dtype, np.float32).astype(wide)
    result = both_ways(lambda v: CastOp(v, element_type(dtype)), x)
    if dtype.name == "float4_e2m1fn":
        assert np.max(np.abs(result.astype(np.float32))) == 6
    else:
        (infinite,) = both_ways(lambda v: CastOp(v, element_type(dtype)), np.array([np.inf], wide)).astype(np.float32)
        assert np.isinf(infinite) if dtype.name == "float8_e5m2" else np.isnan(infinite)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("wide", [np.float32, np.float64], ids=lambda t: t.__name__)
def test_powers_of_two(mode: str, wide: type):
    x = np.array([0, 0.124, 0.25, 0.5, 0.74, 0.75, 1.1, 1.5, 2, 3, 4, 6.1, 1e-38, 2e-39, 1e38, 3e38], wide)
    special = np.array([np.inf, np.nan, -1, -0.0], wide)
    target = element_type(POWERS)
    with np.errstate(divide="ignore"):
        exponent = np.log2(x.astype(np.float64))
    exponent = np.where(x == 0, -200, exponent)
    below, above = np.floor(exponent), np.ceil(exponent)
    chosen = {"up": above, "down": below, "nearest": np.where(x / 2**below >= 1.5, above, below)}[mode]
    expected = 2.0 ** np.clip(chosen, -127, 127)
    result = both_ways(lambda v: CastOp(v, target, saturate=True, round_mode=mode), x)
    np.testing.assert_array_equal(result.astype(np.float64), expected)
    result = both_ways(lambda v: CastOp(v, target, saturate=True, round_mode=mode), special).astype(np.float64)
    np.testing.assert_array_equal(result, [2.0**127, np.nan, np.nan, 2.0**-127])
    past = np.array([0, 1e-39, np.inf, 1], wide)
    result = both_ways(lambda v: CastOp(v, target, round_mode=mode), past).astype(np.float64)
    if wide is np.float64:
        np.testing.assert_array_equal(result[[0, 2, 3]], [np.nan, np.nan, 1])


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_keep_their_low_bits_or_saturate(dtype: np.dtype):
    bits, unsigned = BITS[dtype.name], dtype.name.startswith("u")
    low, high = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    x = np.arange(-128, 128)
    for source in (np.int8, np.int32, np.int64, np.float32):
        wrapped = both_ways(lambda v: CastOp(v, element_type(dtype)), x.astype(source)).astype(int)
        np.testing.assert_array_equal(wrapped, (x - low) % (1 << bits) + low)
    saturated = both_ways(lambda v: CastOp(v, element_type(dtype), saturate=True), x.astype(np.int16)).astype(int)
    np.testing.assert_array_equal(saturated, np.clip(x, low, high))
    bools = np.array([True, False])
    np.testing.assert_array_equal(both_ways(lambda v: CastOp(v, element_type(dtype)), bools).astype(int) & 1, [1, 0])
    np.testing.assert_array_equal(
        both_ways(lambda v: CastOp(v, element_type(np.dtype(bool))), codes(dtype)), codes(dtype).astype(int) != 0
    )


def test_bits_above_the_types_own_are_ignored():
    x = np.arange(256, dtype=np.uint8)
    found = both_ways(lambda v: CastOp(v, element_type(np.dtype(np.int8))), x.view(ml_dtypes.int4))
    np.testing.assert_array_equal(found, (x.astype(int) + 8) % 16 - 8)
    fours = x.view(ml_dtypes.float4_e2m1fn)
    module, _ = module_of(lambda v: CastOp(v, element_type(np.dtype(np.float32))), types_of([fours]))
    (found,) = aicc.compile(module, cache=False)(fours)
    np.testing.assert_array_equal(found, (x & 15).view(ml_dtypes.float4_e2m1fn).astype(np.float32))


def test_between_narrow_types():
    for source in (FLOATS[0], FLOATS[2], INTEGERS[0], INTEGERS[3]):
        for target in (FLOATS[1], FLOATS[4], INTEGERS[1]):
            x = codes(source)
            if source in FLOATS:
                x = x[np.isfinite(x.astype(np.float32))]
            both_ways(lambda v, target=target: CastOp(v, element_type(target), saturate=True), x)


@pytest.mark.parametrize("dtype", [FLOATS[0], FLOATS[4], INTEGERS[0]], ids=str)
@pytest.mark.parametrize("opt_level", [0, 2])
def test_moving(dtype: np.dtype, opt_level: int):
    x = codes(dtype)[:16].reshape(2, 8)
    places = np.array([1, 0, 1])
    for make, arrays in (
        (lambda v: TransposeOp(v, [1, 0]), (x,)),
        (lambda v: ReshapeOp(v, [4, 4]), (x,)),
        (lambda v, w: ConcatOp([v, w], 0), (x, x[::-1].copy())),
        (lambda v, i: GatherOp(v, i, 0), (x, places)),
        (lambda c, v, w: WhereOp(c, v, w), (np.arange(16).reshape(2, 8) % 3 == 0, x, x[::-1].copy())),
        (lambda v: PadOp(v, [0, 1], [1, 0]), (x,)),
    ):
        both_ways(make, *arrays, opt_level=opt_level)


def test_arithmetic_is_refused():
    for dtype in (FLOATS[0], INTEGERS[0]):
        with pytest.raises(VerifyException, match=r"operand has element type .*, expected floats or signed integers"):
            module_of(AddOp, types_of([codes(dtype)] * 2))
    with pytest.raises(VerifyException, match="round_mode is 'odd', expected one of up, down, nearest"):
        module_of(lambda v: CastOp(v, element_type(POWERS), round_mode="odd"), types_of([np.ones(2, np.float32)]))


@pytest.mark.parametrize("dtype", [*FLOATS, POWERS, *INTEGERS], ids=str)
@pytest.mark.parametrize("count", [5, 100])
def test_constants(dtype: np.dtype, count: int, tmp_path: Path):
    x = np.resize(codes(dtype)[:100], count)
    kind = tensor_type([count], element_type(dtype))
    module, _ = module_of(lambda: ConstantOp(array_to_constant_attr(x, "w"), kind), [])
    constant = next(op for op in module.walk() if isinstance(op, ConstantOp))
    assert isinstance(constant.value, BufferAttr) == (count > 64)
    (found,) = aicc.compile(module.clone(), cache=False)()
    np.testing.assert_array_equal(found.astype(np.float64), x.astype(np.float64))
    save_buffers(module, tmp_path / "w.safetensors")
    with search_folder(tmp_path):
        again = parse_module(str(module))
        constant = next(op for op in again.walk() if isinstance(op, ConstantOp))
        np.testing.assert_array_equal(constant_array(constant).astype(np.float64), x.astype(np.float64))
        (found,) = aicc.compile(again.clone(), cache=False)()
        np.testing.assert_array_equal(found.astype(np.float64), x.astype(np.float64))
        inline_constants(again)
    spelt = parse_module(str(again))
    constant = next(op for op in spelt.walk() if isinstance(op, ConstantOp))
    np.testing.assert_array_equal(constant_array(constant).astype(np.float64), x.astype(np.float64))


def test_types_are_named_in_ir():
    assert str(element_type(INTEGERS[1])) == "ui4"
    names = ["f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f4E2M1FN"]
    assert [str(element_type(dtype)) for dtype in FLOATS] == names
    with pytest.raises(VerifyException, match="element type i3 is not supported"):
        module_of(lambda v: CastOp(v, IntegerType(3)), types_of([codes(INTEGERS[0])]))
