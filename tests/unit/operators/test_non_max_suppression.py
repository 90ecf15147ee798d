"""NonMaxSuppression against its definition, box by box in Python numbers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from onnx.helper import make_node
from xdsl.ir import SSAValue

import aicc
from aicc.dialects.graph.dims import evaluate_dims
from aicc.dialects.graph.non_max_suppression import NonMaxSuppressionOp
from aicc.dialects.graph.size_bounds import symbol_bounds
from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.graph.helpers import module_of, types_of
from tests.unit.graph.helpers import run as run_op
from tests.unit.operators.helper import check, model, one_node

NAN, INF = np.nan, np.inf
F32 = np.float32


def corners(box: np.ndarray, center: bool) -> list[np.float32]:
    a, b, c, d = box
    if center:
        return [a - c / F32(2), b - d / F32(2), a + c / F32(2), b + d / F32(2)]
    return [np.minimum(a, c), np.minimum(b, d), np.maximum(a, c), np.maximum(b, d)]


def overlap(a: list[np.float32], b: list[np.float32]) -> np.float32:
    with np.errstate(all="ignore"):
        high, width = (np.maximum(np.minimum(a[i + 2], b[i + 2]) - np.maximum(a[i], b[i]), F32(0)) for i in (0, 1))
        areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
        return high * width / (areas[0] + areas[1] - high * width)


def expected(boxes, scores, limit=0, most=0.0, least=None, center=False) -> np.ndarray:
    rows: list[tuple[int, int, int]] = []
    for batch, label in np.ndindex(scores.shape[:2]):
        row = scores[batch, label]
        there = [i for i, score in enumerate(row) if (score == score if least is None else score > least)]
        taken: list[int] = []
        for i in sorted(there, key=lambda i: -row[i]):
            if len(taken) >= limit:
                break
            box = corners(boxes[batch, i], center)
            if not any(overlap(box, corners(boxes[batch, j], center)) > F32(most) for j in taken):
                taken.append(i)
        rows += [(batch, label, i) for i in taken]
    return np.array(rows, np.int64).reshape(-1, 3)


def sample(batches: int, classes: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Boxes in a square of 10 whose corners come in any order, and scores of which some are equal."""
    rng = np.random.default_rng(seed)
    middle, half = rng.uniform(0, 10, (batches, count, 2)), rng.uniform(-2, 2, (batches, count, 2))
    boxes = np.concatenate([middle - half, middle + half], -1).astype(F32)
    return boxes, (rng.integers(0, 20, (batches, classes, count)) / 20).astype(F32)


def options(limit: int | None, most: float | None = None, least: float | None = None) -> list[np.ndarray | None]:
    return [
        None if limit is None else np.array([limit], np.int64),
        None if most is None else np.array([most], F32),
        None if least is None else np.array([least], F32),
    ]


def check_one(boxes, scores, limit, most=0.0, least=None, center=0, symbolic=False, constant=(2, 3, 4)) -> int:
    """The number of boxes taken."""
    given = options(limit, most, least)
    while given[-1] is None:
        given.pop()
    places = [i for i in constant if i < 2 + len(given)]
    proto, feeds = one_node(
        "NonMaxSuppression", [boxes, scores, *given], constant=places, center_point_box=center, symbolic=symbolic
    )
    wanted = expected(boxes, scores, limit, most, least, bool(center))
    check(proto, feeds, [wanted])
    two = aicc.compile(proto, threads=2).run(feeds)["y0"]
    np.testing.assert_array_equal(two, wanted)
    return len(wanted)


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("symbolic", [False, True])
def test_batches_and_classes(center: int, symbolic: bool):
    boxes, scores = sample(2, 3, 60)
    if center:
        boxes[..., 2:] = np.abs(boxes[..., 2:]) % 4
    free = (0, 1) if symbolic else False
    taken = [check_one(boxes, scores, limit, 0.3, 0.25, center, free) for limit in (1, 7, 60, 1000)]
    assert taken[0] == 6 and taken[0] < taken[1] < taken[2] == taken[3] < 6 * 45


def test_everything_at_run_time():
    boxes, scores = sample(1, 2, 30, seed=3)
    proto, _ = one_node("NonMaxSuppression", [boxes, scores, *options(5, 0.5, 0.1)], symbolic=(0, 1))
    compiled = aicc.compile(proto)
    for limit, most, least in (
        (5, 0.5, 0.1),
        (0, 0.5, 0.1),
        (-3, 0.5, 0.1),
        (30, 0.0, -1.0),
        (31, 1.0, -1.0),
        (9, 0.2, 2.0),
    ):
        extra = dict(zip(("x2", "x3", "x4"), options(limit, most, least), strict=True))
        (found,) = compiled.run({"x0": boxes, "x1": scores, **extra}).values()
        np.testing.assert_array_equal(found, expected(boxes, scores, limit, most, least))
        assert found.shape[1] == 3


def test_nothing():
    boxes, scores = sample(2, 2, 6)
    check(*one_node("NonMaxSuppression", [boxes, scores]), [np.zeros((0, 3), np.int64)])
    assert check_one(boxes, scores, 0) == 0
    assert check_one(boxes, scores, 4, 0.5, 2.0) == 0
    none_here = (boxes[:, :0], scores[:, :, :0])
    for symbolic in (False, (0, 1)):
        assert check_one(*none_here, 4, symbolic=symbolic) == 0
        assert check_one(boxes[:0], scores[:0], 4, symbolic=symbolic) == 0
        assert check_one(boxes, scores[:, :0], 4, symbolic=symbolic) == 0


def test_equal_scores_and_equal_boxes():
    boxes = np.tile(np.array([0, 0, 1, 1], F32), (1, 8, 1))
    scores = np.full((1, 1, 8), 0.5, F32)
    assert check_one(boxes, scores, 8, 0.5) == 1
    assert check_one(boxes, scores, 3, 1.0) == 3  # the share is 1, which is not more than 1
    boxes += np.arange(8, dtype=F32)[None, :, None] * 3
    assert check_one(boxes, scores, 8, 0.0) == 8


def test_share_at_the_limit():
    """Of two boxes 1 x 2 that share half, a third of the union is common."""
    boxes = np.array([[[0, 0, 1, 2], [0, 1, 1, 3]]], F32)
    scores = np.array([[[0.5, 0.9]]], F32)
    third = float(F32(1) / F32(3))
    assert check_one(boxes, scores, 2, third) == 2
    assert check_one(boxes, scores, 2, float(np.nextafter(F32(third), F32(0)))) == 1


def test_numbers_that_are_none():
    """NaN is no score; a box with NaN overlaps with none. Signed zeros are equal, infinite scores are the best."""
    boxes, scores = sample(1, 2, 24)
    scores[0, 0, :9] = NAN, INF, -INF, 0.0, -0.0, NAN, -0.0, 0.0, INF
    scores[0, 1] = NAN
    assert 0 < check_one(boxes, scores, 24, 0.2) < 24
    assert 0 < check_one(boxes, scores, 24, 0.2, -INF) < 24
    boxes[0, 1] = NAN
    boxes[0, 8] = -INF, 0, INF, INF
    boxes[0, 10] = boxes[0, 11] = 5  # of no extent
    assert 0 < check_one(boxes, scores, 24, 0.2) < 24


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64], ids=lambda dtype: np.dtype(dtype).name)
def test_element_types(dtype: type):
    """The op takes all floats, although the operator is of f32 alone."""
    boxes, scores = (array.astype(dtype) for array in sample(1, 2, 40))
    arrays = [boxes, scores, np.array(0.25, dtype), np.array(0.25, dtype)]

    def make(*operands: SSAValue) -> NonMaxSuppressionOp:
        return NonMaxSuppressionOp(*operands, 9)

    module, _ = module_of(make, types_of(arrays))
    found = [run_op(make, *arrays), *(list(aicc.compile(module, opt_level=level)(*arrays)) for level in (0, 2))]
    wanted = expected(boxes.astype(F32), scores.astype(F32), 9, 0.25, 0.25)
    for places, counts in found:
        rows = [(0, label, places[0, label, i]) for label in range(2) for i in range(counts[0, label])]
        np.testing.assert_array_equal(np.array(rows), wanted)


def test_diagnostics():
    boxes, scores = sample(1, 1, 4)
    limit = np.array([4], np.int64)

    def fails(inputs, text, **attributes):
        with pytest.raises(ModelError, match=text):
            aicc.compile(one_node("NonMaxSuppression", inputs, constant=range(2, len(inputs)), **attributes)[0])

    fails([boxes, scores[0], limit], r"scores \(input 1\) have shape \[1, 4\], expected rank 3")
    fails([boxes[:, :3], scores, limit], r"differ in the number of batches or boxes")
    fails([boxes[..., :3], scores, limit], r"expected \[b, s, 4\] and \[b, c, s\]")
    fails([boxes, scores, np.array([1, 2])], r"max_output_boxes_per_class \(input 2\) has 2 elements, expected 1")
    fails([boxes, scores, limit, np.zeros(2, F32)], r"iou_threshold \(input 3\) has 2 elements, expected 1")
    fails([boxes, scores, limit, np.array([1.5], F32)], r"iou_threshold is 1.5, expected 0 to 1")
    fails([boxes, scores, limit], "center_point_box is 2, expected 0 or 1", center_point_box=2)
    node = make_node("NonMaxSuppression", ["x0", "x1", "x2"], ["y0"])
    named = model([node], {"x0": (F32, ["B", "M", 4]), "x1": (F32, ["B", "C", "S"])}, ["y0"], 24, {"x2": limit})
    with pytest.raises(ValueError, match="boxes have M boxes, scores S"):
        aicc.compile(named, opt_level=0).run({"x0": boxes[:, :3], "x1": scores})


def test_bound_of_the_count():
    """The number of rows is at most that of batches, classes and boxes per class, so memory for it can be planned."""
    nodes = [
        make_node("NonMaxSuppression", ["b", "s", "k", "t"], ["rows"]),
        make_node("Cast", ["rows"], ["y"], to=1),
    ]
    weights = {"k": np.array([7], np.int64), "t": np.array([0.5], F32)}
    proto = model(nodes, {"b": (F32, ["B", "S", 4]), "s": (F32, ["B", 3, "S"])}, ["y"], 24, weights)
    module = import_onnx(proto)
    (bound,) = symbol_bounds(module).values()
    assert bound is not None and evaluate_dims([bound], {"B": 2, "S": 100}) == (42,)
    (op,) = (op for op in module.walk() if isinstance(op, NonMaxSuppressionOp))
    assert evaluate_dims([op.count], {"B": 2, "S": 5}) == (5,)
