"""The numpy meaning of movement, gather, scatter, scans and index patterns against plain loops over indices."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import f16, f32, i8, i64
from xdsl.utils.exceptions import VerifyException

from aicc.dialects.graph.constants import ConstantOp, IotaOp
from aicc.dialects.graph.dims import dims_of, evaluate, sym, tensor_type
from aicc.dialects.graph.evaluator import EvaluationError, evaluate_function
from aicc.dialects.graph.movement import slice_bounds
from aicc.dialects.graph.ops import (
    ConcatOp,
    CumsumOp,
    ExpandOp,
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    PadOp,
    ReshapeOp,
    ScatterElementsOp,
    ScatterNdOp,
    SliceOp,
    SplitOp,
    TransposeOp,
)
from aicc.transforms.graph_decompose import decompose_block
from tests.unit.graph.helpers import BF16, assert_same, module_of, run, types_of

N, M = sym("N"), sym("M")
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def indices(shape):
    return itertools.product(*map(range, shape))


def test_reshape():
    assert_same(run(lambda x: ReshapeOp(x, [4, 6]), X), X.reshape(4, 6))
    assert_same(run(lambda x: ReshapeOp(x, []), X[:1, :1, :1]), np.float32(0).reshape(()))
    assert_same(run(lambda x: ReshapeOp(x, [0, 7]), X[:0]), np.zeros((0, 7), np.float32))
    with pytest.raises(VerifyException, match="24"):
        run(lambda x: ReshapeOp(x, [5, 5]), X)


def test_reshape_of_a_symbolic_shape_is_checked_when_it_runs():
    module, function = module_of(lambda x: ReshapeOp(x, [M, 2]), [tensor_type([N], f32), tensor_type([M], f32)][:1])
    (check,) = function.body.block.first_op.runtime_checks()
    assert (check.lhs, check.rhs) == (N, 2 * M)
    module, function = module_of(lambda x: ReshapeOp(x, [3, 2]), [tensor_type([N], f32)])
    assert evaluate_function(function, [np.zeros(6, np.float32)], module)[0].shape == (3, 2)
    with pytest.raises(EvaluationError, match="number of elements"):
        evaluate_function(function, [np.zeros(7, np.float32)], module)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_transpose(order):
    found = run(lambda x: TransposeOp(x, order), X)
    for place in indices(found.shape):
        source = [0] * 3
        for axis, i in zip(order, place, strict=True):
            source[axis] = i
        assert found[place] == X[tuple(source)]


def test_expand():
    x = np.float32([[[1], [2]]])
    found = run(lambda v: ExpandOp(v, [2, 3, 2, 4]), x)
    for place in indices(found.shape):
        assert found[place] == x[0, place[2], 0]
    assert run(lambda v: ExpandOp(v, [0, 2, 1]), x).shape == (0, 2, 1)
    for shape in ([2], [1, 3, 1]):
        with pytest.raises(VerifyException):
            run(lambda v, shape=shape: ExpandOp(v, shape), x)


def test_concat_and_split_are_inverse():
    for axis in range(-3, 3):
        size = X.shape[axis]
        for sizes in ([size], [1, size - 1], [0, size], [1, 0, size - 1]):
            parts = run(lambda x, axis=axis, sizes=sizes: SplitOp(x, axis, sizes), X)
            parts = parts if isinstance(parts, list) else [parts]
            assert [part.shape[axis] for part in parts] == sizes
            assert_same(run(lambda *xs, axis=axis: ConcatOp(xs, axis), *parts), X)


def test_concat_and_split_refuse():
    cases = [
        (lambda x: SplitOp(x, 0, [1, 2]), "add up to 3"),
        (lambda x: SplitOp(x, 3, [1]), "axis is 3"),
        (lambda x: ConcatOp([x, x], 3), "axis is 3"),
    ]
    for make, message in cases:
        with pytest.raises(VerifyException, match=message):
            run(make, X)
    with pytest.raises(VerifyException, match="differ"):
        run(lambda x, y: ConcatOp([x, y], 0), X, X[:, :2])
    with pytest.raises(VerifyException, match="no operands"):
        ConcatOp([], 0)


@given(st.integers(0, 6), st.integers(-9, 9), st.integers(-9, 9), st.integers(-3, 3).filter(bool))
@settings(max_examples=300, deadline=None)
def test_slice_bounds_are_those_of_python(size, start, end, step):
    expected = list(range(size))[start:end:step]
    first, count = slice_bounds(size, start, end, step)
    assert [first + step * i for i in range(count)] == expected
    # The same with a symbolic size, evaluated afterwards.
    first, count = (evaluate(dim, {"N": size}) for dim in slice_bounds(N, start, end, step))
    assert [first + step * i for i in range(count)] == expected


def test_slice_bounds_beyond_the_end_mean_all():
    assert slice_bounds(N, 0, 2**63 - 1, 1) == (0, N)
    assert slice_bounds(N, -1, -(2**63), -1) == (N - 1, N)
    with pytest.raises(VerifyException, match="step is 0"):
        slice_bounds(5, 0, 1, 0)


def test_slice():
    found = run(lambda x: SliceOp.from_bounds(x, [0, 3, -1], [2, -9, 0], [1, -2, -1]), X)
    assert_same(found, X[0:2, 3:-9:-2, -1:0:-1])
    assert run(lambda x: SliceOp.from_bounds(x, [5, 0, 0], [9, 9, 9]), X).shape == (0, 3, 4)
    refused = [
        (([0, 0], [1, 1], [1, 1]), "expected 3 of each"),
        (([0, 0, 0], [1, 1, 1], [1, 0, 1]), "step of axis 1 is 0"),
        (([0, 2, 0], [2, 2, 4], [1, 1, 1]), "index 3 of axis 1"),
        (([0, 1, 0], [2, 3, 4], [1, -1, 1]), "index -1 of axis 1"),
        (([-1, 0, 0], [1, 1, 1], [1, 1, 1]), "start of axis 0 is -1"),
    ]
    for bounds, message in refused:
        with pytest.raises(VerifyException, match=message):
            run(lambda x, bounds=bounds: SliceOp(x, *bounds), X)


def padded(x, low, high, mode, value):
    shape = [a + size + b for a, size, b in zip(low, x.shape, high, strict=True)]
    result = np.full(shape, value, x.dtype)
    for place in indices(shape):
        source = [i - a for i, a in zip(place, low, strict=True)]
        if mode == "edge":
            source = [min(max(i, 0), size - 1) for i, size in zip(source, x.shape, strict=True)]
        if mode == "reflect":
            mirrored = zip(source, x.shape, strict=True)
            source = [-i if i < 0 else 2 * (size - 1) - i if i >= size else i for i, size in mirrored]
        if all(0 <= i < size for i, size in zip(source, x.shape, strict=True)):
            result[place] = x[tuple(source)]
    return result


PADS = [([0, 0, 0], [0, 0, 0]), ([1, 2, 0], [0, 1, 3]), ([0, -1, 0], [1, 2, -2]), ([0, -2, 0], [0, 4, 0])]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
@pytest.mark.parametrize("low, high", PADS)
def test_pad(mode, low, high):
    if mode == "reflect":
        low, high = ([min(pad, size - 1) for pad, size in zip(pads, X.shape, strict=True)] for pads in (low, high))
    found = run(lambda x: PadOp(x, low, high, mode=mode), X)
    assert_same(found, padded(X, low, high, mode, 0))
    if mode == "constant":
        found = run(lambda x, v: PadOp(x, low, high, value=v), X, np.float32(-7))
        assert_same(found, padded(X, low, high, mode, -7))


@pytest.mark.parametrize("mode", ["edge", "reflect"])
@pytest.mark.parametrize("shape", [(2, 4), (5, 3)])
def test_pad_in_parts(mode, shape):
    low, high = [1, 2], [0, 1]
    module, function = module_of(lambda x: PadOp(x, low, high, mode=mode), [tensor_type([N, M], f32)])
    decompose_block(function.body.block)
    assert not any(isinstance(op, PadOp) for op in module.walk())
    x = X.ravel()[: math.prod(shape)].reshape(shape)
    assert_same(evaluate_function(function, [x], module)[0], padded(x, low, high, mode, 0))


def test_pad_of_a_symbolic_size_is_checked_when_it_runs():
    for mode, least in (("reflect", 3), ("edge", 1)):
        module, function = module_of(lambda x, mode=mode: PadOp(x, [2], [1], mode=mode), [tensor_type([N], f32)])
        assert evaluate_function(function, [X[0, 0, :least]], module)[0].shape == (least + 3,)
        with pytest.raises(EvaluationError, match="cannot be"):
            evaluate_function(function, [X[0, 0, : least - 1]], module)
    _, function = module_of(lambda x: PadOp(x, [0], [-1], mode="reflect"), [tensor_type([N + 1], f32)])
    assert not function.body.block.first_op.runtime_checks()


def test_pad_refuses():
    cases = [
        ({"low": [0], "high": [0, 0, 0]}, "expected 3 of each"),
        ({"low": [0, 0, 0], "high": [0, 0, 0], "mode": "wrap"}, 'mode is "wrap"'),
        ({"low": [-3, 0, 0], "high": [0, 0, 0]}, "size -1"),
        ({"low": [2, 0, 0], "high": [0, 0, 0], "mode": "reflect"}, "cannot be mirrored"),
    ]
    for arguments, message in cases:
        with pytest.raises(VerifyException, match=message):
            run(lambda x, arguments=arguments: PadOp(x, **arguments), X)
    with pytest.raises(VerifyException, match="value has type"):
        run(lambda x, v: PadOp(x, [0] * 3, [0] * 3, value=v), X, np.int8(1))
    with pytest.raises(VerifyException, match="takes no value"):
        run(lambda x, v: PadOp(x, [0] * 3, [0] * 3, value=v, mode="edge"), X, np.float32(1))
    with pytest.raises(VerifyException, match="size 0"):
        run(lambda x: PadOp(x, [1, 0, 0], [0, 0, 0], mode="edge"), X[:0])


def at(index, size):
    index = index + size if index < 0 else index
    return min(max(index, 0), size - 1)


INDEX = np.array([[0, -1], [2, 7]], np.int64)


@pytest.mark.parametrize("axis", range(-3, 3))
def test_gather(axis):
    for index in (INDEX, INDEX[0].astype(np.int32), np.array(1), INDEX[:0]):
        found = run(lambda x, i, axis=axis: GatherOp(x, i, axis), X, index)
        before = axis % 3
        for place in indices(found.shape):
            picked = index[place[before : before + index.ndim]]
            source = (*place[:before], at(int(picked), X.shape[axis]), *place[before + index.ndim :])
            assert found[place] == X[source]


def test_gather_elements():
    index = np.array([[[0, -1, 1, 9]], [[1, 1, -2, 0]]], np.int64)
    for axis in (0, 2):
        found = run(lambda x, i, axis=axis: GatherElementsOp(x, i, axis), X, index)
        for place in indices(index.shape):
            source = list(place)
            source[axis] = at(int(index[place]), X.shape[axis])
            assert found[place] == X[tuple(source)]


def test_gather_nd():
    index = np.array([[1, -1], [0, 5]], np.int64)
    found = run(lambda x, i: GatherNdOp(x, i), X, index)
    assert_same(found, np.stack([X[1, 2], X[0, 2]]))
    found = run(lambda x, i: GatherNdOp(x, i, batch_dims=1), X, index)
    assert_same(found, np.stack([X[0, 1, 3], X[1, 0, 3]]))
    found = run(lambda x, i: GatherNdOp(x, i), X, np.zeros((3, 0), np.int64))
    assert_same(found, np.stack([X, X, X]))
    found = run(lambda x, i: GatherNdOp(x, i, batch_dims=1), X, np.zeros((2, 5, 0), np.int64))
    assert_same(found, np.stack([X] * 5, 1))


COMBINE = {
    "none": lambda a, b: b,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("reduction", COMBINE)
def test_scatter_elements_in_order(reduction):
    rng = np.random.default_rng(0)
    index = rng.integers(-4, 5, (2, 2, 4))
    updates = rng.integers(-9, 9, index.shape).astype(np.float32)
    for axis in range(3):
        found = run(lambda *v, axis=axis: ScatterElementsOp(*v, axis, reduction=reduction), X, index, updates)
        expected = X.copy()
        for place in indices(index.shape):
            target = list(place)
            target[axis] = at(int(index[place]), X.shape[axis])
            expected[tuple(target)] = COMBINE[reduction](expected[tuple(target)], updates[place])
        assert_same(found, expected)


@pytest.mark.parametrize("reduction", COMBINE)
def test_scatter_nd_in_order(reduction):
    rng = np.random.default_rng(1)
    for depth in range(4):
        index = rng.integers(-2, 3, (5, depth))
        updates = rng.integers(-3, 3, (5, *X.shape[depth:])).astype(np.float32)
        found = run(lambda *v: ScatterNdOp(*v, reduction=reduction), X, index, updates)
        expected = X.copy()
        for i in range(5):
            target = tuple(at(int(k), size) for k, size in zip(index[i], X.shape, strict=False))
            expected[target] = np.vectorize(COMBINE[reduction])(expected[target], updates[i])
        assert_same(found, expected)


def test_scatter_of_half_precision_is_rounded_once():
    x, updates = np.zeros(1, BF16), np.array([1, 2**-8, 2**-8], BF16)
    found = run(lambda *v: ScatterNdOp(*v, reduction="add"), x, np.zeros((3, 1), np.int64), updates)
    assert_same(found, np.array([1 + 2**-7], BF16))


def test_indexing_refuses():
    index = np.zeros((2, 3), np.int64)
    cases = [
        (lambda x, i: GatherOp(x, i, 3), (X, index), "axis is 3"),
        (GatherOp, (X, index.astype(np.float32)), "expected i32 or i64"),
        (GatherOp, (X, index.astype(np.int8)), "expected i32 or i64"),
        (GatherOp, (X[:0], index), "size 0"),
        (GatherElementsOp, (X, index), "another rank"),
        (GatherElementsOp, (X, np.zeros((1, 4, 4), np.int64)), "at most 3"),
        (GatherNdOp, (X, np.zeros((2, 4), np.int64)), "address 4 axes"),
        (lambda x, i: GatherNdOp(x, i, 2), (X, index), "batch_dims is 2"),
        (lambda x, i: GatherNdOp(x, i, 1), (X, np.zeros((3, 1), np.int64)), "batch axis 0"),
        (ScatterNdOp, (X, index, np.zeros(3, np.float32)), "updates have shape"),
        (ScatterNdOp, (X, index, np.zeros(2, np.int32)), "updates have element type"),
        (lambda *v: ScatterNdOp(*v, reduction="sub"), (X, index, np.zeros(2, np.float32)), "reduction is"),
        (ScatterElementsOp, (X, np.zeros((1, 1, 1), np.int64), np.zeros((1, 1), np.float32)), "updates have shape"),
    ]
    for make, arrays, message in cases:
        with pytest.raises(VerifyException, match=message):
            module_of(make, types_of(arrays))


@pytest.mark.parametrize("exclusive, reverse", list(itertools.product([False, True], repeat=2)))
def test_cumsum(exclusive, reverse):
    for dtype in (np.float32, np.int8):
        x = X.astype(dtype) * dtype(9)
        for axis in range(-3, 3):
            found = run(lambda v, axis=axis: CumsumOp(v, axis, exclusive=exclusive, reverse=reverse), x)
            expected = np.zeros_like(x)
            for place in indices(x.shape):
                i = place[axis]
                size = x.shape[axis]
                last = range(i, size) if reverse else range(i + 1)
                terms = [k for k in last if not (exclusive and k == i)]
                line = [x[(*place[: axis % 3], k, *place[axis % 3 + 1 :])].item() for k in terms]
                expected[place] = np.array(sum(line)).astype(dtype)
            assert_same(found, expected)
    assert run(lambda v: CumsumOp(v, 0), np.zeros((0, 2), np.float32)).shape == (0, 2)


def test_iota():
    type = tensor_type([N, 3], i64)
    module, function = module_of(lambda x: IotaOp(type, -1), [tensor_type([N], f32)])
    assert_same(evaluate_function(function, [np.zeros(2, np.float32)], module)[0], np.array([[0, 1, 2]] * 2))
    (first,) = evaluate_function(*_nullary(IotaOp(tensor_type([300], i8))))
    assert_same(first, np.arange(300).astype(np.int8))
    (half,) = evaluate_function(*_nullary(IotaOp(tensor_type([4000], f16))))
    assert_same(half, np.arange(4000).astype(np.float16))
    for bad in (IotaOp(tensor_type([], i64)), IotaOp(type, 2)):
        with pytest.raises(VerifyException, match="axis"):
            bad.verify()


def _nullary(op):
    module, function = module_of(lambda: op, [])
    return function, [], module


def test_constants():
    arrays = [np.float32([[1, -0.0], [math.nan, 2]]), np.array(True), np.zeros((0, 2), np.uint8)]
    for array in (*arrays, np.arange(99).astype(BF16)):
        op = ConstantOp.from_array(array)
        op.verify()
        assert dims_of(op.result.type) == array.shape
        assert_same(op.array(), array)
