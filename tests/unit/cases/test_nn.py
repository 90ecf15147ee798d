"""Corners of windows, convolutions, recurrences, sampling and softmax; expected values by loops over elements."""

import itertools
from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from tests.unit.cases.case import BF16, F16, F32, I64, INF, NAN, Case, array, cases, check, node, one

RNG = np.random.default_rng(11)


def numbers(*shape: int) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return RNG.integers(-9, 10, shape).astype(F32)


def extent(size: int, window: int, stride: int, low: int, high: int, ceil_mode: bool) -> int:
    """The number of windows; the last one must not begin in the padding at the end."""
    count = (ceil if ceil_mode else floor)((size + low + high - window) / stride) + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + low else count


def pooled(
    x: np.ndarray,
    kernel: Sequence[int],
    average: bool,
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    ceil_mode: bool = False,
    include: bool = False,
) -> np.ndarray:
    """Pooling of `[1, 1, ..]`; with `include` padding counts, but nothing past it."""
    rank, plane = len(kernel), x[0, 0]
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, pads or [0] * 2 * rank
    counts = [
        extent(n, (k - 1) * d + 1, s, pads[i], pads[rank + i], ceil_mode)
        for i, (n, k, s, d) in enumerate(zip(plane.shape, kernel, strides, dilations, strict=True))
    ]
    result = np.zeros(counts, F32)
    for place in np.ndindex(*counts):
        taps, padded = [], 0
        for tap in np.ndindex(*kernel):
            at = [
                o * s + t * d - pads[i]
                for i, (o, s, t, d) in enumerate(zip(place, strides, tap, dilations, strict=True))
            ]
            if all(0 <= a < n for a, n in zip(at, plane.shape, strict=True)):
                taps.append(plane[tuple(at)])
            padded += all(
                -pads[i] <= a < n + pads[rank + i] for i, (a, n) in enumerate(zip(at, plane.shape, strict=True))
            )
        result[place] = sum(taps) / (padded if include else len(taps)) if average else max(taps)
    return result[None, None]


def pool_case(
    name: str, shape: Sequence[int], opset: int = 22, average: bool = True, include: bool = False, **attributes: Any
) -> Case:
    """A pooling node; `same` are the pads that its `auto_pad` stands for."""
    x, known = numbers(1, 1, *shape), dict(attributes)
    if known.pop("auto_pad", None):
        known["pads"] = known.pop("same")
    expected = pooled(x, known.pop("kernel_shape"), average, include=include, **known)
    given = {
        key: int(value) if isinstance(value, bool) else value for key, value in attributes.items() if key != "same"
    }
    if include:
        given["count_include_pad"] = 1
    op = "AveragePool" if average else "MaxPool"
    return one(op, [x], expected, name=name, opset=opset, tolerance=1e-6, **given)


POOLS = [
    pool_case(
        "a window past the padding", [9], 19, kernel_shape=[7], strides=[3], pads=[3, 3], ceil_mode=True, include=True
    ),
    pool_case(
        "the same without padding in the mean", [9], 19, kernel_shape=[7], strides=[3], pads=[3, 3], ceil_mode=True
    ),
    pool_case("uneven pads", [9], 19, kernel_shape=[4], strides=[3], pads=[0, 2], ceil_mode=True, include=True),
    pool_case("dilated", [7, 7], kernel_shape=[2, 2], strides=[2, 2], dilations=[3, 3], ceil_mode=True),
    pool_case("dilated and padded", [7, 6], kernel_shape=[2, 3], pads=[1, 2, 0, 1], dilations=[3, 2], include=True),
    pool_case("SAME_LOWER", [7, 2], 19, kernel_shape=[5, 1], auto_pad="SAME_LOWER", same=[2, 0, 2, 0], include=True),
    pool_case("SAME_LOWER even", [5], 19, kernel_shape=[4], auto_pad="SAME_LOWER", same=[2, 1], include=True),
    pool_case("SAME_UPPER even", [5], 19, kernel_shape=[4], auto_pad="SAME_UPPER", same=[1, 2], include=True),
    pool_case("SAME_UPPER with strides", [6], 11, kernel_shape=[4], strides=[3], auto_pad="SAME_UPPER", same=[0, 1]),
    pool_case(
        "no window begins in the padding", [2, 2], average=False, kernel_shape=[1, 1], strides=[2, 2], ceil_mode=True
    ),
    pool_case(
        "none in the end padding", [3], average=False, kernel_shape=[2], strides=[2], pads=[0, 1], ceil_mode=True
    ),
    pool_case(
        "one begins in the input", [4], average=False, kernel_shape=[3], strides=[2], pads=[0, 0], ceil_mode=True
    ),
    pool_case(
        "largest, dilated",
        [9],
        average=False,
        kernel_shape=[3],
        strides=[2],
        dilations=[2],
        pads=[1, 1],
        ceil_mode=True,
    ),
    # The padding that makes one window per stride is less than none here: one window, all of it inside.
    one(
        "MaxPool",
        [array([[[3, 4, 5]]])],
        array([[[4]]]),
        name="windows smaller than strides",
        kernel_shape=[2],
        strides=[3],
        auto_pad="SAME_LOWER",
    ),
    one("MaxPool", [array([[[-INF, -INF, NAN]]])], array([[[-INF, NAN]]]), name="infinities", kernel_shape=[2]),
    one(
        "MaxPool",
        [np.array([[[-128, -127, -128]]], np.int8)],
        np.array([[[-128, -127, -127, -128]]], np.int8),
        name="bytes, padded",
        kernel_shape=[2],
        pads=[1, 1],
    ),
    one("GlobalAveragePool", [array([[[1, 2, 6]]])], array([[[3]]]), open_sizes=True),
]


@cases(*POOLS)
def test_windows(case: Case, level: int):
    check(case, level)


def convolved(
    x: np.ndarray,
    w: np.ndarray,
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int] | None = None,
    groups: int = 1,
) -> np.ndarray:
    rank, outputs, inner = len(strides), *w.shape[:2]
    dilations = dilations or [1] * rank
    counts = [
        extent(x.shape[2 + i], (w.shape[2 + i] - 1) * dilations[i] + 1, strides[i], pads[i], pads[rank + i], False)
        for i in range(rank)
    ]
    result = np.zeros((len(x), outputs, *counts), F32)
    for n, m, place in itertools.product(range(len(x)), range(outputs), np.ndindex(*counts)):
        for c, tap in itertools.product(range(inner), np.ndindex(*w.shape[2:])):
            at = [place[i] * strides[i] + tap[i] * dilations[i] - pads[i] for i in range(rank)]
            if all(0 <= a < size for a, size in zip(at, x.shape[2:], strict=True)):
                result[(n, m, *place)] += x[(n, m // (outputs // groups) * inner + c, *at)] * w[(m, c, *tap)]
    return result


def transposed(
    x: np.ndarray, w: np.ndarray, strides: Sequence[int], pads: Sequence[int], groups: int = 1
) -> np.ndarray:
    """Each element of the input adds its multiple of the weights; `pads` are cut off."""
    rank, outputs = len(strides), w.shape[1] * groups
    full = [(x.shape[2 + i] - 1) * strides[i] + w.shape[2 + i] for i in range(rank)]
    result = np.zeros((len(x), outputs, *full), F32)
    for n, c, place in itertools.product(range(len(x)), range(x.shape[1]), np.ndindex(*x.shape[2:])):
        for m, tap in itertools.product(range(w.shape[1]), np.ndindex(*w.shape[2:])):
            at = [place[i] * strides[i] + tap[i] for i in range(rank)]
            result[(n, c // (x.shape[1] // groups) * w.shape[1] + m, *at)] += x[(n, c, *place)] * w[(c, m, *tap)]
    return result[(..., *(slice(pads[i], full[i] - pads[rank + i]) for i in range(rank)))]


LINE, IMAGE, SMALL = numbers(1, 1, 10), numbers(2, 1, 5, 4), numbers(1, 4, 2, 2)
TAPS, SQUARE, GROUPED, BIAS, ADDED = (
    numbers(1, 1, 3),
    numbers(1, 1, 3, 3),
    numbers(4, 2, 1, 1),
    numbers(4),
    numbers(1, 4, 2, 2),
)
TWO, WIDE = numbers(1, 1, 2, 2), numbers(1, 4, 2, 4)
CONVOLUTIONS = [
    one(
        "Conv",
        [LINE, TAPS],
        convolved(LINE, TAPS, [2], [1, 0], [2]),
        name="dilated line",
        opset=11,
        constant=(1,),
        dilations=[2],
        pads=[1, 0],
        strides=[2],
    ),
    one(
        "Conv",
        [LINE, TAPS],
        convolved(LINE, TAPS, [3], [0, 4], [4]),
        name="dilated, padded behind",
        opset=11,
        open_sizes=True,
        dilations=[4],
        pads=[0, 4],
        strides=[3],
    ),
    Case(
        "SAME of any size",
        [
            node("Conv", "x w", "u", auto_pad="SAME_UPPER", strides=[2, 2]),
            node("Conv", "x w", "l", auto_pad="SAME_LOWER", strides=[2, 2]),
        ],
        {"x": IMAGE},
        # Five rows need one row on each side; four columns need one column, after or before.
        {"u": convolved(IMAGE, SQUARE, [2, 2], [1, 0, 1, 1]), "l": convolved(IMAGE, SQUARE, [2, 2], [1, 1, 1, 0])},
        opset=11,
        weights={"w": SQUARE},
        shapes={"x": ["N", 1, "H", "W"]},
    ),
    Case(
        "what is added is no bias",
        [node("Conv", "x w b", "t", group=2), node("Add", "t c")],
        {"x": SMALL},
        {"y": convolved(SMALL, GROUPED, [1, 1], [0] * 4, groups=2) + BIAS[:, None, None] + ADDED},
        weights={"w": GROUPED, "b": BIAS, "c": ADDED},
    ),
    Case(
        "a row that is added is no bias",
        [node("Conv", "x w", "t", group=2), node("Add", "t c")],
        {"x": WIDE},
        {"y": convolved(WIDE, GROUPED, [1, 1], [0] * 4, groups=2) + BIAS},
        weights={"w": GROUPED, "c": BIAS},
    ),
    one(
        "ConvTranspose",
        [TWO, SQUARE],
        transposed(TWO, SQUARE, [1, 1], [1, 1, 1, 1]),
        name="transposed SAME_UPPER",
        opset=11,
        auto_pad="SAME_UPPER",
        strides=[1, 1],
    ),
    # One row and column too many: the upper form cuts it off in front, the lower one behind.
    one(
        "ConvTranspose",
        [TWO, SQUARE],
        transposed(TWO, SQUARE, [2, 2], [0, 0, 1, 1]),
        name="transposed SAME_UPPER, stride 2",
        opset=11,
        auto_pad="SAME_UPPER",
        strides=[2, 2],
    ),
    one(
        "ConvTranspose",
        [TWO, SQUARE],
        transposed(TWO, SQUARE, [2, 2], [1, 1, 0, 0]),
        name="transposed SAME_LOWER, stride 2",
        opset=11,
        auto_pad="SAME_LOWER",
        strides=[2, 2],
    ),
    one(
        "ConvTranspose",
        [SMALL, GROUPED],
        transposed(SMALL, GROUPED, [2, 1], [0] * 4, 2),
        name="transposed in groups",
        opset=11,
        group=2,
        strides=[2, 1],
    ),
]


@cases(*CONVOLUTIONS)
def test_convolutions(case: Case, level: int):
    check(case, level)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def gru(x: np.ndarray, w: np.ndarray, r: np.ndarray, h: np.ndarray, reset_after: bool) -> np.ndarray:
    """The last state; gates are update, reset and hidden. `reset_after`: the reset gate acts on the product."""
    (wz, wr, wh), (rz, rr, rh) = np.split(w.astype(float), 3), np.split(r.astype(float), 3)
    for step in x.astype(float):
        z, reset = sigmoid(step @ wz.T + h @ rz.T), sigmoid(step @ wr.T + h @ rr.T)
        inner = reset * (h @ rh.T) if reset_after else (reset * h) @ rh.T
        h = (1 - z) * np.tanh(step @ wh.T + inner) + z * h
    return h.astype(F32)


STEPS, FIRST = RNG.standard_normal((3, 3, 2)).astype(F32), RNG.standard_normal((1, 3, 2)).astype(F32)
W, R = (RNG.standard_normal((1, 6, 2)).astype(F32) for _ in range(2))
LENGTHS = np.array([2, 3, 1], np.int32)
RECURRENCES = [
    *(
        Case(
            f"linear_before_reset {after}",
            [node("GRU", "x w r - - h", "- y", hidden_size=2, linear_before_reset=after)],
            {"x": STEPS, "h": FIRST},
            {"y": gru(STEPS, W[0], R[0], FIRST[0], bool(after))[None]},
            opset=14,
            weights={"w": W, "r": R},
            tolerance=1e-5,
        )
        for after in (0, 1)
    ),
    Case(
        "backwards",
        [node("GRU", "x w r - - h", "- y", hidden_size=2, linear_before_reset=1, direction="reverse")],
        {"x": STEPS, "h": FIRST},
        {"y": gru(STEPS[::-1], W[0], R[0], FIRST[0], True)[None]},
        opset=14,
        weights={"w": W, "r": R},
        tolerance=1e-5,
    ),
    Case(
        "sequences of unlike lengths",
        [node("GRU", "x w r - n h", "- y", hidden_size=2, linear_before_reset=1)],
        {"x": STEPS, "h": FIRST, "n": LENGTHS},
        {
            "y": np.stack([gru(STEPS[:n, i], W[0], R[0], FIRST[0, i], True) for i, n in enumerate(LENGTHS.tolist())])[
                None
            ]
        },
        opset=14,
        weights={"w": W, "r": R},
        tolerance=1e-5,
    ),
]


@cases(*RECURRENCES)
def test_recurrences(case: Case, level: int):
    check(case, level)


def nearest(count: int, scale: float, rounding: Callable[[float], float], half: float = 0.5) -> list[int]:
    places = [(i + half) / scale - half for i in range(count * int(scale))]
    return [min(max(int(rounding(place)), 0), count - 1) for place in places]


def half_down(place: float) -> float:
    return ceil(place - 0.5)


def half_up(place: float) -> float:
    return floor(place + 0.5)


RAMP = np.arange(16, dtype=F32).reshape(1, 1, 4, 4)
ROUNDINGS = {"ceil": ceil, "floor": floor, "round_prefer_floor": half_down, "round_prefer_ceil": half_up}


def bilinear(plane: np.ndarray, y: float, x: float) -> float:
    """Between elements; positions at most one outside of the image are moved onto its border, others give 0."""
    (height, width), total = plane.shape, 0.0
    if y < -1 or x < -1 or y > height or x > width:
        return 0.0
    y, x = max(y, 0.0), max(x, 0.0)
    top, left = min(int(y), height - 1), min(int(x), width - 1)
    dy, dx = (0.0 if top == height - 1 else y - top), (0.0 if left == width - 1 else x - left)
    for row, weight in ((top, 1 - dy), (min(top + 1, height - 1), dy)):
        for column, share in ((left, 1 - dx), (min(left + 1, width - 1), dx)):
            total += weight * share * float(plane[row, column])
    return total


def roi_align(plane: np.ndarray, box: Sequence[float], count: int, samples: int, shift: float) -> np.ndarray:
    """The mean of `samples` squared points in each of `count` squared parts of a box."""
    x0, y0, x1, y1 = (place - shift for place in box)
    high, wide = (y1 - y0) / count, (x1 - x0) / count
    result = np.zeros((count, count))
    for i, j, a, b in itertools.product(range(count), range(count), range(samples), range(samples)):
        y, x = y0 + high * (i + (a + 0.5) / samples), x0 + wide * (j + (b + 0.5) / samples)
        result[i, j] += bilinear(plane, y, x) / samples**2
    return result.astype(F32)


BOX = [0.0, 0.5, 3.0, 3.5]
SQUARES = (RAMP**2 / 10).astype(F32)
SAMPLING = [
    *(
        one(
            "Resize",
            [RAMP, None, array([1, 1, 2, 2])],
            RAMP[:, :, nearest(4, 2, rounding)][..., nearest(4, 2, rounding)],
            name=f"half_pixel {name}",
            opset=13,
            constant=(2,),
            coordinate_transformation_mode="half_pixel",
            mode="nearest",
            nearest_mode=name,
        )
        for name, rounding in ROUNDINGS.items()
    ),
    *(
        one(
            "Resize",
            [RAMP, None, array([1, 1, 2, 2])],
            RAMP[:, :, nearest(4, 2, rounding, 0)][..., nearest(4, 2, rounding, 0)],
            name=f"asymmetric {name}",
            opset=13,
            coordinate_transformation_mode="asymmetric",
            mode="nearest",
            nearest_mode=name,
        )
        for name, rounding in ROUNDINGS.items()
    ),
    *(
        one(
            "RoiAlign",
            [SQUARES, array([BOX]), array([0], I64)],
            roi_align(SQUARES[0, 0], BOX, 2, 2, shift)[None, None],
            name=f"RoiAlign {mode}",
            opset=16,
            tolerance=1e-5,
            coordinate_transformation_mode=mode,
            output_height=2,
            output_width=2,
            sampling_ratio=2,
        )
        for mode, shift in (("half_pixel", 0.5), ("output_half_pixel", 0.0))
    ),
]


@cases(*SAMPLING)
def test_sampling(case: Case, level: int):
    check(case, level)


THIRD = 1 / 3
ROWS = array([[1000, 1000, -INF], [-INF, -INF, -INF], [0, 0, 0], [-1e30, -1e30, -1e30], [INF, 0, 0], [NAN, 0, 0]])
SHARES = array([[0.5, 0.5, 0], [NAN] * 3, [THIRD] * 3, [THIRD] * 3, [NAN] * 3, [NAN] * 3])
LOGS = array([[np.log(0.5)] * 2 + [-INF], [NAN] * 3, *[[-np.log(3)] * 3] * 2, [NAN] * 3, [NAN] * 3])
HALVES = array([[0, 0, -INF], [-INF, -INF, -INF], [60000, 60000, -60000]])
X2, W23 = array([[1, 2], [-3, 0], [0.5, 4]]), array([[1, 0, -1], [0, 2, 1]])
PRODUCT = (X2 @ W23).astype(float)
POWERS = np.exp(PRODUCT - PRODUCT.max(1, keepdims=True))
Q, K, V = array([[[[1, 0], [0, 2]]]]), array([[[[1, 1], [0, 1]]]]), array([[[[1, 2], [3, 5]]]])
SOFTMAXES = [
    one("Softmax", [ROWS], SHARES, name="extreme rows", opset=13, tolerance=1e-6),
    one("Softmax", [ROWS.T.copy()], SHARES.T.copy(), name="extreme columns", opset=13, tolerance=1e-6, axis=0),
    one("Softmax", [ROWS], SHARES, name="extreme rows of any size", opset=13, tolerance=1e-6, open_sizes=True),
    one("LogSoftmax", [ROWS], LOGS, name="logarithms", opset=13, tolerance=1e-6),
    *(
        one(
            "Softmax",
            [HALVES.astype(d)],
            array([[0.5, 0.5, 0], [NAN] * 3, [0.5, 0.5, 0]]).astype(d),
            name=f"extreme rows {d.__name__}",
            opset=13,
        )
        for d in (F16, BF16)
    ),
    Case(
        "a row without elements",
        [node("Softmax", "x")],
        {"x": np.zeros((2, 0), F32)},
        {"y": np.zeros((2, 0), F32)},
        shapes={"x": ["N", "M"]},
    ),
    Case(
        "of a product with any number of rows",
        [node("MatMul", "x w", "p"), node("Softmax", "p")],
        {"x": X2},
        {"y": (POWERS / POWERS.sum(1, keepdims=True)).astype(F32)},
        weights={"w": W23},
        shapes={"x": ["batch", 2]},
        tolerance=1e-6,
    ),
    # A query that may attend to nothing gives 0; the other one weighs scores of 2 and 2 alike.
    *(
        one(
            "Attention",
            [Q, K, V, mask],
            array([[[[0, 0], [2, 3.5]]]]),
            name=f"no keys, {name}",
            opset=24,
            tolerance=1e-6,
        )
        for name, mask in (
            ("by booleans", array([[False, False], [True, True]], bool)),
            ("by booleans of all axes", array([[[[False, False], [True, True]]]], bool)),
        )
    ),
]


@cases(*SOFTMAXES)
def test_softmax(case: Case, level: int):
    check(case, level)
