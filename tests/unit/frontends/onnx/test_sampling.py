"""Operators that read between elements against loops in plain Python."""

import itertools
import math

import numpy as np
import pytest

from aicc.frontends.errors import ModelError
from tests.unit.frontends.onnx.compiled import run_node

RNG = np.random.default_rng(11)


def keys(distance: float) -> float:
    """Keys' cubic kernel with parameter -0.75."""
    t, a = abs(distance), -0.75
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def element(plane: np.ndarray, at: tuple[int, ...], border: str, corners: bool) -> float:
    """The element at integer positions that may lie outside."""
    inside = []
    for i, size in zip(at, plane.shape, strict=True):
        if border == "border":
            i = min(max(i, 0), size - 1)
        elif border == "reflection":
            while not 0 <= i < size:  # Step by step, at one end and the other.
                if corners and size == 1:
                    i = 0
                elif i < 0:
                    i = -i if corners else -1 - i
                else:
                    i = 2 * (size - 1) - i if corners else 2 * size - 1 - i
        if not 0 <= i < size:
            return 0.0
        inside.append(i)
    return float(plane[tuple(inside)])


def sample(plane: np.ndarray, position: list[float], method: str, border: str, corners: bool) -> float:
    if method == "nearest":
        return element(plane, tuple(round(p) for p in position), border, corners)
    reach = range(-1, 3) if method == "cubic" else range(2)
    kernel = keys if method == "cubic" else (lambda d: 1 - abs(d))
    total = 0.0
    for steps in itertools.product(reach, repeat=len(position)):
        at = tuple(math.floor(p) + s for p, s in zip(position, steps, strict=True))
        weight = math.prod(kernel(p - a) for p, a in zip(position, at, strict=True))
        total += weight * element(plane, at, border, corners)
    return total


def grid_sample(x, grid, method, border, corners):
    result = np.zeros((*x.shape[:2], *grid.shape[1:-1]))
    for n, c, *place in np.ndindex(*result.shape):
        position = []
        for size, g in zip(x.shape[2:], grid[(n, *place)][::-1], strict=True):
            g = float(g)
            position.append((g + 1) / 2 * (size - 1) if corners else ((g + 1) * size - 1) / 2)
        result[(n, c, *place)] = sample(x[n, c], position, method, border, corners)
    return result


@pytest.mark.parametrize("method", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("border", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample(method: str, border: str, corners: bool):
    x = RNG.normal(size=(2, 3, 4, 5)).astype(np.float32)
    # Up to 2.5 times as far as the ends, and the ends themselves.
    grid = RNG.uniform(-2.5, 2.5, size=(2, 3, 4, 2)).astype(np.float32)
    grid[0, 0, 0], grid[0, 0, 1] = (-1, 1), (0, 0)
    for opset, name in ((16, {"linear": "bilinear", "cubic": "bicubic"}.get(method, method)), (22, method)):
        (found,) = run_node(
            "GridSample",
            [x, grid],
            opset=opset,
            shapes={0: ("N", 3, "H", "W"), 1: ("N", "A", "B", 2)},
            levels=(2,) if opset == 22 else (),
            mode=name,
            padding_mode=border,
            align_corners=int(corners),
        )
        np.testing.assert_allclose(found, grid_sample(x, grid, method, border, corners), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dims", [1, 3])
def test_grid_sample_of_other_ranks(dims: int):
    x = RNG.normal(size=(1, 2, 3, 4, 2)[: 2 + dims]).astype(np.float32)
    grid = RNG.uniform(-1.3, 1.3, size=(1, 2, 3, 2, dims)[:1] + (2, 3, 2)[:dims] + (dims,)).astype(np.float32)
    for method in ("linear", "nearest"):
        (found,) = run_node("GridSample", [x, grid], mode=method, levels=(2,))
        np.testing.assert_allclose(found, grid_sample(x, grid, method, "zeros", False), rtol=1e-4, atol=1e-5)


def test_grid_sample_of_one_element_and_of_other_types():
    x = np.array([[[[3.0]]]], np.float32)
    grid = np.array([[[[0, 0], [5, -7]]]], np.float32)
    for border, far in (("zeros", 0), ("border", 3), ("reflection", 3)):
        (found,) = run_node("GridSample", [x, grid], padding_mode=border, align_corners=1, mode="nearest", levels=(2,))
        np.testing.assert_array_equal(found, [[[[3, far if border != "zeros" else 3]]]])  # (0 - 1) elements apart
    x = RNG.normal(size=(1, 1, 3, 3)).astype(np.float16)
    (found,) = run_node("GridSample", [x, grid / 8], levels=(2,), tolerance=1e-3)
    assert found.dtype == np.float16
    np.testing.assert_allclose(found, grid_sample(x, grid / 8, "linear", "zeros", False), rtol=1e-3, atol=1e-3)
    with pytest.raises(ModelError, match="the grid has shape"):
        run_node("GridSample", [np.zeros((1, 1, 3, 3), np.float32), np.zeros((1, 2, 2, 3), np.float32)])


def deform_conv(x, w, offset, bias, mask, strides, pads, dilations, groups, offset_groups):
    count, channels = x.shape[:2]
    kernel, sizes = w.shape[2:], offset.shape[2:]
    offset = offset.reshape(count, offset_groups, *kernel, 2, *sizes)
    mask = mask.reshape(count, offset_groups, *kernel, *sizes)
    result = np.zeros((count, w.shape[0], *sizes))
    for n, m, i, j in np.ndindex(*result.shape):
        total = float(bias[m])
        for c, a, b in itertools.product(range(w.shape[1]), *map(range, kernel)):
            channel = m // (w.shape[0] // groups) * w.shape[1] + c
            g = channel // (channels // offset_groups)
            y = i * strides[0] + a * dilations[0] - pads[0] + offset[n, g, a, b, 0, i, j]
            z = j * strides[1] + b * dilations[1] - pads[1] + offset[n, g, a, b, 1, i, j]
            tap = sample(x[n, channel], [float(y), float(z)], "linear", "zeros", False)
            total += w[m, c, a, b] * mask[n, g, a, b, i, j] * tap
        result[n, m, i, j] = total
    return result


@pytest.mark.parametrize("groups, offset_groups", [(1, 1), (2, 1), (1, 2), (2, 4)])
def test_deform_conv(groups: int, offset_groups: int):
    x = RNG.normal(size=(2, 4, 5, 6)).astype(np.float32)
    w = RNG.normal(size=(6, 4 // groups, 3, 2)).astype(np.float32)
    strides, pads, dilations = (2, 1), (1, 0, 1, 1), (1, 2)
    sizes = ((5 + 2 - 3) // 2 + 1, (6 + 1 - 3) // 1 + 1)
    offset = RNG.uniform(-2, 2, size=(2, offset_groups * 6 * 2, *sizes)).astype(np.float32)
    mask = RNG.uniform(size=(2, offset_groups * 6, *sizes)).astype(np.float32)
    bias = RNG.normal(size=6).astype(np.float32)
    window = {"strides": strides, "pads": pads, "dilations": dilations}
    (found,) = run_node(
        "DeformConv",
        [x, w, offset, bias, mask],
        shapes={0: ("N", 4, "H", "W")} if offset_groups == 1 else None,
        levels=(2,),
        tolerance=1e-4,
        group=groups,
        offset_group=offset_groups,
        **window,
    )
    expected = deform_conv(x, w, offset, bias, mask, **window, groups=groups, offset_groups=offset_groups)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_deform_conv_without_offsets_is_a_convolution():
    x, w = RNG.normal(size=(1, 2, 4, 4)), RNG.normal(size=(3, 2, 2, 2))
    (found,) = run_node("DeformConv", [x, w, np.zeros((1, 8, 3, 3))], levels=(2,))
    expected = sum(
        np.einsum("nchw,mc->nmhw", x[:, :, a : a + 3, b : b + 3], w[:, :, a, b]) for a in range(2) for b in range(2)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.raises(ModelError, match="group 1 and offset_group 3 do not divide 2 and 3 channels"):
        run_node("DeformConv", [x, w, np.zeros((1, 24, 3, 3))], offset_group=3)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "image, block, window",
    [
        ((5, 4), (2, 3), {"strides": (1, 1), "pads": (0, 0, 0, 0), "dilations": (1, 1)}),
        ((6, 5), (3, 2), {"strides": (2, 1), "pads": (1, 0, 1, 1), "dilations": (1, 2)}),
        ((3, 4, 2), (2, 2, 1), {"strides": (1, 2, 1), "pads": (0, 1, 0, 0, 1, 0), "dilations": (1, 1, 1)}),
    ],
)
def test_col2im(image, block, window, known: bool):
    space = len(image)
    counts = [
        (size + window["pads"][i] + window["pads"][space + i] - window["dilations"][i] * (block[i] - 1) - 1)
        // window["strides"][i]
        + 1
        for i, size in enumerate(image)
    ]
    x = RNG.integers(-9, 9, size=(2, 3 * math.prod(block), math.prod(counts))).astype(np.float32)
    expected = np.zeros((2, 3, *image), np.float32)
    for n, c in np.ndindex(2, 3):
        for t, tap in enumerate(np.ndindex(*block)):
            for o, place in enumerate(np.ndindex(*counts)):
                at = tuple(
                    p * s + k * d - low
                    for p, s, k, d, low in zip(
                        place, window["strides"], tap, window["dilations"], window["pads"][:space], strict=True
                    )
                )
                if all(0 <= a < size for a, size in zip(at, image, strict=True)):
                    expected[(n, c, *at)] += x[n, c * math.prod(block) + t, o]
    arrays = [x, np.array(image), np.array(block)]
    (found,) = run_node("Col2Im", arrays, constant=(1, 2) if known else (), levels=(0, 2) if known else (2,), **window)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "inverse, onesided, complex_input", [(0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0), (0, 1, 0), (1, 1, 1)]
)
@pytest.mark.parametrize("axis", [0, 1, -2])
def test_dft(inverse: int, onesided: int, complex_input: int, axis: int):
    whole = RNG.normal(size=(3, 5, 6, 2)).astype(np.float32)
    signal = whole[..., 0] + 1j * whole[..., 1] if complex_input else whole[..., 0].astype(np.float64)
    x = whole if complex_input else whole[..., :1]
    along = axis + 1 if axis < 0 else axis
    transform = {(0, 0): np.fft.fft, (1, 0): np.fft.ifft, (0, 1): np.fft.rfft, (1, 1): np.fft.irfft}[inverse, onesided]
    for length in (None, 4, 9):
        expected = transform(signal, n=length, axis=along)
        parts = [expected.real] if expected.dtype.kind == "f" else [expected.real, expected.imag]
        expected = np.stack(parts, -1)
        arrays = [x, None if length is None else np.array(length), np.array(axis)]
        flags = {"inverse": inverse, "onesided": onesided}
        shapes = {0: ("A", "B", 6, x.shape[-1])}
        for found in (
            run_node("DFT", arrays[:2], opset=17, axis=axis, constant=(1,) if length else (), levels=(), **flags)[0],
            run_node("DFT", arrays, shapes=shapes, constant=(2,), levels=(2,), **flags)[0],
        ):
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axis", [0, 1, -3])
@pytest.mark.parametrize("inverse", [0, 1])
def test_dft_along_an_axis_that_data_tells(axis: int, inverse: int):
    """The size of the result depends on the axis as well."""
    x = RNG.normal(size=(4, 5, 1 + inverse)).astype(np.float32)
    signal = x[..., 0] + 1j * x[..., 1] if inverse else x[..., 0]
    if inverse:
        expected = np.fft.irfft(signal, axis=axis % 3)[..., None]
    else:
        expected = np.fft.rfft(signal, axis=axis % 3)
        expected = np.stack([expected.real, expected.imag], -1)
    (found,) = run_node("DFT", [x, None, np.array(axis)], levels=(0, 2), inverse=inverse, onesided=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_what_is_no_complex_tensor():
    with pytest.raises(ModelError, match=r"the input has shape \[2, 3\], expected \[.., 1\] or \[.., 2\]"):
        run_node("DFT", [np.zeros((2, 3), np.float32)])
    with pytest.raises(ModelError, match=r"onesided is 1 .* expected real numbers"):
        run_node("DFT", [np.zeros((2, 3, 2), np.float32)], onesided=1)
