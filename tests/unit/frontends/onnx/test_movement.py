"""Reshaping, slicing, padding, joining, gathers and scatters against numpy."""

import numpy as np
import pytest
from xdsl.utils.exceptions import DiagnosticException

from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import run_op

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize(
    "shape, expected", [((4, 6), (4, 6)), ((0, -1), (2, 12)), ((-1,), (24,)), ((0, 0, 2, -1), (2, 3, 2, 2))]
)
def test_reshape(shape, expected, symbolic):
    (result,) = run_op("Reshape", [X, ints(*shape)], constant=[1], symbolic=symbolic)
    np.testing.assert_array_equal(result, X.reshape(expected))


def test_reshape_of_empty_tensors():
    empty = np.zeros((0, 3), np.float32)
    (result,) = run_op("Reshape", [empty, ints(3, 0)], constant=[1], allowzero=1)
    assert result.shape == (3, 0)
    (result,) = run_op("Reshape", [empty, ints(0, -1)], constant=[1])
    assert result.shape == (0, 3)
    (result,) = run_op("Reshape", [empty, ints(0, -1)], constant=[1], symbolic=True)
    assert result.shape == (0, 3)


@pytest.mark.parametrize(
    "shape, options, message",
    [
        ((0, -1), {"allowzero": 1}, "-1 cannot be inferred"),
        ((-1, -1), {}, "-1 twice"),
        ((5, -1), {}, "cannot have sizes"),
        ((5, 5), {}, "25 elements"),
        ((-2, 3), {}, "negative size"),
        ((1, 1, 1, 0), {}, "rank 3"),
    ],
)
def test_reshape_refuses(shape, options, message):
    with pytest.raises(ModelError, match=message):
        run_op("Reshape", [X, ints(*shape)], constant=[1], **options)


@pytest.mark.parametrize("axis, shape", [(0, (1, 24)), (1, (2, 12)), (2, (6, 4)), (3, (24, 1)), (-1, (6, 4))])
def test_flatten(axis, shape):
    (result,) = run_op("Flatten", [X], symbolic=True, axis=axis)
    np.testing.assert_array_equal(result, X.reshape(shape))


def test_squeeze_and_unsqueeze_of_both_versions():
    x = X[:, None, :, None]
    for result in (
        run_op("Squeeze", [x], opset=11, axes=[1, -2])[0],
        run_op("Squeeze", [x, ints(1, 3)], constant=[1])[0],
        run_op("Squeeze", [x])[0],
    ):
        np.testing.assert_array_equal(result, X)
    for result in (
        run_op("Unsqueeze", [X], opset=11, axes=[1, 3])[0],
        run_op("Unsqueeze", [X, ints(-2, 1)], constant=[1], symbolic=True)[0],
    ):
        np.testing.assert_array_equal(result, x)
    with pytest.raises(ModelError, match="axis 0 has size 2"):
        run_op("Squeeze", [X, ints(0)], constant=[1])
    with pytest.raises(ModelError, match="one axis twice"):
        run_op("Unsqueeze", [X, ints(0, -5)], constant=[1])


def test_transpose():
    np.testing.assert_array_equal(run_op("Transpose", [X], symbolic=True)[0], X.T)
    np.testing.assert_array_equal(run_op("Transpose", [X], perm=[1, 0, 2])[0], X.transpose(1, 0, 2))
    np.testing.assert_array_equal(run_op("Transpose", [X], perm=[0, 1, 2])[0], X)


def test_concat():
    (result,) = run_op("Concat", [X, X[:1], X], axis=0)
    np.testing.assert_array_equal(result, np.concatenate([X, X[:1], X]))
    (result,) = run_op("Concat", [X, X[..., :0]], axis=-1, symbolic=True)
    np.testing.assert_array_equal(result, X)
    np.testing.assert_array_equal(run_op("Concat", [X], axis=1)[0], X)


@pytest.mark.parametrize(
    "opset, inputs, attributes, cuts",
    [
        (11, [], {"axis": 1, "split": [1, 2]}, [1]),
        (11, [], {"axis": -1}, [2]),
        (13, [ints(3, 1)], {"axis": 2}, [3]),
        (18, [], {"axis": 2, "num_outputs": 2}, [2]),
        (18, [], {"axis": 1, "num_outputs": 2}, [2]),
        (13, [ints(0, 2)], {}, [0]),
    ],
)
def test_split(opset, inputs, attributes, cuts):
    parts = run_op("Split", [X, *inputs], opset=opset, constant=[1], outputs=2, **attributes)
    for part, expected in zip(parts, np.split(X, cuts, attributes.get("axis", 0)), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_split_of_a_symbolic_size():
    x = np.arange(10, dtype=np.float32)
    first, second = run_op("Split", [x], opset=18, outputs=2, symbolic=True, num_outputs=2)
    np.testing.assert_array_equal(first, x[:5])
    np.testing.assert_array_equal(second, x[5:])


def test_split_refuses_unequal_parts():
    with pytest.raises(ModelError, match="cannot be split into 2 equal parts"):
        run_op("Split", [X], opset=13, outputs=2, axis=1)


FAR = 2**63 - 1
SLICES = [
    ((0, 1), (2, 3), (0, 1), (1, 1), (slice(0, 2), slice(1, 3))),
    ((1,), (FAR,), (2,), (2,), (slice(None), slice(None), slice(1, None, 2))),
    ((-1,), (-FAR,), (2,), (-1,), (slice(None), slice(None), slice(None, None, -1))),
    ((-3,), (-1,), (-1,), (1,), (slice(None), slice(None), slice(-3, -1))),
    ((5,), (9,), (1,), (1,), (slice(None), slice(5, 9))),
    ((10,), (0,), (2,), (-2,), (slice(None), slice(None), slice(10, 0, -2))),
    ((2,), (1,), (0,), (1,), (slice(2, 1),)),
    ((0,), (-100,), (1,), (-1,), (slice(None), slice(0, None, -1))),
]


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("starts, ends, axes, steps, expected", SLICES)
def test_slice(starts, ends, axes, steps, expected, symbolic):
    operands = [X, *(ints(*values) for values in (starts, ends, axes, steps))]
    (result,) = run_op("Slice", operands, constant=range(1, 5), symbolic=symbolic)
    np.testing.assert_array_equal(result, X[expected])


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("start", [-1, -2, -3, -4, -100, -FAR])
def test_walking_back_from_before_the_axis_takes_the_first_element(start, symbolic):
    for size in range(5):
        x = np.arange(size, dtype=np.float32)
        operands = [x, ints(start), ints(-FAR), ints(0), ints(-1)]
        (result,) = run_op("Slice", operands, constant=range(1, 5), symbolic=symbolic)
        np.testing.assert_array_equal(result, x[max(start, -size) :: -1] if size else x)


def test_slice_by_attributes_and_defaults():
    np.testing.assert_array_equal(run_op("Slice", [X], opset=9, starts=[1], ends=[3], axes=[1])[0], X[:, 1:3])
    np.testing.assert_array_equal(run_op("Slice", [X, ints(1, 0), ints(2, 2)], constant=[1, 2])[0], X[1:2, 0:2])
    np.testing.assert_array_equal(run_op("Slice", [X, ints(0), ints(FAR)], constant=[1, 2])[0], X)


@pytest.mark.parametrize("constant", [(), (3, 4), (1, 3, 4)])
@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_slice_by_bounds_from_data(step, constant):
    for size in (0, 1, 3):
        x = np.arange(size * 3, dtype=np.float32).reshape(3, size)
        for start in (-FAR, -2, 1, FAR):
            for end in (-FAR, -1, 2, FAR):
                operands = [x, ints(start), ints(end), ints(-1), ints(step)]
                (result,) = run_op("Slice", operands, constant=constant)
                if step > 0:
                    expected = x[:, start:end:step]
                else:
                    first = min(max(start + size if start < 0 else start, 0), size - 1)
                    last = max(end + size if end < 0 else end, -1)
                    expected = x[:, [i for i in range(first, last, step) if i < size]]
                np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
def test_pad(mode):
    (result,) = run_op("Pad", [X, ints(0, 2, 1, 1, 0, 3)], opset=19, constant=[1], mode=mode)
    np.testing.assert_array_equal(result, np.pad(X, [(0, 1), (2, 0), (1, 3)], mode))


def test_pad_of_all_versions():
    expected = np.pad(X, [(0, 0), (1, 2), (0, 0)], constant_values=7)
    attributes = {"pads": [0, 1, 0, 0, 2, 0], "value": 7.0}
    np.testing.assert_array_equal(run_op("Pad", [X], opset=10, **attributes)[0], expected)
    fill = np.float32(7).reshape(())
    np.testing.assert_array_equal(
        run_op("Pad", [X, ints(0, 1, 0, 0, 2, 0), fill], opset=13, constant=[1], symbolic=True)[0], expected
    )
    operands = [X, ints(1, 2), fill, ints(-2)]
    np.testing.assert_array_equal(run_op("Pad", operands, opset=18, constant=[1, 3])[0], expected)


def test_negative_pads_cut_off():
    (result,) = run_op("Pad", [X, ints(-1, 0, 1, 0, -2, -1)], constant=[1])
    np.testing.assert_array_equal(result, np.pad(X[1:, :1, :3], [(0, 0), (0, 0), (1, 0)]))


def test_expand():
    x = np.float32([[1], [2]])
    (result,) = run_op("Expand", [x, ints(3, 1, 4)], constant=[1])
    np.testing.assert_array_equal(result, np.broadcast_to(x, (3, 2, 4)))
    (result,) = run_op("Expand", [x, ints(1)], constant=[1])
    np.testing.assert_array_equal(result, x)
    (result,) = run_op("Expand", [X, ints(5, 1, 1, 4)], constant=[1], symbolic=True)
    np.testing.assert_array_equal(result, np.broadcast_to(X, (5, 2, 3, 4)))
    # A symbolic size is taken to be the one asked for, so that a 1 is refused when the model runs.
    with pytest.raises(DiagnosticException, match="does not expand to 4"):
        run_op("Expand", [x, ints(2, 4)], constant=[1], symbolic=True)
    with pytest.raises(ModelError, match="cannot be expanded"):
        run_op("Expand", [x, ints(3, 1)], constant=[1])


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("repeats", [(1, 1, 1), (2, 1, 3), (1, 0, 2)])
def test_tile(repeats, symbolic):
    (result,) = run_op("Tile", [X, ints(*repeats)], constant=[1], symbolic=symbolic)
    np.testing.assert_array_equal(result, np.tile(X, repeats))
    (result,) = run_op("Tile", [X[:, :1], ints(*repeats)], constant=[1])
    np.testing.assert_array_equal(result, np.tile(X[:, :1], repeats))


def test_depth_to_space():
    # Pixel (y, x) of a block of channels lands at (y, x) of the block of space.
    x = np.arange(2 * 8 * 1 * 2, dtype=np.float32).reshape(2, 8, 1, 2)
    (dcr,) = run_op("DepthToSpace", [x], blocksize=2)
    (crd,) = run_op("DepthToSpace", [x], blocksize=2, mode="CRD")
    assert dcr.shape == crd.shape == (2, 2, 2, 4)
    for n, c, i, j, column in np.ndindex(2, 2, 2, 2, 2):
        assert dcr[n, c, i, 2 * column + j] == x[n, (i * 2 + j) * 2 + c, 0, column]
        assert crd[n, c, i, 2 * column + j] == x[n, c * 4 + i * 2 + j, 0, column]
    (back,) = run_op("SpaceToDepth", [dcr], blocksize=2)
    np.testing.assert_array_equal(back, x)


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("k", [-1, 0, 2])
def test_trilu(upper, k):
    (result,) = run_op("Trilu", [X, np.array(k, np.int64)], constant=[1], upper=upper, symbolic=True)
    np.testing.assert_array_equal(result, (np.triu if upper else np.tril)(X, k))
    np.testing.assert_array_equal(run_op("Trilu", [X])[0], np.triu(X))


@pytest.mark.parametrize("indices", [np.array([[0, -1], [2, 1]], np.int64), np.array(1, np.int32), ints()])
@pytest.mark.parametrize("constant", [[], [1]])
def test_gather(indices, constant):
    (result,) = run_op("Gather", [X, indices], axis=1, constant=constant)
    np.testing.assert_array_equal(result, np.take(X, indices, axis=1))
    (result,) = run_op("Gather", [X, indices], axis=-1, constant=[1], symbolic=True)
    np.testing.assert_array_equal(result, np.take(X, indices, axis=-1))


def test_gather_refuses_a_constant_index_out_of_range():
    with pytest.raises(ModelError, match="index 3 is out of range for size 3 of axis 1"):
        run_op("Gather", [X, np.array(3, np.int64)], axis=1, constant=[1])


def test_gather_elements_and_nd():
    indices = np.array([[[0, -1, 1, 2]], [[2, 2, 0, -3]]], np.int64)
    (result,) = run_op("GatherElements", [X, indices], axis=1)
    np.testing.assert_array_equal(result, np.take_along_axis(X, indices % 3, 1))
    (result,) = run_op("GatherND", [X, np.array([[0, 1], [-1, -1]], np.int64)])
    np.testing.assert_array_equal(result, X[[0, -1], [1, -1]])
    (result,) = run_op("GatherND", [X, np.array([[1], [0]], np.int64)], batch_dims=1)
    np.testing.assert_array_equal(result, X[[0, 1], [1, 0]])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min"])
def test_scatter(reduction):
    combine = {
        "none": lambda old, new: new,
        "add": lambda old, new: old + new,
        "mul": lambda old, new: old * new,
        "max": max,
        "min": min,
    }[reduction]
    x = X[0].copy()
    indices = np.array([[0, -1, 1, 0], [0, 2, 2, 1]], np.int64)
    updates = np.linspace(-3, 12, 8, dtype=np.float32).reshape(2, 4)
    expected = x.copy()
    for i, j in np.ndindex(2, 4):
        expected[indices[i, j], j] = combine(expected[indices[i, j], j], updates[i, j])
    (result,) = run_op("ScatterElements", [x, indices, updates], opset=18, reduction=reduction)
    np.testing.assert_array_equal(result, expected)

    rows = np.array([[2], [0], [2]], np.int64)
    updates = np.linspace(-5, 9, 12, dtype=np.float32).reshape(3, 4)
    expected = x.copy()
    for i, j in np.ndindex(3, 4):
        expected[rows[i, 0], j] = combine(expected[rows[i, 0], j], updates[i, j])
    (result,) = run_op("ScatterND", [x, rows, updates], opset=18, reduction=reduction)
    np.testing.assert_array_equal(result, expected)
