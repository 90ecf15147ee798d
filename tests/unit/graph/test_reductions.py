"""The numpy meaning of reductions against plain Python, and their accumulation as it is compiled against numpy."""

import itertools
import math

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.evaluator import evaluate_function
from aicc.dialects.graph.ops import (
    ArgMaxOp,
    ArgMinOp,
    ReduceL1Op,
    ReduceL2Op,
    ReduceLogSumExpOp,
    ReduceLogSumOp,
    ReduceMaxOp,
    ReduceMeanOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
    ReduceSumSquareOp,
)
from aicc.tools.driver_api import run_pipeline
from tests.unit.graph.helpers import BF16, FLOATS, INTEGERS, assert_same, module_of, run, specials, types_of

nan, inf = math.nan, math.inf


def wrap(value, dtype):
    bits = 8 * dtype.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if dtype.kind == "i" and value >> (bits - 1) else value


def log(x):
    return nan if math.isnan(x) or x < 0 else -inf if x == 0 else math.log(x)


def log_sum_exp(xs):
    if any(math.isnan(x) for x in xs):
        return nan
    top = max(xs, default=-inf)
    if math.isinf(top):
        return top
    return top + math.log(math.fsum(math.exp(x - top) for x in xs))


def largest(xs):
    return nan if any(math.isnan(x) for x in xs) else max(xs, default=-inf)


def smallest(xs):
    return nan if any(math.isnan(x) for x in xs) else min(xs, default=inf)


FLOAT_CASES = {
    ReduceSumOp: lambda xs: math.fsum(xs),
    ReduceMeanOp: lambda xs: math.fsum(xs) / len(xs) if xs else nan,
    ReduceMaxOp: largest,
    ReduceMinOp: smallest,
    ReduceProdOp: math.prod,
    ReduceL1Op: lambda xs: math.fsum(map(abs, xs)),
    ReduceL2Op: lambda xs: math.sqrt(math.fsum(x * x for x in xs)),
    ReduceSumSquareOp: lambda xs: math.fsum(x * x for x in xs),
    ReduceLogSumOp: lambda xs: log(math.fsum(xs)),
    ReduceLogSumExpOp: log_sum_exp,
}


def reduced(function, array, axes, keepdims, dtype):
    """`function` of each slice along `axes`, by plain loops."""
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    result = np.zeros([array.shape[axis] for axis in kept], dtype)
    for place in itertools.product(*(range(array.shape[axis]) for axis in kept)):
        index = [slice(None)] * array.ndim
        for axis, i in zip(kept, place, strict=True):
            index[axis] = i
        result[place] = function(
            [x.item() if array.dtype != BF16 else float(x) for x in array[tuple(index)].reshape(-1)]
        )
    if keepdims:
        result = result.reshape([1 if axis in axes else size for axis, size in enumerate(array.shape)])
    return result


SHAPES = [
    ((3, 4, 5), (1,)),
    ((3, 4, 5), (0, 2)),
    ((7,), (0,)),
    ((2, 3), ()),
    ((), ()),
    ((0, 3), (0,)),
    ((2, 0), (0,)),
    ((1, 5), (0,)),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FLOAT_CASES)
def test_float_reductions(op, dtype):
    rng = np.random.default_rng(0)
    for (shape, axes), keepdims in itertools.product(SHAPES, (False, True)):
        array = rng.uniform(0.25, 2, shape).astype(dtype)
        found = run(lambda x, axes=axes, keepdims=keepdims: op(x, axes, keepdims=keepdims), array)
        expected = reduced(FLOAT_CASES[op], array, axes, keepdims, np.float64)
        assert_same(
            found, expected.astype(np.float32).astype(dtype) if dtype.itemsize == 2 else expected.astype(dtype), ulps=16
        )


INTEGER_CASES = {
    ReduceSumOp: lambda xs, d: wrap(sum(xs), d),
    ReduceMeanOp: lambda xs, d: wrap(int(math.copysign(1, sum(xs))) * (abs(sum(xs)) // len(xs)), d) if xs else 0,
    ReduceMaxOp: lambda xs, d: max(xs, default=np.iinfo(d).min),
    ReduceMinOp: lambda xs, d: min(xs, default=np.iinfo(d).max),
    ReduceProdOp: lambda xs, d: wrap(math.prod(xs), d),
    ReduceL1Op: lambda xs, d: wrap(sum(wrap(abs(x), d) for x in xs), d),
    ReduceSumSquareOp: lambda xs, d: wrap(sum(x * x for x in xs), d),
}


@pytest.mark.parametrize("dtype", [d for d in INTEGERS if d.itemsize < 8], ids=str)
@pytest.mark.parametrize("op", INTEGER_CASES)
def test_integer_reductions(op, dtype):
    rng = np.random.default_rng(1)
    info = np.iinfo(dtype)
    for shape, axes in SHAPES:
        array = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        found = run(lambda x, axes=axes: op(x, axes), array)
        assert_same(found, reduced(lambda xs: INTEGER_CASES[op](xs, dtype), array, axes, False, dtype))


@pytest.mark.parametrize(
    "op, place", itertools.product((ReduceMaxOp, ReduceMinOp, ReduceSumOp, ReduceLogSumExpOp), range(5))
)
def test_nan_goes_through_in_every_position(op, place):
    array = np.arange(5, dtype=np.float32)
    array[place] = nan
    assert np.isnan(run(lambda x: op(x, (0,)), array))


def test_any_and_all():
    array = np.array([[True, False], [True, True], [False, False]])
    assert_same(run(lambda x: ReduceMaxOp(x, (1,)), array), np.array([True, True, False]))
    assert_same(run(lambda x: ReduceMinOp(x, (1,)), array), np.array([False, True, False]))


def test_log_sum_exp_does_not_overflow():
    array = np.float32([[1000, 1000], [-inf, -inf], [inf, 0], [-1000, -inf]])
    expected = np.float32([1000 + math.log(2), -inf, inf, -1000])
    assert_same(run(lambda x: ReduceLogSumExpOp(x, (1,)), array), expected, ulps=1)


def test_half_precision_accumulates_wide():
    ones = np.ones(4096, np.float16)
    assert run(lambda x: ReduceSumOp(x, (0,)), ones) == 4096
    assert run(lambda x: ReduceMeanOp(x, (0,)), ones * np.float16(60000)) == np.float16(60000)
    assert run(lambda x: ReduceMeanOp(x, (0,)), np.full(300, 127, np.int8)) == 127


def test_negative_axes_count_from_the_end():
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    assert_same(run(lambda x: ReduceSumOp(x, (-1, 0)), array), array.sum((0, 2), dtype=np.int32))


ARG_CASES = list(itertools.product((ArgMaxOp, ArgMinOp), (False, True), (False, True)))


@pytest.mark.parametrize("op, keepdims, select_last", ARG_CASES)
def test_arg_reductions(op, keepdims, select_last):
    rng = np.random.default_rng(2)
    for dtype in (np.float32, np.int8, np.uint16, np.float16):
        array = rng.integers(0, 3, (4, 5, 6)).astype(dtype)
        for axis in (0, 1, -1):

            def make(x, axis=axis):
                return op(x, axis, keepdims=keepdims, select_last=select_last)

            best = max if op is ArgMaxOp else min

            def place(xs, best=best):
                hits = [i for i, x in enumerate(xs) if x == best(xs)]
                return hits[-1] if select_last else hits[0]

            expected = reduced(place, array, (axis % 3,), keepdims, np.int64)
            assert_same(run(make, array), expected)
            assert_same(compiled(make, [array]), expected)


@pytest.mark.parametrize("op", [ArgMaxOp, ArgMinOp])
def test_the_first_nan_wins_or_the_last(op):
    array = np.float32([3, nan, 1, nan, 9])
    assert run(lambda x: op(x, 0), array) == 1
    assert run(lambda x: op(x, 0, select_last=True), array) == 3
    assert compiled(lambda x: op(x, 0), [array]) == 1
    assert compiled(lambda x: op(x, 0, select_last=True), [array]) == 3


def test_bad_axes_are_refused():
    types = types_of([np.zeros((2, 3), np.float32)])
    for axes in ((2,), (0, 0), (-3,)):
        with pytest.raises(VerifyException, match=r"axes"):
            module_of(lambda x, axes=axes: ReduceSumOp(x, axes), types)
    with pytest.raises(VerifyException, match="axis is 5"):
        module_of(lambda x: ArgMaxOp(x, 5), types)
    with pytest.raises(VerifyException, match="size 0"):
        module_of(lambda x: ArgMaxOp(x, 0), types_of([np.zeros((0, 3), np.float32)]))
    with pytest.raises(VerifyException, match="element type"):
        module_of(lambda x: ReduceL2Op(x, (0,)), types_of([np.zeros((2,), np.int32)]))


def compiled(make, arrays):
    """What the compiled form says, by way of `tensor_ops`, whose bodies numpy runs as well."""
    module, _ = module_of(make, types_of(arrays))
    run_pipeline(module, "graph-decompose,convert-graph-to-tensor-ops")
    return evaluate_function(module.body.block.first_op, arrays, module)[0]


@pytest.mark.parametrize("op", FLOAT_CASES)
def test_compiled_reductions(op):
    rng = np.random.default_rng(3)
    for dtype in [*FLOATS, *(INTEGERS if op in INTEGER_CASES else [])]:
        for shape, axes in [((3, 4, 5), (1,)), ((3, 4, 5), (0, 2)), ((0, 3), (0,)), ((2, 3), ())]:
            array = rng.uniform(1, 4, shape).astype(dtype)
            found = compiled(lambda x, op=op, axes=axes: op(x, axes), [array])
            assert_same(found, run(lambda x, op=op, axes=axes: op(x, axes), array), ulps=8)


def test_compiled_extrema_of_special_values():
    for dtype in [*FLOATS, *INTEGERS, np.dtype(np.bool_)]:
        values = specials(dtype)
        values = values[~np.isnan(values)] if dtype in FLOATS else values
        for op in (ReduceMaxOp, ReduceMinOp):
            assert_same(compiled(lambda x, op=op: op(x, (0,)), [values]), run(lambda x, op=op: op(x, (0,)), values))
