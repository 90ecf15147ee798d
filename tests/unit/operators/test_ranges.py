"""Ranges by numbers that data tells, and what is made of them: windows, filters, grids, padding."""

from __future__ import annotations

from math import floor, log10

import ml_dtypes
import numpy as np
import pytest
from onnx.helper import make_node

import aicc
from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.helper import model
from tests.unit.operators.helper import check, one_node

F32, I64 = np.float32, np.int64


def steps(start: float, limit: float, delta: float) -> list[float]:
    """By counting."""
    found: list[float] = []
    while (start + len(found) * delta < limit) if delta > 0 else (start + len(found) * delta > limit):
        found.append(start + len(found) * delta)
    return found


NUMBERS = [(0, 7, 2), (5, -6, -3), (4, 4, 1), (4, 0, 1), (-9, -1, 4)]


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("constant", [(), (0,), (1,), (2,), (0, 2), (1, 2)])
def test_range(dtype: type, constant: tuple[int, ...]):
    for start, limit, delta in NUMBERS:
        inputs = [np.array(value, dtype) for value in (start, limit, delta)]
        proto, feeds = one_node("Range", inputs, constant=constant)
        check(proto, feeds, [np.array(steps(start, limit, delta), dtype)], levels=[0])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_range_of_fractions(dtype: type):
    for start, limit, delta in ((0.5, 3.0, 0.25), (1.0, -1.0, -0.375)):
        inputs = [np.array(value, dtype) for value in (start, limit, delta)]
        proto, feeds = one_node("Range", inputs, opset=27)
        check(proto, feeds, [np.array(steps(start, limit, delta)).astype(dtype)])


def test_range_of_one_element_lists_and_of_sizes():
    proto, feeds = one_node("Range", [np.array([value]) for value in (1, 9, 3)])
    check(proto, feeds, [np.array([1, 4, 7])])
    nodes = [make_node("Size", ["x"], ["n"]), make_node("Range", ["a", "n", "d"], ["y"], "r")]
    proto = model(nodes, {"x": (F32, ["N"]), "a": (I64, []), "d": (I64, [])}, ["y"])
    feeds = {"x": np.zeros(5, F32), "a": np.array(-2), "d": np.array(3)}
    check(proto, feeds, [np.array([-2, 1, 4])])


@pytest.mark.parametrize("dtype", [np.int64, np.float32])
def test_range_that_never_comes_to_its_limit(dtype: type):
    inputs = [np.array(value, dtype) for value in (0, 3, 0)]
    compiled = aicc.compile(one_node("Range", inputs)[0], opt_level=0)
    with pytest.raises(ValueError, match="count of node 'n' is -1"):
        compiled.run({f"x{i}": value for i, value in enumerate(inputs)})
    with pytest.raises(ModelError, match="delta is 0"):
        aicc.compile(one_node("Range", inputs, constant=(2,) if dtype is np.int64 else (0, 1, 2))[0])


@pytest.mark.parametrize("periodic", [0, 1])
@pytest.mark.parametrize(
    ("op", "weights"),
    [
        ("HannWindow", (0.5, 0.5, 0.0)),
        ("HammingWindow", (25 / 46, 21 / 46, 0.0)),
        ("BlackmanWindow", (0.42, 0.5, 0.08)),
    ],
)
def test_windows(op: str, weights: tuple[float, float, float], periodic: int):
    size = 9
    angle = 2 * np.pi * np.arange(size) / (size if periodic else size - 1)
    wanted = weights[0] - weights[1] * np.cos(angle) + weights[2] * np.cos(2 * angle)
    for constant in ((), (0,)):
        proto, feeds = one_node(op, [np.array(size, I64)], constant=constant, periodic=periodic)
        check(proto, feeds, [wanted.astype(F32)], atol=1e-6)


def mel_weights(bands: int, length: int, rate: int, low: float, high: float) -> np.ndarray:
    """Bin by bin."""

    def mel(hertz: float) -> float:
        return 2595 * log10(1 + hertz / 700)

    width = (mel(high) - mel(low)) / (bands + 2)
    hertz = [700 * (10 ** ((mel(low) + i * width) / 2595) - 1) for i in range(bands + 2)]
    bins = [floor((length + 1) * value / rate) for value in hertz]
    result = np.zeros((length // 2 + 1, bands))
    for band in range(bands):
        left, middle, right = bins[band : band + 3]
        for row in range(len(result)):
            if row == middle:
                result[row, band] = 1
            elif left <= row < middle:
                result[row, band] = (row - left) / (middle - left)
            elif middle < row < right:
                result[row, band] = (right - row) / (right - middle)
    return result


@pytest.mark.parametrize("numbers", [(8, 16, 8192, 0.0, 4096.0), (5, 33, 16000, 100.0, 7600.0)])
def test_mel_weights(numbers: tuple[int, int, int, float, float]):
    wanted = mel_weights(*numbers)
    inputs = [*(np.array(value, I64) for value in numbers[:3]), *(np.array(value, F32) for value in numbers[3:])]
    for constant in ((), range(5)):
        proto, feeds = one_node("MelWeightMatrix", inputs, constant=constant)
        check(proto, feeds, [wanted.astype(F32)], atol=1e-6)
    proto, feeds = one_node("MelWeightMatrix", inputs, constant=range(5), output_datatype=11)
    check(proto, feeds, [wanted], atol=1e-12, levels=[0])


def grid(theta: np.ndarray, space: tuple[int, ...], aligned: bool) -> np.ndarray:
    """Point by point; the last axis of the image comes first in a point."""
    result = np.zeros((len(theta), *space, len(space)))
    for place in np.ndindex(*space):
        point = [
            -1 + 2 * i / max(size - 1, 1) if aligned else -1 + (2 * i + 1) / size
            for i, size in zip(place[::-1], space[::-1], strict=True)
        ]
        result[(slice(None), *place)] = theta @ np.array([*point, 1.0])
    return result


@pytest.mark.parametrize("aligned", [0, 1])
@pytest.mark.parametrize("space", [(3, 4), (1, 5), (2, 3, 4)])
def test_affine_grid(space: tuple[int, ...], aligned: int):
    rank = len(space)
    size = np.array([2, 6, *space], I64)
    for dtype, tolerance in ((F32, 1e-6), (np.float64, 1e-13), (np.float16, 2e-3)):
        theta = np.random.default_rng(rank).uniform(-1, 1, (2, rank, rank + 1)).astype(dtype)
        wanted = grid(theta.astype(np.float64), space, bool(aligned)).astype(dtype)
        for constant, symbolic in (((1,), False), ((), False), ((), (0,))):
            proto, feeds = one_node(
                "AffineGrid", [theta, size], constant=constant, symbolic=symbolic, align_corners=aligned
            )
            check(proto, feeds, [wanted], rtol=tolerance, atol=tolerance, levels=[2])


def test_affine_grid_of_wrong_shapes():
    theta = np.zeros((2, 2, 3), F32)
    for size, text in (
        ([2, 1, 3], "size .input 1. has 3 entries, expected 4 or 5"),
        ([2, 1, 3, 4, 5], r"theta .input 0. has shape \[2, 2, 3\], expected \[N, 3, 4\]"),
    ):
        with pytest.raises(ModelError, match=text):
            aicc.compile(one_node("AffineGrid", [theta, np.array(size)], constant=[1])[0])
    proto, feeds = one_node("AffineGrid", [theta, np.array([3, 1, 4, 4])])
    with pytest.raises(ValueError, match="size 2 of axis 0 of theta does not match size"):
        aicc.compile(proto, opt_level=0).run(feeds)


PADS = [
    ("constant", [1, 0, 2, 3]),
    ("constant", [-1, 2, 0, -3]),
    ("constant", [0, 0, 0, 0]),
    ("edge", [0, 3, 2, -2]),
    ("reflect", [2, 1, -1, 3]),
    ("wrap", [5, -1, 1, 12]),
]


def padded(x: np.ndarray, pads: list[int], mode: str, fill: float) -> np.ndarray:
    """By numpy, then cut."""
    low, high = pads[:2], pads[2:]
    widths = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    if mode == "wrap":
        index = [np.arange(-a, n + b) % n for a, b, n in zip(low, high, x.shape, strict=True)]
        return x[np.ix_(*index)]
    extra = {"constant_values": fill} if mode == "constant" else {}
    whole = np.pad(x, widths, mode, **extra)  # type: ignore[call-overload]
    ends = [n - max(-b, 0) for n, b in zip(whole.shape, high, strict=True)]
    return whole[max(-low[0], 0) : ends[0], max(-low[1], 0) : ends[1]]


@pytest.mark.parametrize(("mode", "pads"), PADS)
def test_pads_that_data_tells(mode: str, pads: list[int]):
    x = np.arange(20, dtype=F32).reshape(4, 5)
    fill = np.array(9.5, F32) if mode == "constant" else None
    wanted = padded(x, pads, mode, 9.5)
    for symbolic in (False, (0,)):
        proto, feeds = one_node("Pad", [x, np.array(pads), fill], mode=mode, symbolic=symbolic)
        check(proto, feeds, [wanted])
    swapped = np.array([pads[1], pads[0], pads[3], pads[2]])
    for axes, constant in (([1, 0], (3,)), ([-1, 0], ()), ([1, -2], (1,)), ([-1, -2], (1, 3))):
        proto, feeds = one_node("Pad", [x, swapped, fill, np.array(axes)], mode=mode, constant=constant)
        check(proto, feeds, [wanted], levels=[2])
    proto, feeds = one_node("Pad", [x, swapped[::2], fill, np.array([1])], mode=mode)
    check(proto, feeds, [padded(x, [0, pads[1], 0, pads[3]], mode, 9.5)], levels=[0])


def test_too_much_is_cut_off_or_mirrored():
    x = np.zeros((2, 3), F32)
    proto, feeds = one_node("Pad", [x, np.array([0, -2, 0, -2])])
    with pytest.raises(ValueError, match="size of axis 1 of node 'n' is -1"):
        aicc.compile(proto, opt_level=0).run(feeds)
    proto, feeds = one_node("Pad", [x, np.array([0, 0, 2, 0])], mode="reflect")
    with pytest.raises(ValueError, match="pad after axis 0 of node 'n' is 2, expected at most 1"):
        aicc.compile(proto, opt_level=0).run(feeds)


@pytest.mark.parametrize(("mode", "size"), [("reflect", 1), ("edge", 0)])
def test_axes_with_nothing_to_repeat_are_not_padded(mode: str, size: int):
    """Where data tell the padding, which is 0 along such an axis."""
    x = np.arange(4 * size, dtype=F32).reshape(size, 4)
    pads = [0, 1, 0, 2]
    proto, feeds = one_node("Pad", [x, np.array(pads)], mode=mode, constant=(0,))
    check(proto, feeds, [padded(x, pads, mode, 0)])
    proto, feeds = one_node("Pad", [x, np.array(pads)], mode=mode)
    check(proto, feeds, [padded(x, pads, mode, 0)])


def squeeze(declared: list[str] | None) -> aicc.Model:
    proto = model([make_node("Squeeze", ["x"], ["y"], "s")], {"x": (F32, ["N", 1, "M"])}, ["y"])
    if declared is not None:
        tensor = proto.graph.output[0].type.tensor_type
        tensor.elem_type = 1
        tensor.shape.SetInParent()
        for size in declared:
            tensor.shape.dim.add().dim_param = size
    return aicc.compile(proto, opt_level=0)


def test_squeeze_without_axes():
    """Sizes that only a run tells are taken to be 1 if the rank that the model declares needs it."""
    x = np.arange(6, dtype=F32).reshape(2, 1, 3)
    for compiled in (squeeze(None), squeeze(["a", "b"])):
        np.testing.assert_array_equal(compiled(x)[0], x[:, 0])
        with pytest.raises(ValueError, match="size N of axis 0 is taken not to be 1"):
            compiled(x[:1])
    compiled = squeeze([])
    assert compiled(x[:1, :, :1])[0].shape == ()
    with pytest.raises(ValueError, match="differ in the number of elements"):
        compiled(x)
    with pytest.raises(ModelError, match=r"which of the sizes \[N, 1, M\] are 1 for a result of rank 1"):
        squeeze(["a"])
