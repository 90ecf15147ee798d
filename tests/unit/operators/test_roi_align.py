"""Pooling in boxes, against one sample or one bin after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from aicc.frontends.errors import ModelError
from aicc.frontends.onnx import import_onnx
from tests.unit.operators.helper import check, one_node

RNG = np.random.default_rng(6)


def sample(image, y, x):
    """The four weighted elements around a place, for every channel."""
    height, width = image.shape[1:]
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros((4, image.shape[0]))
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    i, j = math.floor(y), math.floor(x)
    below, right = min(i + 1, height - 1), min(j + 1, width - 1)
    v, u = y - i, x - j
    return np.stack([
        (1 - v) * (1 - u) * image[:, i, j], (1 - v) * u * image[:, i, right],
        v * (1 - u) * image[:, below, j], v * u * image[:, below, right],
    ])  # fmt: skip


def expected(images, boxes, batch, height, width, ratio, mode, half_pixel, scale):
    result = np.zeros((len(boxes), images.shape[1], height, width))
    for box, (corners, number) in enumerate(zip(boxes * scale - 0.5 * half_pixel, batch, strict=True)):
        x1, y1, x2, y2 = corners
        bins = [(y2 - y1), (x2 - x1)] if half_pixel else [max(y2 - y1, 1), max(x2 - x1, 1)]
        bins = [bins[0] / height, bins[1] / width]
        counts = [ratio or max(math.ceil(size), 1) for size in bins]
        for i, j in np.ndindex(height, width):
            parts = [
                sample(
                    images[number],
                    y1 + bins[0] * (i + (p + 0.5) / counts[0]),
                    x1 + bins[1] * (j + (q + 0.5) / counts[1]),
                )
                for p, q in np.ndindex(*counts)
            ]
            result[box, :, i, j] = np.mean([p.sum(0) for p in parts], 0) if mode == "avg" else np.max(parts, (0, 1))
    return result.astype(np.float32)


@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("ratio", [0, 2])
def test_boxes(mode, ratio):
    images = RNG.standard_normal((2, 3, 8, 10)).astype(np.float32)
    boxes = np.float32([[0, 0, 18, 15], [3.3, 2.1, 9.7, 4.2], [-3, 5, 4, 30], [7, 7, 7.5, 7.2]])
    batch = np.int64([0, 1, 1, 0])
    for half_pixel in (True, False):
        how = "half_pixel" if half_pixel else "output_half_pixel"
        proto, feeds = one_node(
            "RoiAlign", [images, boxes, batch], opset=16, mode=mode, sampling_ratio=ratio, output_height=3,
            output_width=2, spatial_scale=0.5, coordinate_transformation_mode=how,
        )  # fmt: skip
        wanted = expected(images, boxes, batch, 3, 2, ratio, mode, half_pixel, 0.5)
        check(proto, feeds, [wanted], rtol=1e-4, atol=1e-5, levels=[2] if half_pixel else [])


def test_first_version_has_no_shift():
    images, boxes = RNG.standard_normal((1, 1, 6, 6)).astype(np.float32), np.float32([[1, 1, 4, 5]])
    batch = np.int64([0])
    wanted = expected(images, boxes, batch, 2, 2, 1, "avg", False, 1.0)
    case = one_node("RoiAlign", [images, boxes, batch], opset=10, sampling_ratio=1, output_height=2, output_width=2)
    check(*case, [wanted], rtol=1e-5, atol=1e-6, levels=[])


def pooled(x: np.ndarray, boxes: np.ndarray, shape: tuple[int, int], scale: float) -> np.ndarray:
    """The largest element of each bin, bin by bin; 0 where it has none."""
    result = np.zeros((len(boxes), x.shape[1], *shape), x.dtype)
    for box, (image, *corners) in enumerate(boxes):
        left, top, right, bottom = (int(np.sign(c * scale) * np.floor(abs(c * scale) + 0.5)) for c in corners)
        down, across = max(bottom - top + 1, 1) / shape[0], max(right - left + 1, 1) / shape[1]
        for i, j in np.ndindex(*shape):
            rows = [int(np.floor(i * down)) + top, int(np.ceil((i + 1) * down)) + top]
            columns = [int(np.floor(j * across)) + left, int(np.ceil((j + 1) * across)) + left]
            (a, b), (c, d) = (np.clip(ends, 0, size) for ends, size in zip((rows, columns), x.shape[2:], strict=True))
            if a < b and c < d:
                result[box, :, i, j] = x[int(image), :, a:b, c:d].max((1, 2))
    return result


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_max_roi_pool(scale: float, symbolic: bool) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(2, 3, 7, 6)).astype(np.float32)
    x[0, 0, 2, 2], x[1, 1] = np.nan, -np.inf
    boxes = [
        [0, 0, 0, 5, 6],
        [1, 1, 2, 3, 3],
        [0, 2.5, 1.5, 9, 9],
        [1, 4, 4, 2, 1],
        [0, -3, -3, -2.5, 4],
        [1, 20, 20, 30, 30],
    ]
    given = np.array(boxes, np.float32)
    model = one_node("MaxRoiPool", [x, given], symbolic=symbolic, opset=22, pooled_shape=[3, 2], spatial_scale=scale)
    check(*model, [pooled(x, given, (3, 2), scale)])


def test_boxes_of_other_shapes_are_refused() -> None:
    x, boxes = np.zeros((1, 1, 2, 2), np.float32), np.zeros((1, 4), np.float32)
    with pytest.raises(ModelError, match=r"expected rank 4 and \[N, 5\]"):
        import_onnx(one_node("MaxRoiPool", [x, boxes], opset=22, pooled_shape=[1, 1])[0])
